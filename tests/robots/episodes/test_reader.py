"""The reader: every row its own frame, in any v3.0 folder."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robots.episodes import EpisodesReader, merge_episodes
from robots.episodes.video import VideoWriter, Window, read_frames, shown_times
from robots.errors import DataError
from tests.robots.episodes.builders import CAMERA, FPS, HEIGHT, WIDTH, burn, number_of, read_back, rows_of


def numbers(episode, rows):
    return [number_of(episode, row) for row in rows]


@pytest.mark.parametrize("kind", ["folder", "foreign"])
def test_every_row_gets_its_own_frame(kind, request):
    reader = EpisodesReader(request.getfixturevalue(kind))
    for row in reader.episodes:
        assert read_back(reader.video_frames(row.index, CAMERA)) == numbers(row.index, range(row.length))
        np.testing.assert_array_equal(
            reader.read(row.index).columns["action"], rows_of(row.index, row.length)["action"]
        )


def test_one_data_file_and_two_video_files_are_told_apart(foreign):
    reader = EpisodesReader(foreign)
    assert reader.video_file(1, CAMERA).path == reader.video_file(0, CAMERA).path
    assert reader.video_file(2, CAMERA).path != reader.video_file(1, CAMERA).path
    assert reader.video_file(3, CAMERA).from_s == pytest.approx(4 / FPS)
    assert {row.data_path for row in reader.episodes} == {foreign / "data/chunk-000/file-000.parquet"}
    assert reader.tasks == {0: "pick up the can"}


@pytest.mark.parametrize(
    ("start", "stop", "stride", "rows"),
    [(0, None, 1, range(7)), (2, 5, 1, range(2, 5)), (1, None, 3, [1, 4]), (5, 99, 1, [5, 6]), (-2, None, 1, [5, 6])],
)
def test_windows_are_clamped_to_their_episode(foreign, start, stop, stride, rows):
    assert read_back(EpisodesReader(foreign).video_frames(1, CAMERA, start, stop, stride)) == numbers(1, rows)


def test_no_rows_give_no_frames(foreign):
    assert EpisodesReader(foreign).video_frames(1, CAMERA, 3, 3).shape == (0, HEIGHT, WIDTH, 3)


def test_jittered_timestamps_get_the_nearest_frame_and_never_a_neighbours(foreign):
    path = foreign / "data/chunk-000/file-000.parquet"
    table = pq.read_table(path)
    times = table["timestamp"].to_numpy() + np.random.default_rng(0).uniform(-0.4, 0.4, table.num_rows) / FPS
    last_of_first = 4
    times[last_of_first] += 3 / FPS
    column = table.schema.get_field_index("timestamp")
    pq.write_table(table.set_column(column, "timestamp", pa.array(times, pa.float32())), path)
    reader = EpisodesReader(foreign)
    for row in reader.episodes:
        assert read_back(reader.video_frames(row.index, CAMERA)) == numbers(row.index, range(row.length))


def test_episodes_are_found_by_id_not_by_position(foreign):
    path = foreign / "meta/episodes/chunk-000/file-000.parquet"
    pq.write_table(pq.read_table(path).take([3, 1]), path)
    reader = EpisodesReader(foreign)
    assert [row.index for row in reader.episodes] == [1, 3]
    assert read_back(reader.video_frames(3, CAMERA, 0, 1)) == [number_of(3, 0)]
    with pytest.raises(DataError, match="has no episode 0; it has 2 episodes"):
        reader.read(0)


def test_a_table_in_several_files_is_read_in_order(folder, foreign):
    assert [row.index for row in EpisodesReader(folder).episodes] == [0, 1, 2]
    assert EpisodesReader(foreign).frames == 22


def test_only_the_columns_asked_for_are_returned(folder):
    episode = EpisodesReader(folder).read(1, columns=["action"])
    assert list(episode.columns) == ["action"]
    assert len(episode) == 7


def test_an_interrupted_commit_does_not_exist_for_the_reader(folder):
    (folder / "meta/episodes/chunk-000/file-002.parquet").unlink()
    assert len(EpisodesReader(folder)) == 2


@pytest.mark.parametrize("name", ["meta/episodes/chunk-000/file-001.parquet", "data/chunk-000/file-001.parquet"])
def test_a_parquet_file_without_its_footer_is_named(folder, name):
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[:-20])
    with pytest.raises(DataError, match=f"{name} is broken, as a killed recorder leaves it"):
        EpisodesReader(folder).read(1)


def test_a_broken_or_absent_video_is_named(folder):
    path = folder / f"videos/{CAMERA}/chunk-000/file-001.mp4"
    path.write_bytes(b"half a header")
    reader = EpisodesReader(folder)
    with pytest.raises(DataError, match=r"file-001\.mp4 cannot be read as video"):
        reader.video_frames(1, CAMERA)
    path.unlink()
    assert EpisodesReader(folder).row(1).has_video == {CAMERA: False}
    with pytest.raises(DataError, match=r"file-001\.mp4 is missing"):
        EpisodesReader(folder).video_frames(1, CAMERA)
    with pytest.raises(DataError, match=f"no camera left; it has {CAMERA}"):
        reader.video_frames(0, "left")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"codebase_version": "v2.1"}, "codebase_version is v2.1, expected v3.0"),
        ({"fps": "fast"}, "fps must be a number > 0"),
        ({"chunks_size": 0}, "chunks_size must be a whole number > 0"),
        ({"features": []}, "features must be an object"),
        ({"features": {"action": {"dtype": "float32"}}}, "feature action needs a dtype and a shape"),
        ({"data_path": "../../{chunk_index}"}, "leads out of the folder"),
        ({"data_path": "data/{episode_index}"}, "cannot be filled"),
    ],
)
def test_an_info_json_that_makes_no_sense_is_refused(folder, change, words):
    info = json.loads((folder / "meta/info.json").read_text())
    (folder / "meta/info.json").write_text(json.dumps(info | change))
    with pytest.raises(DataError, match=words):
        EpisodesReader(folder)


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"info\.json is missing: is .* an episodes folder"):
        EpisodesReader(tmp_path)


def test_frames_stored_as_images_in_the_table_are_read(foreign):
    from io import BytesIO

    from PIL import Image

    def png(number):
        buffer = BytesIO()
        Image.fromarray(burn(number)).save(buffer, "PNG")
        return {"bytes": buffer.getvalue(), "path": None}

    path = foreign / "data/chunk-000/file-000.parquet"
    table = pq.read_table(path)
    pq.write_table(table.append_column("observation.images.side", [[png(n) for n in range(table.num_rows)]]), path)
    info = json.loads((foreign / "meta/info.json").read_text())
    info["features"]["observation.images.side"] = {"dtype": "image", "shape": [HEIGHT, WIDTH, 3], "names": None}
    (foreign / "meta/info.json").write_text(json.dumps(info))
    reader = EpisodesReader(foreign)
    assert read_back(reader.video_frames(1, "observation.images.side", 0, 3)) == [5, 6, 7]
    assert "observation.images.side" not in reader.read(1).columns


def test_a_feature_of_a_kind_unknown_here_is_read_and_merged_as_it_is(foreign, tmp_path):
    path = foreign / "data/chunk-000/file-000.parquet"
    table = pq.read_table(path)
    pq.write_table(table.append_column("notes", [[["a", str(row)] for row in range(table.num_rows)]]), path)
    info = json.loads((foreign / "meta/info.json").read_text())
    info["features"]["notes"] = {"dtype": "language", "shape": [2], "names": None}
    (foreign / "meta/info.json").write_text(json.dumps(info))
    merge_episodes([foreign], tmp_path / "all")
    assert EpisodesReader(tmp_path / "all").read(1).columns["notes"][0] == ["a", "5"]


def test_frames_out_of_storage_order_come_in_order_of_presentation(tmp_path):
    """B-frames: the file stores frames in another order than it shows them."""

    class Reordered:
        @staticmethod
        def options():
            return {"bf": "3", "b_strategy": "0", "g": "30", "crf": "18"}

    path = tmp_path / "b.mp4"
    with VideoWriter(path, FPS, HEIGHT, WIDTH, Reordered()) as video:
        for number in range(40):
            video.add(burn(number))
    window = Window(10 / FPS, 30 / FPS, 0.5 / FPS)
    assert len(shown_times(path, window)) == 20
    assert read_back(read_frames(path, np.arange(10, 30) / FPS, window)) == list(range(10, 30))
    far = read_frames(path, np.array([0.0, 99.0]), window)
    assert read_back(far) == [10, 29]
