"""Drivers of a cell: what a robot program may read and command, on hardware and on the bench alike."""
