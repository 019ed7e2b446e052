"""Declared margins with their verdicts, and the caution about looking before the plan does."""

import pytest

from frontend.dashboards.filters import Filters
from labapp.results.queries import study_content
from labapp.studies.models import Trial
from tests.labapp.results.conftest import build_study

pytestmark = pytest.mark.django_db
BOTH, WORLD_ONLY, REAL_ONLY = "K70", "K63", "K42"  # 43, 41 and 26 of 50


def margin(kind: str, first: str, second: str, size: float = 0.1) -> dict:
    return {"kind": kind, "first": first, "second": second, "margin": size}


def margins(user, *declared: dict) -> tuple[str, ...]:
    content = study_content(build_study(analysis_plan={"margins": list(declared)}), user, Filters())
    return tuple(line.sentence for line in content.margins)


@pytest.mark.parametrize(
    ("declared", "verdict"),
    [
        (margin("non_inferiority", BOTH, REAL_ONLY), "Policy GG is not worse than policy real-only by 10 points"),
        (margin("non_inferiority", REAL_ONLY, BOTH), "Policy real-only is worse than policy GG by more than 10 points"),
        (margin("equivalence", BOTH, WORLD_ONLY), "Not shown that policy GG is equivalent to policy GU within 10"),
        (margin("equivalence", BOTH, WORLD_ONLY, 0.3), "Policy GG is equivalent to policy GU within 30 points"),
        (margin("equivalence", BOTH, REAL_ONLY), "Policy GG is better than policy real-only by more than 10 points"),
    ],
)
def test_a_declared_margin_gets_its_verdict_with_interval(pi, declared, verdict):
    (sentence,) = margins(pi, declared)
    assert sentence.startswith(verdict)
    assert "90% interval" in sentence and "p " in sentence


def test_an_arm_without_trials_cannot_be_judged(pi):
    study = build_study(analysis_plan={"margins": [margin("equivalence", BOTH, WORLD_ONLY)]})
    Trial.objects.filter(arm__code=WORLD_ONLY).delete()
    assert "cannot be judged" in study_content(study, pi, Filters()).margins[0].sentence


def test_a_margin_tells_no_codes_apart_while_the_study_is_blinded(researcher):
    assert margins(researcher, margin("equivalence", BOTH, WORLD_ONLY)) == ()


@pytest.mark.parametrize(
    ("plan", "caution"),
    [
        ({"stopping": "fixed"}, "the plan looks at the data once, at the end"),
        ({"stopping": "group-sequential", "looks": 3}, "the plan looks at the data 3 times"),
        ({"stopping": "anytime"}, None),
        ({}, None),
        ({"primary": "in other words"}, None),
    ],
)
def test_looking_before_the_plan_does_is_a_caution(pi, plan, caution):
    notes = study_content(build_study(analysis_plan=plan), pi, Filters()).notes
    found = [note for note in notes if "no conclusion yet" in note]
    assert (len(found) == 1 and caution in found[0]) if caution else found == []
