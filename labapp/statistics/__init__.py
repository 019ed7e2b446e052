"""Statistics of success rates, pure: arrays and counts in, named tuples out; no Django, no I/O but the command line."""
