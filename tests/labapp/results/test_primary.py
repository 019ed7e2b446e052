"""The primary comparisons of a plan that looks once are judged by the test, level and adjustment that it declared."""

import pytest

from frontend.dashboards.filters import Filters
from labapp.results.queries import study_content
from labapp.statistics.differences import difference
from labapp.statistics.multiplicity import holm
from labapp.statistics.paired import paired
from labapp.statistics.wording import p_value, points
from tests.labapp.results.conftest import build_study
from tests.labapp.results.looked import looked_study, run_blocks

pytestmark = pytest.mark.django_db
BOTH, WORLD_ONLY, BEHAVIOR_ONLY, NEITHER, REAL_ONLY = "K70", "K63", "K56", "K49", "K42"  # 43 41 37 29 26 of 50


def lines(user, *plans: dict) -> list[str]:
    """The sentences of one study under each of these plans."""
    study, told = build_study(), []
    for study.analysis_plan in plans:
        told += [line.sentence for line in study_content(study, user, Filters()).primary]
    return told


def test_without_primary_comparisons_there_is_no_card(pi):
    assert lines(pi, {"primary": [], "alpha": 0.05}) == []


@pytest.mark.parametrize("test", ["boschloo", "barnard", "fisher"])
def test_a_pair_is_judged_by_the_declared_test(pi, test):
    (sentence,) = lines(pi, {"primary": [f"{BOTH}:{NEITHER}"], "test": test})
    found = difference(43, 50, 29, 50, test=test)
    assert sentence.startswith("Policy GG succeeded more often than policy UU: +28.0 points (95% interval ")
    assert f"{test.capitalize()} {p_value(found.p)}" in sentence and "adjusted" not in sentence


def test_holm_counts_the_primary_comparisons_alone_and_can_take_a_verdict_back(pi):
    keys = [
        f"{BEHAVIOR_ONLY}:{REAL_ONLY}",
        f"{WORLD_ONLY}:{NEITHER}",
        f"{WORLD_ONLY}:{BOTH}",
        f"{BOTH}:{BEHAVIOR_ONLY}",
    ]
    counts = [(37, 26), (41, 29), (41, 43), (43, 37)]
    raw = [difference(k1, 50, k2, 50).p for k1, k2 in counts]
    told = lines(pi, {"primary": keys}, {"primary": keys, "adjustment": "holm"})
    alone, together = told[:4], told[4:]
    assert raw[0] < 0.05 < holm(raw)[0] * 2  # a verdict that hangs on the adjustment
    for sentence, adjusted in zip(together, holm(raw), strict=True):
        assert f"adjusted {p_value(adjusted)}" in sentence and "98.75% interval" in sentence
        assert ("more often" in sentence) is (adjusted < 0.05)
    assert ["more often" in sentence for sentence in alone] == [p < 0.05 for p in raw]


def test_what_is_not_shown_names_the_detectable_effect_and_claims_no_equality(pi):
    (sentence,) = lines(pi, {"primary": [f"{WORLD_ONLY}:{BOTH}"]})
    assert sentence.startswith("No difference between policy GU and policy GG shown: −4.0 points")
    assert sentence.endswith("points with 80% power.")


def test_effects_are_judged_at_the_declared_level(pi):
    strict, usual = lines(pi, *({"primary": ["main_b"], "alpha": alpha} for alpha in (0.01, 0.2)))
    assert strict.startswith("No effect of behavior grounding shown: +10.0 points (99% interval ")
    assert usual.startswith("Behavior grounding raised success: +10.0 points (80% interval ")


def test_filters_of_the_page_leave_the_verdicts_alone(pi):
    study = build_study(analysis_plan={"primary": ["main_a", f"{BOTH}:{NEITHER}"]})
    whole = study_content(study, pi, Filters())
    part = study_content(study, pi, Filters(conditions=("nominal",), arms=(BOTH,), confidence=0.8))
    assert whole.primary == part.primary and len(whole.primary) == 2


def test_a_paired_plan_pairs_the_trials_of_a_block(pi):
    study = looked_study(pi, {"test": "mcnemar"}, ["GG:real"])
    run_blocks(study, 1, 20)
    (line,) = study_content(study, pi, Filters()).primary
    found = paired(10, 0, 20)
    assert f"{points(found.low)} to {points(found.high)}, exact McNemar {p_value(found.p)}" in line.sentence
    assert "+50.0 points" in line.sentence and "arms=" in line.href


def test_a_comparison_without_trials_cannot_be_judged_and_keeps_its_place(pi):
    study = build_study(analysis_plan={"primary": [f"{BOTH}:{NEITHER}", f"{BOTH}:{REAL_ONLY}"], "adjustment": "holm"})
    study.arms.get(code=NEITHER).trials.all().delete()
    first, second = study_content(study, pi, Filters()).primary
    assert "cannot be judged" in first.sentence
    assert f"adjusted {p_value(2 * difference(43, 50, 26, 50).p)}" in second.sentence


def test_a_plan_that_looks_leaves_its_comparisons_to_the_card_of_looks(pi):
    assert lines(pi, {"primary": ["main_a"], "stopping": "group-sequential", "looks": 3}) == []


def test_primary_comparisons_tell_no_codes_apart_while_the_study_is_blinded(researcher):
    assert lines(researcher, {"primary": [f"{BOTH}:{NEITHER}"]}) == []


def test_page_and_report_carry_them(pi, browser_of):
    study = build_study(analysis_plan={"primary": ["main_a"]})
    answer = browser_of(pi).get(f"/results/{study.slug}/report.html")
    report = b"".join(answer.streaming_content).decode()
    assert "<h2>Primary comparisons</h2>" in report and "World grounding raised success: +18.0 points" in report
