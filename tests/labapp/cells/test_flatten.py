"""Worlds as named values, and two side by side."""

from labapp.cells.flatten import compare, named_values
from tests.labapp.made import NOMINAL, grounded_parameters


def test_vectors_stay_on_one_line_and_the_grounded_mark_is_left_out():
    pairs = {pair.name: pair for pair in compare(NOMINAL, grounded_parameters())["layout"]}
    assert list(pairs) == ["belt_offset"]
    assert pairs["belt_offset"].delta == [-0.02, 0.0, 0.015]
    assert pairs["belt_offset"].unit == "m"


def test_a_camera_that_one_world_does_not_name_is_as_described():
    pairs = {pair.name: pair for pair in compare(NOMINAL, grounded_parameters())["visual"]}
    assert pairs["cameras.head.focal_scale"].a == 1.0
    assert pairs["cameras.head.focal_scale"].label == "head focal_scale"
    blur = pairs["cameras.head.blur_sigma_px"]
    assert (blur.label, blur.unit) == ("head blur_sigma", "px")
    assert round(pairs["cameras.head.focal_scale"].delta, 12) == 0.01


def test_a_world_differs_from_itself_nowhere():
    found = compare(grounded_parameters(), grounded_parameters())
    assert all(pair.is_same for pairs in found.values() for pair in pairs)


def test_values_of_other_kinds_are_compared_as_they_are():
    (pair,) = compare({"layout": {"bin": "left"}}, {"layout": {"bin": "right"}})["layout"]
    assert (pair.delta, pair.is_same) == (None, False)


def test_nested_residuals_get_dotted_names():
    assert named_values({"head": {"reprojection_px": 0.2}}) == {"head.reprojection_px": 0.2}
