"""The design page: edited while draft, power before the lock, read and amended afterwards."""

import pytest

from labapp.studies.models import Condition, Study
from tests.labapp import builders
from tests.labapp.studies.design.conftest import as_query

pytestmark = pytest.mark.django_db


def url(study: Study, rest: str = "") -> str:
    return f"/studies/{study.slug}/design/{rest}"


def post(client, path: str, values: dict):
    return client.post(path, as_query(values).urlencode(), content_type="application/x-www-form-urlencoded")


def test_the_page_opens_with_the_papers_conditions(draft, researcher, browser_of):
    page = browser_of(researcher).get(url(draft)).content.decode()
    assert "Faster belt" in page and "50 blocks of 5 trials" in page
    assert "Assumptions to plan with, not results" in page


@pytest.mark.parametrize("role", ["operator", "researcher", "pi"])
def test_only_researchers_and_pis_design(role, draft, make_user, request, browser_of):
    user = request.getfixturevalue("researcher") if role == "researcher" else make_user(role)
    expected = 403 if role == "operator" else 200
    client = browser_of(user)
    assert client.get(url(draft)).status_code == expected
    assert client.get(url(draft, "power/")).status_code == expected
    assert (post(client, f"/studies/{draft.slug}/amend/note/", {"note-reason": "x"}).status_code == 403) is (
        role == "operator"
    )


def test_a_stranger_signs_in_first(draft, client):
    assert client.get(url(draft)).status_code == 302


def test_saving_changes_the_draft_and_keeps_codes(draft, researcher, browser_of, sent):
    codes = set(draft.arms.values_list("code", flat=True))
    values = sent(draft, seed=77, time_limit_s=9, question="Which one?", primary=["main_a", "main_b"])
    values["conditions-0-trials_per_arm"] = 12
    answer = post(browser_of(researcher), url(draft), values)
    assert answer.status_code == 302
    draft.refresh_from_db()
    assert (draft.seed, draft.time_limit_s, draft.question) == (77, 9.0, "Which one?")
    assert draft.analysis_plan["primary"] == ["main_a", "main_b"]
    assert draft.conditions.get(slug="nominal").trials_per_arm == 12
    assert set(draft.arms.values_list("code", flat=True)) == codes


def test_a_preset_replaces_the_conditions(draft, researcher, browser_of, sent):
    client = browser_of(researcher)
    post(client, url(draft), sent(draft, preset="quick"))
    assert sum(draft.conditions.values_list("trials_per_arm", flat=True)) < 15
    draft.refresh_from_db()
    post(client, url(draft), sent(draft, preset="paper"))
    assert list(draft.conditions.values_list("slug", "trials_per_arm")) == [
        ("nominal", 24), ("red-light", 9), ("faster-belt", 8), ("novel-objects", 8), ("all-shifts", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time_limit_s": "0"}, "greater than or equal to 1"),
        ({"conditions-0-trials_per_arm": "-3"}, "greater than or equal to 0"),
        ({"conditions-0-belt_speed_max": "0.01"}, "ends below its start"),
        ({"conditions-0-label": ""}, "Name the condition"),
        ({"conditions-1-label": "Nominal"}, "Two conditions are called"),
        ({"alpha": "5"}, "less than or equal to 0.2"),
        ({"stopping": "group-sequential", "looks": "1"}, "2 to 10 looks"),
    ],
)
def test_impossible_numbers_stand_at_their_field_and_change_nothing(
    draft, researcher, browser_of, sent, changes, message
):
    answer = post(browser_of(researcher), url(draft), sent(draft, seed=99) | changes)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert message in page and "Nothing was saved" in page
    draft.refresh_from_db()
    assert (draft.seed, draft.conditions.count()) == (4, 5)


def test_a_margin_needs_two_arms_and_a_size(draft, researcher, browser_of, sent):
    first, second = draft.arms.all()[:2]
    client = browser_of(researcher)
    incomplete = sent(draft) | {"margins-0-first": first.code, "margins-0-second": second.code}
    assert "declared before the data" in post(client, url(draft), incomplete).content.decode()
    post(client, url(draft), incomplete | {"margins-0-points": "10"})
    draft.refresh_from_db()
    (margin,) = draft.analysis_plan["margins"]
    assert (margin["first"], margin["second"], margin["margin"]) == (first.code, second.code, 0.1)


