"""The writer: LeRobotDataset v3.0 to the letter, and nothing half-written."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robots.episodes import EpisodesReader, EpisodesWriter, Feature, check_episodes
from robots.episodes.layout import Slot
from robots.errors import DataError
from tests.robots.episodes.builders import (
    CAMERA,
    FPS,
    HEIGHT,
    NAMES,
    WIDTH,
    burn,
    features,
    make_folder,
    read_back,
    rows_of,
    write_episode,
)


def a_writer(root, **options):
    return EpisodesWriter.create(root, **({"fps": FPS, "robot_type": "bench", "features": features()} | options))


def a_row(row=0):
    return {"observation.state": [0.1, 0.2, 0.3], "action": [0, 0, 0], CAMERA: burn(row)}


def test_rows_frames_and_facts_come_back(tmp_path):
    facts = {
        "object": "can",
        "belt_speed": 0.1,
        "seed": 3,
        "is_success": True,
        "initial_state": {"xyz": [0.1, np.float32(0.5)]},
        "phases": (1, 2),
        "note": None,
    }
    with a_writer(tmp_path / "e") as writer, writer.episode(task="pick up the can") as episode:
        for row in range(6):
            episode.add(a_row(row) | {"action": np.full(3, row)})
        assert episode.commit(facts) == 0
    reader = EpisodesReader(tmp_path / "e")
    episode = reader.read(0)
    assert len(reader) == 1
    assert episode.task == "pick up the can"
    assert episode.extra == facts | {"initial_state": {"xyz": [0.1, 0.5]}, "phases": [1, 2]}
    np.testing.assert_array_equal(episode.columns["action"], np.repeat(np.arange(6.0), 3).reshape(6, 3))
    np.testing.assert_allclose(episode.timestamps, np.arange(6) / FPS)
    assert read_back(reader.video_frames(0, CAMERA)) == list(range(6))


def test_info_json_says_what_the_format_asks(folder):
    info = json.loads((folder / "meta/info.json").read_text())
    assert {name: info[name] for name in info if name != "features"} == {
        "codebase_version": "v3.0",
        "robot_type": "bench",
        "total_episodes": 3,
        "total_frames": 16,
        "total_tasks": 1,
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": FPS,
        "splits": {"train": "0:3"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
    }
    assert info["features"]["action"] == {"dtype": "float32", "shape": [3], "names": NAMES, "units": ["rad"] * 3}
    camera = info["features"][CAMERA]
    assert camera["dtype"] == "video"
    assert camera["shape"] == [HEIGHT, WIDTH, 3]
    assert camera["names"] == ["height", "width", "channels"]
    assert camera["info"] == {
        "video.height": HEIGHT,
        "video.width": WIDTH,
        "video.codec": "h264",
        "video.pix_fmt": "yuv420p",
        "video.is_depth_map": False,
        "video.fps": FPS,
        "video.channels": 3,
        "has_audio": False,
    }
    assert info["features"]["timestamp"] == {"dtype": "float32", "shape": [1], "names": None}
    for name in ("frame_index", "episode_index", "index", "task_index"):
        assert info["features"][name] == {"dtype": "int64", "shape": [1], "names": None}


def test_data_files_have_the_column_types_of_the_format(folder):
    table = pq.read_table(folder / "data/chunk-000/file-001.parquet")
    assert table.schema.names == [
        *("observation.state", "action", "timestamp", "frame_index", "episode_index", "index", "task_index")
    ]
    assert table.schema.field("action").type == pa.list_(pa.float32(), 3)
    assert table.schema.field("timestamp").type == pa.float32()
    assert table["index"].to_pylist() == list(range(5, 12))
    assert table["frame_index"].to_pylist() == list(range(7))
    assert set(table["episode_index"].to_pylist()) == {1}


def test_tasks_are_a_pandas_frame_indexed_by_text(tmp_path):
    with a_writer(tmp_path / "e") as writer:
        for episode, task in enumerate(["left", "right", "left"]):
            write_episode(writer, episode, 3, task=task)
    tasks = pd.read_parquet(tmp_path / "e/meta/tasks.parquet")
    assert tasks.index.tolist() == ["left", "right"]
    assert tasks["task_index"].tolist() == [0, 1]
    assert tasks.iloc[1].name == "right"
    assert EpisodesReader(tmp_path / "e").read(1).columns["task_index"].tolist() == [1, 1, 1]


def test_the_episodes_table_locates_every_episode(folder):
    table = pq.read_table(folder / "meta/episodes/chunk-000/file-002.parquet")
    row = table.to_pylist()[0]
    assert row["tasks"] == ["pick up the can"]
    assert (row["episode_index"], row["length"]) == (2, 4)
    assert (row["dataset_from_index"], row["dataset_to_index"]) == (12, 16)
    assert (row["data/chunk_index"], row["data/file_index"]) == (0, 2)
    assert (row["meta/episodes/chunk_index"], row["meta/episodes/file_index"]) == (0, 2)
    assert (row[f"videos/{CAMERA}/chunk_index"], row[f"videos/{CAMERA}/file_index"]) == (0, 2)
    assert (row[f"videos/{CAMERA}/from_timestamp"], row[f"videos/{CAMERA}/to_timestamp"]) == (0.0, 4 / FPS)
    schemas = {str(pq.read_schema(path)) for path in (folder / "meta/episodes").glob("*/*.parquet")}
    assert len(schemas) == 1


def test_statistics_per_episode_and_folder_have_the_shapes_of_the_format(folder):
    row = pq.read_table(folder / "meta/episodes/chunk-000/file-000.parquet").to_pylist()[0]
    state = rows_of(0, 5)["observation.state"]
    np.testing.assert_allclose(row["stats/observation.state/mean"], state.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(row["stats/observation.state/q90"], np.quantile(state, 0.9, axis=0), rtol=1e-6)
    assert row["stats/observation.state/count"] == [5]
    assert np.shape(row[f"stats/{CAMERA}/mean"]) == (3, 1, 1)
    stats = json.loads((folder / "meta/stats.json").read_text())
    every = np.concatenate([rows_of(i, n)["action"] for i, n in enumerate((5, 7, 4))])
    np.testing.assert_allclose(stats["action"]["std"], every.std(axis=0), rtol=1e-5)
    np.testing.assert_allclose(stats["action"]["max"], every.max(axis=0), rtol=1e-6)
    assert stats["action"]["count"] == [16]
    assert set(stats["action"]) == {"min", "max", "mean", "std", "count", "q01", "q10", "q50", "q90", "q99"}
    assert np.shape(stats[CAMERA]["q99"]) == (3, 1, 1)
    assert 0.0 <= np.min(stats[CAMERA]["min"]) <= np.max(stats[CAMERA]["max"]) <= 1.0
    assert np.shape(stats["timestamp"]["min"]) == (1,)


def test_files_roll_over_to_the_next_chunk_after_a_thousand():
    assert Slot.number(999) == (0, 999)
    assert Slot.number(1000) == (1, 0)
    assert Slot(1, 7).flat() == 1007


def test_a_folder_rolls_over_at_its_own_chunk_size(tmp_path):
    root = tmp_path / "e"
    a_writer(root).close()
    info = json.loads((root / "meta/info.json").read_text())
    (root / "meta/info.json").write_text(json.dumps(info | {"chunks_size": 2}))
    with EpisodesWriter.open(root) as writer:
        for episode in range(3):
            write_episode(writer, episode, 3)
    assert (root / "data/chunk-001/file-000.parquet").exists()
    assert (root / f"videos/{CAMERA}/chunk-001/file-000.mp4").exists()
    assert read_back(EpisodesReader(root).video_frames(2, CAMERA)) == [128, 129, 130]


def test_leaving_an_episode_by_an_exception_or_without_commit_leaves_nothing(tmp_path):
    root = tmp_path / "e"
    with a_writer(root) as writer:
        with pytest.raises(RuntimeError), writer.episode(task="t") as episode:
            episode.add(a_row())
            raise RuntimeError("operator stumbled")
        with writer.episode(task="t") as episode:
            episode.add(a_row())
        write_episode(writer, 0, 3)
    assert len(EpisodesReader(root)) == 1
    assert not (root / ".open-episode").exists()
    assert len(list(root.rglob("*.mp4"))) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"action": None}, r"row 1: missing \['action'\]"),
        ({"extra": [1]}, r"unexpected \['extra'\]"),
        ({"action": [1, 2]}, r"row 1, action: expected shape \[3\], got \[2\]"),
        ({"action": [1, float("nan"), 0]}, r"row 1, action\[1 \(elbow\)\]: nan is not a finite"),
        ({CAMERA: burn(0).astype(float)}, r"row 1, .*: expected uint8 \[16, 96, 3\], got float64"),
        ({CAMERA: burn(0)[:8]}, r"got uint8 \[8, 96, 3\]"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_by_name(tmp_path, change, words):
    row = {name: value for name, value in (a_row() | change).items() if value is not None}
    with a_writer(tmp_path / "e") as writer, pytest.raises(DataError, match=words), writer.episode(task="t") as episode:
        episode.add(a_row())
        episode.add(row)


def test_many_rows_at_once_name_the_row_too(tmp_path):
    columns = rows_of(0, 6) | {CAMERA: np.stack([burn(0)] * 6)}
    columns["observation.state"][4, 2] = np.inf
    with (
        a_writer(tmp_path / "e") as writer,
        writer.episode(task="t") as episode,
        pytest.raises(DataError, match=r"row 4, observation\.state\[2 \(wrist\)\]: inf"),
    ):
        episode.add_rows(columns)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"fps": 0}, "fps must be > 0"),
        ({"features": {}}, "at least one feature"),
        ({"features": {"a/b": Feature.scalar()}}, "no '/'"),
        ({"features": {"timestamp": Feature.scalar()}}, "cannot be declared"),
    ],
)
def test_a_folder_that_cannot_be_is_refused(tmp_path, wrong, words):
    with pytest.raises(DataError, match=words):
        a_writer(tmp_path / "e", **wrong)


def test_odd_video_sizes_and_wrong_numbers_of_names_are_refused():
    with pytest.raises(DataError, match="even height and width, got 15x96"):
        Feature.video(15, 96)
    with pytest.raises(DataError, match="needs 3 names, got 2"):
        Feature("float32", (3,), ("a", "b"))


def test_an_empty_episode_or_task_and_a_second_open_episode_are_refused(tmp_path):
    with a_writer(tmp_path / "e") as writer:
        with pytest.raises(DataError, match="task text"):
            writer.episode(task=" ")
        with writer.episode(task="t") as episode:
            with pytest.raises(DataError, match="at least one row"):
                episode.commit()
            with pytest.raises(DataError, match="commit or abort"):
                writer.episode(task="t")


def test_one_writer_a_folder(tmp_path):
    writer = a_writer(tmp_path / "e")
    with pytest.raises(DataError, match="being written by another process"):
        EpisodesWriter.open(tmp_path / "e")
    writer.close()
    EpisodesWriter.open(tmp_path / "e").close()
    with pytest.raises(DataError, match="closed"):
        writer.episode(task="t")


def test_a_used_folder_is_not_started_anew(folder):
    with pytest.raises(DataError, match="not empty"):
        a_writer(folder)


def test_appending_continues_every_number(folder):
    with EpisodesWriter.open(folder) as writer:
        assert len(writer) == 3
        write_episode(writer, 3, 5)
    reader = EpisodesReader(folder)
    assert reader.read(3).columns["index"].tolist() == list(range(16, 21))
    assert reader.info["total_frames"] == 21
    assert check_episodes(folder).ok


def test_resuming_with_other_settings_is_refused_naming_them(folder):
    settings = {"fps": FPS, "robot_type": "bench", "features": features()}
    EpisodesWriter.open_or_create(folder, **settings).close()
    with pytest.raises(DataError, match="20 fps, wanted bench at 30 fps"):
        EpisodesWriter.open_or_create(folder, **settings | {"fps": 30})
    with pytest.raises(DataError, match="feature action has shape"):
        EpisodesWriter.open_or_create(folder, **settings | {"features": features(action=Feature.vector(["a"]))})


def test_totals_and_statistics_that_lag_behind_the_table_are_repaired(folder):
    info, stats = (folder / "meta/info.json"), (folder / "meta/stats.json")
    right = (json.loads(info.read_text()), json.loads(stats.read_text()))
    info.write_text(json.dumps(right[0] | {"total_episodes": 2, "total_frames": 12}))
    stats.unlink()
    EpisodesWriter.open(folder).close()
    assert json.loads(info.read_text()) == right[0]
    repaired = json.loads(stats.read_text())
    np.testing.assert_allclose(repaired["action"]["std"], right[1]["action"]["std"])


def test_facts_keep_the_types_of_the_first_episode(tmp_path):
    with a_writer(tmp_path / "e") as writer:
        write_episode(writer, 0, 2, {"speed": 0.1, "note": None, "seed": 1})
        write_episode(writer, 1, 2, {"speed": 1, "note": "slipped", "seed": 2})
        write_episode(writer, 2, 2, {"speed": float("nan"), "seed": 3})
        with pytest.raises(DataError, match="'seed' is int64 in the first episode, got 'three'"):
            write_episode(writer, 3, 2, {"seed": "three"})
        with pytest.raises(DataError, match="'colour' is not among those of the first episode"):
            write_episode(writer, 3, 2, {"colour": "red"})
        with pytest.raises(DataError, match="column of the format itself"):
            a_fresh = a_writer(tmp_path / "f")
            write_episode(a_fresh, 0, 2, {"length": 3})
    extras = [row.extra for row in EpisodesReader(tmp_path / "e").episodes]
    assert extras == [
        {"speed": 0.1, "note": None, "seed": 1},
        {"speed": 1.0, "note": "slipped", "seed": 2},
        {"speed": None, "note": None, "seed": 3},
    ]


def test_an_episode_may_lack_a_video_and_says_so(tmp_path):
    root = make_folder(tmp_path / "e", lengths=(3,))
    with EpisodesWriter.open(root) as writer:
        with writer.episode(task="t") as episode:
            episode.miss_video(CAMERA)
            episode.add_rows(rows_of(1, 4))
            episode.commit({"seed": 1})
        write_episode(writer, 2, 3)
    reader = EpisodesReader(root)
    assert [row.has_video[CAMERA] for row in reader.episodes] == [True, False, True]
    assert len(reader.read(1)) == 4
    with pytest.raises(DataError, match="episode 1 has no video"):
        reader.video_frames(1, CAMERA)
    assert read_back(reader.video_frames(2, CAMERA)) == [128, 129, 130]
    report = check_episodes(root)
    assert report.ok
    assert report.missing_videos == 1


def test_scalars_text_and_booleans_are_features_too(tmp_path):
    declared = {
        "reward": Feature.scalar(),
        "phase": Feature.scalar("string"),
        "done": Feature.scalar("bool"),
        "grid": Feature("float32", (2, 2)),
    }
    writer = EpisodesWriter.create(tmp_path / "e", fps=10, robot_type="bench", features=declared)
    with writer, writer.episode(task="t") as episode:
        episode.add({"reward": 0.5, "phase": "lift", "done": False, "grid": [[1, 2], [3, 4]]})
        episode.add({"reward": [1.5], "phase": "place", "done": True, "grid": np.zeros((2, 2))})
        episode.commit()
    columns = EpisodesReader(tmp_path / "e").read(0).columns
    assert columns["reward"].tolist() == [0.5, 1.5]
    assert columns["phase"].tolist() == ["lift", "place"]
    assert columns["done"].tolist() == [False, True]
    assert columns["grid"][0].tolist() == [[1, 2], [3, 4]]
    assert EpisodesReader(tmp_path / "e").info["video_path"] is None
