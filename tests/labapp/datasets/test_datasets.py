"""Grounding configurations and simulated datasets: launching, what a finished run leaves, and their pages."""

import json

import pytest
from django.core.exceptions import ValidationError

from labapp.cells.services import bench_cell_ensure
from labapp.datasets.kinds import GenerateDataset
from labapp.datasets.models import GroundingConfiguration, SimulatedDataset
from labapp.datasets.params import GenerateOptions
from labapp.datasets.selectors import funnel_of
from labapp.datasets.services import behavior_ensure, configuration_ensure, dataset_generate
from labapp.demos.models import DemonstrationSet
from labapp.lineage import lineage_of
from labapp.runs.models import Run
from tests.labapp import made

pytestmark = pytest.mark.django_db


def generate(researcher, world, **values):
    options = GenerateOptions(n=3, image_size=32)
    defaults = {"name": "simulated", "behavior": "synthesize", "demonstration_set": None, "options": options}
    return dataset_generate(**{"actor": researcher, "world": world} | defaults | values)


def test_world_and_behavior_are_one_row_however_often_they_are_used(researcher):
    world = made.world(researcher)
    first = configuration_ensure(world=world, behavior=behavior_ensure("adapt"))
    assert configuration_ensure(world=world, behavior=behavior_ensure("adapt")) == first
    assert first.name == "grounded_world/grounded_behavior"


def test_two_versions_of_a_world_are_two_configurations_with_names_of_their_own(researcher):
    rows = [
        configuration_ensure(world=made.world(researcher), behavior=behavior_ensure("synthesize")) for _ in range(2)
    ]
    assert [row.name for row in rows] == [
        "grounded_world/ungrounded_behavior",
        "grounded_world/ungrounded_behavior (grounded v2)",
    ]


def test_generating_hands_over_the_world_and_the_demonstrations(researcher, tmp_path):
    world, shown = made.world(researcher), made.bench_set(researcher)
    dataset = generate(researcher, world, behavior="adapt", demonstration_set=shown)
    command = GenerateDataset().prepare(dataset.run, tmp_path)
    asked = json.loads((tmp_path / "request.json").read_text())
    assert command[2:4] == ["generation", "generate"]
    assert json.loads((tmp_path / "world.json").read_text()) == world.parameters
    assert asked["demonstrations"].endswith(shown.sha256)
    assert (asked["behavior"], asked["n"], asked["image_size"]) == ("adapt", 3, 32)


def test_a_finished_dataset_has_its_funnel_its_hash_and_its_lineage(researcher):
    shown = made.bench_set(researcher)
    dataset = generate(researcher, made.world(researcher), behavior="adapt", demonstration_set=shown)
    workdir = made.out_of(dataset.run).parent
    made.episodes_folder(workdir / "out" / "episodes", n=3)
    funnel = {"attempts": 5, "accepted": 3, "dropped": 2, "nan": 0, "objects": {}}
    (workdir / "out" / "funnel.json").write_text(json.dumps(funnel))
    GenerateDataset().finish(dataset.run, workdir, {})
    dataset.refresh_from_db()
    assert (dataset.trajectories, dataset.attempts, dataset.yield_rate) == (3, 5, 0.6)
    assert dataset.ready_at
    assert dataset.sha256
    above = {group.title: [str(row) for row in group.rows] for group in lineage_of(dataset).rests_on}
    assert above["Demonstrations adapted"] == ["shown"]
    assert len(above["Calibrations"]) == 3


def test_the_funnel_lists_every_reason_and_ends_with_the_accepted(researcher):
    dataset = made.dataset(researcher, made.bench_set(researcher))
    assert [(row.reason, row.count) for row in funnel_of(dataset)] == [("dropped", 2), ("accepted", 3)]


@pytest.mark.parametrize(
    ("demonstrations", "said"), [("none", "choose a set"), ("unready", "not ready"), ("other robot", "Recorded on G1")]
)
def test_adapted_motion_needs_demonstrations_of_the_worlds_robot(researcher, demonstrations, said):
    world = made.world(researcher)
    shown = {
        "none": lambda: None,
        "unready": lambda: DemonstrationSet.objects.create(name="unready", source="bench"),
        "other robot": lambda: _of_another_robot(researcher),
    }[demonstrations]()
    with pytest.raises(ValidationError) as refused:
        generate(researcher, world, behavior="adapt", demonstration_set=shown)
    assert said in refused.value.message_dict["demonstration_set"][0]
    assert not SimulatedDataset.objects.exists()
    assert not GroundingConfiguration.objects.exists()


def _of_another_robot(researcher):
    shown = made.bench_set(researcher)
    DemonstrationSet.objects.filter(pk=shown.pk).update(embodiment="G1")
    shown.refresh_from_db()
    return shown


def form(chosen, **changed):
    return {
        "name": "simulated", "world": chosen.pk, "behavior": "synthesize", "n": "3", "objects": ["box"],
        "belt_speed_0": "0.05", "belt_speed_1": "0.1", "seed": "0", "image_size": "64", "camera_fps": "25",
        "workers": "1",
    } | changed  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"n": "0"}, "n"),
        ({"behavior": "adapt"}, "demonstration_set"),
        ({"behavior": "guess"}, "behavior"),
        ({"workers": "0"}, "workers"),
        ({"belt_speed_0": "0.2"}, "belt_speed"),
        ({"image_size": "7"}, "image_size"),
        ({"name": "new"}, "name"),
        ({"world": "0"}, "world"),
    ],
)
def test_the_form_says_what_is_wrong_at_its_field_and_makes_nothing(browser_of, researcher, changed, field):
    bench_cell_ensure()
    world = made.world(researcher)
    runs = Run.objects.count()
    answer = browser_of(researcher).post("/datasets/new/", form(world, **changed))
    assert list(answer.context["form"].errors) == [field]
    assert not SimulatedDataset.objects.exists()
    assert Run.objects.count() == runs


def test_the_form_generates_and_leads_to_the_dataset(browser_of, researcher):
    world = made.world(researcher)
    answer = browser_of(researcher).post("/datasets/new/", form(world))
    assert answer.url == "/datasets/simulated/"


def test_trajectories_are_found_by_what_is_known_of_them(browser_of, researcher):
    made.dataset(researcher, made.bench_set(researcher))
    browser = browser_of(researcher)
    assert len(browser.get("/datasets/simulated/", {"q": "bottle"}).context["page"].object_list) == 1
    assert len(browser.get("/datasets/simulated/").context["page"].object_list) == 3


def test_a_trajectory_page_plays_its_views_and_draws_its_curves(browser_of, researcher):
    made.dataset(researcher, made.bench_set(researcher))
    browser = browser_of(researcher)
    page = browser.get("/datasets/simulated/2/")
    assert [video.view for video in page.context["videos"]] == ["head"]
    assert browser.get("/datasets/simulated/2/plots/").json()["length"] == 12
    assert browser.get("/datasets/simulated/7/").status_code == 404
