"""The process beside the robot: takes trials from the lab, runs them, and loses nothing when the network goes."""
