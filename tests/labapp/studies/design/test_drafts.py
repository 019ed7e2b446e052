"""Drafts between people and over time: two who save, another cell, earlier versions, copies, deletion, the order."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import ValidationError
from django.db import connections

from labapp.policies.models import Policy
from labapp.studies import services
from labapp.studies.design import drafts
from labapp.studies.design.plan import AnalysisPlan, Margin
from labapp.studies.design.selectors import order_preview
from labapp.studies.design.services import DraftConflict, design_update
from labapp.studies.models import Study
from tests.labapp import builders
from tests.labapp.studies.design.conftest import NOW, as_query

pytestmark = pytest.mark.django_db


def url(study: Study, rest: str = "design/") -> str:
    return f"/studies/{study.slug}/{rest}"


def post(client, path: str, values: dict):
    return client.post(path, as_query(values).urlencode(), content_type="application/x-www-form-urlencoded")


@pytest.fixture
def ann(researcher, browser_of):
    return browser_of(researcher)


@pytest.fixture
def ben(make_user, browser_of):
    return browser_of(make_user("researcher", username="ben"))


def test_the_second_of_two_saves_is_not_silent_and_loses_nothing(draft, ann, ben, sent):
    anns, bens = sent(draft, seed=11), sent(draft, seed=22, question="Bens long question")
    assert post(ann, url(draft), anns).status_code == 302
    answer = post(ben, url(draft), bens)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "researcher saved this draft" in page and "while you were changing it" in page
    assert "Bens long question" in page and 'value="22"' in page, "what ben typed stands in the fields"
    assert "<s>4</s> → 11" in page, "what was saved meanwhile is listed"
    draft.refresh_from_db()
    assert (draft.seed, draft.question) == (11, "")


def test_saving_over_it_is_possible_knowingly_and_can_be_taken_back(draft, ann, ben, sent):
    bens = sent(draft, seed=22)
    post(ann, url(draft), sent(draft, seed=11))
    draft.refresh_from_db()
    assert post(ben, url(draft), bens | {"over": str(draft.draft_version)}).status_code == 302
    draft.refresh_from_db()
    assert (draft.seed, draft.draft_version) == (22, 3)
    post(ann, url(draft, "design/2/bring-back/"), {})
    draft.refresh_from_db()
    assert (draft.seed, draft.draft_version) == (11, 4)


def test_a_lock_by_one_is_told_to_the_other_who_is_still_editing(draft, ann, ben, sent):
    bens = sent(draft, seed=22)
    post(ann, url(draft), sent(draft) | {"then": "lock"})
    page = post(ben, url(draft), bens).content.decode()
    assert "Locked" in page and "Save draft" not in page
    assert Study.objects.get(pk=draft.pk).seed == 4


def test_an_arm_that_somebody_added_meanwhile_needs_no_rate_to_save_over_it(draft, ann, ben, sent):
    bens = sent(draft, seed=22)
    extra = builders.checkpoint("late")
    anns = sent(draft)
    post(ann, url(draft), anns | {"policies": [*anns["policies"], extra.policy_id]})
    draft.refresh_from_db()
    assert post(ben, url(draft), bens | {"over": str(draft.draft_version)}).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_of_two_saves_at_the_same_moment_one_is_refused(draft, researcher):
    design = drafts.design_of(drafts.draft_state(draft), draft)

    def save(_: int) -> str:
        try:
            drafts.draft_save(study=draft, design=design, actor=researcher, now=NOW, version=1)
        except DraftConflict:
            return "refused"
        finally:
            connections.close_all()
        return "saved"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(save, range(2))) == ["refused", "saved"]


def test_the_list_of_versions_says_who_changed_what(draft, ann, sent):
    post(ann, url(draft), sent(draft, seed=11) | {"conditions-0-trials_per_arm": 30})
    page = ann.get(url(draft)).content.decode()
    assert "Version 2" in page and "by researcher" in page and "Bring back version 1" in page
    assert "Nominal (24, 0.08–0.12 m/s)" in page and "Nominal (30, 0.08–0.12 m/s)" in page


def test_an_earlier_version_comes_back_whole_though_an_arm_was_dropped_since(draft, researcher, pi):
    first, second = draft.arms.order_by("policy__name")[:2]
    plan = AnalysisPlan(
        primary=(f"{first.code}:{second.code}",),
        margins=(Margin("equivalence", first.code, second.code, 0.1),),
        assumed_rates={first.code: 0.7},
    )
    start = drafts.design_of(drafts.draft_state(draft), draft)
    common = {"study": draft, "actor": researcher, "now": NOW}
    saved = drafts.draft_save(design=drafts.replace(start, plan=plan), **common)
    others = [p for p in start.policies if p != first.policy]
    drafts.draft_save(design=drafts.replace(start, policies=others, plan=plan), **common)
    assert Study.objects.get(pk=draft.pk).analysis_plan["margins"] == []
    drafts.draft_bring_back(version=saved.draft_version, study=draft, actor=pi, now=NOW)
    draft.refresh_from_db()
    code = draft.arms.get(policy=first.policy).code
    assert draft.arms.count() == 5
    assert draft.analysis_plan["margins"][0]["first"] == code
    assert draft.analysis_plan["primary"] == [f"{code}:{second.code}"]
    assert draft.analysis_plan["assumed_rates"] == {code: 0.7}


def test_a_version_that_there_is_not_is_refused(draft, researcher, ann):
    with pytest.raises(ValidationError, match="no version 7"):
        drafts.draft_bring_back(study=draft, version=7, actor=researcher, now=NOW)
    assert "no version 7" in ann.post(url(draft, "design/7/bring-back/"), follow=True).content.decode()


def test_another_cell_is_chosen_while_draft_and_what_does_not_fit_is_named(draft, ann, sent):
    other = builders.cell(name="Other bench", slug="other", embodiment="one_arm")
    other.cell_objects.filter(name="can").delete()
    anywhere = Policy.objects.create(name="anywhere", preset="tiny")
    values = sent(draft)
    values |= {"cell": other.pk, "policies": [*values["policies"], anywhere.pk], "then": "cell"}
    answer = post(ann, url(draft), values)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "objects and policies of Other bench; nothing is saved yet" in page
    assert "Left out, as they are not of this cell: " in page and "gg" in page and "can" in page
    draft.refresh_from_db()
    assert draft.cell != other


def test_another_cell_is_saved_with_its_own_objects_and_simulated_mark(draft, ann, sent):
    other = builders.cell(name="Real rig", slug="real", is_simulated=False)
    assert post(ann, url(draft), sent(draft) | {"cell": other.pk}).status_code == 302
    draft.refresh_from_db()
    assert (draft.cell, draft.is_simulated) == (other, False)


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"embodiment": "one_arm"}, "Made for another embodiment than one_arm"), ({}, "has no object “can”")],
)
def test_what_does_not_fit_the_cell_is_not_saved(draft, ann, sent, fields, message):
    other = builders.cell(name="Other bench", slug="other", **fields)
    other.cell_objects.filter(name="can").delete()
    values = sent(draft) | {"cell": other.pk}
    if fields:
        values["object_names"] = ["box"]
    answer = post(ann, url(draft), values)
    assert answer.status_code == 422 and message in answer.content.decode()
    draft.refresh_from_db()
    assert draft.cell != other


def test_a_draft_is_renamed_and_keeps_its_address(draft, ann, sent, researcher):
    services.study_create(name="Taken", cell=draft.cell, checkpoints=[], actor=researcher, seed=1)
    post(ann, url(draft), sent(draft, name="A better name"))
    draft.refresh_from_db()
    assert (draft.name, draft.slug) == ("A better name", "two-by-two")
    answer = post(ann, url(draft), sent(draft, name="taken"))
    assert answer.status_code == 422 and "exists already" in answer.content.decode()


@pytest.mark.parametrize("state", ["draft", "locked", "finished"])
def test_any_study_of_this_lab_is_a_template(state, draft, ann, pi):
    first = draft.arms.order_by("policy__name").first()
    draft.analysis_plan = AnalysisPlan(assumed_rates={first.code: 0.7}).to_json()
    draft.save()
    if state != "draft":
        services.study_lock(study=draft, actor=pi, now=NOW)
    if state == "finished":
        services.study_finish(study=draft, actor=pi, reason="enough", now=NOW)
    assert ann.get(url(draft, "copy/")).status_code == 200
    answer = ann.post(url(draft, "copy/"), {"name": "Second round"})
    made = Study.objects.get(name="Second round")
    assert answer.url == url(made)
    assert (made.status, made.seed, made.cell) == ("draft", draft.seed + 1, draft.cell)
    assert sum(made.conditions.values_list("trials_per_arm", flat=True)) == 50
    assert set(made.arms.values_list("policy", flat=True)) == set(draft.arms.values_list("policy", flat=True))
    code = made.arms.get(policy=first.policy).code
    assert made.analysis_plan["assumed_rates"] == {code: 0.7}


def test_an_imported_study_is_no_template_and_a_taken_name_is_refused(draft, ann, researcher):
    Study.objects.create(
        name="Old", slug="old", is_imported=True, status="finished", locked_at=NOW, design_sha256="imported"
    )
    answer = ann.post("/studies/old/copy/", {"name": "Second round"})
    assert answer.status_code == 422 and "no policies of this lab" in answer.content.decode()
    answer = ann.post(url(draft, "copy/"), {"name": "Two by two"})
    assert answer.status_code == 422 and "exists already" in answer.content.decode()


def test_a_draft_is_deleted_and_a_locked_study_is_not(draft, ann, study):
    assert "Only" not in ann.get(url(draft)).content.decode()
    ann.post(url(study, "delete/"))
    assert Study.objects.filter(pk=study.pk).exists()


def test_a_draft_that_was_deleted_meanwhile_is_said_to_be(draft, researcher):
    drafts.draft_delete(study=Study.objects.get(pk=draft.pk))
    for change in (drafts.draft_delete, drafts.plan_save):
        more = {} if change is drafts.draft_delete else {"plan": AnalysisPlan(), "actor": researcher, "now": NOW}
        with pytest.raises(ValidationError, match="The draft “Two by two” was deleted meanwhile"):
            change(study=draft, **more)


@pytest.mark.parametrize("name", ["Two\nlines", "A\0B", "Turned \u202e round"])
def test_a_name_is_one_line_of_printable_letters(draft, researcher, name):
    with pytest.raises(ValidationError, match="one line of printable letters"):
        drafts.study_copy(source=draft, name=name, actor=researcher, now=NOW)


def test_a_draft_goes_with_its_versions(draft, ann, sent):
    post(ann, url(draft), sent(draft, seed=9))
    answer = ann.post(url(draft, "delete/"), follow=True)
    assert "The draft “Two by two” is deleted" in answer.content.decode()
    assert not Study.objects.exists() and Policy.objects.count() == 5


@pytest.mark.parametrize("rest", ["design/order/", "copy/"])
def test_operators_see_nothing_of_it(draft, operator, browser_of, rest):
    assert browser_of(operator).get(url(draft, rest)).status_code == 403
    for path in ("delete/", "design/1/bring-back/", "copy/"):
        assert browser_of(operator).post(url(draft, path)).status_code == 403


def test_the_order_shown_is_the_order_that_the_lock_freezes(draft, ann, pi):
    preview = order_preview(draft)
    page = ann.get(url(draft, "design/order/")).content.decode()
    assert "First of 50 blocks" in page
    assert all(arm.code in page and arm.label not in page.split() for arm in draft.arms.all())
    locked = services.study_lock(study=draft, actor=pi, now=NOW)
    first = locked.slots.filter(block=1).values_list("position", "arm__code", "object__name", "bin", "seed")
    assert [(s.position, s.arm, s.object, s.bin, s.seed) for s in preview.first] == list(first)
    assert {s.label: len(s.blocks) for s in preview.strips}["Nominal"] == 24


def test_there_is_no_order_without_arms_and_it_says_so(draft, ann):
    draft.arms.all().delete()
    assert (
        "There is no order yet: a study needs at least one arm" in ann.get(url(draft, "design/order/")).content.decode()
    )


def test_scripts_that_name_no_version_save_over_whatever_is_there(draft):
    design = drafts.design_of(drafts.draft_state(draft), draft)
    assert design_update(study=draft, design=design).draft_version == 2
    with pytest.raises(DraftConflict, match="while you were changing it"):
        design_update(study=draft, design=design, version=1)


def test_a_script_that_names_the_version_it_read_overwrites_nobody(draft, ann, ben, sent):
    api = f"/api/studies/{draft.slug}/plan/"
    read = ann.get(api).json()
    post(ben, url(draft), sent(draft, seed=9))
    plan = {"alpha": 0.01}
    answer = ann.put(f"{api}?version={read['version']}", plan, content_type="application/json")
    assert answer.status_code == 409 and "ben saved this draft" in answer.json()["detail"]
    now = answer.json()["version"]
    assert ann.put(f"{api}?version={now}", plan, content_type="application/json").json()["version"] == now + 1
    assert [v.actor.username for v in draft.draft_versions.all()] == ["researcher", "ben", "researcher"]


def test_a_draft_that_somebody_saved_since_is_not_locked_unseen(draft, ann, ben, sent):
    post(ben, url(draft), sent(draft, seed=9))
    page = ann.post(url(draft, "lock/"), {"version": "1"}, follow=True).content.decode()
    assert "Somebody saved this draft since you looked at it" in page
    assert Study.objects.get(pk=draft.pk).status == Study.Status.DRAFT
    ann.post(url(draft, "lock/"), {"version": "2"})
    assert Study.objects.get(pk=draft.pk).status == Study.Status.LOCKED


@pytest.mark.parametrize("version", ["²", "9" * 5000])
def test_a_version_that_is_no_number_of_ours_is_no_server_error(draft, ann, version):
    ann.post(url(draft, "lock/"), {"version": version})
    assert Study.objects.get(pk=draft.pk).status == Study.Status.LOCKED


def test_a_cell_or_policy_that_is_no_number_of_ours_is_refused(draft, ann, sent):
    page = post(ann, url(draft), sent(draft) | {"cell": "²", "policies": "²"})
    assert page.status_code == 422 and "Select a valid choice" in page.content.decode()
