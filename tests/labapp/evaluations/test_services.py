"""Launching evaluations: which arms, from which starts, in which world; what a finished run leaves."""

import json

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from labapp.cells.models import World
from labapp.evaluations.kinds import EvaluateInSimulation
from labapp.evaluations.models import EvaluatedPolicy, Evaluation, SimulatedRollout
from labapp.evaluations.params import EvaluateOptions
from labapp.evaluations.selectors import table_of, world_default
from labapp.evaluations.services import (
    checkpoint_evaluate,
    evaluation_complete,
    evaluation_remove,
    study_evaluate,
)
from labapp.lineage import lineage_of
from labapp.runs.models import Run
from labapp.studies.design.drafts import draft_delete
from labapp.studies.services import study_create
from robots.config import load_config
from tests.labapp import builders
from tests.labapp.evaluations.conftest import complete, rollout

pytestmark = pytest.mark.django_db


def launched(lab, world, **options) -> Evaluation:
    return study_evaluate(actor=lab.researcher, study=lab.study, world=world, options=EvaluateOptions(**options))


def test_a_study_is_evaluated_with_all_arms_from_the_starts_of_its_own_trials(lab, world) -> None:
    made = launched(lab, world)
    assert {p.arm_id for p in made.policies.all()} == set(lab.study.arms.values_list("pk", flat=True))
    nominal = made.conditions.get(slug="nominal")
    assert (nominal.rollouts, len(nominal.starts), nominal.object_names) == (4, 4, ["box", "can"])
    planned = lab.study.slots.filter(condition__slug="nominal").order_by("block", "position")
    assert [start["seed"] for start in nominal.starts] == list(dict.fromkeys(slot.seed for slot in planned))
    assert (made.run.kind, made.time_limit_s) == ("evaluations.evaluate", lab.study.time_limit_s)


def test_as_many_rollouts_as_trials_were_run_or_as_asked_for(lab, world) -> None:
    with pytest.raises(ValidationError, match="No trial has been run yet"):
        launched(lab, world, amount="run")
    for _ in range(3):
        lab.confirmed()
    run = sum(c.rollouts for c in launched(lab, world, amount="run").conditions.all())
    assert run == 2, "three trials of two arms began two blocks"
    each = launched(lab, world, amount="each", rollouts=6).conditions.get(slug="nominal")
    assert (each.rollouts, len(each.starts)) == (6, 4)


def test_what_the_simulated_cell_does_not_have_is_refused_before_anything_is_launched(lab, world) -> None:
    draft = study_create(
        name="Kettles", cell=lab.study.cell, checkpoints=[lab.study.arms.first().checkpoint], actor=None, seed=1
    )
    draft.cell.cell_objects.create(name="kettle", label="kettle", shape="box", size_m=[0.1, 0.1, 0.1], mass_kg=0.5)
    with pytest.raises(ValidationError, match="are simulated, not kettle"):
        study_evaluate(actor=None, study=draft, world=world, options=EvaluateOptions())
    draft.cell.cell_objects.filter(name="kettle").delete()
    draft.conditions.filter(slug="nominal").update(belt_speed_max=1.5)
    with pytest.raises(ValidationError, match=r"the belt at up to 1\.5 m/s: simulated are 0 to"):
        study_evaluate(actor=None, study=draft, world=world, options=EvaluateOptions())
    assert not Evaluation.objects.exists() and not Run.objects.exists()


def test_a_draft_that_was_evaluated_is_not_deleted(lab, world) -> None:
    draft = study_create(
        name="Tried early", cell=lab.study.cell, checkpoints=[lab.study.arms.first().checkpoint], actor=None, seed=1
    )
    study_evaluate(actor=None, study=draft, world=world, options=EvaluateOptions())
    with pytest.raises(ValidationError, match="This draft stays: evaluations of it are kept"):
        draft_delete(study=draft)


def test_a_withdrawn_arm_takes_no_part(lab, world) -> None:
    arm = lab.study.arms.first()
    arm.withdrawn_at = timezone.now()
    arm.save()
    assert arm.pk not in launched(lab, world).policies.values_list("arm_id", flat=True)


def test_one_checkpoint_is_evaluated_under_the_papers_conditions(world) -> None:
    checkpoint = builders.checkpoint("alone")
    made = checkpoint_evaluate(
        actor=None, checkpoint=checkpoint, world=world, options=EvaluateOptions(amount="each", rollouts=2)
    )
    assert made.study is None
    assert [c.slug for c in made.conditions.all()][:2] == ["nominal", "red-light"]
    assert made.conditions.get(slug="novel-objects").object_names == ["carton"]


