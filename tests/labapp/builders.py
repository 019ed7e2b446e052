"""Rows that many tests need, built through the models with valid defaults."""

import hashlib
from itertools import count

from labapp.accounts.models import Role, User
from labapp.cells.models import Calibration, Cell, CellObject, World
from labapp.datasets.models import BehaviorSource, GroundingConfiguration
from labapp.policies.models import Checkpoint, Policy

_numbers = count(1)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def user(role: str = Role.RESEARCHER, **values) -> User:
    return User.objects.create_user(username=f"{role}-{next(_numbers)}", password="correct horse", role=role, **values)


def cell(**values) -> Cell:
    n = next(_numbers)
    cell = Cell.objects.create(
        **{"name": f"Bench {n}", "slug": f"bench-{n}", "embodiment": "rizon4s_wuji2_dual", "is_simulated": True}
        | values
    )
    for name, is_novel in {"box": False, "can": False, "carton": True}.items():
        CellObject.objects.create(
            cell=cell, name=name, label=name, shape="box", size_m=[0.05, 0.05, 0.06], mass_kg=0.15, is_novel=is_novel
        )
    return cell


def world(cell: Cell, name: str = "nominal", *, is_grounded: bool = False, **values) -> World:
    calibrations = {}
    if is_grounded:
        calibrations = {
            f"{part}_calibration": Calibration.objects.create(cell=cell, part=part, method="test", parameters={})
            for part in Calibration.Part.values
        }
    return World.objects.create(cell=cell, name=name, parameters={}, sha256=sha(name), **calibrations, **values)


def configuration(world: World, method: str = "adapt") -> GroundingConfiguration:
    behavior, _ = BehaviorSource.objects.get_or_create(name=method, defaults={"method": method})
    return GroundingConfiguration.objects.create(name=f"{world.name}/{method}", world=world, behavior=behavior)


def checkpoint(name: str, configuration: GroundingConfiguration | None = None) -> Checkpoint:
    policy = Policy.objects.create(
        name=name, preset="tiny", embodiment="rizon4s_wuji2_dual", configuration=configuration
    )
    return Checkpoint.objects.create(
        policy=policy, step=100, prefix=f"checkpoints/{name}", sha256=sha(name), size_bytes=1000, is_final=True
    )