def test_power_follows_the_fields_before_anything_is_saved(draft, researcher, browser_of, sent):
    client = browser_of(researcher)
    page = client.get(url(draft, "power/")).content.decode()
    assert "in 84% of studies (86% by the plain formula)" in page
    assert "(39% by the plain formula)" in page
    longer = post(client, url(draft, "power/"), sent(draft) | {"conditions-0-trials_per_arm": "124"})
    assert "150 trials per arm" in longer.content.decode()
    assert draft.conditions.get(slug="nominal").trials_per_arm == 24
    wrong = post(client, url(draft, "power/"), sent(draft) | {"conditions-0-trials_per_arm": "many"})
    assert "once the marked fields are right" in wrong.content.decode()


def test_an_untrained_policy_can_be_planned_but_not_locked(draft, researcher, browser_of, sent):
    from labapp.policies.models import Policy

    policy = Policy.objects.create(name="still-training", preset="tiny", embodiment="rizon4s_wuji2_dual")
    client = browser_of(researcher)
    values = sent(draft)
    answer = post(client, url(draft), values | {"policies": [*values["policies"], policy.pk], "then": "lock"})
    page = client.get(answer.url).content.decode()
    code = draft.arms.get(policy=policy).code
    assert f"Arms without a checkpoint cannot be tried: {code}" in page
    assert f"Arm {code} (still-training) has no checkpoint" in page
    draft.refresh_from_db()
    assert draft.status == Study.Status.DRAFT


def test_a_finished_training_gives_the_planned_arm_its_checkpoint(draft, researcher, browser_of, sent):
    arm = draft.arms.first()
    arm.checkpoint = None
    arm.save()
    post(browser_of(researcher), url(draft), sent(draft))
    arm.refresh_from_db()
    assert arm.checkpoint == arm.policy.final_checkpoint


def test_objects_left_out_are_not_scheduled_and_an_unfit_condition_is_named(draft, researcher, browser_of, sent):
    client = browser_of(researcher)
    values = sent(draft)
    page = client.get(post(client, url(draft), values | {"object_names": ["box"]}).url).content.decode()
    assert "No object of the study fits the condition “Novel objects”" in page
    post(client, url(draft), values | {"object_names": ["box", "carton"], "then": "lock", "version": 2})
    draft.refresh_from_db()
    assert draft.status == Study.Status.LOCKED
    assert set(draft.slots.values_list("object__name", flat=True)) == {"box", "carton"}


def test_save_and_lock_freezes_what_was_sent(draft, researcher, browser_of, sent):
    post(browser_of(researcher), url(draft), sent(draft, seed=8) | {"then": "lock"})
    draft.refresh_from_db()
    assert (draft.status, draft.seed, draft.slots.count()) == ("locked", 8, 250)


def test_everything_of_the_design_is_in_its_hash(draft):
    from labapp.studies.services import design_sha256

    first = design_sha256(draft, [])
    Condition.objects.filter(study=draft, slug="red-light").update(light="white")
    assert design_sha256(draft, []) != first
    draft.analysis_plan = {"alpha": 0.01}
    second = design_sha256(draft, [])
    draft.object_names = ["box"]
    assert len({first, second, design_sha256(draft, [])}) == 3


def test_a_locked_design_is_read_not_edited(study, researcher, browser_of, sent):
    page = browser_of(researcher).get(url(study)).content.decode()
    assert study.design_sha256 in page
    assert "Save draft" not in page
    assert "may not claim that arms are equal" in page


def test_a_study_whose_arms_form_no_design_compares_pairs(researcher, browser_of):
    from labapp.studies import services

    checkpoints = [builders.checkpoint("one"), builders.checkpoint("two")]
    study = services.study_create(name="Pair", cell=builders.cell(), checkpoints=checkpoints, actor=researcher, seed=1)
    client = browser_of(researcher)
    assert "no 2 × 2 design" in client.get(url(study)).content.decode()
    assert "one and two" in client.get(url(study, "power/")).content.decode()


def test_a_plan_that_is_none_of_ours_stands_as_it_was_recorded(draft, researcher, browser_of):
    from labapp.studies import services
    from tests.labapp.studies.design.conftest import NOW

    draft.analysis_plan = {"primary": "world & behavior"}
    draft.save()
    assert browser_of(researcher).get(url(draft)).status_code == 200
    services.study_lock(study=draft, actor=researcher, now=NOW)
    assert "world &amp; behavior" in browser_of(researcher).get(url(draft)).content.decode()
