"""One attempt is a number: everything random about it follows from the run's seed and that number alone.

So the accepted episodes do not depend on how many workers there are, and a run resumes from any attempt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from generation.arrays import Array
from generation.behavior.commands import ArmController, Commands
from generation.behavior.grasps import NoGraspError
from generation.behavior.plan import Phase, ToolPlan
from generation.behavior.source import Behavior
from generation.behavior.synthesize import BlockedError
from generation.behavior.task import PickTask
from generation.filtering import EarlyStop, Reason, TrajectoryJudge
from generation.physics import Engine, roll_out
from generation.physics.scenes import start_of
from robots.cell.description import ARM_DOF, SIDE_DOF, CellDescription
from robots.cell.initial import InitialState, sample_appearance, sample_initial_state
from robots.cell.scene import Scene
from robots.cell.world import WorldParameters

MAX_TOOL_ERROR = 0.005  # m between wanted and reachable tool position
MAX_SPEED = 1.3  # times the joint speed limits: short peaks pass, as on the arm's own filter
SETTLE_TICKS = 40  # the last command is held so long for the object to come to rest
NOISE_MEMORY = 0.93  # of the command noise from tick to tick


@dataclass(frozen=True)
class NoiseLevels:
    """Smooth random deviation of the executed commands, for recoveries in the data; labels stay clean.

    Attributes:
        arm, hand: standard deviation [rad]. share: of the episodes that get any.
    """

    arm: float = 0.012
    hand: float = 0.024
    share: float = 0.8

    def __post_init__(self) -> None:
        if self.arm < 0 or self.hand < 0 or not 0 <= self.share <= 1:
            raise ValueError(f"noise: arm and hand must be >= 0 and share within 0..1, not {self}")


@dataclass(frozen=True)
class Sampling:
    """What attempts are drawn from."""

    cell: CellDescription
    seed: int
    objects: tuple[str, ...]
    belt_speed: tuple[float, float]
    noise: NoiseLevels

    def rng(self, number: int, stream: int) -> np.random.Generator:
        """Random numbers of one attempt; streams: 0 start, 1 plan, 2 command noise."""
        return np.random.default_rng([self.seed, number, stream])

    def initial(self, number: int) -> InitialState:
        """The start of an attempt; objects take turns, so that each is tried equally often."""
        rng = self.rng(number, 0)
        name = self.objects[number % len(self.objects)]
        initial = sample_initial_state(
            self.cell, rng, objects=(name,), belt_speed=self.belt_speed, seed=number, raise_belt=True
        )
        return replace(initial, appearance=sample_appearance(self.cell.object(name), rng))

    def command_noise(self, number: int, ticks: int) -> Array:
        """Deviation (ticks, 54) [rad] added to an attempt's commands: an AR(1) process on the right side."""
        rng, noise = self.rng(number, 2), self.noise
        out = np.zeros((ticks, len(self.cell.joint_names)))
        if rng.random() >= noise.share:
            return out
        sigma = np.where(np.arange(SIDE_DOF) < ARM_DOF, noise.arm, noise.hand)
        draws = rng.normal(size=(ticks, SIDE_DOF)) * sigma * np.sqrt(1 - NOISE_MEMORY**2)
        value = np.zeros(SIDE_DOF)
        for k in range(ticks):
            value = NOISE_MEMORY * value + draws[k]
            out[k, :SIDE_DOF] = value
        return out


@dataclass(frozen=True)
class Trajectory:
    """What an attempt left behind. Arrays are None for rejected ones.

    Attributes:
        number, initial: which attempt, from where.
        reason: why it was rejected; None for an accepted one.
        source: facts of the behavior for the lineage.
        qpos: states of the scene before each tick (K, nq). actions: clean commands (K, 54) float32.
        phases: (K,) int8.
    """

    number: int
    initial: InitialState
    reason: Reason | None
    source: dict[str, object]
    qpos: Array | None = None
    actions: NDArray[np.float32] | None = None
    phases: NDArray[np.int8] | None = None


