"""Whole runs on a toy folder: learn, stop, get killed, go on."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from robots.errors import ConfigError, DataError
from robots.progress import Progress, StopRequestedError
from training.checkpoint import load_facts, load_policy
from training.config import ComponentConfig, TrainConfig
from training.loop import train


@pytest.fixture
def config(toy_folder: Path, frame_cache: str) -> TrainConfig:
    """Twelve small steps, a checkpoint after each fourth."""
    return TrainConfig(
        (ComponentConfig(str(toy_folder), kind="real"),),
        steps=12,
        image_size=16,
        batch_size=8,
        checkpoint_steps=4,
        log_every=2,
        cache_dir=frame_cache,
        precision="float32",
    )


def quiet() -> Progress:
    return Progress(events=True, stream=Path(os.devnull).open("w"))


def weights(folder: Path) -> torch.Tensor:
    return torch.cat([p.flatten() for p in load_policy(folder)[0].parameters()])


def test_loss_falls_on_a_learnable_task(config: TrainConfig, tmp_path: Path) -> None:
    train(replace(config, steps=60, batch_size=16, log_every=10), tmp_path, quiet())
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    loss = [row["value"] for row in rows if row["name"] == "loss"]
    assert loss[-1] < 0.75 * loss[0]


def test_checkpoint_says_where_it_comes_from(config: TrainConfig, tmp_path: Path) -> None:
    train(config, tmp_path, quiet())
    facts = load_facts(tmp_path / "final")
    (dataset,) = facts.datasets
    assert facts.step == 12
    assert facts.embodiment["embodiment"] == "toy"
    assert (dataset["kind"], dataset["episodes"], dataset["realised_share"]) == ("real", 6, 1.0)
    assert len(dataset["fingerprint"]) == 64
    assert facts.config["seed"] == config.seed
    assert not list((tmp_path / "final").glob("resume*"))


def test_stopping_and_going_on_equals_going_through(config: TrainConfig, tmp_path: Path) -> None:
    train(config, tmp_path / "through", quiet())

    class StopAtEight(Progress):
        def progress(self, done: int, total: int | None, unit: str) -> None:
            self.stop_requested = unit == "steps" and done == 8
            self.raise_if_stopped()

    with pytest.raises(StopRequestedError):
        train(config, tmp_path / "stopped", StopAtEight(events=True, stream=quiet()._stream))
    assert load_facts(tmp_path / "stopped" / "checkpoints" / "step-000008").step == 8
    train(config, tmp_path / "stopped", quiet())
    assert torch.allclose(weights(tmp_path / "through" / "final"), weights(tmp_path / "stopped" / "final"), atol=1e-6)


def test_finished_run_started_again_trains_no_further(config: TrainConfig, tmp_path: Path) -> None:
    train(config, tmp_path, quiet())
    before = weights(tmp_path / "final")
    result = train(config, tmp_path, quiet())
    assert result["step"] == 12
    assert torch.equal(before, weights(tmp_path / "final"))


def test_resuming_leaves_one_value_per_step_and_name(config: TrainConfig, tmp_path: Path) -> None:
    train(replace(config, steps=6), tmp_path, quiet())
    extra = {"step": 9, "name": "loss", "value": 1.0}
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write(json.dumps(extra) + '\n{"step": 10, "na')
    train(config, tmp_path, quiet())
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    keys = [(row["step"], row["name"]) for row in rows]
    assert len(keys) == len(set(keys))
    assert max(step for step, _ in keys) == 12
    assert 9 not in {step for step, _ in keys}


def test_another_seed_in_the_same_folder_is_refused(config: TrainConfig, tmp_path: Path) -> None:
    train(replace(config, steps=1), tmp_path, quiet())
    with pytest.raises(ConfigError, match="another seed") as caught:
        train(replace(config, seed=5), tmp_path, quiet())
    assert caught.value.field == "seed"


def test_changed_data_are_refused(config: TrainConfig, tmp_path: Path) -> None:
    train(config, tmp_path, quiet())
    for path in (tmp_path / "checkpoints").glob("*/checkpoint.json"):
        facts = json.loads(path.read_text())
        facts["datasets"][0]["fingerprint"] = "0" * 64
        path.write_text(json.dumps(facts))
    with pytest.raises(DataError, match="changed since step"):
        train(replace(config, steps=20), tmp_path, quiet())


def test_only_the_newest_checkpoints_are_kept(config: TrainConfig, tmp_path: Path) -> None:
    train(replace(config, keep_checkpoints=2), tmp_path, quiet())
    assert sorted(p.name for p in (tmp_path / "checkpoints").iterdir()) == ["step-000008", "step-000012"]


def test_killed_run_goes_on_from_its_checkpoint(config: TrainConfig, tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = {"components": [{"path": config.components[0].path}], "steps": 4000, "image_size": 16, "batch_size": 8}
    plan |= {"checkpoint_steps": 5, "log_every": 5, "cache_dir": config.cache_dir}
    (tmp_path / "config.json").write_text(json.dumps(plan))
    command = [sys.executable, "-m", "training", "train", str(tmp_path / "config.json"), str(out), "--events"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as process:
        deadline = time.monotonic() + 60
        while len(list(out.glob("checkpoints/step-*"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    reached = max(int(p.name.removeprefix("step-")) for p in out.glob("checkpoints/step-*"))
    (tmp_path / "config.json").write_text(json.dumps(plan | {"steps": reached + 5}))
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert any(e.get("message") == f"resuming from step {reached}" for e in events)
    assert events[-1]["result"]["step"] == reached + 5
    assert not list(out.glob("checkpoints/.step-*"))


def test_folder_that_is_no_dataset_leaves_nothing_behind(config: TrainConfig, tmp_path: Path) -> None:
    broken = replace(config, components=(ComponentConfig(str(tmp_path / "nowhere")),))
    with pytest.raises((DataError, ConfigError), match="nowhere"):
        train(broken, tmp_path / "out", quiet())
    assert not (tmp_path / "out").exists()
