"""Policies: mixtures, checkpoints as they come, and their pages."""

import json

import pytest
from django.core.exceptions import ValidationError

from labapp.datasets.models import SimulatedDataset
from labapp.demos.models import DemonstrationSet
from labapp.lineage import lineage_of
from labapp.policies.kinds import TrainPolicy
from labapp.policies.models import Policy
from labapp.policies.params import TrainOptions
from labapp.policies.services import Component, policy_train
from labapp.runs.models import Run, RunArtifact, RunMetric
from tests.labapp import made

pytestmark = pytest.mark.django_db


@pytest.fixture
def shown(researcher):
    return made.bench_set(researcher)


def train(researcher, *components, **options):
    return policy_train(
        actor=researcher,
        name="learned",
        components=[Component(source, weight) for source, weight in components],
        options=TrainOptions(**options),
    )


def artifact(policy, path):
    return RunArtifact.objects.create(
        run=policy.run, path=path, kind="checkpoint", prefix=f"runs/{policy.run_id}/{path}", sha256="b" * 64,
        size_bytes=7, file_count=2,
    )  # fmt: skip


def test_training_hands_over_every_component_with_its_weight_and_kind(researcher, shown, tmp_path):
    dataset = made.dataset(researcher, shown)
    policy = train(researcher, (shown, 1.0), (dataset, 3.0), minutes=2.0, threads=2)
    TrainPolicy().prepare(policy.run, tmp_path)
    asked = json.loads((tmp_path / "request.json").read_text())
    assert [(c["weight"], c["kind"]) for c in asked["components"]] == [(1.0, "real"), (3.0, "simulated")]
    assert asked["components"][0]["path"].endswith(shown.sha256)
    assert (asked["minutes"], asked["threads"]) == (2.0, 2)
    assert TrainPolicy().environment(policy.run)["OMP_NUM_THREADS"] == "2"


def test_the_paths_of_a_mixture_say_nothing_of_its_names(researcher, shown, tmp_path):
    policy = train(researcher, (shown, 1.0))
    TrainPolicy().prepare(policy.run, tmp_path)
    assert "learned" not in (tmp_path / "request.json").read_text()


def test_a_policy_has_the_configuration_of_its_simulated_part(researcher, shown):
    dataset = made.dataset(researcher, shown)
    assert train(researcher, (shown, 1.0), (dataset, 1.0)).configuration == dataset.configuration


def test_a_policy_trained_on_demonstrations_alone_has_none(researcher, shown):
    assert train(researcher, (shown, 1.0)).configuration is None


def test_a_policy_that_learned_on_the_bench_is_marked_simulated(researcher, shown):
    policy = made.policy(researcher, shown)
    assert policy.is_simulated
    DemonstrationSet.objects.update(source="hardware")
    assert not Policy.objects.get().is_simulated


def test_checkpoints_become_rows_as_they_arrive(researcher, shown):
    policy = train(researcher, (shown, 1.0))
    RunMetric.objects.create(run=policy.run, step=400, name="loss", value=0.7)
    artifact(policy, "checkpoints/step-000500")
    checkpoint = policy.checkpoints.get()
    assert (checkpoint.step, checkpoint.is_final, checkpoint.metrics) == (500, False, {"loss": 0.7})


def test_the_last_checkpoint_becomes_the_final_one(researcher, shown, tmp_path):
    policy = train(researcher, (shown, 1.0))
    artifact(policy, "checkpoints/step-000500")
    artifact(policy, "final")
    trained = {"path": str(tmp_path / "folders" / shown.sha256), "episodes": 2}
    result = TrainPolicy().finish(policy.run, tmp_path, {"step": 500, "datasets": [trained]})
    assert result["datasets"] == [{"source": shown.name, "episodes": 2}], "names, no folders of the worker"
    policy.refresh_from_db()
    assert policy.ready_at
    assert (policy.final_checkpoint.step, policy.checkpoints.count()) == (500, 1)
    assert policy.final_checkpoint.prefix.endswith("/final")


