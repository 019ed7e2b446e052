"""Simulated beside real: numbers of the card, what it says without them, and what a blinded study keeps hidden."""

import csv
from io import StringIO

import pytest
from django.utils import timezone

from frontend.dashboards.filters import Filters
from frontend.dashboards.page import page_body
from labapp.evaluations.models import Evaluation
from labapp.evaluations.params import EvaluateOptions
from labapp.evaluations.services import study_evaluate
from labapp.results.queries import study_content
from labapp.results.simulated import agreement_sentence
from labapp.runs.models import Run
from labapp.statistics.differences import newcombe_bounds
from labapp.statistics.prediction import agreement
from labapp.studies.models import Study
from tests.labapp import builders
from tests.labapp.evaluations.conftest import complete, finished
from tests.labapp.results.conftest import build_study

pytestmark = pytest.mark.django_db
# In the order of the codes K42 to K70: real-only, UU, UG, GU, GG; of 10 nominal and 10 shifted rollouts each.
SUCCESSES = (8, 12, 14, 15, 18)


def card(study, user, **filters):
    return study_content(study, user, Filters(**filters)).simulated


@pytest.fixture
def evaluated(study) -> Evaluation:
    return finished(study, study.cell.worlds.get(name="measured"), SUCCESSES, amount="each", rollouts=10)


def test_without_an_evaluation_the_researcher_is_led_to_the_form_and_others_are_told(study, researcher, pi):
    missing = card(study, researcher)
    assert "Not evaluated in simulation yet" in missing.missing
    assert missing.action_href == f"/evaluations/new/?study={study.slug}"
    assert card(study, pi).action == ""
    assert "A researcher can launch it" in card(study, pi).missing


def test_while_it_is_made_the_card_says_how_far_it_is(study, researcher):
    options = EvaluateOptions(amount="each", rollouts=10)
    made = study_evaluate(actor=None, study=study, world=study.cell.worlds.get(name="measured"), options=options)
    Run.objects.filter(pk=made.run_id).update(progress_done=40, progress_total=100)
    found = card(study, researcher)
    assert "40 of 100 rollouts" in found.missing
    assert found.action_href == made.get_absolute_url()


def test_a_study_whose_policies_are_not_here_has_no_card(db, pi):
    imported = Study.objects.create(name="Elsewhere", slug="elsewhere", is_imported=True)
    imported.arms.create(code="A10", label="theirs")
    imported.conditions.create(slug="nominal", label="Nominal")
    assert card(imported, pi) is None


def test_each_arm_has_both_rates_and_their_difference_with_newcombes_interval(study, evaluated, pi, unblind):
    unblind(study)
    lines = {(line.pair.real.arm, line.pair.real.group): line for line in card(study, pi).lines}
    best = lines["policy GG", "all"]
    assert best.pair.simulated[2:4] == (18, 20)
    assert best.pair.real[2:4] == (43, 50)
    assert best.points == pytest.approx(4.0)
    assert (best.low / 100, best.high / 100) == pytest.approx(newcombe_bounds(18, 20, 43, 50))
    assert lines["policy GG", "nominal"].pair.simulated[2:4] == (10, 10)
    assert lines["policy GG", "shifted"].pair.real[2:4] == (21, 26)


def test_every_rate_opens_what_it_counts(study, evaluated, pi, browser_of):
    line = next(line for line in card(study, pi).lines if line.pair.real.group == "nominal")
    browser = browser_of(pi)
    assert browser.get(line.simulated_href).context["page"].paginator.count == line.pair.simulated.trials
    assert browser.get(line.real_href).context["page"].paginator.count == line.pair.real.trials


def test_over_the_arms_correlation_and_rank_violation_are_those_of_the_rates(study, evaluated, pi):
    found = card(study, pi)
    pairs = [line.pair for line in found.lines if line.pair.real.group == "all"]
    expected = agreement([p.simulated.rate for p in pairs], [p.real.rate for p in pairs])
    assert found.sentences[0] == agreement_sentence("all", expected)
    assert f"r = {expected.r:.2f}" in found.sentences[0]
    assert "0.0 points" in found.sentences[0]


@pytest.mark.parametrize(
    ("simulated", "real", "said"),
    [
        ([0.5, 0.6], [0.4, 0.7], "2 arms: no correlation is computed, that takes at least 3 arms"),
        ([0.5, 0.5, 0.5], [0.4, 0.5, 0.7], "the same rate for every arm"),
        ([0.1, 0.2, 0.4], [0.2, 0.3, 0.4], "too few arms for an interval"),
        ([0.1, 0.5, 0.3, 0.4], [0.2, 0.3, 0.4, 0.1], "do not show that simulation foretells the trials"),
    ],
)
def test_few_arms_claim_nothing(simulated, real, said):
    assert said in agreement_sentence("all", agreement(simulated, real))