class Simulator:
    """Runs blocks of attempts of one behavior in one world."""

    def __init__(
        self, sampling: Sampling, world: WorldParameters, behavior: Behavior, scene: Scene, engine: Engine
    ) -> None:
        self._sampling, self._world, self._behavior = sampling, world, behavior
        self._scene, self._engine = scene, engine
        self._controller = ArmController.of(sampling.cell, world)
        self._judge = TrajectoryJudge(scene)
        self.ticks = 0  # control ticks simulated in the last block, over all its attempts

    def run(self, numbers: Sequence[int]) -> list[Trajectory]:
        """All attempts of a block, in order; at most the engine's capacity."""
        done: dict[int, Trajectory] = {}
        planned: list[tuple[int, InitialState, ToolPlan]] = []
        for number in numbers:
            initial = self._sampling.initial(number)
            plan = self._plan(number, initial)
            if isinstance(plan, Reason):
                done[number] = Trajectory(number, initial, plan, {})
            else:
                planned.append((number, initial, plan))
        for trajectory in self._simulate(planned) if planned else ():
            done[trajectory.number] = trajectory
        return [done[number] for number in numbers]

    def _plan(self, number: int, initial: InitialState) -> ToolPlan | Reason:
        task = PickTask.of(self._sampling.cell, self._world, initial)
        try:
            plan = self._behavior.plan(task, self._sampling.rng(number, 1))
        except BlockedError:
            return Reason.BLOCKED
        except NoGraspError:
            return Reason.NO_GRASP
        except ValueError:
            return Reason.UNREACHABLE
        return plan.padded(len(plan) + SETTLE_TICKS)

    def _simulate(self, planned: list[tuple[int, InitialState, ToolPlan]]) -> list[Trajectory]:
        numbers, initials, plans = (list(items) for items in zip(*planned, strict=True))
        commands = self._controller.commands(plans)
        actions = commands.targets.astype(np.float32)
        noise = [self._sampling.command_noise(number, actions.shape[1]) for number in numbers]
        executed = actions + np.stack(noise)
        starts = [start_of(self._scene, initial) for initial in initials]
        stop = EarlyStop(self._scene, initials, *_milestones(plans))
        rollout = roll_out(self._engine, starts, executed[:, :, self._scene.action_index], stop)
        self.ticks = int(rollout.ticks.sum())
        out = []
        for i, (number, initial, plan) in enumerate(planned):
            reason, ticks = self._reach(commands, i), int(rollout.ticks[i])
            if reason is None:
                states = rollout.qpos[i, : ticks + 1], rollout.qvel[i, : ticks + 1]
                reason, ticks = self._judge.judge(initial, *states, int(rollout.flags[i]))
            kept = {} if reason else _kept(rollout.qpos[i], actions[i], plan, ticks)
            out.append(Trajectory(number, initial, reason, plan.source, **kept))
        return out

    def _reach(self, commands: Commands, i: int) -> Reason | None:
        beyond = commands.error[i] > MAX_TOOL_ERROR or commands.speed[i] > MAX_SPEED
        return Reason.UNREACHABLE if beyond else None


def _kept(qpos: Array, actions: NDArray[np.float32], plan: ToolPlan, ticks: int) -> dict[str, NDArray]:
    phases = plan.padded(len(actions)).phases
    return {"qpos": qpos[:ticks].copy(), "actions": actions[:ticks].copy(), "phases": phases[:ticks].copy()}


def _milestones(plans: Sequence[ToolPlan]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ticks (n,) by which each plan has the object in the air, and by which its hand has left the bin."""
    lifted = [np.searchsorted(plan.phases, Phase.CARRY) + 25 for plan in plans]
    released = [np.searchsorted(plan.phases, Phase.RETREAT) + 10 for plan in plans]
    return np.array(lifted), np.array(released)
