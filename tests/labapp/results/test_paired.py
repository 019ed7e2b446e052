"""Arms compared over pairs, counted by the database."""

import pytest
from django.utils import timezone

from frontend.dashboards.filters import Filters
from labapp.results.links import TrialLinks
from labapp.results.paired import block_patterns, paired_lines, paired_sentence
from labapp.results.reading import Reading, Tally
from labapp.results.tallies import selected_trials
from labapp.statistics.paired import paired
from labapp.studies.arms import study_arms
from labapp.studies.importing.outcome_tables import ArmColumns, TableMapping
from labapp.studies.importing.services import study_import
from labapp.studies.importing.tables import ImportMapping, TableFile, read_files
from labapp.studies.models import Study

pytestmark = pytest.mark.django_db
TABLE = TableMapping(outcomes=(ArmColumns("ok"),), arm="policy", block=("seed",), condition="light")


@pytest.fixture
def imported():
    def make(text: str) -> Study:
        rows = read_files([TableFile("t.csv", text)], ImportMapping(TABLE))
        return study_import(name="Pairs", rows=rows, actor=None, is_simulated=True, now=timezone.now())

    return make


def lines(study: Study):
    arms, links = tuple(study_arms(study, with_names=True)), TrialLinks.of(study, None)
    return paired_lines(study, selected_trials(study, Filters()), Reading(arms, (), Tally([]), 0.95, links))


def test_pairs_are_counted_within_their_condition(imported):
    study = imported("policy,seed,light,ok\nA,1,white,1\nB,1,white,0\nA,1,red,1\nB,1,red,1\nA,2,red,0\nB,2,red,1\n")
    (line,) = lines(study)
    assert (line.pairs, line.only_first, line.only_second, line.points) == (3, 1, 1, 0.0)


def test_an_arm_alone_or_twice_in_a_block_gives_no_pair(imported):
    study = imported("policy,seed,light,ok\nA,1,w,1\nB,2,w,0\nA,3,w,1\nA,3,w,0\nB,3,w,1\n")
    assert lines(study) == ()
    assert sum(count for _, count in block_patterns(selected_trials(study, Filters()))) == 3


def test_a_study_of_our_own_is_compared_in_pairs_only_where_its_plan_says_so(study):
    assert lines(study) == ()
    study.analysis_plan = {"test": "mcnemar"}
    assert lines(study) == ()  # its trials have no slots, so no blocks


def test_the_sentence_claims_no_more_than_the_test():
    assert paired_sentence("A", "B", paired(66, 23, 200)).startswith("A succeeded more often than B, pair by pair")
    same = paired_sentence("A", "B", paired(4, 4, 20))
    assert same.startswith("No difference between A and B shown: 0.0 points")
    assert "p = 1.00" in paired_sentence("A", "B", paired(0, 0, 20))
