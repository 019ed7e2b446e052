"""The process beside the robot: takes trials from the lab, runs them, and loses nothing when the network goes."""

from collections.abc import Sequence


def main(argv: Sequence[str]) -> int:
    """`python -m robots agent ...`; returns the exit status."""
    from robots.agent.command import main as command

    return command(argv)
