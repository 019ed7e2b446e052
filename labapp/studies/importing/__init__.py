"""Outcome tables made elsewhere become a finished study: upload, mapping, every row checked, then all or nothing."""
