"""`python -m robots episodes`: statuses 0, 1 and 2, results as JSON, and no simulator loaded."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from robots.__main__ import main
from tests.robots.episodes.builders import CAMERA, make_folder

REPOSITORY = Path(__file__).resolve().parents[3]


def test_info_describes_a_folder(folder, tmp_path):
    assert main(["episodes", "info", str(folder), "--json", str(tmp_path / "info.json")]) == 0
    info = json.loads((tmp_path / "info.json").read_text())
    assert (info["episodes"], info["frames"], info["fps"]) == (3, 16, 20.0)
    assert info["cameras"] == [CAMERA]
    assert info["extras"] == {"seed": "int64"}


def test_check_says_no_with_status_1(folder, tmp_path, capsys):
    assert main(["episodes", "check", str(folder), "--json", str(tmp_path / "ok.json")]) == 0
    assert json.loads((tmp_path / "ok.json").read_text())["ok"] is True
    (folder / "data/chunk-000/file-001.parquet").write_bytes(b"PAR1")
    assert main(["episodes", "check", str(folder), "--fast", "--json", str(tmp_path / "bad.json")]) == 1
    assert json.loads((tmp_path / "bad.json").read_text())["errors"][0]["episode"] == 1
    assert "error: episode 1: " in capsys.readouterr().err


def test_merge_and_recover_write_folders(folder, tmp_path):
    other = make_folder(tmp_path / "other", lengths=(3,))
    assert main(["episodes", "merge", str(folder), str(other), str(tmp_path / "all")]) == 0
    assert main(["episodes", "recover", str(tmp_path / "all"), str(tmp_path / "saved")]) == 0
    assert main(["episodes", "check", str(tmp_path / "saved")]) == 0


def test_import_reports_events_a_line_each(folder, tmp_path, capsys):
    assert main(["episodes", "import", str(folder), str(tmp_path / "in"), "--events"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["event"] for event in events] == ["progress", "progress", "progress", "artifact", "done"]
    assert events[-1]["result"]["episodes"] == 3


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["check", "nowhere"], "dir"),
        (["import", "nowhere", "out"], "src"),
        (["merge", "nowhere", "out"], "sources"),
    ],
)
def test_a_folder_that_is_not_there_is_bad_usage(arguments, field, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["episodes", *arguments, "--events"]) == 2
    assert json.loads(capsys.readouterr().out)["field"] == field


def test_an_unknown_command_is_bad_usage():
    with pytest.raises(SystemExit) as stopped:
        main(["episodes", "explode"])
    assert stopped.value.code == 2


def test_looking_at_episodes_loads_neither_simulator_nor_torch(folder):
    code = (
        "import sys; from robots.__main__ import main; status = main(sys.argv[1:]);"
        "loaded = {'mujoco', 'torch', 'django', 'pandas'} & set(sys.modules); sys.exit(status or len(loaded))"
    )
    command = [sys.executable, "-c", code, "episodes", "info", str(folder)]
    assert subprocess.run(command, cwd=REPOSITORY, check=False, timeout=60).returncode == 0
