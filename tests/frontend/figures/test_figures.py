"""Figures carry exactly the numbers they were given, in both themes, and say why when there are none."""

import colorsys
import itertools
import json

import plotly.graph_objects as go
import pytest

from frontend import figures
from frontend.figures.data import STAGES, CellMean, EffectPoint, ModeCounts, RatePair, RatePoint, StageCurve, TimeCurve
from frontend.figures.theme import DARK, LIGHT, Theme, mark

RATES = [
    RatePoint("G/G", "nominal", 43, 50, 0.86, 0.738, 0.930),
    RatePoint("U/U", "nominal", 29, 50, 0.58, 0.442, 0.706),
    RatePoint("U/U", "shifted", 0, 0, None, None, None),
]
EFFECTS = [
    EffectPoint("world", "all", 18.0, 6.0, 29.1),
    EffectPoint("behavior", "all", 10.0, -1.8, 21.2),
    EffectPoint("world", "nominal", 16.0, 1.0, 30.0),
]
CELLS = [CellMean(a, b, 0.5, 0.4, 0.6) for a in ("ungrounded", "grounded") for b in ("grounded", "ungrounded")]
STAGE_CURVES = [
    StageCurve("G/G", 50, (1, 0.98, 0.94, 0.9, 0.88, 0.86)),
    StageCurve("U/U", 50, (1, 0.9, 0.8, 0.7, 0.6, 0.58)),
]
MODES = [
    ModeCounts("G/G", 50, {"dropped": 5, "drift": 2}),
    ModeCounts("U/U", 50, {"drift": 21}),
    ModeCounts("new", 0, {}),
]
TIMES = [TimeCurve("G/G", 50, (2.0, 4.0, 6.0), (0.1, 0.6, 0.86)), TimeCurve("U/U", 50, (2.0, 4.0, 6.0), (0, 0.3, 0.58))]
PAIRS = [
    RatePair(
        RatePoint(arm, group, k, 20, k / 20, k / 25, k / 20 + 0.1, f"/evaluations/1/rollouts/?policy={k}"),
        RatePoint(arm, group, 12, 20, 0.6, 0.4, 0.8),
    )
    for arm, k in (("G/G", 15), ("U/U", 9))
    for group in ("all", "nominal")
]
ALL = [
    (figures.success_bars, RATES),
    (figures.effects_forest, EFFECTS),
    (figures.interaction_plot, CELLS),
    (figures.stage_funnel, STAGE_CURVES),
    (figures.failure_modes, MODES),
    (figures.time_to_success, TIMES),
    (figures.sim_beside_real, PAIRS),
]


def texts(figure: go.Figure) -> str:
    return " ".join(annotation.text for annotation in figure.layout.annotations)


@pytest.mark.parametrize(("draw", "data"), ALL)
@pytest.mark.parametrize("theme_name", ["light", "dark"])
def test_every_figure_serialises_in_both_themes_and_lets_the_page_show_through(draw, data, theme_name: str) -> None:
    figure = draw(data, theme_name=theme_name)
    assert json.loads(figure.to_json())["data"]
    assert figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.font.color == {"light": LIGHT, "dark": DARK}[theme_name].text


@pytest.mark.parametrize(("draw", "data"), ALL)
def test_every_figure_says_in_words_when_there_is_nothing_to_draw(draw, data) -> None:
    figure = draw([])
    assert not figure.data
    assert texts(figure).startswith("No ")


@pytest.mark.parametrize(("draw", "data"), ALL)
def test_an_unknown_theme_is_refused(draw, data) -> None:
    with pytest.raises(ValueError, match="light or dark"):
        draw(data, theme_name="sepia")


def test_bars_carry_the_rates_with_their_intervals_and_n() -> None:
    bar = figures.success_bars(RATES).data[0]
    assert bar.y == (0.86,)
    assert bar.y[0] + bar.error_y.array[0] == pytest.approx(0.930)
    assert bar.y[0] - bar.error_y.arrayminus[0] == pytest.approx(0.738)
    assert bar.text == ("n=50",)


def test_a_group_without_trials_has_no_bar() -> None:
    bars = figures.success_bars(RATES).data[1]
    assert bars.x == ("nominal",)


