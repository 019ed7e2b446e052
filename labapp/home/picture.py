"""The loop as a picture: where each box stands, and the wires between them. Pure geometry, in SVG units."""

from dataclasses import dataclass

WIDTH, HEIGHT = 1120, 420
BOX_WIDTH, BOX_HEIGHT = 184, 88


@dataclass(frozen=True)
class Place:
    """A box of the loop; ``url_name`` opens the pages behind it."""

    key: str
    name: str
    x: int
    y: int
    url_name: str
    is_research: bool = True

    @property
    def centre_x(self) -> int:
        return self.x + BOX_WIDTH // 2

    @property
    def right(self) -> int:
        return self.x + BOX_WIDTH

    @property
    def middle(self) -> int:
        return self.y + BOX_HEIGHT // 2

    @property
    def bottom(self) -> int:
        return self.y + BOX_HEIGHT


@dataclass(frozen=True)
class Wire:
    """An arrow; it moves while a run of the kind ``flow`` is active (``trial``: while a trial is)."""

    path: str
    flow: str
    label: str = ""
    label_x: int = 0
    label_y: int = 0


CELL = Place("cell", "Cell", 8, 166, "live:index", is_research=False)
DEMOS = Place("demos", "Demonstrations", 246, 72, "demos:list")
WORLDS = Place("worlds", "World grounding", 484, 10, "cells:worlds")
BEHAVIORS = Place("behaviors", "Behavior grounding", 484, 132, "datasets:configurations")
DATASETS = Place("datasets", "Simulated datasets", 722, 72, "datasets:list")
POLICIES = Place("policies", "Policies", 928, 196, "policies:list")
TRIALS = Place("trials", "Blinded trials", 640, 316, "studies:list", is_research=False)
EFFECTS = Place("effects", "Effects", 324, 316, "results:list")
PLACES = (CELL, DEMOS, WORLDS, BEHAVIORS, DATASETS, POLICIES, TRIALS, EFFECTS)


Point = tuple[int, int]
HEAD = 5  # room for the arrow's head


def _curve(*points: Point) -> str:
    """A cubic Bézier curve through its four control points."""
    (x, y), *rest = points
    return f"M{x} {y} C" + " ".join(f"{x} {y}" for x, y in rest)


def _across(a: Place, b: Place) -> str:
    """From the right side of ``a`` to the left side of ``b``."""
    bend = (b.x - a.right) // 2
    end = (b.x - HEAD, b.middle)
    return _curve((a.right, a.middle), (a.right + bend, a.middle), (b.x - bend, b.middle), end)


def _corner(start: Point, corner: Point, end: Point) -> str:
    """Round one corner."""
    halfway = ((start[0] + 2 * corner[0]) // 3, (start[1] + 2 * corner[1]) // 3)
    return _curve(start, halfway, corner, end)


WIRES = (
    Wire(
        _corner((CELL.centre_x, CELL.y), (CELL.centre_x, DEMOS.middle), (DEMOS.x - HEAD, DEMOS.middle)),
        "demos.record", "recorded", 106, 102,
    ),
    Wire(_across(DEMOS, WORLDS), "cells.measure"),
    Wire(_across(DEMOS, BEHAVIORS), "demos.record"),
    Wire(_across(WORLDS, DATASETS), "datasets.generate"),
    Wire(_across(BEHAVIORS, DATASETS), "datasets.generate"),
    Wire(
        _corner(
            (DATASETS.right, DATASETS.middle),
            (POLICIES.centre_x, DATASETS.middle),
            (POLICIES.centre_x, POLICIES.y - HEAD),
        ),
        "policies.train", "co-trained", 1050, 128,
    ),
    Wire(
        _corner(
            (POLICIES.centre_x, POLICIES.bottom),
            (POLICIES.centre_x, TRIALS.middle),
            (TRIALS.right + HEAD, TRIALS.middle),
        ),
        "trial", "drive the cell", 960, 386,
    ),
    Wire(f"M{TRIALS.x} {TRIALS.middle} L{EFFECTS.right + HEAD} {TRIALS.middle}", "trial", "scored", 574, 350),
    Wire(
        _corner(
            (EFFECTS.x, EFFECTS.middle), (CELL.centre_x, EFFECTS.middle), (CELL.centre_x, CELL.bottom + HEAD)
        ),
        "trial", "what to ground next", 170, 386,
    ),
)  # fmt: skip
