"""The card of a plan's stopping rule, in every state of a study."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from frontend.dashboards.content import LooksCard
from frontend.dashboards.filters import Filters
from labapp.results.queries import study_content
from labapp.studies import amendments, services
from labapp.studies.models import Trial
from labapp.studies.trials import trial_invalidate
from tests.labapp.results.looked import ANYTIME, CLEAR, LOOKS, arm, card, looked_study, moment, run_blocks

pytestmark = pytest.mark.django_db
EVEN = dict.fromkeys(CLEAR, 0.5)


def sentences(looks: LooksCard) -> str:
    return " ".join(comparison.sentence for comparison in looks.comparisons)


@pytest.mark.parametrize("plan", [{"stopping": "fixed"}, {}, {"primary": "in other words"}])
def test_a_plan_without_looks_has_no_card(pi, study, plan) -> None:
    study.analysis_plan = plan
    assert study_content(study, pi, Filters()).looks is None


def test_a_fixed_plan_says_that_figures_are_provisional_while_trials_are_to_come(pi) -> None:
    study = looked_study(pi, {"stopping": "fixed"})
    content = study_content(study, pi, Filters())
    assert content.looks is None
    assert any("once, at the end: these figures are no conclusion yet" in note for note in content.notes)


def test_without_a_trial_nothing_is_judged(pi) -> None:
    looks = card(looked_study(pi, LOOKS, ["main_a"]), pi)
    assert (looks.verdict, looks.finished, looks.planned, looks.look_blocks) == ("go on", 0, 20, (5, 10, 15, 20))
    assert looks.position == "0 of 20 blocks are finished; next look after block 5 of 20"
    assert looks.sentence == "Go on: the first look comes after block 5; nothing is judged before."
    assert "not judged yet" in sentences(looks)


def test_before_the_first_look_the_statistics_stay_unjudged(pi) -> None:
    study = looked_study(pi, LOOKS, ["main_a"])
    run_blocks(study, 1, 4)
    looks = card(study, pi)
    assert looks.comparisons[0].path.zs == ()
    assert "nothing is judged before" in looks.sentence


def test_a_crossed_boundary_stops_the_study_and_says_at_which_look(pi) -> None:
    study = looked_study(pi, LOOKS, ["main_a"])
    run_blocks(study, 1, 12)
    looks = card(study, pi)
    assert (looks.verdict, looks.sentence) == ("stop", "Stop: boundary crossed at look 1.")
    assert looks.comparisons[0].path.crossed_block == 5
    assert sentences(looks).startswith("World grounding raised success: boundary crossed at look 1, after block 5")


def test_between_looks_only_the_data_up_to_the_look_count(pi) -> None:
    study = looked_study(pi, LOOKS, ["GG:UU", "main_b"])
    run_blocks(study, 1, 5, EVEN)
    at_look = card(study, pi).comparisons
    run_blocks(study, 6, 9)
    assert card(study, pi).comparisons == at_look
    assert card(study, pi).sentence == "Go on: no boundary crossed up to look 1."


def test_what_is_decided_stays_decided_and_hands_its_share_on(pi) -> None:
    study = looked_study(pi, LOOKS, ["main_a", "main_b"])
    run_blocks(study, 1, 10)
    looks = card(study, pi)
    world, behavior = (comparison.path for comparison in looks.comparisons)
    assert looks.sentence == "Go on: world grounding is decided, at look 2. The other comparisons are open."
    assert world.crossed_block == 10
    assert behavior.boundaries[1] < world.boundaries[1]  # alpha instead of alpha / 2
    assert len(behavior.boundaries) == 4
    assert "split over 2 comparisons (0.025 each" in " ".join(looks.notes)


def test_the_last_look_ends_the_study_without_claiming_equality(pi) -> None:
    study = looked_study(pi, LOOKS, ["main_b"])
    run_blocks(study, 1, 20)
    looks = card(study, pi)
    assert looks.verdict == "stop"
    assert looks.sentence == "Stop: the last look is taken. No effect or difference shown: behavior grounding."
    assert looks.position.endswith("every look is taken")


def test_a_study_ended_before_its_last_look_stays_undecided(pi) -> None:
    study = looked_study(pi, LOOKS, ["main_b"])
    run_blocks(study, 1, 7, EVEN)
    services.study_finish(study=study, actor=pi, reason="the belt broke", now=moment(8))
    study.refresh_from_db()
    assert card(study, pi).sentence.startswith("The study ended after block 7, before its last look.")
    assert card(study, pi, until=moment(7)).verdict == "go on"


def test_an_unfinished_block_holds_its_look_back(pi) -> None:
    study = looked_study(pi, LOOKS, ["GG:UU"])
    run_blocks(study, 1, 4)
    run_blocks(study, 6, 9)
    assert card(study, pi).finished == 4
    run_blocks(study, 5, 5)
    assert card(study, pi).finished == 9


def test_an_invalid_trial_makes_its_block_wait_for_the_repeat(pi) -> None:
    study = looked_study(pi, LOOKS, ["GG:UU"])
    run_blocks(study, 1, 6)
    before = card(study, pi)
    trial = study.trials.get(slot__block=3, arm=arm(study, "GU"))
    trial_invalidate(trial=trial, reason="the lamp fell", version=trial.version, actor=pi, now=timezone.now())
    waiting = card(study, pi)
    assert (before.finished, waiting.finished) == (6, 2)
    assert waiting.comparisons[0].path.zs == ()
    run_blocks(study, 3, 3)
    assert card(study, pi).finished == 6
    assert card(study, pi).comparisons == before.comparisons


def test_a_withdrawn_arm_holds_nothing_up_and_its_comparisons_are_judged_no_more(pi) -> None:
    study = looked_study(pi, LOOKS, ["GG:real", "GG:GU"])
    run_blocks(study, 1, 6)
    amendments.arm_amend_withdrawn(
        study=study, arm=arm(study, "real"), reason="it hits the belt", actor=pi, now=moment(7)
    )
    run_blocks(study, 7, 12)
    looks = card(study, pi)
    gone, stays = (comparison.path for comparison in looks.comparisons)
    assert looks.finished == 12
    assert gone.zs[0] is not None and gone.zs[1] is None
    assert len(stays.zs) == 2 and None not in stays.zs
    assert "not judged at look 2, for an arm lacks trials" in sentences(looks)
    assert card(study, pi, until=moment(6)).finished == 6
    assert card(study, pi, until=moment(6)).comparisons[0].path.zs == gone.zs[:1]


def test_when_every_open_comparison_lost_its_arm_there_is_nothing_to_wait_for(pi) -> None:
    study = looked_study(pi, LOOKS, ["GG:real"])
    run_blocks(study, 1, 6, EVEN)
    amendments.arm_amend_withdrawn(
        study=study, arm=arm(study, "real"), reason="it hits the belt", actor=pi, now=moment(7)
    )
    run_blocks(study, 7, 12)
    assert card(study, pi).sentence.startswith("Stop: what is open lost an arm")


def test_added_blocks_lie_beyond_the_plans_last_look(pi) -> None:
    study = looked_study(pi, LOOKS, ["main_b"])
    run_blocks(study, 1, 20)
    before = card(study, pi)
    amendments.trials_add(study=study, extra={"nominal": 5}, reason="to be sure", actor=pi, now=timezone.now())
    run_blocks(study, 21, 25, CLEAR)
    looks = card(study, pi)
    assert (looks.planned, looks.finished, looks.sentence) == (20, 20, before.sentence)
    assert "Blocks after 20 were added later" in " ".join(looks.notes)


def test_without_primary_comparisons_all_pairs_share_the_level(pi) -> None:
    study = looked_study(pi, {"stopping": "group-sequential", "looks": 2})
    looks = card(study, pi)
    assert len(looks.comparisons) == 10
    assert "split over 10 comparisons (0.005 each" in " ".join(looks.notes)


def test_a_plan_without_adjustment_is_told_as_such(pi) -> None:
    plan = {"stopping": "group-sequential", "looks": 2, "adjustment": "none"}
    assert "declares no adjustment" in " ".join(card(looked_study(pi, plan, ["main_a", "main_b"]), pi).notes)


def test_filters_of_the_page_leave_the_looks_alone(pi) -> None:
    study = looked_study(pi, LOOKS, ["main_a"])
    run_blocks(study, 1, 12)
    assert card(study, pi, conditions=("nominal",), arms=(arm(study, "GG").code,)) == card(study, pi)


def test_a_permalink_into_the_past_gives_the_looks_of_that_moment(pi) -> None:
    study = looked_study(pi, LOOKS, ["main_a"])
    run_blocks(study, 1, 9)
    then = card(study, pi)
    run_blocks(study, 10, 20)
    assert card(study, pi, until=moment(9) + timedelta(minutes=1)) == then
    assert card(study, pi) != then


def test_an_anytime_plan_may_be_read_after_every_block(pi) -> None:
    study = looked_study(pi, ANYTIME, ["GG:UU", "main_b"])
    assert card(study, pi).sentence == "Go on: no block is finished yet."
    run_blocks(study, 1, 8)
    looks = card(study, pi)
    assert looks.sentence.startswith("Go on: nothing is decided after 8 blocks. Stopping now is allowed")
    run_blocks(study, 9, 19)
    looks = card(study, pi)
    behavior, pair = looks.comparisons
    assert pair.path.decided_at is not None and behavior.path.decided_at is None
    assert pair.sentence.startswith("GG succeeded more often than UU: decided at block ")
    assert pair.path.lows[-1] > 0 > behavior.path.lows[-1]
    assert looks.sentence.startswith("Go on: 1 of 2 comparisons are decided after 19 blocks")
    assert study_content(study, pi, Filters()).notes == ()


def test_an_anytime_study_stops_once_all_is_decided_or_its_blocks_are_run(pi) -> None:
    study = looked_study(pi, ANYTIME, ["main_a"])
    run_blocks(study, 1, 20)
    assert card(study, pi).sentence.startswith("Stop: decided at block ")
    study.analysis_plan |= {"primary": ["main_b"]}
    assert card(study, pi).sentence.startswith("The blocks end after 20: nothing is decided.")


def test_a_blinded_study_shows_looks_by_code_and_hides_those_of_effects(pi, researcher) -> None:
    study = looked_study(pi, LOOKS, ["main_a", "GG:UU"])
    run_blocks(study, 1, 10)
    looks = card(study, researcher)
    (pair,) = looks.comparisons
    code = arm(study, "GG").code
    assert pair.label == f"{code} − {arm(study, 'UU').code}"
    assert "world" not in json.dumps([pair.sentence, looks.command, looks.sentence]).lower()
    assert looks.verdict == "go on" and "unless the PI says otherwise" in looks.sentence
    assert "stay hidden until the PI unblinds" in looks.notes[0]
    assert "split over 2 comparisons" in looks.notes[1]
    assert len(card(study, pi).comparisons) == 2


def test_only_effects_of_a_blinded_study_leave_nothing_to_a_researcher(pi, researcher) -> None:
    looks = card(looked_study(pi, LOOKS, ["main_a"]), researcher)
    assert looks.comparisons == () and "stay hidden" in looks.missing


def test_an_operator_gets_neither_page_nor_looks_of_a_blinded_study(pi, operator, browser_of) -> None:
    study = looked_study(pi, LOOKS)
    assert browser_of(operator).get(f"/results/{study.slug}/").status_code == 403
    assert browser_of(operator).get(f"/results/{study.slug}/looks.csv").status_code == 403


def test_looks_cost_four_small_queries(pi, django_assert_max_num_queries) -> None:
    from labapp.results.declared import declared_plan
    from labapp.results.looks import looks_card
    from labapp.studies.arms import study_arms

    study = looked_study(pi, LOOKS, ["main_a"])
    run_blocks(study, 1, 12)
    arms, plan = study_arms(study, with_names=True), declared_plan(study)
    with django_assert_max_num_queries(4):
        looks_card(study, arms, plan, Filters(), with_names=True)


def test_a_study_of_very_many_blocks_is_left_to_the_command_line(pi, monkeypatch) -> None:
    from labapp.results import looks

    monkeypatch.setitem(looks.LARGEST_BLOCKS, "anytime", 19)
    found = card(looked_study(pi, ANYTIME), pi)
    assert found.comparisons == () and "More than 19 blocks: export the rows" in found.missing


def test_trials_of_another_study_do_not_count(pi) -> None:
    study = looked_study(pi, LOOKS, ["main_a"])
    run_blocks(study, 1, 5)
    assert Trial.objects.filter(study=study).count() == 25
    assert card(study, pi).finished == 5