def test_the_forest_puts_the_first_effect_on_top_and_a_line_at_zero() -> None:
    figure = figures.effects_forest(EFFECTS)
    world, behavior = figure.data[0].y
    assert world > behavior
    assert figure.data[0].x == (18.0, 10.0)
    assert [shape.x0 for shape in figure.layout.shapes] == [0]


def test_the_interaction_plot_has_a_line_per_level_of_the_second_factor() -> None:
    figure = figures.interaction_plot(CELLS)
    assert [line.name for line in figure.data] == ["behavior grounded", "behavior ungrounded"]
    assert figure.data[0].x == ("ungrounded", "grounded")


def test_the_funnel_goes_through_the_stages_in_order() -> None:
    figure = figures.stage_funnel(STAGE_CURVES)
    assert figure.data[0].x == STAGES
    assert figure.data[1].y[-1] == 0.58
    with pytest.raises(ValueError, match="arm X: 2 shares for 6 stages"):
        figures.stage_funnel([StageCurve("X", 3, (1, 0.5))])


def test_failure_modes_stack_to_the_failure_share() -> None:
    figure = figures.failure_modes(MODES)
    shares = [sum(bar.x[arm] for bar in figure.data) for arm in range(2)]
    assert shares == pytest.approx([0.14, 0.42])
    assert "No failures" in texts(figures.failure_modes([ModeCounts("G/G", 3, {})]))


def test_time_curves_end_at_the_success_rate() -> None:
    assert figures.time_to_success(TIMES).data[0].y[-1] == 0.86


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_no_two_of_twenty_series_look_alike(colors: Theme) -> None:
    looks = [mark(index, colors) for index in range(20)]
    assert len(set(looks)) == 20


@pytest.mark.parametrize(("colors", "background"), [(LIGHT, "#ffffff"), (DARK, "#14191f")])
def test_marks_stand_out_from_the_background(colors: Theme, background: str) -> None:
    for color in (*colors.series, colors.text, colors.zero):
        assert contrast_ratio(color, background) >= 3, color  # WCAG for graphics


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_neighbouring_series_differ_by_hue_or_lightness(colors: Theme) -> None:
    for one, other in itertools.pairwise(colors.series[:5]):
        hue = abs(hls(one)[0] - hls(other)[0])
        assert min(hue, 1 - hue) > 0.04 or abs(hls(one)[1] - hls(other)[1]) > 0.2


def rgb(color: str) -> tuple[float, ...]:
    return tuple(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))


def hls(color: str) -> tuple[float, float, float]:
    return colorsys.rgb_to_hls(*rgb(color))


def contrast_ratio(one: str, other: str) -> float:
    def luminance(color: str) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(color)]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_simulated_stands_against_real_with_both_intervals_and_the_diagonal() -> None:
    figure = figures.sim_beside_real(PAIRS)
    points = [trace for trace in figure.data if trace.mode == "markers"]
    assert [(p.name, p.x[0], p.y[0]) for p in points] == [
        ("G/G", 0.75, 0.6), ("U/U", 0.45, 0.6), ("G/G", 0.75, 0.6), ("U/U", 0.45, 0.6),
    ]  # fmt: skip
    assert points[0].error_x.array[0] == pytest.approx(0.1)
    assert points[0].error_y.arrayminus[0] == pytest.approx(0.2)
    assert [list(trace.x) for trace in figure.data if trace.mode == "lines"] == [[0, 1]] * 2
    assert [p.showlegend for p in points] == [True, True, False, False]
    assert {annotation.text for annotation in figure.layout.annotations} == {"All", "Nominal"}


def test_an_arm_without_trials_on_one_side_is_not_drawn_and_keeps_the_others_looks() -> None:
    alone = RatePair(RatePoint("new", "all", 3, 4, 0.75, 0.3, 0.95), RatePoint("new", "all", 0, 0, None, None, None))
    drawn = [trace for trace in figures.sim_beside_real([alone, PAIRS[0]]).data if trace.mode == "markers"]
    assert [trace.name for trace in drawn] == ["G/G"]
    assert drawn[0].customdata[0][-1] == PAIRS[0].simulated.href, "a mark opens its rollouts"
    assert drawn[0].marker.color == mark(1, LIGHT).color
