"""The cell's own judge over simulations that were stepped elsewhere."""

from dataclasses import replace

import mujoco
import numpy as np

from generation.arrays import Array
from robots.agent.rollout import REFEREE_EVERY_TICKS
from robots.cell.description import CONTROL_HZ
from robots.cell.initial import InitialState
from robots.cell.judging import TrialJudge, Verdict
from robots.cell.sample import SceneSample
from robots.cell.scene import Scene


class Referee:
    """Judges one rollout from its states, tick by tick, as the bench's referee judges a trial.

    Many referees share one scene: each lays it out for its own start before it looks.
    """

    def __init__(self, scene: Scene, initial: InitialState) -> None:
        self._scene, self._initial = scene, initial
        self._judge = TrialJudge(scene.cell, scene.world, initial.bin)
        scene.reset(initial)
        self._tcp: Array = scene.tcp_pose()[0]
        self.ticks = 0
        self.stages: dict[str, float] = {"approach": 0.0}  # stage to the time [s] of the row that shows it first

    @property
    def is_over(self) -> bool:
        """Whether the rollout ends here; like the agent, the referee is asked at every fifth tick only."""
        return self.ticks % REFEREE_EVERY_TICKS == 1 and self._judge.is_over

    def watch(self, states: Array) -> bool:
        """Look at integration states (K, ns) of the next K ticks; stops, and says True, once the rollout is over."""
        self._scene.reset(self._initial)
        for state in states:
            self._judge.update(self._sample(state))
            self.ticks += 1
            self.stages.setdefault(self._judge.stage, self.ticks / CONTROL_HZ)
            if self.is_over:
                return True
        return False

    def verdict(self) -> Verdict:
        """The outcome as it stands."""
        return self._judge.verdict()

    def _sample(self, state: Array) -> SceneSample:
        model, data = self._scene.model, self._scene.data
        mujoco.mj_setState(model, data, state, int(mujoco.mjtState.mjSTATE_INTEGRATION))
        mujoco.mj_forward(model, data)
        sample = self._scene.sample()
        moved, self._tcp = np.linalg.norm(sample.tcp_position - self._tcp), sample.tcp_position
        return replace(sample, tcp_speed=float(moved) * CONTROL_HZ)
