"""The world inside the bench process: physics, cameras, e-stop, the operator's hands and the referee. No sockets."""

import time
from dataclasses import asdict
from typing import Any, Literal

import mujoco
import numpy as np
import numpy.typing as npt

from robots.cell.description import CONTROL_DT, CONTROL_HZ, CellDescription
from robots.cell.initial import LIGHT_COLORS, Appearance, InitialState
from robots.cell.judging import TrialJudge
from robots.cell.mjcf import LeftArm
from robots.cell.rendering import CellRenderer
from robots.cell.scene import Scene
from robots.cell.world import WorldParameters
from robots.drivers.bench.board import HIDDEN_AT, add_board
from robots.drivers.protocols import EmergencyStopError

Array = npt.NDArray[np.float64]
Pace = Literal["fast", "realtime"]
ENCODER_NOISE = {"arm": 1e-4, "hand": 5e-4}
DEPTH_NOISE = 0.001
BACKLOG_TICKS = 250
TICK_NS = round(CONTROL_DT * 1e9)


class BenchSimulation:
    """A cell in its true world.

    In real time the physics runs by the clock: a tick that comes late finds the cell further on, its last command held.
    """

    def __init__(
        self,
        cell: CellDescription,
        world: WorldParameters,
        *,
        seed: int,
        pace: Pace = "fast",
        left_arm: LeftArm = "fixed",
    ) -> None:
        self.cell, self.world, self.pace = cell, world, pace
        self.scene = Scene(cell, world, left_arm=left_arm, extras=add_board)
        self.image_size, self.fps = 256, {c.name: c.fps for c in cell.cameras}
        self.streams: tuple[str, ...] = ()
        self.stopped = False
        self.light = "white"
        self.judge: TrialJudge | None = None
        self._rng = np.random.default_rng([seed, 1])
        self._renderers: dict[tuple[int, int], CellRenderer] = {}
        self._noise = np.array([ENCODER_NOISE["arm" if "_arm_" in n else "hand"] for n in cell.joint_names])
        self._ranges = self.scene.command_ranges()
        self._board_on: tuple[str, Array, Array] | None = None
        self.tick_number = 0
        self._clock_zero = 0
        self.clear()

    # ---- drivers
    def reading(self) -> dict[str, Any]:
        """Measured joints, belt speed, tick, and whether the e-stop is latched."""
        noise = self._rng.normal(0, 1, len(self._noise)) * self._noise
        return {
            "tick": self.tick_number,
            "time_ns": self.tick_number * TICK_NS,
            "q": self.scene.state() + noise,
            "qd": self.scene.velocity(),
            "belt_speed": self.belt_speed,
            "stopped": self.stopped,
        }

    def command(self, action: Array) -> None:
        """Joint targets from the next tick on; raises EmergencyStopError or ValueError."""
        self._refuse_when_stopped()
        action = np.asarray(action, float)
        if action.shape != self._ranges[0].shape or not np.all(np.isfinite(action)):
            raise ValueError(f"a command is {len(self._noise)} finite joint targets, not shape {action.shape}")
        outside = np.flatnonzero((action < self._ranges[0]) | (action > self._ranges[1]))
        if outside.size:
            name = self.cell.joint_names[outside[0]]
            raise ValueError(f"target {action[outside[0]]:.3f} rad is outside the range of {name}")
        self._target = action

    def tick(self) -> dict[str, Any]:
        """Advance to the next tick; the reading there, with the frames that became due."""
        for _ in range(self._due_ticks()):
            self.scene.step(self._target)
            self.tick_number += 1
            if self.judge is not None:
                self.judge.update(self.scene.sample())
        self._carry_board()
        return self.reading() | {"frames": self._new_frames()}

    def _due_ticks(self) -> int:
        if self.pace == "fast":
            return 1
        now = time.monotonic_ns()
        self._clock_zero = self._clock_zero or now - self.tick_number * TICK_NS
        wait = self._clock_zero + (self.tick_number + 1) * TICK_NS - now
        if wait > 0:
            time.sleep(wait / 1e9)
            return 1
        late = 1 - wait // TICK_NS
        if late > BACKLOG_TICKS:
            self._clock_zero += (late - 1) * TICK_NS
            return 1
        return late

    def _new_frames(self) -> dict[str, Any]:
        return {name: self.frame(name) for name in self.streams
                if self.tick_number % max(1, round(CONTROL_HZ / self.fps[name])) == 0}  # fmt: skip

    def frame(self, name: str, size: tuple[int, int] | None = None) -> dict[str, Any]:
        """An image of a camera now; policy views are square, others keep their shape."""
        camera = self.cell.camera(name)
        if size is None:
            size = (self.image_size,) * 2 if camera.is_policy_view else (camera.height, camera.width)
        renderer = self._renderer((int(size[0]), int(size[1])))
        out = {"time_ns": self.tick_number * TICK_NS, "rgb": renderer.render(self.scene.data, name), "depth": None}
        if camera.has_depth:
            depth = renderer.render_depth(self.scene.data, name)
            out["depth"] = depth + self._rng.normal(0, DEPTH_NOISE, depth.shape).astype(np.float32)
        return out

    def _renderer(self, size: tuple[int, int]) -> CellRenderer:
        if not all(1 <= n <= 1280 for n in size):
            raise ValueError(f"an image is 1 to 1280 pixels a side, not {size}")
        if size not in self._renderers:
            self._renderers[size] = CellRenderer(self.scene.model, size, self.cell, self.world)
        return self._renderers[size]

    def configure(self, image_size: int, fps: float | None, streams: list[str]) -> None:
        """Which cameras stream, how large policy views are, how often they come."""
        for name in streams:
            self.cell.camera(name)
        if not 16 <= image_size <= 720:
            raise ValueError(f"image_size must lie in 16..720, not {image_size}")
        if fps is not None and not 1 <= fps <= CONTROL_HZ:
            raise ValueError(f"camera fps must lie in 1..{CONTROL_HZ}, not {fps}")
        self.image_size, self.streams = image_size, tuple(streams)
        self.fps = {c.name: fps or c.fps for c in self.cell.cameras}

    def set_belt_speed(self, speed: float) -> None:
        """Raises EmergencyStopError, or ValueError outside the belt's range."""
        self._refuse_when_stopped()
        if not 0 <= speed <= self.cell.belt.max_speed:
            raise ValueError(f"belt speed must lie in 0..{self.cell.belt.max_speed} m/s, not {speed}")
        self.belt_speed = float(speed)
        self.scene.set_belt_speed(self.belt_speed)

    def stop(self) -> None:
        """Latch the e-stop: arms hold where they are, the belt stands."""
        self.stopped = True
        self._target = self.scene.state()
        self.belt_speed = 0.0
        self.scene.set_belt_speed(0.0)

    def reset_stop(self) -> None:
        """Release the latch; the arms keep holding until commanded."""
        self.stopped = False

    def _refuse_when_stopped(self) -> None:
        if self.stopped:
            raise EmergencyStopError("the emergency stop is latched; reset it before commanding")

    # ---- operator
    def place(self, initial: InitialState) -> None:
        """Put an object on the running belt, the robot back at home; a new trial is judged from here on."""
        self._refuse_when_stopped()
        look = Appearance(light_color=LIGHT_COLORS[self.light])
        self.scene.reset(InitialState(**{**vars(initial), "appearance": look, "belt_raise": 0.0}))
        self._rng = np.random.default_rng([initial.seed, 2])  # a trial's noise is its own, whatever came before
        self.belt_speed = initial.belt_speed
        self._target = self.cell.home_state
        self.judge = TrialJudge(self.cell, self.world, initial.bin)
        self._clock_zero = 0

    def clear(self) -> None:
        """Take the object away: it lies on the floor far off the belt."""
        self.scene.reset(InitialState(self.cell.objects[0].name, (0.0, 0.0, 0.5), belt_speed=0.0))
        at = self.scene.object_qpos
        self.scene.data.qpos[at : at + 3] = [-1.2, 1.2, self.cell.objects[0].half_height]
        mujoco.mj_forward(self.scene.model, self.scene.data)
        self.set_light(self.light)
        self.belt_speed, self.judge = 0.0, None
        self._target = self.cell.home_state
        self._clock_zero = 0

    def set_light(self, light: str) -> None:
        """White or red room light."""
        if light not in LIGHT_COLORS:
            raise ValueError(f"light must be one of {sorted(LIGHT_COLORS)}, not {light!r}")
        self.light = light
        self.scene.set_appearance(Appearance(light_color=LIGHT_COLORS[light]))

    def put_board(self, where: str, position: Array, quat_wxyz: Array) -> None:
        """Board in the `world`, fixed to the `right_hand` (pose in the wrist frame), or `away`."""
        if where not in ("world", "right_hand", "away"):
            raise ValueError(f"the board goes to world, right_hand or away, not {where!r}")
        at = np.array(HIDDEN_AT) if where == "away" else np.asarray(position, float)
        self._board_on = (where, at, np.asarray(quat_wxyz, float) / np.linalg.norm(quat_wxyz))
        self._carry_board()

    def _carry_board(self) -> None:
        if self._board_on is None:
            return
        where, at, quat = self._board_on
        d, body = self.scene.data, self.scene.model.body("right_hand_wrist").id
        if where == "right_hand":
            at = d.xpos[body] + d.xmat[body].reshape(3, 3) @ at
            turned = np.zeros(4)
            mujoco.mju_mulQuat(turned, d.xquat[body], quat)
            quat = turned
        d.mocap_pos[0], d.mocap_quat[0] = at, quat
        mujoco.mj_kinematics(self.scene.model, d)

    # ---- referee
    def verdict(self) -> dict[str, Any]:
        """Proposed outcome of the trial so far; raises ValueError when none was started."""
        if self.judge is None:
            raise ValueError("no trial was started: place an object first")
        return asdict(self.judge.verdict()) | {"is_over": self.judge.is_over}

    def progress(self) -> dict[str, Any]:
        """Whether the trial is decided, and each stage reached with its time [s]; raises as `verdict`."""
        if self.judge is None:
            raise ValueError("no trial was started: place an object first")
        return {"is_over": self.judge.is_over, "stages": dict(self.judge.reached)}

    def truth(self) -> dict[str, Any]:
        """Everything hidden, for the referee and for tests."""
        position, quat = self.scene.object_pose()
        return {"world": self.world.to_json(), "object_position": position, "object_quat": quat}
