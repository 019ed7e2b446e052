"""The cell: its frozen description, its worlds, and the MuJoCo scene built from both."""
