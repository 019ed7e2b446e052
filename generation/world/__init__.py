"""World grounding: the ungrounded (nominal) world, and the grounded one measured through a cell's drivers."""
