"""The card of a stopping rule, from plain content."""

import json

from dash import html
from plotly.utils import PlotlyJSONEncoder

from frontend.dashboards.content import LookedComparison, LooksCard
from frontend.dashboards.looks import looks_cards
from frontend.figures.data import CoursePath, LookPath

CROSSED = LookedComparison(
    "main_a", "world", "World raised success.", LookPath("world", (5, 10), (3.0,), (3.4,), 5), (40.0,)
)
OPEN = LookedComparison(
    "main_b", "behavior", "Open.", LookPath("behavior", (5, 10), (3.0, 2.0), (None,), None), (None,)
)
COURSE = LookedComparison(
    "A:B", "A − B", "Decided.", CoursePath("A − B", (1, 2), (0.0, -50.0), (-90.0, -95.0), (95.0, -2.0), 2), (0.0, -50.0)
)


def looks(*comparisons: LookedComparison, **values) -> LooksCard:
    given = {"verdict": "go on", "sentence": "Go on.", "position": "5 of 10", "finished": 5, "planned": 10}
    return LooksCard("group-sequential", "2 looks", comparisons=comparisons, **given | values)


def text(card: LooksCard | None) -> str:
    return json.dumps([part.to_plotly_json() for part in looks_cards(card, "light")], cls=PlotlyJSONEncoder)


def test_without_looks_there_is_no_card() -> None:
    assert looks_cards(None, "light") == []


def test_a_card_that_may_not_tell_says_why() -> None:
    shown = text(LooksCard("group-sequential", "2 looks", missing="Hidden until the PI unblinds."))
    assert "Hidden until the PI unblinds." in shown
    assert "looks-figure" not in shown


def test_each_look_shows_z_over_boundary_and_what_comes_stays_open() -> None:
    shown = text(looks(CROSSED, OPEN, look_blocks=(5, 10), verdict="stop", sentence="Stop: crossed."))
    for expected in (
        "+3.40",
        "boundary 3.00",
        "number crossed",
        '"decided"',
        "not judged",
        "to come",
        "Stop: crossed.",
    ):
        assert expected in shown, expected


def test_the_track_marks_every_look_and_fills_what_is_finished() -> None:
    shown = text(looks(CROSSED, look_blocks=(5, 10)))
    assert '"width": "50.00%"' in shown
    assert shown.count("looks-mark reached") == 1 and shown.count("looks-mark") == 2


def test_a_sequence_shows_blocks_points_and_interval() -> None:
    shown = text(looks(COURSE))
    for expected in ("Blocks", "\\u221250.0", "\\u221295.0 to \\u22122.0", "number crossed"):
        assert expected in shown, expected


def test_the_parts_are_plain_components() -> None:
    assert isinstance(looks_cards(looks(CROSSED, look_blocks=(5, 10)), "dark")[0], html.Section)
