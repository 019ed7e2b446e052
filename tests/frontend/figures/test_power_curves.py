from frontend.figures import PowerCurve, power_curves

CURVES = [PowerCurve("world", ((10, 0.2), (50, 0.86))), PowerCurve("behavior", ((10, 0.1), (50, 0.39)))]


def test_each_comparison_is_one_named_curve_over_the_trials():
    figure = power_curves(CURVES, planned=50)
    assert [trace.name for trace in figure.data] == ["world", "behavior"]
    assert list(figure.data[0].x) == [10, 50]
    assert figure.layout.annotations[0].text == "planned: 50"


def test_curves_differ_by_dash_as_well_as_by_colour():
    world, behavior = power_curves(CURVES).data
    assert world.line.dash != behavior.line.dash and world.line.color != behavior.line.color


def test_what_stands_beside_a_curve_is_dotted_in_its_colour_and_not_in_the_legend():
    curve = PowerCurve("world", ((10, 0.2), (50, 0.84)), ((10, 0.2), (50, 0.86)))
    shown, beside = power_curves([curve]).data
    assert (beside.line.dash, beside.line.color, beside.showlegend) == ("dot", shown.line.color, False)
    assert list(beside.y) == [0.2, 0.86]


def test_without_curves_the_figure_says_so():
    assert power_curves([]).layout.annotations[0].text == "Nothing to compare yet"
