"""Launching over REST: the same services, the same words, 400 by field; and the published schema."""

import pytest
from django.core.management import call_command
from django.test import Client

from labapp.accounts.models import ApiToken
from labapp.datasets.models import SimulatedDataset
from labapp.demos.models import DemonstrationSet
from labapp.policies.models import Policy
from labapp.runs.models import Run
from tests.labapp import made

pytestmark = pytest.mark.django_db


@pytest.fixture
def script(researcher):
    """A script that signs in with a token."""
    _, token = ApiToken.issue(user=researcher, name="script")
    return Client(headers={"Authorization": f"Bearer {token}"})


def post(script, path, values):
    return script.post(path, values, content_type="application/json")


def test_recording_over_rest_tells_the_run(script):
    from labapp.cells.services import bench_cell_ensure

    bench_cell_ensure()
    answer = post(script, "/api/demonstration-sets/", {"name": "shown", "cell": "bench", "n": 3})
    assert answer.status_code == 201
    assert answer.json()["run"] == DemonstrationSet.objects.get().run_id


def test_measuring_over_rest_is_accepted(script):
    from labapp.cells.services import bench_cell_ensure

    bench_cell_ensure()
    answer = post(script, "/api/worlds/", {"cell": "bench", "source": "measure", "name": "grounded"})
    assert (answer.status_code, answer.json()["run"]) == (202, Run.objects.get().pk)


def test_generating_and_training_over_rest(script, researcher):
    shown, world = made.bench_set(researcher), made.world(researcher)
    values = {"name": "simulated", "world": world.pk, "behavior": "adapt", "demonstration_set": "shown", "n": 3}
    assert post(script, "/api/datasets/", values).status_code == 201
    values = {"name": "learned", "components": [{"demonstration_set": shown.name, "weight": 2}], "minutes": 1}
    answer = post(script, "/api/policies/", values)
    assert answer.status_code == 201
    assert answer.json()["components"][0]["weight"] == 2


@pytest.mark.parametrize(
    ("path", "values", "field"),
    [
        ("/api/demonstration-sets/", {"name": "shown", "cell": "bench", "n": 0}, "n"),
        ("/api/demonstration-sets/", {"name": "a b", "cell": "bench"}, "name"),
        ("/api/demonstration-sets/", {"name": "shown", "cell": "moon"}, "cell"),
        ("/api/demonstration-sets/", {"name": "shown", "cell": "bench", "objects": ["piano"]}, "objects"),
        ("/api/demonstration-sets/", {"name": "shown", "cell": "bench", "belt_speed": [0.2, 0.1]}, "belt_speed"),
        ("/api/datasets/", {"name": "x", "world": 0, "behavior": "adapt"}, "world"),
        ("/api/policies/", {"name": "x", "components": []}, "components"),
        ("/api/policies/", {"name": "x", "components": [{"weight": 1}]}, "components"),
        ("/api/worlds/", {"cell": "bench", "source": "guess", "name": "x"}, "source"),
        ("/api/worlds/", {"cell": "bench", "source": "measure", "name": "x", "seed": -1}, "seed"),
    ],
)
def test_what_is_impossible_is_400_by_field_and_makes_nothing(script, path, values, field):
    from labapp.cells.services import bench_cell_ensure

    bench_cell_ensure()
    answer = post(script, path, values)
    assert (answer.status_code, list(answer.json())) == (400, [field])
    made_rows = [model.objects.count() for model in (DemonstrationSet, SimulatedDataset, Policy, Run)]
    assert made_rows == [0, 0, 0, 0]


def test_a_folder_is_sent_file_by_file_and_imported(script, tmp_path):
    folder = made.episodes_folder(tmp_path / "theirs")
    token = script.post("/api/uploads/").json()["token"]
    for path in folder.rglob("*"):
        if path.is_file():
            address = f"/api/uploads/{token}/theirs/{path.relative_to(folder).as_posix()}"
            answer = script.put(address, path.read_bytes(), content_type="application/octet-stream")
            assert answer.json()["size_bytes"] == path.stat().st_size
    answer = script.post("/api/demonstration-sets/import/", {"name": "theirs", "upload": token})
    assert answer.status_code == 201
    assert DemonstrationSet.objects.get().run.kind == "demos.import"


def test_somebody_elses_upload_is_400(script, pi, make_user):
    from labapp.demos.uploads import upload_begin

    token = upload_begin(owner=pi)
    answer = script.post("/api/demonstration-sets/import/", {"name": "theirs", "upload": token})
    assert list(answer.json()) == ["upload"]


def test_a_path_outside_the_folder_is_400(script):
    token = script.post("/api/uploads/").json()["token"]
    answer = script.put(f"/api/uploads/{token}/a/..b/$x", b"1", content_type="application/octet-stream")
    assert (answer.status_code, list(answer.json())) == (400, ["files"])


def test_the_schema_is_whole_and_without_warnings(tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yml"))
    assert "/api/demonstration-sets/import/" in (tmp_path / "schema.yml").read_text()


def test_the_schema_is_published(client):
    assert client.get("/api/schema/").status_code == 200
