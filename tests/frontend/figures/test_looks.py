"""One panel per comparison: looks between boundaries, sequences around zero."""

from frontend.figures import course_paths, look_paths
from frontend.figures.data import CoursePath, LookPath
from frontend.figures.theme import DARK, LIGHT

CROSSED = LookPath("world", (5, 10, 15, 20), (4.33, 2.96), (1.2, -3.4), 10)
OPEN = LookPath("behavior", (5, 10, 15, 20), (4.33, 2.96, 2.36, 2.01), (None, 0.5), None)
COURSE = CoursePath("A − B", (1, 2, 3), (0.0, 50.0, 66.7), (-90.0, -20.0, 2.0), (95.0, 95.0, 95.0), 3)


def traces(figure, name):
    return [trace for trace in figure.data if trace.name == name]


def test_each_comparison_has_its_panel_with_both_boundaries():
    figure = look_paths([CROSSED, OPEN])
    assert [a.text for a in figure.layout.annotations][:2] == ["world", "behavior"]
    assert len(figure.data) == 6
    assert {trace.xaxis for trace in figure.data} == {"x", "x2"}


def test_z_is_drawn_at_reached_looks_only_and_the_crossing_is_a_star():
    (world,), (behavior,) = (traces(look_paths([CROSSED, OPEN]), name) for name in ("world", "behavior"))
    assert (list(world.x), list(world.y)) == ([5, 10], [1.2, -3.4])
    assert list(world.marker.symbol) == ["circle", "star"]
    assert list(behavior.x) == [10]


def test_a_far_boundary_or_z_stays_in_the_panel():
    path = LookPath("far", (1, 20), (10.0, 2.0), (14.0,), 1)
    (shown,) = traces(look_paths([path]), "far")
    assert shown.y[0] <= look_paths([path]).layout.yaxis.range[1]
    assert shown.customdata[0][0] == 14.0


def test_a_sequence_has_bounds_estimate_and_its_decision():
    figure = course_paths([COURSE])
    assert [list(trace.y) for trace in figure.data[:3]] == [[-90, -20, 2], [95, 95, 95], [0, 50, 66.7]]
    assert list(figure.data[3].x) == [3]


def test_many_comparisons_fill_rows_of_three():
    figure = look_paths([OPEN] * 7)
    assert figure.layout.height > look_paths([OPEN]).layout.height
    assert len([name for name in figure.layout if name.startswith("xaxis")]) >= 7


def test_without_blocks_the_figure_says_what_it_waits_for():
    empty = CoursePath("A − B", (), (), (), (), None)
    assert "first finished block" in course_paths([empty]).layout.annotations[0].text
    assert look_paths([]).layout.annotations[0].text == "Nothing to compare"


def test_both_themes_have_their_own_colours():
    light, dark = (traces(look_paths([OPEN], theme_name=name), "behavior")[0].line.color for name in ("light", "dark"))
    assert (light, dark) == (LIGHT.series[0], DARK.series[0])
