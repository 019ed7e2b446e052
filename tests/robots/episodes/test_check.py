"""Checking and recovering: what is damaged is named, what is whole is saved."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robots.episodes import EpisodesReader, Feature, check_episodes, recover_episodes
from robots.episodes.video import VideoWriter
from robots.errors import DataError
from tests.robots.episodes.builders import CAMERA, FPS, HEIGHT, WIDTH, burn, make_folder, number_of, read_back

DATA_1 = "data/chunk-000/file-001.parquet"


def change_column(path, name, change):
    table = pq.read_table(path)
    column = table.schema.get_field_index(name)
    values = change(table[name].to_pylist())
    pq.write_table(
        table.set_column(column, table.schema.field(name), pa.array(values, table.schema.field(name).type)), path
    )


def write_video(path, frames):
    with VideoWriter(path, FPS, HEIGHT, WIDTH) as video:
        for number in range(frames):
            video.add(burn(number))


def messages(findings):
    return " | ".join(finding.message for finding in findings)


@pytest.mark.parametrize("kind", ["folder", "foreign"])
def test_a_sound_folder_passes(kind, request):
    path = request.getfixturevalue(kind)
    if kind == "foreign":
        (path / "meta/stats.json").write_text("{}")
    report = check_episodes(path)
    assert (report.ok, report.errors, report.warnings) == (True, [], [])
    assert report.episodes_with_video == report.episodes
    assert report.jitter["max_s"] < 1e-6


def nan_at_4_1(rows):
    rows[4][1] = float("nan")
    return rows


@pytest.mark.parametrize(
    ("column", "change", "words"),
    [
        ("action", nan_at_4_1, r"file-001.parquet: row 4, column action[1 (elbow)] is nan"),
        ("timestamp", lambda t: [*t[:3], t[1], *t[4:]], "row 3: the timestamp does not move forward"),
        ("frame_index", lambda f: f[::-1], "frame_index is not 0..6"),
        ("index", lambda i: [n + 1 for n in i], "index is not 5..11"),
        ("task_index", lambda t: [9] * len(t), "task_index [9] is not in tasks.parquet"),
    ],
)
def test_a_wrong_row_is_named(folder, column, change, words):
    change_column(folder / DATA_1, column, change)
    report = check_episodes(folder)
    assert not report.ok
    assert [finding.episode for finding in report.errors] == [1]
    assert words in messages(report.errors)


def test_time_steps_are_judged_within_an_episode_only(folder):
    change_column(folder / DATA_1, "timestamp", lambda times: [t + 100 for t in times])
    report = check_episodes(folder)
    assert report.ok
    assert report.jitter["max_s"] < 1e-5


def test_a_long_pause_between_rows_is_a_warning_with_its_size(folder):
    change_column(folder / DATA_1, "timestamp", lambda times: [*times[:5], *(t + 0.2 for t in times[5:])])
    report = check_episodes(folder)
    assert report.ok
    assert "a time step is off by 0.2000 s" in messages(report.warnings)
    assert report.jitter["max_s"] == pytest.approx(0.2, abs=1e-5)


def test_fewer_rows_than_the_table_says(folder):
    pq.write_table(pq.read_table(folder / DATA_1).slice(0, 5), folder / DATA_1)
    assert "episode 1 has 5 rows, the table says 7" in messages(check_episodes(folder).errors)


@pytest.mark.parametrize("decode", [True, False])
def test_too_few_frames_are_an_error_with_both_counts(folder, decode):
    write_video(folder / f"videos/{CAMERA}/chunk-000/file-001.mp4", 5)
    assert f"{CAMERA}: 5 frames decode for 7 rows" in messages(check_episodes(folder, decode=decode).errors)


def test_a_video_that_vanished_is_an_error(folder):
    path = folder / f"videos/{CAMERA}/chunk-000/file-001.mp4"
    path.unlink()
    report = check_episodes(folder)
    assert f"{path} is missing" in messages(report.errors)
    assert report.missing_videos == 1


def test_totals_that_disagree_and_strays_are_told(folder):
    info = json.loads((folder / "meta/info.json").read_text())
    (folder / "meta/info.json").write_text(json.dumps(info | {"total_episodes": 8}))
    (folder / "data/chunk-000/file-007.parquet").write_bytes(b"PAR1")
    report = check_episodes(folder)
    assert "info.json says 8 episodes, 16 frames; the episodes table has 3, 16" in messages(report.errors)
    assert "file-007.parquet belongs to no episode" in messages(report.warnings)


def test_entries_that_never_move_are_named(folder):
    for path in (folder / "data").rglob("*.parquet"):
        change_column(path, "action", lambda rows: [[row[0], 0.5, row[2]] for row in rows])
    assert check_episodes(folder).constant_dimensions == ["action[1 (elbow)]"]


def test_degrees_declared_as_radians_are_suspected(folder):
    change_column(folder / DATA_1, "action", lambda rows: [[row[0], 90.0 + i, row[2]] for i, row in enumerate(rows)])
    assert "action[1 (elbow)] is declared in rad but passes two turns" in messages(check_episodes(folder).warnings)


def kill_the_recorder(folder):
    """As a killed recorder leaves it: a table and its data without footers, totals that promise more."""
    info = json.loads((folder / "meta/info.json").read_text())
    (folder / "meta/info.json").write_text(json.dumps(info | {"total_episodes": 8, "total_frames": 40}))
    for name in ("data/chunk-000/file-002.parquet", "meta/episodes/chunk-000/file-002.parquet"):
        (folder / name).write_bytes((folder / name).read_bytes()[:-12])


def test_a_killed_recorder_is_diagnosed_by_file(folder):
    kill_the_recorder(folder)
    report = check_episodes(folder)
    assert "meta/episodes/chunk-000/file-002.parquet is broken" in messages(report.errors)
    assert "info.json says 8 episodes, 40 frames; the episodes table has 2, 12" in messages(report.errors)
    with pytest.raises(DataError, match=r"meta/episodes/chunk-000/file-002\.parquet is broken"):
        EpisodesReader(folder)


def test_the_verified_prefix_is_recovered_on_request(folder, tmp_path):
    kill_the_recorder(folder)
    result = recover_episodes(folder, tmp_path / "saved")
    assert (result["episodes"], result["frames"], result["lost"]) == (2, 12, 0)
    assert any("file-002.parquet is broken" in text for text in result["damage"])
    reader = EpisodesReader(tmp_path / "saved")
    assert read_back(reader.video_frames(1, CAMERA)) == [number_of(1, row) for row in range(7)]
    assert check_episodes(tmp_path / "saved").ok


def test_recovery_stops_at_the_first_damaged_episode(tmp_path):
    folder = make_folder(tmp_path / "e", lengths=(3, 4, 5, 6))
    (folder / "data/chunk-000/file-002.parquet").write_bytes(b"PAR1")
    result = recover_episodes(folder, tmp_path / "saved")
    assert (result["episodes"], result["lost"]) == (2, 2)


def test_nothing_to_recover_says_why(folder, tmp_path):
    (folder / "data/chunk-000/file-000.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"nothing of .* can be recovered: .*file-000\.parquet is broken"):
        recover_episodes(folder, tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


def test_statistics_match_numpy_for_any_shape():
    from robots.episodes.stats import aggregate, column_stats, constant_entries

    rng = np.random.default_rng(0)
    parts = [rng.normal(size=(n, 3)) * [1, 0, 1e-7] + 2 for n in (5, 9, 1)]
    pooled = aggregate([{"action": column_stats(part)} for part in parts])["action"]
    every = np.concatenate(parts)
    for name in ("min", "max", "mean", "std"):
        np.testing.assert_allclose(pooled[name], getattr(every, name)(axis=0), atol=1e-12)
    assert pooled["count"].tolist() == [15]
    assert constant_entries({"action": pooled}, {"action": Feature("float32", (3,))}) == ["action[1]", "action[2]"]


def test_pixel_statistics_match_numpy():
    from robots.episodes.stats import PixelStats

    images = np.random.default_rng(0).integers(0, 256, (4, 20, 30, 3), dtype=np.uint8)
    pixels = PixelStats()
    for image in images:
        pixels.add(image)
    found, scaled = pixels.result(), images / 255.0
    np.testing.assert_allclose(found["mean"].ravel(), scaled.mean(axis=(0, 1, 2)), atol=1e-9)
    np.testing.assert_allclose(found["std"].ravel(), scaled.std(axis=(0, 1, 2)), atol=1e-9)
    np.testing.assert_allclose(found["q90"].ravel(), np.quantile(scaled, 0.9, axis=(0, 1, 2)), atol=1 / 255)
    assert found["count"].tolist() == [4]
    assert PixelStats().result() is None
