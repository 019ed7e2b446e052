"""What a browser gets of an episode: a clip it can play and curves it can draw."""

import numpy as np
import pytest

from robots.episodes import EpisodesReader, episode_series, write_clip
from robots.episodes.proxy import is_playable
from robots.episodes.video import Window, count_frames, iter_frames, read_frames, stream_info
from robots.errors import DataError
from tests.robots.episodes.builders import CAMERA, FPS, make_folder, number_of, read_back


def clip_numbers(path, frames):
    return read_back(read_frames(path, np.arange(frames) / FPS, Window(0, frames / FPS, 0.5 / FPS)))


def test_a_clip_is_cut_out_of_a_rolled_over_file(foreign, tmp_path):
    reader = EpisodesReader(foreign)
    clip = write_clip(reader, 3, CAMERA, tmp_path / "deep" / "clip.mp4")
    assert count_frames(clip) == 6
    assert clip_numbers(clip, 6) == [number_of(3, row) for row in range(6)]
    assert next(iter_frames(clip))[0] == 0.0
    assert [path.name for path in clip.parent.iterdir()] == ["clip.mp4"]


def test_a_file_that_browsers_play_is_copied(folder, tmp_path):
    reader = EpisodesReader(folder)
    assert is_playable(reader, 1, CAMERA)
    clip = write_clip(reader, 1, CAMERA, tmp_path / "clip.mp4")
    assert clip.read_bytes() == reader.video_file(1, CAMERA).path.read_bytes()


def test_the_index_of_a_clip_is_in_front(foreign, tmp_path):
    data = write_clip(EpisodesReader(foreign), 0, CAMERA, tmp_path / "clip.mp4").read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")


def test_an_av1_video_becomes_h264(shared_data, tmp_path):
    from robots.episodes import import_episodes

    source = tmp_path / "one"
    full = shared_data / "lerobot_v21_g1_bottle"
    for part in ("meta/info.json", "meta/tasks.jsonl"):
        (source / part).parent.mkdir(parents=True, exist_ok=True)
        (source / part).write_bytes((full / part).read_bytes())
    lines = (full / "meta/episodes.jsonl").read_text().splitlines()
    (source / "meta/episodes.jsonl").write_text(lines[29])
    for part in (
        "data/chunk-000/episode_000029.parquet",
        "videos/chunk-000/observation.images.cam_high/episode_000029.mp4",
    ):
        (source / part).parent.mkdir(parents=True)
        (source / part).write_bytes((full / part).read_bytes())
    import_episodes(source, tmp_path / "out")
    clip = write_clip(EpisodesReader(tmp_path / "out"), 0, "observation.images.cam_high", tmp_path / "clip.mp4")
    assert stream_info(clip)["video.codec"] == "h264"
    assert count_frames(clip) == 221


def test_an_episode_without_video_gives_no_clip_and_leaves_no_file(folder, tmp_path):
    (folder / f"videos/{CAMERA}/chunk-000/file-001.mp4").unlink()
    with pytest.raises(DataError, match="episode 1 has no video"):
        write_clip(EpisodesReader(folder), 1, CAMERA, tmp_path / "clips" / "clip.mp4")
    assert list((tmp_path / "clips").iterdir()) == []


def test_curves_have_a_name_and_unit_each_and_equal_lengths(folder):
    data = episode_series(EpisodesReader(folder), 1)
    assert (data["length"], data["fps"], data["duration_s"]) == (7, FPS, 7 / FPS)
    assert data["time"] == pytest.approx([row / FPS for row in range(7)])
    first = data["series"][0]
    assert (first["feature"], first["name"], first["unit"]) == ("observation.state", "shoulder", "rad")
    assert [len(series["values"]) for series in data["series"]] == [7] * 6


def test_long_episodes_are_thinned_but_keep_both_ends(tmp_path):
    reader = EpisodesReader(make_folder(tmp_path / "e", lengths=(60,)))
    data = episode_series(reader, 0, max_points=10)
    assert len(data["rows"]) == 10
    assert (data["rows"][0], data["rows"][-1]) == (0, 59)
    action = reader.read(0).columns["action"][data["rows"], 2]
    assert data["series"][-1]["values"] == pytest.approx(action.tolist(), abs=1e-5)
