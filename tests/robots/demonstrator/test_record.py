"""`python -m robots record`: an episodes folder of demonstrations."""

import io
from pathlib import Path

import numpy as np
import pytest

from robots.config import from_json
from robots.episodes import EpisodesReader, check_episodes
from robots.errors import ConfigError
from robots.progress import Progress
from robots.record import RecordConfig, run


def record(out: Path, n: int, **changes) -> dict:
    values = {"n": n, "objects": ["can", "box"], "belt_speed": [0.1, 0.15], "image_size": 32, "camera_fps": 12.5,
              "workers": 1, **changes}  # fmt: skip
    return run(from_json(RecordConfig, values), out, Progress(events=True, stream=io.StringIO()))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("record")
    assert record(out, 2)["episodes"] == 2
    return out / "episodes"


def test_the_folder_is_a_sound_dataset(recorded):
    report = check_episodes(recorded)
    assert not report.errors
    assert report.episodes == report.episodes_with_video == 2


def test_each_episode_tells_what_was_done_and_how_it_ended(recorded):
    row = EpisodesReader(recorded).episodes[1]
    assert row.task == f"pick up the box and place it in the {row.extra['bin']} bin"
    assert row.extra["outcome"] == "success"
    assert row.extra["is_simulated"]
    assert row.extra["phases"]["retreat"][1] == row.length
    assert 0.1 <= row.extra["belt_speed"] <= 0.15
    assert len(row.extra["object_position"]) == 3


def test_recording_resumes_where_it_stopped(recorded, tmp_path):
    record(tmp_path, 1)
    assert record(tmp_path, 2)["attempts"] == 1
    one, two = EpisodesReader(recorded), EpisodesReader(tmp_path / "episodes")
    assert [r.extra["attempt"] for r in two.episodes] == [r.extra["attempt"] for r in one.episodes]
    assert np.allclose(one.read(1).columns["action"], two.read(1).columns["action"], atol=1e-6)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"n": 0}, "n"),
        ({"objects": ["spoon"]}, "objects"),
        ({"belt_speed": [0.2, 0.1]}, "belt_speed"),
        ({"image_size": 33}, "image_size"),
        ({"light": "green"}, "light"),
        ({"camera_fps": 100}, "camera_fps"),
    ],
)
def test_an_impossible_configuration_names_its_field(change, field):
    with pytest.raises(ConfigError) as error:
        from_json(RecordConfig, change)
    assert error.value.field == field
