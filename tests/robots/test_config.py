"""Configurations from JSON: right values pass, wrong ones are refused with the path of the field."""

import json
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal

import pytest

from robots.config import load_config, save_config, to_json
from robots.errors import ConfigError


class Light(Enum):
    WHITE = "white"
    RED = "red"


@dataclass(frozen=True)
class Component:
    path: Path
    weight: float = 1.0
    kind: Literal["real", "simulated"] = "simulated"

    def __post_init__(self):
        if self.weight <= 0:
            raise ConfigError(f"must be > 0, got {self.weight}", "weight")


@dataclass(frozen=True)
class Recipe:
    n: int
    belt_speed: tuple[float, float] = (0.05, 0.2)
    components: tuple[Component, ...] = ()
    objects: list[str] = field(default_factory=lambda: ["can"])
    light: Light = Light.WHITE
    minutes: float | None = None
    labels: dict[str, int] = field(default_factory=dict)


def test_a_config_survives_the_trip_through_a_file(tmp_path):
    recipe = Recipe(3, (0.1, 0.2), (Component(Path("a"), 2.0, "real"),), ["box"], Light.RED, 1.5, {"a": 1})
    save_config(recipe, tmp_path / "deep" / "config.json")
    assert load_config(Recipe, tmp_path / "deep" / "config.json") == recipe


def test_whole_numbers_are_numbers_and_defaults_fill_in():
    assert load_config(Recipe, {"n": 3, "belt_speed": [0, 1], "minutes": 2}) == Recipe(3, (0.0, 1.0), minutes=2.0)


@pytest.mark.parametrize(
    ("values", "path", "words"),
    [
        ({}, "n", "is required"),
        ({"n": "3"}, "n", "whole number"),
        ({"n": True}, "n", "whole number"),
        ({"n": 3.5}, "n", "whole number"),
        ({"n": 3, "belt": 1}, "belt", "no such field; known: n, belt_speed"),
        ({"n": 3, "belt_speed": [0.1]}, "belt_speed", "2 entries"),
        ({"n": 3, "belt_speed": [0.1, "fast"]}, "belt_speed[1]", "a number"),
        ({"n": 3, "belt_speed": [0.1, float("nan")]}, "belt_speed[1]", "finite"),
        ({"n": 3, "belt_speed": [0.1, 10**400]}, "belt_speed[1]", "finite"),
        ({"n": 3, "components": [{"path": "a"}, {"path": "b", "weight": -1}]}, "components[1].weight", "> 0"),
        ({"n": 3, "components": [{"path": "a", "kind": "dream"}]}, "components[0].kind", "'real', 'simulated'"),
        ({"n": 3, "components": [7]}, "components[0]", "fields of Component"),
        ({"n": 3, "objects": "can"}, "objects", "a list"),
        ({"n": 3, "light": "green"}, "light", "'white', 'red'"),
        ({"n": 3, "minutes": "long"}, "minutes", "a number"),
        ({"n": 3, "labels": {"a": "b"}}, "labels.a", "whole number"),
        ([], None, "an object"),
    ],
)
def test_a_wrong_value_is_named_by_its_path(tmp_path, values, path, words):
    source = tmp_path / "config.json"
    source.write_text(json.dumps(values))
    with pytest.raises(ConfigError, match=words) as caught:
        load_config(Recipe, source)
    assert caught.value.field == path


def test_a_missing_or_broken_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read .*nowhere\.json"):
        load_config(Recipe, tmp_path / "nowhere.json")
    (tmp_path / "half.json").write_text('{"n": ')
    with pytest.raises(ConfigError, match=r"half\.json is not JSON"):
        load_config(Recipe, tmp_path / "half.json")


def test_to_json_gives_plain_values():
    assert to_json(Recipe(1, components=(Component(Path("a")),)))["components"] == [
        {"path": "a", "weight": 1.0, "kind": "simulated"}
    ]
