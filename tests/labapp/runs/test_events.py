"""Lines that a command prints become events; nothing it prints is lost or fatal."""

import math

import pytest

from labapp.runs.events import Artifact, Done, Failure, Log, Metric, Progress, clean_json, parse_line


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ('{"event":"progress","done":12,"total":200,"unit":"trajectories"}', Progress(12, 200, "trajectories")),
        ('{"event":"progress","done":12,"total":null,"unit":"rows"}', Progress(12, None, "rows")),
        ('{"event":"log","level":"debug","message":"hm"}', Log("info", "hm")),
        ('{"event":"log","level":"error","message":"ow"}', Log("error", "ow")),
        ('{"event":"metric","step":2,"name":"loss","value":0.5}', Metric(2, "loss", 0.5)),
        ('{"event":"metric","step":2,"name":"loss","value":null,"flag":"inf"}', Metric(2, "loss", None, "inf")),
        ('{"event":"metric","step":2,"name":"loss","value":NaN}', Metric(2, "loss", None, "nan")),
        ('{"event":"artifact","path":"shard-1","kind":"shard"}', Artifact("shard-1", "shard")),
        ('{"event":"done","result":{"n":1}}', Done({"n": 1})),
        ('{"event":"error","message":"no","field":"world"}', Failure("no", "world")),
        ('{"event":"error","message":"no","field":null}', Failure("no", "")),
    ],
)
def test_each_event_is_read(line, event):
    assert parse_line(line) == event


@pytest.mark.parametrize(
    "line",
    [
        "plain words",
        "[1, 2]",
        "3",
        '{"event":"unheard of"}',
        '{"event":"progress","done":"many"}',
        '{"event":"progress","done":-1}',
        '{"event":"metric","step":-1,"name":"x","value":1}',
        '{"event":"done","result":5}',
        '{"no":"event"}',
    ],
)
def test_anything_else_is_a_line_of_the_log(line):
    assert parse_line(line) == Log("info", line)


def test_json_is_made_fit_for_the_database():
    dirty = {"a": [math.nan, 1.5, {"b": math.inf}], 3: "x\x00y", "ok": None}
    assert clean_json(dirty) == {"a": [None, 1.5, {"b": None}], "3": "xy", "ok": None}
