"""Cells and worlds: the bench cell, launching, and what a finished measurement leaves."""

import json

import pytest
from django.core.exceptions import ValidationError

from labapp.cells.kinds import MeasureWorld, NominalWorld
from labapp.cells.models import Calibration, Cell, World
from labapp.cells.services import bench_cell_ensure, world_launch
from labapp.runs.kinds import RunError
from labapp.runs.models import Run
from robots.errors import ConfigError
from tests.labapp import made

pytestmark = pytest.mark.django_db


def test_the_bench_cell_is_made_once_with_its_objects_and_marked_simulated():
    assert bench_cell_ensure() == bench_cell_ensure()
    cell = Cell.objects.get()
    assert cell.is_simulated
    assert cell.cell_objects.filter(is_novel=True).count() >= 2
    assert cell.cell_objects.get(name="ball").size_m == [0.045, 0.045, 0.045]


def test_measuring_asks_for_the_bench_of_the_cell_and_nothing_else(researcher, tmp_path):
    cell = bench_cell_ensure()
    run = world_launch(actor=researcher, cell=cell, source="measure", name="grounded", seed=4)
    command = MeasureWorld().prepare(run, tmp_path)
    assert command[2:4] == ["generation", "register"]
    assert json.loads((tmp_path / "request.json").read_text()) == {"bench_seed": cell.bench_seed, "seed": 4}


def test_a_measured_world_rests_on_three_calibrations_with_their_residuals(researcher, tmp_path):
    run = world_launch(actor=researcher, cell=bench_cell_ensure(), source="measure", name="grounded")
    out = tmp_path / "out"
    out.mkdir()
    (out / "world.json").write_text(json.dumps(made.grounded_parameters()))
    left = {"reprojection_px": 0.2, "leave_one_out_px": float("nan")}  # of three views no one can be left out
    (out / "residuals.json").write_text(json.dumps({"cameras": {"head": left}}))
    MeasureWorld().finish(run, tmp_path, {})
    world = World.objects.get()
    assert (world.grounding, world.version) == ("grounded", 1)
    assert world.visual_calibration.residuals == {"head.reprojection_px": 0.2, "head.leave_one_out_px": None}
    assert Calibration.objects.filter(run=run).count() == 3


def test_the_nominal_world_rests_on_nothing(researcher, tmp_path):
    run = world_launch(actor=researcher, cell=bench_cell_ensure(), source="nominal", name="nominal")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "world.json").write_text(json.dumps(made.NOMINAL))
    NominalWorld().finish(run, tmp_path, {})
    assert World.objects.get().grounding == "ungrounded"
    assert not Calibration.objects.exists()


def test_measuring_again_makes_the_next_version(researcher):
    assert [made.world(researcher).version, made.world(researcher).version] == [1, 2]


def test_a_world_without_a_part_is_refused_and_leaves_no_row(researcher, tmp_path):
    run = world_launch(actor=researcher, cell=bench_cell_ensure(), source="nominal", name="nominal")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "world.json").write_text('{"visual": {}}')
    with pytest.raises(RunError, match="layout, dynamics"):
        NominalWorld().finish(run, tmp_path, {})
    assert not World.objects.exists()


def test_a_real_cell_is_not_measured_from_a_worker(researcher):
    cell = Cell.objects.create(name="Real", slug="real", embodiment="x")
    with pytest.raises(ValidationError) as refused:
        world_launch(actor=researcher, cell=cell, source="measure", name="grounded")
    assert "cell" in refused.value.message_dict


def test_an_impossible_seed_names_its_field_and_queues_nothing(researcher):
    with pytest.raises(ConfigError) as refused:
        world_launch(actor=researcher, cell=bench_cell_ensure(), source="measure", name="grounded", seed=-1)
    assert refused.value.field == "seed"
    assert not Run.objects.exists()


def test_the_form_shows_what_is_wrong_at_its_field(browser_of, researcher):
    bench_cell_ensure()
    answer = browser_of(researcher).post(
        "/worlds/new/", {"cell": Cell.objects.get().pk, "source": "measure", "name": "a b"}
    )
    assert "name" in answer.context["form"].errors
    assert not Run.objects.exists()


def test_the_form_queues_a_run_and_leads_to_it(browser_of, researcher):
    cell = bench_cell_ensure()
    values = {"cell": cell.pk, "source": "nominal", "name": "nominal", "seed": "0"}
    answer = browser_of(researcher).post("/worlds/new/", values)
    assert answer.url == Run.objects.get(kind="cells.nominal").get_absolute_url()


def test_two_worlds_are_compared_with_their_marks(browser_of, researcher):
    a, b = made.world(researcher, is_grounded=False), made.world(researcher)
    page = browser_of(researcher).get("/worlds/compare/", {"a": a.pk, "b": b.pk}).content.decode()
    assert "belt offset" in page
    assert "+0.01, +0, +0" in page
    assert "belt spread [mm]" in page


def test_a_world_page_names_what_rests_on_it(browser_of, researcher):
    dataset = made.dataset(researcher, made.bench_set(researcher))
    page = browser_of(researcher).get(dataset.configuration.world.get_absolute_url()).content.decode()
    assert dataset.name in page
    assert "What rests on this" in page
