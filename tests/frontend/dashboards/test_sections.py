"""Parts of the results page, and what the page says of pairs in a sentence."""

from frontend.dashboards.content import ComparisonLine
from frontend.dashboards.parts import differing_pairs
from frontend.dashboards.sections import Part, sections


def line(first: str, second: str, points: float, p: float) -> ComparisonLine:
    return ComparisonLine(first, second, points, points - 10, points + 10, p)


def test_only_parts_with_cards_are_there_and_linked():
    bar, *parts = sections(
        [Part("success", "Success", ["table"]), Part("looks", "Looks", []), Part("ends", "Ends", ["x"])]
    )
    assert [link.href for link in bar.children] == ["#success", "#ends"]
    assert [part.id for part in parts] == ["success", "ends"]


def test_the_better_arm_of_a_pair_stands_first():
    lines = [line("A", "B", -20.0, 0.01), line("A", "C", 5.0, 0.6)]
    assert differing_pairs(lines, 0.05) == "1 of 2 pairs differs: B above A, 20.0 points."
    assert differing_pairs(lines, 0.001) == "No pair of arms is shown to differ."


def test_many_pairs_are_counted_and_a_few_named():
    lines = [line("A", str(number), 30.0, 0.001) for number in range(6)]
    text = differing_pairs(lines, 0.05)
    assert text.startswith("6 of 6 pairs differ: A above 0, 30.0 points; ") and text.endswith("; and 2 more.")


def test_two_arms_are_no_list_of_pairs():
    assert differing_pairs([line("A", "B", 12.0, 0.02)], 0.05) == "The two arms differ: A above B, 12.0 points."
