"""Merging: rows renumbered, frames with their rows, and nothing padded in silence."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from robots.episodes import EpisodesReader, EpisodesWriter, Feature, check_episodes, merge_episodes
from robots.errors import ConfigError, DataError
from tests.robots.episodes.builders import (
    CAMERA,
    FPS,
    features,
    make_folder,
    make_foreign_folder,
    number_of,
    read_back,
    rows_of,
    write_episode,
)


@pytest.fixture
def sources(tmp_path):
    """Three own episodes and four foreign ones."""
    return make_folder(tmp_path / "own"), make_foreign_folder(tmp_path / "foreign")


def test_every_row_keeps_its_frame_and_values(sources, tmp_path):
    result = merge_episodes(sources, tmp_path / "all")
    assert (result["episodes"], result["frames"]) == (7, 38)
    reader = EpisodesReader(tmp_path / "all")
    origins = [0, 1, 2, 0, 1, 2, 3]
    for row, origin in zip(reader.episodes, origins, strict=True):
        frames = read_back(reader.video_frames(row.index, CAMERA))
        assert frames == [number_of(origin, r) for r in range(row.length)]
        np.testing.assert_array_equal(reader.read(row.index).columns["action"], rows_of(origin, row.length)["action"])
    assert check_episodes(tmp_path / "all").ok
    assert len(list((tmp_path / "all/videos").rglob("*.mp4"))) == 5


def test_statistics_are_those_of_all_rows(sources, tmp_path):
    merge_episodes(sources, tmp_path / "all")
    reader = EpisodesReader(tmp_path / "all")
    every = np.concatenate([reader.read(row.index).columns["action"] for row in reader.episodes])
    np.testing.assert_allclose(reader.stats["action"]["mean"], every.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(reader.stats["action"]["std"], every.std(axis=0), rtol=1e-6)


def test_chosen_episodes_are_exactly_those(sources, tmp_path):
    merge_episodes(sources, tmp_path / "all", choose=[[2], [3, 1]])
    reader = EpisodesReader(tmp_path / "all")
    shown = [read_back(reader.video_frames(row.index, CAMERA, 0, 1))[0] for row in reader.episodes]
    assert shown == [number_of(2, 0), number_of(3, 0), number_of(1, 0)]


def test_the_sources_may_go_and_the_merged_folder_can_grow(tmp_path):
    merge_episodes([make_folder(tmp_path / "a", (3, 2)), make_folder(tmp_path / "b", (4,), first=2)], tmp_path / "all")
    for path in [*(tmp_path / "a").rglob("*.mp4"), *(tmp_path / "b").rglob("*.mp4")]:
        path.unlink()
    with EpisodesWriter.open(tmp_path / "all") as writer:
        write_episode(writer, 3, 5)
    reader = EpisodesReader(tmp_path / "all")
    assert read_back(reader.video_frames(3, CAMERA)) == [number_of(3, row) for row in range(5)]
    assert check_episodes(tmp_path / "all").ok


def test_tasks_facts_and_missing_videos_are_carried_over(tmp_path):
    for name, task, extra in (("a", "left", {"seed": 1}), ("b", "right", {"seed": 0.5, "object": "can"})):
        with EpisodesWriter.create(tmp_path / name, fps=FPS, robot_type="bench", features=features()) as writer:
            with writer.episode(task=task) as episode:
                episode.miss_video(CAMERA)
                episode.add_rows(rows_of(0, 3))
                episode.commit(extra)
            write_episode(writer, 1, 2, extra, task=task)
    merge_episodes([tmp_path / "a", tmp_path / "b"], tmp_path / "all")
    reader = EpisodesReader(tmp_path / "all")
    assert [row.task for row in reader.episodes] == ["left", "left", "right", "right"]
    assert reader.read(3).columns["task_index"].tolist() == [1, 1]
    assert [row.extra["seed"] for row in reader.episodes] == [1.0, 1.0, 0.5, 0.5]
    assert [row.extra["object"] for row in reader.episodes] == [None, None, "can", "can"]
    assert [row.has_video[CAMERA] for row in reader.episodes] == [False, True, False, True]
    assert check_episodes(tmp_path / "all").missing_videos == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fps": 30}, "fps is 20 in one and 30 in the other"),
        ({"robot_type": "other"}, "robot_type is bench in one and other in the other"),
        ({"features": features(action=Feature.vector(["a", "b", "c"], units="rad"))}, "feature action has names"),
        (
            {"features": features(action=Feature.vector(["shoulder", "elbow"], units="rad"))},
            r"feature action has shape",
        ),
        (
            {"features": features(action=Feature.vector(["shoulder", "elbow", "wrist"], units="deg"))},
            r"feature action has units \['rad', 'rad', 'rad'\] in one and \['deg', 'deg', 'deg'\] in the other",
        ),
        ({"features": features(reward=Feature.scalar())}, "feature reward is in only one of them"),
        ({"features": features() | {CAMERA: Feature.video(32, 96)}}, "head has shape"),
    ],
)
def test_sources_that_differ_are_refused_naming_the_difference(folder, tmp_path, options, words):
    settings = {"fps": FPS, "robot_type": "bench", "features": features()} | options
    EpisodesWriter.create(tmp_path / "other", **settings).close()
    with pytest.raises(DataError, match=words):
        merge_episodes([folder, tmp_path / "other"], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_a_taken_folder_is_not_overwritten(folder, tmp_path):
    (tmp_path / "all").mkdir()
    (tmp_path / "all/thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not empty"):
        merge_episodes([folder], tmp_path / "all")
    assert (tmp_path / "all/thesis.txt").read_text() == "mine"


def test_a_source_that_breaks_midway_leaves_nothing(folder, tmp_path):
    path = folder / "data/chunk-000/file-002.parquet"
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(DataError, match=r"file-002\.parquet is broken"):
        merge_episodes([folder], tmp_path / "all")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["episodes"]


def test_nothing_to_merge_is_said(tmp_path):
    EpisodesWriter.create(tmp_path / "empty", fps=FPS, robot_type="bench", features=features()).close()
    with pytest.raises(DataError, match="nothing to merge"):
        merge_episodes([tmp_path / "empty"], tmp_path / "all")


def test_a_foreign_folder_grows_only_after_a_merge(foreign, tmp_path):
    with pytest.raises(DataError, match="merge it into a new folder"):
        EpisodesWriter.open(foreign)
    merge_episodes([foreign], tmp_path / "own")
    with EpisodesWriter.open(tmp_path / "own") as writer:
        write_episode(writer, 4, 3, {})
    schemas = {pq.read_schema(path) for path in (tmp_path / "own/meta/episodes").rglob("*.parquet")}
    assert len(schemas) == 1
    assert json.loads((tmp_path / "own/meta/info.json").read_text())["total_episodes"] == 5
