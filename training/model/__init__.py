"""The policy network and its parts."""