def test_a_world_of_another_robot_is_refused_and_nothing_is_made(lab) -> None:
    strange = builders.world(builders.cell(embodiment="g1"))
    with pytest.raises(ValidationError) as refused:
        launched(lab, strange)
    assert "this world is of g1" in refused.value.message_dict["world"][0]
    assert not Evaluation.objects.exists()
    assert not Run.objects.exists()


def test_the_default_world_is_the_newest_that_is_measured_in_every_part(lab, world) -> None:
    builders.world(lab.study.cell, "newer")
    assert world_default(lab.study.cell) == world
    World.objects.filter(pk=world.pk).delete()
    assert world_default(lab.study.cell).name == "newer"


def test_the_command_gets_codes_of_its_own_and_the_conditions(lab, world, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("labapp.evaluations.kinds.cache.folder", lambda prefix, sha256: tmp_path / sha256)
    made = launched(lab, world)
    command = EvaluateInSimulation().prepare(made.run, tmp_path)
    text = (tmp_path / "request.json").read_text()
    assert command[2:4] == ["generation", "evaluate"]
    for arm in lab.study.arms.select_related("policy"):
        assert arm.policy.name not in text and arm.code not in text
    values = json.loads(text)
    assert json.loads((tmp_path / "world.json").read_text()) == world.parameters
    known = {"box", "can", "carton"}
    assert {name for c in values["conditions"] for name in c["objects"]} <= known


def test_what_is_asked_is_a_configuration_the_command_takes(lab, world, tmp_path, monkeypatch) -> None:
    from generation.evaluation.config import EvaluateConfig

    monkeypatch.setattr("labapp.evaluations.kinds.cache.folder", lambda prefix, sha256: tmp_path / sha256)
    EvaluateInSimulation().prepare(launched(lab, world).run, tmp_path)
    config = load_config(EvaluateConfig, tmp_path / "request.json")
    assert [c.name for c in config.conditions] == ["nominal", "red-light"]
    assert config.conditions[1].light == "red"
    assert len(config.policies) == 2


def test_a_finished_run_leaves_a_row_for_every_rollout_and_counts_none_that_broke(lab, world) -> None:
    made = launched(lab, world)
    first, second = made.policies.order_by("pk")
    rows = [rollout(first.key, "nominal", i, is_success=i < 3) for i in range(4)]
    rows += [rollout(second.key, "nominal", 0, is_success=False, invalid="nan")]
    evaluation_complete(evaluation=made, rows=rows, now=timezone.now())
    evaluation_complete(evaluation=made, rows=rows, now=timezone.now())
    assert SimulatedRollout.objects.count() == 5
    totals = {row.policy.pk: row.cells[-1][1] for row in table_of(made, with_names=True)}
    assert (totals[first.pk].successes, totals[first.pk].trials) == (3, 4)
    assert totals[second.pk].trials == 0 and totals[second.pk].rate is None


def test_a_draft_may_lose_an_arm_or_a_condition_after_it_was_evaluated(world) -> None:
    study = study_create(
        name="Draft", cell=world.cell, checkpoints=[builders.checkpoint("first")], actor=None, seed=0
    )  # fmt: skip
    made = study_evaluate(actor=None, study=study, world=world, options=EvaluateOptions())
    study.arms.all().delete()
    study.conditions.all().delete()
    rows = table_of(made, with_names=True)
    assert [(row.name, row.detail) for row in rows] == [("first", "an arm since removed")]
    assert made.conditions.count() == 5


def test_lineage_leads_from_world_and_policy_to_the_evaluation(lab, world) -> None:
    made = launched(lab, world)
    for row in (world, lab.study.arms.first().policy):
        groups = {group.title: group.rows for group in lineage_of(row).carries}
        assert groups["Evaluations in simulation"] == [made]


def test_only_an_evaluation_that_never_finished_can_be_removed(lab, world) -> None:
    made = launched(lab, world)
    with pytest.raises(ValidationError, match="still under way"):
        evaluation_remove(made)
    Run.objects.filter(pk=made.run_id).update(status="failed", finished_at=timezone.now())
    made.refresh_from_db()
    evaluation_remove(made)
    assert not EvaluatedPolicy.objects.exists()
    with pytest.raises(ValidationError, match="finished and stays"):
        evaluation_remove(complete(launched(lab, world), (1, 1)))


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"rollouts": 0}, "rollouts"),
        ({"seed": -1}, "seed"),
        ({"image_size": 7}, "image_size"),
        ({"image_size": 129}, "image_size"),
    ],
)
def test_impossible_options_are_named(values, field) -> None:
    from robots.errors import ConfigError

    with pytest.raises(ConfigError) as caught:
        EvaluateOptions(**values)
    assert caught.value.field == field


def test_views_of_any_size_are_fine_without_video() -> None:
    assert EvaluateOptions(image_size=129, video="none").image_size == 129
