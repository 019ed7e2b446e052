"""The published totals as a study: what they allow to say, and what they do not."""

import pytest

from frontend.dashboards.filters import Filters
from labapp.results.queries import study_content
from labapp.statistics.counts import Count
from labapp.statistics.differences import difference
from labapp.statistics.factorial import factorial
from tests.labapp.studies.published import BEHAVIOR_POINTS, WORLD_POINTS, published_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def content(pi):
    return study_content(published_study(), pi, Filters())


def test_the_known_arms_have_their_published_rates(content):
    cells = {row.arm.split(" / ")[0]: row.cells[-1] for row in content.rows}
    assert (cells["real only"].successes, cells["real only"].trials) == (26, 50)
    assert (cells["both grounded"].successes, cells["neither grounded"].successes) == (43, 29)
    assert (cells["real only"].low, cells["real only"].high) == (
        pytest.approx(0.3851, abs=5e-5),
        pytest.approx(0.6520, abs=5e-5),
    )


def test_the_unknown_arms_have_no_trials_no_rate_and_no_bounds(content):
    unknown = [row.cells[-1] for row in content.rows if row.arm in ("world only", "behavior only")]
    assert [(cell.trials, cell.rate, cell.low, cell.high) for cell in unknown] == [(0, None, None, None)] * 2


def test_main_effects_are_not_made_up_from_two_cells_of_four(content):
    assert content.effects == ()
    assert any("a cell of the design has no trials" in note for note in content.notes)


def test_the_published_main_effects_add_up_to_both_minus_neither():
    found = factorial({"all": [Count(43, 50), Count(0, 0), Count(0, 0), Count(29, 50)]})
    assert found.effects["main_a"] is None and found.effects["main_b"] is None
    assert 100 * found.effects["both"].estimate == pytest.approx(WORLD_POINTS + BEHAVIOR_POINTS)


@pytest.mark.parametrize("behavior_only", range(47))
def test_whatever_the_unknown_cells_are_their_difference_is_four_trials(behavior_only):
    cells = [Count(43, 50), Count(behavior_only + 4, 50), Count(behavior_only, 50), Count(29, 50)]
    effects = factorial({"all": cells}).effects
    assert 100 * effects["main_a"].estimate == pytest.approx(WORLD_POINTS)
    assert 100 * effects["main_b"].estimate == pytest.approx(BEHAVIOR_POINTS)


def test_fully_grounded_over_real_only_is_34_points_by_newcombe():
    found = difference(43, 50, 26, 50)
    assert (found.estimate, found.low, found.high) == (
        pytest.approx(0.34), pytest.approx(0.160, abs=5e-4), pytest.approx(0.492, abs=5e-4),
    )  # fmt: skip
