"""What an attribution must be; each error names the row and what would be right. Pure."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.exceptions import ValidationError

from labapp.studies.browser.attribution import Attribution, from_json, from_parquet, kind_of, thinned, to_parquet

TIMES = [0.0, 0.02, 0.04]


def body(**values):
    return {"time_s": TIMES, "shares": {"real": [0.2, 0.5, None], "simulated": [0.8, 0.5, 0.3]}} | values


def table(**columns) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def test_json_and_parquet_say_the_same():
    one = from_json(body())
    other = from_parquet(table(time_s=TIMES, real=[0.2, 0.5, None], simulated=[0.8, 0.5, 0.3]))
    again = from_parquet(to_parquet(one))
    for found in (other, again):
        assert found.components == one.components == ("real", "simulated") and found.kind == one.kind == "shares"
        np.testing.assert_array_equal(found.values, one.values)
        np.testing.assert_array_equal(found.times_s, one.times_s)


def test_scores_need_not_sum_to_one():
    found = from_json({"time_s": TIMES, "scores": {"head": [1, 0, 0.5], "right_wrist": [0.9, 0.9, None]}})
    assert found.kind == "scores"
    assert from_parquet(table(time_s=TIMES, head=[1, 1, 1], wrist=[1.0, 0.2, 0.0]), "scores").values.shape == (3, 2)


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ({"shares": {"a": [0.2, 0.5, 1], "b": [0.8, 0.7, 0]}}, "shares", "row 2 (time_s 0.02): the shares sum to 1.2"),
        ({"shares": {"a": [0.2, -0.5, 1], "b": [0.8, 1.5, 0]}}, "shares", "row 2 (time_s 0.02): “a” is -0.5; right is"),
        ({"shares": {"real": [1, "much", 1]}}, "shares", "row 2 of “real” is 'much': a number was wanted"),
        ({"shares": {"real": [1, True, 1]}}, "shares", "row 2 of “real” is 'True'"),
        ({"shares": {"real": [1, 1]}}, "shares", "“real” has 2 values and time_s has 3"),
        ({"shares": {"real": "111"}}, "shares", "“real” must be a list of numbers"),
        ({"shares": [1, 1, 1]}, "shares", "Wanted an object of names and lists"),
        ({"shares": {}}, "components", "1 to 32 components, got 0"),
        ({"shares": {" ": [1, 1, 1]}}, "components", "1 to 60 letters"),
        ({"scores": {"real": [1, 1, 1]}}, "shares", "Send either"),
        ({"time_s": None}, "time_s", "must be a list of numbers"),
        ({"time_s": [0, 0.04, 0.04]}, "time_s", "row 3 (time_s 0.04) is not after the row before (0.04 s)"),
        ({"time_s": [-1, 0, 1]}, "time_s", "row 1 (time_s -1) lies before the trial's start"),
        ({"time_s": [0, None, 1]}, "time_s", "row 2 has no time"),
        ({"time_s": [], "shares": {"real": []}}, "time_s", "There is no row"),
        ({"time_s": [0, 1, 10**400]}, "time_s", "row 3 of “time_s” is '1000"),
        ({"shares": {"time_s": [1, 1, 1]}}, "components", "is not time_s"),
        ({"shares": {"a\0b": [1, 1, 1]}}, "components", "all printable, and is not time_s: 'a\\x00b'"),
        ({"shares": {"\ud800": [1, 1, 1]}}, "components", "'\\ud800'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_row(values, field, words):
    with pytest.raises(ValidationError) as caught:
        from_json(body(**values))
    assert words in " ".join(caught.value.message_dict[field])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PAR1 no", "This is no Parquet table"),
        (table(real=[1.0]), "has no column time_s [s]; its columns are: real"),
        (table(time_s=[0.0], real=["much"]), "Column “real” holds string"),
        (table(time_s=[0.0], real=[0.4], simulated=[0.4]), "row 1 (time_s 0): the shares sum to 0.8"),
        (table(time_s=[0.0], real=[[1.0] * 9]), "Column “real” holds list"),
        (table(time_s=[0.0], **{f"c{n}": [0.0] for n in range(33)}), "1 to 32 components, got 33"),
        (table(time_s=[2**62 + 1, 2], real=[1.0, 1.0]), "row 2 (time_s 2) is not after"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(content, words):
    with pytest.raises(ValidationError) as caught:
        from_parquet(content)
    assert words in str(caught.value)


def test_too_many_rows_are_refused_with_the_way_out():
    with pytest.raises(ValidationError, match="keep every second one"):
        from_json({"time_s": [0.0] * 100_001, "shares": {"real": [1]}})


def test_steps_after_the_trials_end_belong_to_another_trial():
    found = from_json(body())
    found.check_within(None)
    found.check_within(0.04)
    with pytest.raises(ValidationError, match=r"row 2 .*lies after the end of this trial, which took 0.50 s"):
        Attribution("shares", ("real",), np.array([0.0, 2.0]), np.ones((2, 1))).check_within(0.5)


def test_a_recorded_one_is_shares_where_its_rows_sum_to_one():
    assert kind_of(np.array([[0.25, 0.75], [np.nan, 0.1]])) == "shares"
    assert kind_of(np.array([[0.25, 0.75], [0.9, 0.9]])) == "scores"
    assert kind_of(np.full((2, 2), np.nan)) == "scores"


def test_for_a_page_it_is_thinned_with_its_ends_and_gaps():
    found = thinned(from_json(body()), 2)
    assert found["times_s"] == [0.0, 0.04] and found["values"] == [[0.2, None], [0.8, 0.3]]


def test_two_columns_of_one_name_are_refused():
    file = io.BytesIO()
    pq.write_table(
        pa.Table.from_arrays([pa.array([0.0]), pa.array([0.5]), pa.array([0.5])], ["time_s", "a", "a"]), file
    )
    with pytest.raises(ValidationError, match="Two columns are called “a”"):
        from_parquet(file.getvalue())


def test_a_small_file_of_very_many_rows_is_refused_unread(monkeypatch):
    many = table(time_s=np.zeros(1_000_000), real=np.zeros(1_000_000))
    assert len(many) < 20_000
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_: pytest.fail("it was read"))
    with pytest.raises(ValidationError, match="At most 100000 rows, got 1000000"):
        from_parquet(many)
