"""What a config refuses, by field; what the command line says and returns."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from robots.config import load_config
from robots.errors import ConfigError
from training.budget import Budget
from training.config import TrainConfig
from training.embodiment import joint_layout
from training.precision import use_bfloat16

GOOD: dict[str, Any] = {"components": [{"path": "somewhere"}], "steps": 10}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"components": []}, "components"),
        ({"components": [{"path": "a", "weight": 0}]}, "components[0].weight"),
        ({"components": [{"path": "a", "kind": "dream"}]}, "components[0].kind"),
        ({"components": [{"weight": 1}]}, "components[0].path"),
        ({"preset": "enormous"}, "preset"),
        ({"steps": None}, "steps"),
        ({"steps": 0}, "steps"),
        ({"minutes": -1}, "minutes"),
        ({"image_size": 50}, "image_size"),
        ({"threads": 0}, "threads"),
        ({"views": []}, "views"),
        ({"batch_size": 0}, "batch_size"),
        ({"lerning_rate": 1}, "lerning_rate"),
    ],
)
def test_bad_field_is_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(TrainConfig, GOOD | change)
    assert caught.value.field == field


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "training", *arguments]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_command_line_names_the_bad_field_and_creates_nothing(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps(GOOD | {"minutes": 0}))
    done = run("train", str(tmp_path / "c.json"), str(tmp_path / "out"), "--events")
    assert done.returncode == 2
    assert json.loads(done.stdout.splitlines()[-1])["field"] == "minutes"
    assert not (tmp_path / "out").exists()


def test_folder_that_holds_no_checkpoint_is_said_to_be_none(tmp_path: Path) -> None:
    done = run("info", str(tmp_path), "--events")
    assert done.returncode == 1
    assert "no checkpoint" in json.loads(done.stdout.splitlines()[-1])["message"]


def test_budget_ends_at_whichever_comes_first() -> None:
    budget = Budget(steps=100, seconds=60)
    assert budget.fraction(50, 15) == 0.5
    assert budget.is_spent(10, 60)
    assert budget.is_spent(100, 1)
    assert not budget.is_spent(99, 59)
    assert budget.progress(90, 10) == (90, 100, "steps")


def test_arm_is_relative_and_hand_a_group() -> None:
    names = ["right_arm_joint1", "right_hand_thumb_S1", "right_hand_thumb_S2", "left_arm_joint1"]
    layout = joint_layout(names, names)
    assert layout.relative == (0, 3)
    assert layout.groups == ((1, 2),)


def test_joint_that_is_not_measured_is_absolute() -> None:
    assert joint_layout(["kLeftElbow", "kRightElbow"], ["kLeftElbow", "other"]).relative == (0,)


def test_humanoid_hand_is_absolute_joint_by_joint() -> None:
    layout = joint_layout(["kLeftElbow", "kLeftHandPinky"], ["kLeftElbow", "kLeftHandPinky"])
    assert (layout.relative, layout.groups) == ((0,), ())


def test_number_format_can_be_forced() -> None:
    assert use_bfloat16("bfloat16")
    assert not use_bfloat16("float32")
