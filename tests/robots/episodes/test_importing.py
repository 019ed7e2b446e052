"""Importing LeRobot v2.1: what cannot be trusted is rejected by name, the rest comes in."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robots.episodes import EpisodesReader, check_episodes, import_episodes
from robots.episodes.video import VideoWriter, stream_info
from robots.errors import ConfigError, DataError
from tests.robots.episodes.builders import (
    CAMERA,
    FPS,
    HEIGHT,
    NAMES,
    WIDTH,
    burn,
    make_folder,
    number_of,
    read_back,
    rows_of,
)

LENGTHS = (5, 7, 4)


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_rows(root, episode, length, **changes):
    columns = {name: values.tolist() for name, values in rows_of(episode, length).items()}
    columns |= {"timestamp": (np.arange(length) / FPS).tolist(), "task_index": [0] * length}
    columns |= {"frame_index": list(range(length)), "episode_index": [episode] * length, "index": list(range(length))}
    columns |= changes
    path = root / f"data/chunk-000/episode_{episode:06d}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    vector = pa.list_(pa.float32(), 3)
    types = {"observation.state": vector, "action": vector, "timestamp": pa.float64()}
    table = {
        name: pa.array(values, None if name in changes else types.get(name, pa.int64()))
        for name, values in columns.items()
        if values is not None
    }
    pq.write_table(pa.table(table), path)


def write_video(root, episode, frames):
    path = root / f"videos/chunk-000/{CAMERA}/episode_{episode:06d}.mp4"
    path.parent.mkdir(parents=True, exist_ok=True)
    with VideoWriter(path, FPS, HEIGHT, WIDTH) as video:
        for row in range(frames):
            video.add(burn(number_of(episode, row)))


@pytest.fixture
def source(tmp_path):
    """Three episodes in v2.1 form; the last one has no video."""
    root = tmp_path / "v21"
    (root / "meta").mkdir(parents=True)
    vector = {"dtype": "float32", "shape": [3], "names": [NAMES]}
    info = {
        "codebase_version": "v2.1",
        "robot_type": "arm",
        "total_episodes": 3,
        "total_frames": 16,
        "chunks_size": 1000,
        "fps": FPS,
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
        "features": {
            "observation.state": vector,
            "action": vector,
            CAMERA: {"dtype": "video", "shape": [HEIGHT, WIDTH, 3], "names": ["height", "width", "channel"]},
            "timestamp": {"dtype": "float32", "shape": [1], "names": None},
        },
    }
    (root / "meta/info.json").write_text(json.dumps(info))
    write_lines(root / "meta/tasks.jsonl", [{"task_index": 0, "task": "pick up the can"}])
    rows = [{"episode_index": i, "tasks": ["pick up the can"], "length": n} for i, n in enumerate(LENGTHS)]
    write_lines(root / "meta/episodes.jsonl", rows)
    for episode, length in enumerate(LENGTHS):
        write_rows(root, episode, length)
        if episode < 2:
            write_video(root, episode, length)
    return root


def change_info(root, **changes):
    path = root / "meta/info.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_everything_comes_in_and_missing_videos_are_reported(source, tmp_path):
    report = import_episodes(source, tmp_path / "out").to_json()
    assert {name: report[name] for name in ("episodes", "frames", "episodes_with_video", "missing_videos")} == {
        "episodes": 3,
        "frames": 16,
        "episodes_with_video": 2,
        "missing_videos": 1,
    }
    assert report["rejected"] == report["warnings"] == []
    assert report["missing_video_files"] == [
        {
            "episode": 2,
            "video": CAMERA,
            "reason": f"videos/chunk-000/{CAMERA}/episode_000002.mp4 is listed but not there",
        }
    ]
    assert report["tasks"] == ["pick up the can"]
    assert report["robot_type"] == "arm"
    reader = EpisodesReader(tmp_path / "out")
    assert reader.features["action"].names == tuple(NAMES)
    for row in reader.episodes:
        np.testing.assert_array_equal(
            reader.read(row.index).columns["action"], rows_of(row.index, row.length)["action"]
        )
    assert read_back(reader.video_frames(1, CAMERA)) == [number_of(1, row) for row in range(7)]
    assert reader.row(2).has_video == {CAMERA: False}
    assert check_episodes(tmp_path / "out").ok


def test_video_bytes_are_kept(source, tmp_path):
    import_episodes(source, tmp_path / "out")
    original = source / f"videos/chunk-000/{CAMERA}/episode_000001.mp4"
    assert EpisodesReader(tmp_path / "out").video_file(1, CAMERA).path.read_bytes() == original.read_bytes()


def nan_action():
    rows = rows_of(1, 7)["action"]
    rows[4, 1] = np.nan
    return rows.tolist()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"action": nan_action()}, "episode_000001.parquet: row 4, column action[1 (elbow)] is nan"),
        ({"timestamp": [0.0, 0.05, 0.1, 0.08, 0.2, 0.25, 0.3]}, "row 3: the timestamp does not move forward"),
        ({"action": None}, "columns ['action'] are missing"),
        ({"action": [[1.0, 2.0]] * 7}, "column action: column holds 14 numbers, expected 7 rows of shape [3]"),
        ({"action": ["left"] * 7}, "episode_000001.parquet: column action"),
    ],
)
def test_an_episode_with_a_bad_row_is_rejected_by_name_and_the_others_import(source, tmp_path, changes, reason):
    write_rows(source, 1, 7, **changes)
    report = import_episodes(source, tmp_path / "out")
    assert [rejected["episode"] for rejected in report.rejected] == [1]
    assert reason in report.rejected[0]["reason"]
    reader = EpisodesReader(tmp_path / "out")
    assert [row.extra["source_episode"] for row in reader.episodes] == [0, 2]
    assert check_episodes(tmp_path / "out").ok


def test_a_parquet_file_without_footer_is_rejected_by_name(source, tmp_path):
    path = source / "data/chunk-000/episode_000001.parquet"
    path.write_bytes(path.read_bytes()[:-30])
    (rejected,) = import_episodes(source, tmp_path / "out").rejected
    assert rejected["episode"] == 1
    assert "episode_000001.parquet is broken, as a killed recorder leaves it" in rejected["reason"]


def test_a_killed_recorder_with_wrong_totals_and_unlisted_files_is_told(source, tmp_path):
    change_info(source, total_episodes=8)
    write_rows(source, 6, 3)
    report = import_episodes(source, tmp_path / "out")
    texts = [warning["message"] for warning in report.warnings]
    assert texts == [
        "info.json says 8 episodes, episodes.jsonl lists 3",
        "data/chunk-000/episode_000006.parquet is listed nowhere and was left out",
    ]


@pytest.mark.parametrize(("frames", "rejected", "warned"), [(6, 1, 0), (7, 0, 0), (9, 0, 1)])
def test_fewer_frames_than_rows_reject_more_frames_warn(source, tmp_path, frames, rejected, warned):
    write_video(source, 1, frames)
    report = import_episodes(source, tmp_path / "out")
    assert (len(report.rejected), len(report.warnings)) == (rejected, warned)
    for entry in [*(r["reason"] for r in report.rejected), *(w["message"] for w in report.warnings)]:
        assert f"{frames} frames" in entry
        assert "7 rows" in entry


def test_fewer_rows_than_listed_reject_with_both_counts(source, tmp_path):
    write_rows(source, 1, 5)
    (rejected,) = import_episodes(source, tmp_path / "out").rejected
    assert rejected["reason"] == "episode_000001.parquet has 5 rows, episodes.jsonl says 7"


def test_hardware_timestamps_are_kept_and_their_jitter_reported(source, tmp_path):
    times = np.arange(7) / FPS + np.array([0, 0.01, -0.01, 0.015, 0, -0.02, 0])
    write_rows(source, 1, 7, timestamp=(1000.0 + times).tolist())
    report = import_episodes(source, tmp_path / "out")
    assert report.jitter["max_s"] == pytest.approx(0.025, abs=1e-4)
    assert 0 < report.jitter["p99_s"] <= report.jitter["max_s"]
    assert "timestamps start at 1000.000 s: moved to 0" in report.warnings[0]["message"]
    reader = EpisodesReader(tmp_path / "out")
    np.testing.assert_allclose(reader.read(1).timestamps, times, atol=1e-4)
    assert read_back(reader.video_frames(1, CAMERA)) == [number_of(1, row) for row in range(7)]


def test_entries_that_never_move_are_named(source, tmp_path):
    for episode, length in enumerate(LENGTHS):
        action = rows_of(episode, length)["action"]
        action[:, 2] = 0.25
        write_rows(source, episode, length, action=action.tolist())
    report = import_episodes(source, tmp_path / "out")
    assert report.constant_dimensions == ["action[2 (wrist)]"]
    stats = json.loads((tmp_path / "out/meta/stats.json").read_text(), parse_constant=pytest.fail)
    assert stats["action"]["std"][2] == 0.0


def test_units_are_stored_when_known_and_degrees_called_radians_are_suspected(source, tmp_path):
    import_episodes(source, tmp_path / "a", units="deg")
    assert EpisodesReader(tmp_path / "a").features["action"].units == ("deg",) * 3
    write_rows(source, 0, 5, action=[[1.0, 90.0, 0.0]] * 5)
    report = import_episodes(source, tmp_path / "b", units="rad")
    assert report.warnings == [
        {"episode": 0, "message": "action[1 (elbow)] is declared in rad but passes two turns: degrees?"}
    ]


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda root: (root / "meta/info.json").unlink(), r"info\.json is missing"),
        (lambda root: (root / "meta/info.json").write_text("{"), r"info\.json is broken"),
        (lambda root: (root / "meta/info.json").write_text("[]"), "found no object"),
        (lambda root: change_info(root, codebase_version="v1.6"), r"expected codebase_version .*, found v1\.6"),
        (lambda root: change_info(root, fps=0), "field fps is missing"),
        (lambda root: change_info(root, features=[1]), "features must be an object"),
        (lambda root: change_info(root, chunks_size={}), "chunks_size must be a whole number"),
        (lambda root: change_info(root, features={"a": {"dtype": "x", "shape": [3]}}), "has dtype 'x': expected"),
        (lambda root: change_info(root, features={"a": [1]}), "feature a needs a dtype and a shape"),
        (lambda root: (root / "meta/episodes.jsonl").unlink(), r"episodes\.jsonl is missing"),
        (lambda root: (root / "meta/episodes.jsonl").write_text("{}\n{"), r"line 2 is not JSON"),
        (lambda root: (root / "meta/episodes.jsonl").write_text("{}\n"), "episode_index must be a whole number"),
        (lambda root: (root / "meta/episodes.jsonl").write_bytes(b"\xff\xfe"), r"episodes\.jsonl is broken"),
        (lambda root: change_info(root, data_path="/etc/{episode_index}"), "leads out of the folder"),
        (lambda root: [path.unlink() for path in root.rglob("*.parquet")], "no episode could be imported: .* missing"),
    ],
)
def test_a_malformed_source_is_refused_and_leaves_nothing(source, tmp_path, break_it, words):
    break_it(source)
    with pytest.raises(DataError, match=words):
        import_episodes(source, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["v21"]


def test_a_file_as_source_and_a_taken_target_are_bad_usage(source, tmp_path):
    with pytest.raises(ConfigError) as caught:
        import_episodes(source / "meta/info.json", tmp_path / "out")
    assert caught.value.field == "src"
    with pytest.raises(ConfigError) as caught:
        import_episodes(source, source)
    assert caught.value.field == "dst"


def test_a_v3_folder_is_taken_as_it_is_without_its_bad_episodes(tmp_path):
    folder = make_folder(tmp_path / "v3")
    (folder / "data/chunk-000/file-001.parquet").write_bytes(b"PAR1")
    report = import_episodes(folder, tmp_path / "out")
    assert (report.format, report.episodes, report.frames) == ("v3.0", 2, 9)
    assert report.rejected[0]["episode"] == 1
    assert "file-001.parquet is broken" in report.rejected[0]["reason"]


def test_steps_are_reported(source, tmp_path):
    steps = []
    import_episodes(source, tmp_path / "out", on_step=lambda done, total: steps.append((done, total)))
    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_the_real_g1_recording_imports_with_its_known_figures(shared_data, tmp_path):
    report = import_episodes(shared_data / "lerobot_v21_g1_bottle", tmp_path / "g1")
    assert (report.episodes, report.frames) == (100, 35965)
    assert (report.episodes_with_video, report.missing_videos) == (5, 95)
    assert report.rejected == report.warnings == report.constant_dimensions == []
    assert report.jitter["max_s"] == pytest.approx(1.4e-6, abs=1e-7)
    assert report.needs_proxy == ["observation.images.cam_high"]
    reader = EpisodesReader(tmp_path / "g1")
    lengths = {row.index: row.length for row in reader.episodes}
    assert (min(lengths.values()), max(lengths.values()), lengths[29]) == (221, 583, 221)
    assert [row.index for row in reader.episodes if any(row.has_video.values())] == [29, 30, 31, 59, 82]
    assert reader.video_frames(82, "observation.images.cam_high", 258).shape == (2, 480, 640, 3)
    assert stream_info(reader.video_file(29, "observation.images.cam_high").path)["video.codec"] == "av1"
