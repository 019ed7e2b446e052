"""Whole runs: exactly n, lineage, resumption, equal results for any number of workers, replay."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generation import pipeline
from generation.__main__ import main
from generation.config import GenerateConfig
from generation.pipeline import generate
from generation.replay import replay
from robots.cell.world import WorldParameters
from robots.episodes import EpisodesReader
from robots.episodes.check import check_episodes
from robots.errors import ConfigError, DataError
from robots.progress import Progress, StopRequestedError

SMALL: dict[str, Any] = {
    "behavior": "synthesize", "n": 2, "objects": ("box", "can"), "image_size": 32, "camera_fps": 12.5, "workers": 1,
    "shard": 1, "block": 2,
}  # fmt: skip


def _config(world_file: Path, **changes: Any) -> GenerateConfig:
    return GenerateConfig(world=world_file, **(SMALL | changes))


def _quiet() -> Progress:
    return Progress(events=True, stream=io.StringIO())


def _contents(out: Path) -> list[tuple[int, bytes]]:
    reader = EpisodesReader(out / "episodes")
    return [
        (row.extra["attempt"], reader.read(row.index).columns["observation.state"].tobytes()) for row in reader.episodes
    ]


@pytest.fixture(scope="module")
def finished(world_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generate") / "out"
    stream = io.StringIO()
    result = generate(_config(world_file), out, Progress(events=True, stream=stream))
    assert result["episodes"] == 2
    (out / "events.jsonl").write_text(stream.getvalue())
    return out


def test_a_run_makes_exactly_n_valid_episodes(finished: Path) -> None:
    assert check_episodes(finished / "episodes").errors == []
    assert len(EpisodesReader(finished / "episodes")) == 2
    assert sorted(p.name for p in finished.iterdir() if p.is_dir()) == ["episodes"]


def test_every_episode_carries_its_lineage(finished: Path) -> None:
    rows = EpisodesReader(finished / "episodes").episodes
    for row in rows:
        extra = row.extra
        assert len(extra["world_sha256"]) == 64 and extra["world_grounded"] is False
        assert extra["behavior"] == "synthesize" and extra["outcome"] == "success" and extra["is_simulated"] is True
        assert extra["initial_state"]["object"] == extra["object"]
        assert extra["initial_state"]["bin"] in row.task and extra["object"] in row.task
        assert (
            list(extra["phases"])
            == ["approach", "grasp", "lift", "carry", "release", "retreat"][: len(extra["phases"])]
        )
    funnel = json.loads((finished / "funnel.json").read_text())
    rejected = sum(sum(row.extra["rejected_before"].values()) for row in rows)
    assert funnel["accepted"] == 2 and funnel["attempts"] == 2 + rejected
    assert sum(part["attempts"] for part in funnel["objects"].values()) == funnel["attempts"]


def test_the_run_reports_progress_and_shards(finished: Path) -> None:
    events = [json.loads(line) for line in (finished / "events.jsonl").read_text().splitlines()]
    last = [event for event in events if event["event"] == "progress"][-1]
    assert (last["done"], last["total"], last["unit"]) == (2, 2, "trajectories")
    assert [e["path"] for e in events if e["event"] == "artifact"] == [
        "shards/shard-0000",
        "shards/shard-0001",
        "funnel.json",
        "episodes",
    ]


def test_kept_trajectories_succeed_again_from_their_stored_starts(finished: Path) -> None:
    result = replay(finished, _quiet())
    assert result["ok"] and result["succeeded"] == 2
    assert result["largest_deviation"] < 1e-6


def test_a_finished_run_is_not_made_again(finished: Path, world_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "open_jobs", None)
    assert generate(_config(world_file), finished, _quiet())["episodes"] == 2


def test_a_folder_of_another_configuration_is_refused(finished: Path, world_file: Path) -> None:
    with pytest.raises(ConfigError, match=r"seed: .* was begun with 0"):
        generate(_config(world_file, seed=9), finished, _quiet())


def test_a_folder_of_another_world_is_refused(finished: Path, world: WorldParameters, tmp_path: Path) -> None:
    other = replace(world, layout=replace(world.layout, belt_offset=(0.01, 0.0, 0.0)))
    (tmp_path / "other.json").write_text(other.to_json())
    with pytest.raises(ConfigError, match="begun with another world"):
        generate(_config(tmp_path / "other.json"), finished, _quiet())


class _StopsAfterAShard(Progress):
    def artifact(self, path: str | Path, kind: str) -> None:
        super().artifact(path, kind)
        if kind == "shard":
            self.stop_requested = True


def test_a_stopped_run_goes_on_and_gives_the_same(finished: Path, world_file: Path, tmp_path: Path) -> None:
    with pytest.raises(StopRequestedError):
        generate(_config(world_file), tmp_path / "out", _StopsAfterAShard(events=True, stream=io.StringIO()))
    assert (tmp_path / "out" / "shards" / "shard-0000").is_dir()
    generate(_config(world_file), tmp_path / "out", _quiet())
    assert _contents(tmp_path / "out") == _contents(finished)


def test_a_world_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text('{"visual": {}}')
    with pytest.raises(ConfigError, match=r"world: .*w\.json is no world"):
        generate(_config(tmp_path / "w.json"), tmp_path / "out", _quiet())


def test_a_hopeless_run_gives_up_and_says_why(
    world_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "JUDGE_YIELD_AFTER", 4)
    hopeless = {"noise": {"arm": 0.5, "hand": 0.5, "share": 1.0}, "min_yield": 0.5}
    config = tmp_path / "c.json"
    config.write_text(json.dumps(SMALL | hopeless | {"world": str(world_file)}))
    assert main(["generate", str(config), str(tmp_path / "out"), "--events"]) == 1


def test_the_command_line_names_a_bad_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "c.json"
    config.write_text(json.dumps({"world": "w.json", "behavior": "synthesize", "n": 0}))
    assert main(["generate", str(config), str(tmp_path / "out"), "--events"]) == 2
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["field"] == "n"


def test_the_nominal_world_is_ungrounded(tmp_path: Path) -> None:
    assert main(["nominal", str(tmp_path), "--events"]) == 0
    assert pipeline.load_world(tmp_path / "world.json").is_grounded is False


def _start(config: Path, out: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "generation", "generate", str(config), str(out), "--events"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.slow
def test_a_killed_run_of_two_workers_completes_without_duplicates(world_file: Path, tmp_path: Path) -> None:
    """kill -9 of the main process in the middle; its workers end too; the same command completes; one worker agrees."""
    values = SMALL | {"n": 8, "workers": 2, "world": str(world_file)}
    config = tmp_path / "c.json"
    config.write_text(json.dumps(values))
    first = _start(config, tmp_path / "out")
    assert first.stdout is not None
    for line in first.stdout:
        if json.loads(line).get("kind") == "shard":
            break
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    deadline = time.monotonic() + 20
    while _group_lives(first.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _group_lives(first.pid)
    second = _start(config, tmp_path / "out")
    assert second.wait(timeout=110) == 0
    contents = _contents(tmp_path / "out")
    assert len({attempt for attempt, _ in contents}) == 8
    generate(GenerateConfig(**(SMALL | {"n": 8, "world": world_file})), tmp_path / "alone", _quiet())
    assert _contents(tmp_path / "alone") == contents


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_a_dead_worker_is_an_error_that_resumes(world_file: Path, tmp_path: Path) -> None:
    config = GenerateConfig(**(SMALL | {"n": 4, "workers": 2, "world": world_file}))

    class KillsAWorker(Progress):
        def artifact(self, path: str | Path, kind: str) -> None:
            import psutil

            children = [c for c in psutil.Process().children() if "spawn_main" in " ".join(c.cmdline())]
            for child in children[:1]:
                child.kill()
                child.wait()

    with pytest.raises(DataError, match="the same command goes on"):
        generate(config, tmp_path / "out", KillsAWorker(events=True, stream=io.StringIO()))
    assert generate(config, tmp_path / "out", _quiet())["episodes"] == 4
    assert np.unique([attempt for attempt, _ in _contents(tmp_path / "out")]).size == 4
