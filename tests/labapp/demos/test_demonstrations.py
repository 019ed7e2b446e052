"""Demonstration sets: launching, what a finished run leaves, and their pages."""

import json
import shutil

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile

from labapp import storage
from labapp.cells.services import bench_cell_ensure
from labapp.demos import uploads
from labapp.demos.kinds import ImportDemonstrations, RecordDemonstrations
from labapp.demos.models import Demonstration, DemonstrationSet
from labapp.demos.params import EpisodeOptions
from labapp.demos.selectors import videos_of
from labapp.demos.services import demonstrations_import, demonstrations_record
from labapp.media.models import Media
from labapp.runs.models import Run
from tests.labapp import made

pytestmark = pytest.mark.django_db


def record(researcher, **values):
    options = EpisodeOptions(**{"n": 2, "image_size": 32} | values.pop("options", {}))
    return demonstrations_record(
        **{"actor": researcher, "name": "shown", "cell": bench_cell_ensure(), "options": options} | values
    )


def test_recording_asks_for_what_the_form_said_on_the_bench_of_the_cell(researcher, tmp_path):
    found = record(researcher, options={"n": 5, "seed": 3, "objects": ("can",), "belt_speed": (0.1, 0.2)})
    command = RecordDemonstrations().prepare(found.run, tmp_path)
    assert command[2:4] == ["robots", "record"]
    asked = json.loads((tmp_path / "request.json").read_text())
    assert (asked["n"], asked["seed"], asked["objects"], asked["belt_speed"]) == (5, 3, ["can"], [0.1, 0.2])
    assert asked["bench_seed"] == found.cell.bench_seed


def test_a_recorded_set_has_its_counts_its_hash_and_one_row_an_episode(researcher):
    found = record(researcher)
    workdir = made.out_of(found.run).parent
    made.episodes_folder(workdir / "out" / "episodes", n=2)
    result = RecordDemonstrations().finish(found.run, workdir, {"accepted": 2})
    found.refresh_from_db()
    assert (found.episodes, found.frames, found.episodes_with_video, found.views) == (2, 24, 2, ["head"])
    assert found.is_simulated
    assert storage.exists(f"{found.prefix}/meta/info.json")
    assert result["url"] == found.get_absolute_url()
    first = found.demonstrations.first()
    assert (first.object.name, first.outcome, first.belt_speed) == ("box", "success", 0.1)


@pytest.mark.parametrize(
    ("name", "said"), [("import", "address of a page"), ("two words", "letters, digits"), ("shown", "exists already")]
)
def test_a_name_that_cannot_be_taken_is_refused_and_nothing_is_queued(researcher, name, said):
    record(researcher)
    with pytest.raises(ValidationError) as refused:
        record(researcher, name=name)
    assert said in refused.value.message_dict["name"][0]
    assert Run.objects.count() == 1


def test_novel_objects_are_never_demonstrated(researcher):
    with pytest.raises(ValidationError) as refused:
        record(researcher, options={"objects": ("box", "jar")})
    assert "jar" in refused.value.message_dict["objects"][0]


def form(**changed):
    return {
        "name": "shown", "cell": bench_cell_ensure().pk, "n": "5", "objects": ["box"], "belt_speed_0": "0.05",
        "belt_speed_1": "0.1", "seed": "0", "image_size": "64", "camera_fps": "25",
    } | changed  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"n": "0"}, "n"),
        ({"n": "many"}, "n"),
        ({"seed": "-1"}, "seed"),
        ({"belt_speed_0": "0.3"}, "belt_speed"),
        ({"belt_speed_1": "9"}, "belt_speed"),
        ({"image_size": "65"}, "image_size"),
        ({"camera_fps": "0"}, "camera_fps"),
        ({"objects": []}, "objects"),
        ({"objects": ["piano"]}, "objects"),
        ({"name": "record"}, "name"),
    ],
)
def test_the_form_says_what_is_wrong_at_its_field_and_makes_nothing(browser_of, researcher, changed, field):
    answer = browser_of(researcher).post("/demonstrations/record/", form(**changed))
    assert list(answer.context["form"].errors) == [field]
    assert not DemonstrationSet.objects.exists()
    assert not Run.objects.exists()


