"""Checks on demand: drift, operators, sessions, copies; by SQL aggregates, as from rows."""

from datetime import timedelta

import numpy as np
import pytest

from frontend.dashboards.filters import Filters
from labapp.results.checks import copied_blocks, find_cautions, trend_sums
from labapp.results.tallies import selected_trials
from labapp.statistics.cautions import stratified_trend, trend_test
from labapp.studies.models import PolicyArm, Study
from tests.labapp.results.conftest import START, add_trials, build_study


@pytest.fixture
def empty(db) -> Study:
    return build_study(successes={"GG": (0, 0), "UU": (0, 0)})


@pytest.fixture
def arm(empty: Study) -> PolicyArm:
    empty.trials.all().delete()
    return empty.arms.get(label="policy GG")


def cautions(study: Study) -> str:
    return " ".join(find_cautions(selected_trials(study, Filters())))


def test_successes_first_and_failures_last_are_drift(empty: Study, arm: PolicyArm) -> None:
    add_trials(arm, empty.conditions.first(), 20, 40)  # in order of time: 20 successes, then 20 failures
    assert "Success fell over the study" in cautions(empty)


def test_sums_from_sql_give_the_test_from_rows(empty: Study, arm: PolicyArm) -> None:
    rng = np.random.default_rng(3)
    nominal = empty.conditions.first()
    success = rng.random(30) < 0.6
    for i, is_success in enumerate(success):
        add_trials(arm, nominal, int(is_success), 1, started_at=START + timedelta(seconds=40 * i * i))
    z, p = stratified_trend(success, [40 * i * i for i in range(30)], ["all"] * 30)
    assert trend_test(trend_sums(selected_trials(empty, Filters()))) == pytest.approx((z, p), abs=1e-6)


def test_operators_who_score_differently_are_told(empty: Study, arm: PolicyArm) -> None:
    nominal = empty.conditions.first()
    add_trials(arm, nominal, 28, 30, operator_label="ann", started_at=START)
    add_trials(arm, nominal, 10, 30, operator_label="ben", started_at=START)
    assert "differs between operators" in cautions(empty)


def test_an_even_study_raises_nothing(empty: Study, arm: PolicyArm) -> None:
    nominal = empty.conditions.first()
    for name in ("ann", "ben"):
        add_trials(arm, nominal, 15, 30, operator_label=name, started_at=START)
    assert cautions(empty) == ""


def test_a_block_entered_twice_is_told(empty: Study, arm: PolicyArm) -> None:
    nominal, other = empty.conditions.first(), empty.arms.get(label="policy UU")
    for block in ("7", "9"):
        for each, seconds in ((arm, 4.217), (other, 5.011)):
            add_trials(each, nominal, 1, 1, block_label=block, duration_s=seconds)
    add_trials(arm, nominal, 1, 1, block_label="8", duration_s=4.217)
    assert copied_blocks(selected_trials(empty, Filters())) == [["7", "9"]]
    assert "7 and 9" in cautions(empty)


def test_drift_is_looked_for_among_trials_whose_start_is_known(empty: Study, arm: PolicyArm) -> None:
    nominal = empty.conditions.first()
    add_trials(arm, nominal, 15, 30, started_at=None)
    assert cautions(empty) == "No trial tells when it began: drift over time cannot be seen."
    known = trend_test(trend_sums(selected_trials(empty, Filters())))
    assert known == (0.0, 1.0)
    add_trials(arm, nominal, 20, 40)
    assert "Success fell over the study" in cautions(empty)
    assert "30 of 70 trials do not tell when they began" in cautions(empty)
