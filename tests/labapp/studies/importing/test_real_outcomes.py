"""Real paired rollouts of two methods in two kinds of clutter: the published effects come out."""

import pytest

from frontend.dashboards.filters import Filters
from labapp.results.queries import study_content
from labapp.statistics.counts import Count
from labapp.statistics.factorial import factorial
from labapp.statistics.paired import discordant_pairs, paired
from labapp.studies.importing.defaults import guess_import
from labapp.studies.importing.services import study_import
from labapp.studies.importing.tables import TableFile, read_files
from labapp.studies.models import Study
from tests.labapp.studies.design.conftest import NOW

pytestmark = pytest.mark.django_db
NAMES = ("semantic_n10.csv", "control_n10.csv")


@pytest.fixture
def study(shared_data) -> Study:
    """Both files as one study, with the guessed mapping and nothing else."""
    folder = shared_data / "outcomes_pi0_spoon"
    files = [TableFile(name, (folder / name).read_text()) for name in NAMES]
    rows = read_files(files, guess_import(files))
    return study_import(name="Spoon", rows=rows, actor=None, is_simulated=True, now=NOW)


def cell(study: Study, method: str, category: str) -> Count:
    trials = study.trials.filter(arm__factors={"method": method, "category": category})
    return Count(trials.filter(is_success=True).count(), trials.count())


def outcomes(study: Study, method: str, category: str) -> dict[str, bool]:
    trials = study.trials.filter(arm__factors={"method": method, "category": category})
    return dict(trials.values_list("block_label", "is_success"))


def test_main_effects_are_plus_16_and_minus_5_and_half_the_interaction_5_5_points(study):
    order = [("cgvd", "semantic"), ("cgvd", "control"), ("baseline", "semantic"), ("baseline", "control")]
    found = factorial({"all": [cell(study, *levels) for levels in order]})
    assert 100 * found.effects["main_a"].estimate == pytest.approx(16.0)
    assert 100 * found.effects["main_b"].estimate == pytest.approx(-5.0)
    assert 100 * found.half_interaction == pytest.approx(5.5)


@pytest.mark.parametrize(("category", "n10", "n01", "p"), [("semantic", 66, 23, 5.7e-6), ("control", 45, 24, 0.0154)])
def test_discordant_pairs_and_the_exact_mcnemar_test(study, category, n10, n01, p):
    first, second = outcomes(study, "cgvd", category), outcomes(study, "baseline", category)
    pairs = discordant_pairs(first, second)
    assert pairs == (n10, n01, 200)
    assert paired(*pairs).p == pytest.approx(p, rel=0.01)


def test_the_results_page_shows_the_effects(study, pi):
    content = study_content(study, pi, Filters())
    points = {line.point.effect: line.point.points for line in content.effects}
    assert points == {
        "method cgvd over baseline": pytest.approx(16.0),
        "category semantic over control": pytest.approx(-5.0),
        "interaction": pytest.approx(11.0),
    }
    half = next(line.sentence for line in content.effects if line.point.effect == "interaction")
    assert "interaction" in half.lower()


def test_the_results_page_compares_the_methods_pair_by_pair_within_each_file(study, pi):
    lines = study_content(study, pi, Filters()).paired
    assert sorted((line.only_first, line.only_second, line.pairs) for line in lines) == [(45, 24, 200), (66, 23, 200)]
    assert sorted(line.p for line in lines) == [pytest.approx(5.7e-6, rel=0.01), pytest.approx(0.0154, rel=0.01)]
    assert all(line.sentence.startswith("Cgvd") and "pair by pair" in line.sentence for line in lines)
    assert all(0 < line.low <= line.points <= line.high for line in lines)