def test_everything_that_is_wrong_is_said_at_once(browser_of, researcher):
    wrong = form(n="0", seed="x", belt_speed_1="9", name="record")
    errors = browser_of(researcher).post("/demonstrations/record/", wrong).context["form"].errors
    assert set(errors) == {"n", "seed", "belt_speed", "name"}


def test_the_form_records_and_leads_to_the_set(browser_of, researcher):
    answer = browser_of(researcher).post("/demonstrations/record/", form())
    assert answer.url == "/demonstrations/shown/"
    assert DemonstrationSet.objects.get().run.params["options"]["belt_speed"] == [0.05, 0.1]


def uploaded(researcher, folder):
    """A local folder sent file by file."""
    token = uploads.upload_begin(owner=researcher)
    for path in folder.rglob("*"):
        if path.is_file():
            file = SimpleUploadedFile("x", path.read_bytes())
            relative = f"{folder.name}/{path.relative_to(folder).as_posix()}"
            uploads.upload_put(token=token, owner=researcher, path=relative, file=file)
    return token


def test_an_import_fetches_the_upload_and_hands_it_to_the_importer(researcher, tmp_path):
    token = uploaded(researcher, made.episodes_folder(tmp_path / "theirs"))
    found = demonstrations_import(actor=researcher, name="theirs", upload=token, units="rad")
    workdir = made.out_of(found.run).parent
    command = ImportDemonstrations().prepare(found.run, workdir)
    assert command[2:5] == ["robots", "episodes", "import"]
    assert command[-2:] == ["--units", "rad"]
    assert (workdir / "source" / "theirs" / "meta" / "info.json").exists()


def test_an_import_that_is_no_dataset_leaves_no_set_and_no_run(researcher):
    token = uploads.upload_begin(owner=researcher)
    with pytest.raises(ValidationError) as refused:
        demonstrations_import(actor=researcher, name="theirs", upload=token)
    assert "files" in refused.value.message_dict
    assert not DemonstrationSet.objects.exists()
    assert not Run.objects.exists()


def test_a_video_that_browsers_do_not_play_gets_a_copy_that_they_do(researcher, tmp_path):
    source = made.episodes_folder(tmp_path / "theirs")
    found = demonstrations_import(actor=researcher, name="theirs", upload=uploaded(researcher, source))
    workdir = made.out_of(found.run).parent
    shutil.copytree(source, workdir / "out" / "episodes")
    ImportDemonstrations().finish(found.run, workdir, {"needs_proxy": ["observation.images.head"]})
    found.refresh_from_db()
    clip = Media.objects.get(object_key__endswith="/0/head.mp4")
    assert clip.audience == Media.Audience.RESEARCH
    assert storage.stat(clip.object_key).size_bytes == clip.size_bytes
    assert [video.url for video in videos_of(found.demonstrations.first())] == [clip.get_absolute_url()]


def test_an_episode_page_has_its_videos_on_one_playhead_with_its_curves(browser_of, researcher):
    found = made.bench_set(researcher)
    browser = browser_of(researcher)
    page = browser.get("/demonstrations/shown/1/")
    (video,) = page.context["videos"]
    assert (video.view, video.from_s) == ("head", 0.0)
    part = browser.get(video.url, headers={"Range": "bytes=0-99"})
    assert (part.status_code, len(b"".join(part))) == (206, 100)
    curves = browser.get("/demonstrations/shown/1/plots/").json()
    assert len(curves["series"]) == 2 * len(made.JOINTS)
    assert curves["series"][0]["values"][0] == 1.0
    assert found.episodes == 2


def test_an_episode_that_is_not_there_is_not_found(browser_of, researcher):
    made.bench_set(researcher)
    assert browser_of(researcher).get("/demonstrations/shown/99/").status_code == 404


def test_a_set_that_is_being_made_shows_its_run(browser_of, researcher):
    found = record(researcher)
    page = browser_of(researcher).get("/demonstrations/shown/").content.decode()
    assert found.run.title in page
    assert not Demonstration.objects.exists()


def test_a_wrong_file_in_the_form_names_its_field(browser_of, researcher):
    wrong = SimpleUploadedFile("photo.zip", b"JPEG")
    answer = browser_of(researcher).post("/demonstrations/import/", {"name": "theirs", "files": wrong})
    assert "no zip file" in answer.context["form"].errors["files"][0]
    assert not DemonstrationSet.objects.exists()
