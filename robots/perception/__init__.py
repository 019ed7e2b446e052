"""Where things are, from what the external RGB-D camera sees. Driver data in, poses out."""
