"""Demonstrations from an episodes folder."""

from pathlib import Path

import numpy as np

from generation.behavior.commands import right_chain
from generation.behavior.demonstration import Demonstration, segment
from generation.behavior.kinematics import SerialChain
from generation.behavior.task import PickTask
from robots.cell.description import ARM_DOF, CONTROL_HZ, SIDE_DOF, CellDescription
from robots.cell.initial import ALONG_RANGE
from robots.cell.world import WorldParameters
from robots.episodes import EpisodeRow, EpisodesReader
from robots.errors import DataError

NEEDED = ("object", "bin", "belt_speed", "object_position", "object_yaw")


def load_demonstrations(folder: Path, cell: CellDescription, world: WorldParameters) -> list[Demonstration]:
    """The successful demonstrations of a folder that can be cut into phases.

    Tool poses come from the measured joints through the kinematics of `world`; the object's pose is the one perceived
    at the start of the recording (columns object_position [m], object_yaw [rad]).

    Raises:
        DataError: another robot or rate, missing columns, or no usable demonstration.
    """
    reader = EpisodesReader(folder)
    if reader.robot_type != cell.name or reader.fps != CONTROL_HZ:
        raise DataError(
            f"{folder} holds {reader.robot_type} at {reader.fps:g} Hz, needed is {cell.name} at {CONTROL_HZ}"
        )
    chain, found, problems = right_chain(cell, world), [], []
    for row in reader.episodes:
        if row.extra.get("outcome", "success") != "success":
            continue
        try:
            found.append(_demonstration(reader, row, cell, world, chain))
        except ValueError as error:
            problems.append(f"episode {row.index}: {error}")
    if not found:
        raise DataError(
            f"{folder} holds no demonstration to adapt: {'; '.join(problems[:3]) or 'no successful episode'}"
        )
    return found


def _demonstration(
    reader: EpisodesReader, row: EpisodeRow, cell: CellDescription, world: WorldParameters, chain: SerialChain
) -> Demonstration:
    missing = [name for name in NEEDED if row.extra.get(name) is None]
    if missing:
        raise ValueError(f"columns {', '.join(missing)} are missing")
    columns = reader.read(row.index, ["observation.state", "action"]).columns
    pose = chain.forward(columns["observation.state"][:, :ARM_DOF].astype(float))
    hand = columns["action"][:, ARM_DOF:SIDE_DOF].astype(float)
    return Demonstration(
        name=f"episode {row.index}",
        task=_task(row, cell, world),
        position=pose.position,
        rotation=pose.rotation,
        hand=hand,
        segments=segment(pose.position, hand),
    )


def _task(row: EpisodeRow, cell: CellDescription, world: WorldParameters) -> PickTask:
    extra, bin_ = row.extra, cell.bin(row.extra["bin"])
    return PickTask(
        object=cell.object(extra["object"]),
        position=np.array(extra["object_position"], float),
        yaw=float(extra["object_yaw"]),
        belt_speed=float(extra["belt_speed"]),
        side=extra["bin"],
        bin_center=np.add(bin_.center, world.layout.bin_offset(extra["bin"])),
        bin_yaw=bin_.drop_yaw,
        bin_height=bin_.height,
        reach=(cell.pick_y - ALONG_RANGE, cell.pick_y + ALONG_RANGE),
    )
