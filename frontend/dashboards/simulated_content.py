"""What the card "Simulated beside real" shows, already computed."""

from dataclasses import dataclass

from frontend.figures.data import RatePair


@dataclass(frozen=True)
class BesideLine:
    """One arm in one group of conditions: both rates, where each opens, and simulated minus real in points.

    The difference and its bounds are None where one side has no trials.
    """

    pair: RatePair
    simulated_href: str
    real_href: str
    points: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class SimulatedCard:
    """The card; `missing` says why there are no numbers, `action` and its address what to do about it.

    Attributes:
        about: which evaluation, `href` opens it. lines: of every group that `groups` names, arms in the page's order.
        figure_groups: groups that the figure draws; the others stand folded below.
    """

    about: str = ""
    href: str = ""
    lines: tuple[BesideLine, ...] = ()
    figure_groups: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rows_href: str = ""
    missing: str = ""
    action: str = ""
    action_href: str = ""

    @property
    def figure_pairs(self) -> tuple[RatePair, ...]:
        """What the figure draws; a mark opens the rollouts of its simulated side."""
        shown = [line for line in self.lines if line.pair.real.group in self.figure_groups]
        return tuple(RatePair(line.pair.simulated._replace(href=line.simulated_href), line.pair.real) for line in shown)