def test_filters_of_the_page_hold_for_both_sides(study, evaluated, pi):
    found = card(study, pi, conditions=("nominal",), arms=("K70", "K63"))
    assert {line.pair.real.group for line in found.lines} == {"all"}
    assert [line.pair.simulated.trials for line in found.lines] == [10, 10]
    assert "2 arms: no correlation" in found.sentences[0]


def test_an_evaluation_that_was_finished_later_is_left_out_of_an_earlier_view(study, evaluated, pi):
    assert card(study, pi, until=evaluated.ready_at - timezone.timedelta(hours=1)).missing


def test_a_limit_in_time_holds_for_the_trials_that_a_rate_opens(study, evaluated, pi, browser_of):
    until = evaluated.ready_at + timezone.timedelta(hours=1)
    late = study.trials.filter(status="confirmed").first()
    late.confirmed_at = until + timezone.timedelta(days=1)
    late.save()
    lines = [line for line in card(study, pi, until=until).lines if line.pair.real.group == "all"]
    counts = [browser_of(pi).get(line.real_href).context["page"].paginator.count for line in lines]
    assert counts == [line.pair.real.trials for line in lines]
    assert sum(counts) == study.trials.filter(status="confirmed").count() - 1


def test_a_new_evaluation_is_a_new_version_of_the_data(study, evaluated, pi):
    before = study_content(study, pi, Filters()).data_version
    finished(study, evaluated.world, SUCCESSES, amount="each", rollouts=10)
    assert study_content(study, pi, Filters()).data_version != before


def test_an_arm_with_another_checkpoint_now_is_said_to_be_missing(study, evaluated, pi):
    evaluated.policies.filter(arm__code="K70").update(checkpoint=builders.checkpoint("former"))
    found = card(study, pi)
    assert any("Not evaluated with the checkpoint it has now" in note for note in found.notes)


def test_sides_that_mix_conditions_differently_are_told_apart(study, evaluated, pi):
    assert not any("mix the conditions" in note for note in card(study, pi).notes)
    rollouts = evaluated.conditions.get(slug="red-light").rollouts_made.all()
    rollouts.filter(number__gte=13).delete()
    assert any("mix the conditions" in note for note in card(study, pi).notes)


def test_while_blinded_researchers_see_codes_on_the_card_the_rows_and_the_report(
    study, evaluated, researcher, browser_of
):
    browser = browser_of(researcher)
    answers = [browser.get(f"/results/{study.slug}/{path}") for path in ("simulated.csv", "report.html")]
    seen = [b"".join(answer.streaming_content).decode() for answer in answers]
    seen.append(str(page_body(study_content(study, researcher, Filters()), Filters(), "light")))
    for text in seen:
        assert "K70" in text
        assert "policy GG" not in text
        assert "pick-and-sort-gg" not in text


def test_operators_get_nothing_of_it_while_the_study_is_blinded(study, evaluated, operator, browser_of):
    assert browser_of(operator).get(f"/results/{study.slug}/simulated.csv").status_code == 403


def test_the_rollouts_are_exported_as_the_page_filters_them(study, evaluated, pi, browser_of):
    answer = browser_of(pi).get(f"/results/{study.slug}/simulated.csv?conditions=red-light&arms=K70")
    rows = list(csv.DictReader(StringIO(b"".join(answer.streaming_content).decode())))
    assert len(rows) == 10
    assert {(row["arm"], row["policy"], row["condition"], row["is_shifted"]) for row in rows} == {
        ("K70", "policy GG", "red-light", "1")
    }
    assert sum(int(row["success"]) for row in rows) == 8


def test_a_study_without_an_evaluation_has_no_rollouts_to_export(study, pi, browser_of):
    assert browser_of(pi).get(f"/results/{study.slug}/simulated.csv").status_code == 404


def test_the_report_holds_figure_and_numbers(study, evaluated, pi, browser_of):
    text = b"".join(browser_of(pi).get(f"/results/{study.slug}/report.html").streaming_content).decode()
    assert "Simulated beside real" in text
    assert "18/20" in text and "43/50" in text


def test_invalid_rollouts_and_other_studies_count_for_nothing(study, evaluated, pi):
    other = build_study("another-study", {"real-only": (20, 20)})
    assert card(other, pi).missing
    rollout = evaluated.policies.get(arm__code="K70").rollouts.first()
    rollout.invalid_reason = "nan"
    rollout.save()
    best = next(line for line in card(study, pi).lines if line.pair.real.arm == "policy GG")
    assert best.pair.simulated.trials == 19


def test_a_run_that_ended_twice_is_stored_once(study, evaluated):
    complete(evaluated, SUCCESSES)
    assert evaluated.policies.first().rollouts.count() == 20
