"""The bench cell as a rig: the agent plays the operator's hands, and the bench's referee proposes outcomes."""

import logging

import numpy as np
from numpy.typing import NDArray

from robots.agent.protocol import Proposal, TrialStart
from robots.agent.rig import Image, Observation, RigStoppedError
from robots.agent.rollout import REFEREE_EVERY_TICKS
from robots.cell.initial import InitialState, trial_initial_state
from robots.drivers.bench import BenchCell
from robots.drivers.protocols import EmergencyStopError

logger = logging.getLogger(__name__)


class BenchRig:
    """A bench cell driven in lockstep (`fast`) or by the clock (`realtime`).

    Args:
        image_size: side of the square views [px]; the policy server resizes to what its policy wants.
        camera_fps: how often a view has a new picture.
    """

    def __init__(self, bench: BenchCell, *, pace: str, image_size: int = 128, camera_fps: float = 12.5) -> None:
        self._bench, self._drivers = bench, bench.drivers
        self._views = bench.cell.policy_views
        self.joint_names = bench.cell.joint_names
        self.robot_type = bench.cell.name
        self.is_lockstep = pace == "fast"
        self._initial: InitialState | None = None
        self._light = "white"
        self._image_size, self._camera_fps = image_size, camera_fps
        self._start_ns = 0
        self._ticks = 0
        self._stages: dict[str, float] = {}
        self._drivers.stream(self._views, image_size=image_size, fps=camera_fps)

    def prepare(self, order: TrialStart, image_size: int | None) -> Observation:
        """Lay the object on the belt at the start that the order's seed draws: the same for every arm of its block."""
        initial = trial_initial_state(
            self._bench.cell,
            object_name=order.object,
            belt_speed=order.belt_speed,
            bin_side=order.bin,
            seed=order.seed,
        )
        try:
            self._bench.operator.set_light(order.light)
            self._bench.operator.place(initial)
        except EmergencyStopError as error:
            raise RigStoppedError from error
        self._initial, self._light, self._ticks, self._stages = initial, order.light, 0, {}
        self._drivers.refresh()
        self._start_ns = self._drivers.reading["time_ns"]
        return self._seen()

    def step(self, command: NDArray[np.float64]) -> Observation:
        try:
            self._drivers.command(command)
            self._drivers.tick()
        except EmergencyStopError as error:
            raise RigStoppedError from error
        except ValueError as error:  # a target outside a joint's range: the arm holds, as the real one would
            logger.debug("command refused: %s", error)
            self._drivers.tick()
        self._ticks += 1
        return self._seen()

    def look(self) -> Observation:
        self._drivers.refresh()
        return self._seen()

    def is_over(self) -> bool:
        if self._ticks % REFEREE_EVERY_TICKS != 1:
            return False
        is_over, self._stages = self._bench.referee.progress()
        return is_over

    def stages(self) -> dict[str, float]:
        return self._stages

    def judge(self) -> Proposal:
        verdict = self._bench.referee.verdict()
        _, self._stages = self._bench.referee.progress()
        return Proposal(
            success=verdict.success,
            failure_mode=verdict.failure_mode or "",
            furthest_stage=verdict.furthest_stage,
            time_s=verdict.time_s,
        )

    def extra(self) -> dict[str, object]:
        facts = self._initial.to_dict() if self._initial else {}
        return {"object": facts.get("object", ""), "initial_state": facts, "light": self._light}

    def stop(self, pressed: bool) -> None:
        """On the operator's own connection, so that it never waits for the control thread."""
        if pressed:
            self._bench.operator.stop()
        else:
            self._bench.operator.reset_stop()

    def close(self) -> None:
        self._bench.stop()

    def _seen(self) -> Observation:
        images: dict[str, Image] = {view: self._drivers.cameras[view].read().rgb for view in self._views}
        time_s = (self._drivers.reading["time_ns"] - self._start_ns) / 1e9
        return Observation(time_s=time_s, position=self._drivers.state(), images=images)
