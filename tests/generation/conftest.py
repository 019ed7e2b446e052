"""Worlds, scenes and a handful of demonstrations, made once for all tests of generation."""

from pathlib import Path

import numpy as np
import pytest

from generation.behavior.demonstration import Demonstration
from generation.behavior.recordings import load_demonstrations
from robots.cell.bench import BENCH_CELL
from robots.cell.initial import InitialState, instruction, sample_initial_state
from robots.cell.kinematics import ArmKinematics
from robots.cell.scene import Scene
from robots.cell.world import WorldParameters, nominal_world
from robots.demonstrator.motion import SeenObject
from robots.demonstrator.person import Demonstrator
from robots.episodes import EpisodesWriter, Feature


@pytest.fixture(scope="session")
def world() -> WorldParameters:
    return nominal_world(BENCH_CELL)


@pytest.fixture(scope="session")
def scene(world: WorldParameters) -> Scene:
    return Scene(BENCH_CELL, world)


@pytest.fixture(scope="session")
def world_file(world: WorldParameters, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("world") / "world.json"
    path.write_text(world.to_json())
    return path


@pytest.fixture(scope="session")
def demonstration_folder(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four demonstrations in the nominal world, without images: box left, can right, bottle left, ball right."""
    folder = tmp_path_factory.mktemp("demonstrations") / "episodes"
    vector = Feature.vector(BENCH_CELL.joint_names, units="rad")
    features = {"observation.state": vector, "action": vector}
    with EpisodesWriter.create(folder, fps=50, robot_type=BENCH_CELL.name, features=features) as writer:
        for k, name in enumerate(BENCH_CELL.demonstrated_objects):
            rng = np.random.default_rng(k)
            side = "left" if k % 2 == 0 else "right"
            initial = sample_initial_state(BENCH_CELL, rng, objects=(name,), bin_side=side)
            _record(writer, scene, initial, rng)
    return folder


@pytest.fixture(scope="session")
def demonstrations(demonstration_folder: Path, world: WorldParameters) -> list[Demonstration]:
    return load_demonstrations(demonstration_folder, BENCH_CELL, world)


def _record(writer: EpisodesWriter, scene: Scene, initial: InitialState, rng: np.random.Generator) -> None:
    scene.reset(initial)
    position, _ = scene.object_pose()
    top = float(scene.belt_origin()[2])
    seen = SeenObject(BENCH_CELL.object(initial.object), position, initial.yaw, initial.belt_speed, top)
    person = Demonstrator(BENCH_CELL, ArmKinematics(BENCH_CELL), seen, initial.bin, rng)
    with writer.episode(task=instruction(initial.object, initial.bin)) as episode:
        for tick in range(person.ticks):
            state = scene.state()
            action = person.action(tick, state)
            episode.add({"observation.state": state, "action": action})
            scene.step(action)
        facts = {"object": initial.object, "bin": initial.bin, "belt_speed": initial.belt_speed, "outcome": "success"}
        episode.commit(extra=facts | {"object_position": position.tolist(), "object_yaw": initial.yaw})