def test_a_second_training_artifact_of_another_kind_makes_no_checkpoint(researcher, shown):
    policy = train(researcher, (shown, 1.0))
    RunArtifact.objects.create(
        run=policy.run, path="x", kind="result", prefix="x", sha256="b" * 64, size_bytes=1, file_count=0
    )
    assert not policy.checkpoints.exists()


def _other_robot(researcher):
    other = made.bench_set(researcher, name="other")
    DemonstrationSet.objects.filter(pk=other.pk).update(embodiment="G1")
    other.refresh_from_db()
    return other


@pytest.mark.parametrize("case", ["empty", "unready", "twice", "other robot", "two configurations", "weight 0"])
def test_a_mixture_that_cannot_be_trained_on_is_refused_in_words(researcher, shown, case):
    components = {
        "empty": list,
        "unready": lambda: [(DemonstrationSet.objects.create(name="unready", source="bench"), 1.0)],
        "twice": lambda: [(shown, 1.0), (shown, 2.0)],
        "other robot": lambda: [(shown, 1.0), (_other_robot(researcher), 1.0)],
        "two configurations": lambda: [(made.dataset(researcher, shown, n), 1.0) for n in ("one", "two")],
        "weight 0": lambda: [(shown, 0.0)],
    }[case]()
    with pytest.raises(ValidationError) as refused:
        train(researcher, *components)
    assert list(refused.value.message_dict) == ["components"]
    assert not Policy.objects.exists()


def form(shown, **changed):
    return {
        "name": "learned", f"weight-set-{shown.pk}": "1", "preset": "tiny", "minutes": "1", "steps": "",
        "image_size": "64", "seed": "0", "threads": "1",
    } | changed  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"minutes": ""}, "minutes"),
        ({"minutes": "-1"}, "minutes"),
        ({"steps": "0"}, "steps"),
        ({"image_size": "50"}, "image_size"),
        ({"preset": "huge"}, "preset"),
        ({"threads": "0"}, "threads"),
        ({"name": "new"}, "name"),
        ({"weight": "heavy"}, "components"),
        ({"weight": "-2"}, "components"),
        ({"weight": ""}, "components"),
        ({"weight": "nan"}, "components"),
    ],
)
def test_the_form_says_what_is_wrong_at_its_field_and_makes_nothing(browser_of, researcher, shown, changed, field):
    if "weight" in changed:
        changed = {f"weight-set-{shown.pk}": changed["weight"]}
    runs = Run.objects.count()
    answer = browser_of(researcher).post("/policies/new/", form(shown, **changed))
    assert list(answer.context["form"].errors) == [field]
    assert not Policy.objects.exists()
    assert Run.objects.count() == runs


def test_the_form_trains_and_leads_to_the_policy(browser_of, researcher, shown):
    answer = browser_of(researcher).post("/policies/new/", form(shown))
    assert answer.url == "/policies/learned/"
    assert Policy.objects.get().parameters["minutes"] == 1.0


def test_the_form_keeps_the_weights_that_were_typed(browser_of, researcher, shown):
    answer = browser_of(researcher).post("/policies/new/", form(shown, name="new", **{f"weight-set-{shown.pk}": "2.5"}))
    assert 'value="2.5"' in answer.content.decode()


def test_a_policy_page_has_its_curve_its_mixture_and_its_lineage(browser_of, researcher, shown):
    policy = made.policy(researcher, shown, made.dataset(researcher, shown))
    RunMetric.objects.create(run=policy.run, step=10, name="loss", value=0.5)
    page = browser_of(researcher).get("/policies/learned/")
    assert page.context["curves"] == [{"name": "loss", "steps": [10], "values": [0.5]}]
    assert [share.share for share in page.context["mixture"]] == [0.5, 0.5]
    assert {group.title for group in page.context["lineage"].rests_on} >= {"Demonstrations", "Worlds", "Calibrations"}


def test_what_rests_on_a_calibration_is_followed_down_to_the_policy(researcher, shown):
    dataset = made.dataset(researcher, shown)
    policy = made.policy(researcher, dataset)
    calibration = dataset.configuration.world.layout_calibration
    below = {group.title: group.rows for group in lineage_of(calibration).carries}
    assert below["Policies"] == [policy]
    assert below["Simulated datasets"] == [dataset]
    assert SimulatedDataset.objects.count() == 1
