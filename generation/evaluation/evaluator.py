"""Closed-loop rollouts, many at a time: see, ask the policy every twelve ticks, play its chunks, judge."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from generation.arrays import Array
from generation.evaluation.policy import Policy, Seen
from generation.evaluation.recording import Images, Recorder, Stretch
from generation.evaluation.referee import Referee
from generation.evaluation.starts import RolloutOrder, noise_seed
from generation.physics import Engine, Flag
from generation.physics.scenes import start_of
from generation.rendering import FrameRenderer
from robots.agent.chunks import ChunkPlayer
from robots.agent.rollout import HISTORY, REPLAN_TICKS
from robots.cell.description import CONTROL_HZ
from robots.cell.initial import instruction
from robots.cell.scene import Scene
from robots.errors import DataError


@dataclass(frozen=True)
class Outcome:
    """How one rollout ended, in the words of a trial; `invalid` says why its physics cannot be trusted, if so.

    `stages` has the time [s] of the row that shows each stage first, in their order.
    """

    number: int
    success: bool
    furthest_stage: str
    failure_mode: str
    time_s: float
    invalid: str = ""
    stages: dict[str, float] = field(default_factory=dict)


class Evaluator:
    """Runs blocks of rollouts in one scene; at most the engine's capacity at a time.

    Args:
        seed: of the policies' noise. time_limit_s: of a rollout.
        between: called before every request to the policy: a place to report, or to stop by raising.
    """

    def __init__(
        self,
        scene: Scene,
        engine: Engine,
        renderer: FrameRenderer,
        *,
        seed: int = 0,
        time_limit_s: float = 12.0,
        between: Callable[[], None] = lambda: None,
    ) -> None:
        self._scene, self._engine, self._renderer = scene, engine, renderer
        self._seed, self._limit, self._between = seed, round(time_limit_s * CONTROL_HZ), between
        self._ranges = scene.command_ranges()

    def run(self, policy: Policy, orders: Sequence[RolloutOrder], recorder: Recorder | None = None) -> list[Outcome]:
        """Outcomes of all orders, in order; `recorder` takes in what happens on the way.

        Raises:
            DataError: the policy commands something that is no number, or for another robot.
        """
        self._engine.reset([start_of(self._scene, order.initial) for order in orders])
        rollouts = [_Rollout(order, self._scene) for order in orders]
        running, tick = list(range(len(rollouts))), 0
        while running:
            self._between()
            self._plan(policy, [rollouts[i] for i in running], running, tick)
            over = self._play([rollouts[i] for i in running], running, tick, recorder)
            tick = min(tick + REPLAN_TICKS, self._limit)
            running = [i for i in running if i not in over and tick < self._limit]
        flags = self._engine.flags()
        return [rollout.outcome(int(flag)) for rollout, flag in zip(rollouts, flags, strict=True)]

    def _plan(self, policy: Policy, rollouts: Sequence["_Rollout"], running: Sequence[int], tick: int) -> None:
        self._look(rollouts, running, is_shown=True)
        seen = []
        for rollout in rollouts:
            images = {view: rollout.images[view] for view in policy.views}
            seen.append(rollout.seen(images, self._seed, tick))
        chunks = policy.act(seen)
        for rollout, chunk in zip(rollouts, chunks, strict=True):
            rollout.submit(chunk, tick)

    def _play(
        self, rollouts: Sequence["_Rollout"], running: Sequence[int], tick: int, recorder: Recorder | None
    ) -> set[int]:
        """Advance to the next request; which of the running simulations are over then."""
        indices = np.array(running)
        states = []
        for k in range(tick, min(tick + REPLAN_TICKS, self._limit)):
            if k > tick:
                is_shown = recorder is not None and (k - tick) % recorder.frame_ticks == 0
                self._look(rollouts, running, is_shown=is_shown)
            targets = np.stack([rollout.command(k, self._ranges) for rollout in rollouts])
            self._engine.step(indices, targets[:, self._scene.action_index])
            states.append(self._engine.states()[indices].copy())
        broken = self._engine.flags() != Flag.OK
        over = set()
        for i, rollout, own in zip(running, rollouts, np.stack(states, axis=1), strict=True):
            if broken[i] or rollout.referee.watch(own):
                over.add(i)
            stretch = rollout.stretch()
            if recorder is not None and len(stretch.states):
                recorder.add(i, stretch)
        return over

    def _look(self, rollouts: Sequence["_Rollout"], running: Sequence[int], *, is_shown: bool) -> None:
        """Measure every rollout now, and take its frames if they are to be shown."""
        qpos = self._engine.positions()
        for i, rollout in zip(running, rollouts, strict=True):
            rollout.remember(self._measured(qpos[i]))
            if is_shown:
                frames = self._renderer.render(rollout.order.initial, qpos[i : i + 1])
                rollout.show({view: images[0] for view, images in frames.items()})

    def _measured(self, qpos: Array) -> Array:
        q = self._scene.cell.home_state
        q[self._scene.action_index] = qpos[self._scene.qpos_index]
        return q


class _Rollout:
    """One rollout under way: what the agent keeps of it, and what happened since the last request."""

    def __init__(self, order: RolloutOrder, scene: Scene) -> None:
        self.order, self.referee = order, Referee(scene, order.initial)
        self.images: Images = {}
        self._player = ChunkPlayer(hold=scene.cell.home_state, blend=0)
        self._target = scene.cell.home_state
        self._history: list[Array] = []
        self._states: list[Array] = []
        self._actions: list[Array] = []
        self._frames: list[tuple[int, Images]] = []
        self._told = 0

    def remember(self, position: Array) -> None:
        """Take in what is measured at a tick; the history starts full of the first."""
        self._history = [*(self._history or [position] * HISTORY), position][-HISTORY:]
        self._states.append(position)

    def show(self, images: Images) -> None:
        """Take in the frames of the tick that was measured last."""
        self.images = images
        self._frames.append((len(self._states) - 1, images))

    def stretch(self) -> Stretch:
        """What happened since the last request, as far as the referee watched; it is forgotten here."""
        ticks, self._told = self.referee.ticks - self._told, self.referee.ticks
        frames = [(tick, images) for tick, images in self._frames if tick < ticks]
        stretch = Stretch(np.array(self._states[:ticks]), np.array(self._actions[:ticks]), frames)
        self._states, self._actions, self._frames = [], [], []
        return stretch

    def seen(self, images: dict[str, NDArray[np.uint8]], seed: int, tick: int) -> Seen:
        """What the policy is shown now."""
        initial, number = self.order.initial, self.order.number
        return Seen(
            images=images,
            state=np.asarray(self._history, np.float32),
            instruction=instruction(initial.object, initial.bin),
            seed=noise_seed(seed, number, tick),
            number=number,
            tick=tick,
        )

    def submit(self, chunk: NDArray[np.float32], tick: int) -> None:
        """Take over a chunk; in simulation the world waits for the policy, as in the agent's lockstep."""
        try:
            self._player.submit(tick, chunk, tick)
        except ValueError as error:
            raise DataError(f"the policy's answer cannot be used: {error}") from error

    def command(self, tick: int, ranges: tuple[Array, Array]) -> Array:
        """Joint targets (54,) at a tick; one outside a joint's range is refused, and the last one holds."""
        wanted = self._player.command(tick)
        if ((wanted >= ranges[0]) & (wanted <= ranges[1])).all():
            self._target = wanted
        self._actions.append(self._target)
        return self._target

    def outcome(self, flag: int) -> Outcome:
        """How it ended."""
        number, time_s, stages = self.order.number, self.referee.ticks / CONTROL_HZ, self.referee.stages
        if flag != Flag.OK:
            return Outcome(number, False, "", "", time_s, Flag(flag).name.lower(), stages)
        verdict = self.referee.verdict()
        return Outcome(number, verdict.success, verdict.furthest_stage, verdict.failure_mode or "", time_s, "", stages)
