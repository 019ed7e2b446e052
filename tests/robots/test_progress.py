"""Run events: one strict JSON object a line, and exit statuses a supervisor can trust."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from robots.errors import ConfigError, DataError
from robots.progress import Progress, StopRequestedError, run_command


def events_of(act):
    stream = io.StringIO()
    act(Progress(events=True, stream=stream))
    return [json.loads(line, parse_constant=pytest.fail) for line in stream.getvalue().splitlines()]


def last_event(capsys):
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_every_event_is_one_json_line_of_the_agreed_shape():
    def act(progress):
        progress.progress(12, 200, "trajectories")
        progress.log("hello\nthere")
        progress.metric(200, "loss", 0.12)
        progress.artifact("checkpoints/step-000500", "checkpoint")
        progress.done({"accepted": 12})

    assert events_of(act) == [
        {"event": "progress", "done": 12, "total": 200, "unit": "trajectories"},
        {"event": "log", "level": "info", "message": "hello\nthere"},
        {"event": "metric", "step": 200, "name": "loss", "value": 0.12},
        {"event": "artifact", "path": "checkpoints/step-000500", "kind": "checkpoint"},
        {"event": "done", "result": {"accepted": 12}},
    ]


@pytest.mark.parametrize(("value", "flag"), [(float("nan"), "nan"), (float("inf"), "inf"), (float("-inf"), "-inf")])
def test_a_metric_json_has_no_word_for_is_null_with_a_flag(value, flag):
    (event,) = events_of(lambda progress: progress.metric(3, "loss", value))
    assert event == {"event": "metric", "step": 3, "name": "loss", "value": None, "flag": flag}


def test_without_events_lines_are_for_people():
    stream = io.StringIO()
    progress = Progress(stream=stream)
    progress.progress(1, 2, "episodes")
    progress.log("careful", "warning")
    progress.close()
    assert "warning: careful" in stream.getvalue()
    assert "{" not in stream.getvalue()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_a_bar_counts_the_unit():
    stream = Terminal()
    progress = Progress(stream=stream)
    progress.progress(1, 2, "episodes")
    progress.progress(3, 4, "frames")
    progress.close()
    assert "episodes" in stream.getvalue()
    assert "3/4" in stream.getvalue()


def test_done_is_status_0_and_the_result_lands_in_the_json_file(tmp_path, capsys):
    out = tmp_path / "out.json"
    assert run_command(lambda progress: {"frames": 3, "rate": float("nan")}, events=True, json_out=out) == 0
    assert json.loads(out.read_text()) == {"frames": 3, "rate": None}
    assert last_event(capsys) == {"event": "done", "result": {"frames": 3, "rate": None}}


def test_a_result_that_is_not_ok_is_status_1(capsys):
    assert run_command(lambda progress: {"ok": False}, events=True) == 1
    assert last_event(capsys)["event"] == "done"


@pytest.mark.parametrize(
    ("error", "status", "field"),
    [(ConfigError("must be > 0", "n"), 2, "n"), (DataError("episode 3: broken"), 1, None)],
)
def test_anticipated_errors_are_one_event_and_a_status(capsys, error, status, field):
    def body(progress):
        raise error

    assert run_command(body, events=True) == status
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"event": "error", "message": str(error), "field": field}
    assert "Traceback" not in captured.err


def test_a_defect_keeps_its_traceback_on_standard_error(capsys):
    assert run_command(lambda progress: {"x": 1 / 0}, events=True) == 1
    captured = capsys.readouterr()
    assert "ZeroDivisionError" in captured.err
    assert "ZeroDivisionError" in json.loads(captured.out)["message"]


def test_a_result_file_that_cannot_be_written_names_the_option(tmp_path, capsys):
    assert run_command(lambda progress: {}, events=True, json_out=tmp_path / "no" / "out.json") == 2
    assert last_event(capsys)["field"] == "json"


def test_a_stop_is_raised_at_the_next_report_after_it_was_printed():
    stream = io.StringIO()
    progress = Progress(events=True, stream=stream)
    progress.stop_requested = True
    with pytest.raises(StopRequestedError):
        progress.progress(1, 2, "episodes")
    assert json.loads(stream.getvalue())["done"] == 1


REPOSITORY = Path(__file__).resolve().parents[2]
STOPPABLE = """
import sys, time
from robots.progress import run_command
def body(progress):
    for step in range(1000):
        progress.progress(step, 1000, "steps")
        time.sleep(0.01)
sys.exit(run_command(body, events=True))
"""


def test_sigterm_stops_a_command_at_a_safe_point():
    with subprocess.Popen(
        [sys.executable, "-c", STOPPABLE], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    ) as process:
        process.stdout.readline()
        time.sleep(0.05)
        os.kill(process.pid, signal.SIGTERM)
        lines = process.stdout.read().splitlines()
        assert process.wait(10) == 143
    assert json.loads(lines[-1])["message"].startswith("stopped on request")
