"""The bench cell through its drivers, the operator's hands and the referee."""

import json

import numpy as np
import pytest

from robots.cell.bench import BENCH_CELL
from robots.cell.initial import InitialState
from robots.cell.world import WorldParameters, nominal_world
from robots.drivers.bench import BenchCell, simulation
from robots.drivers.bench.board import CORNERS, corner_points
from robots.drivers.protocols import CellDrivers, DriverError, EmergencyStopError

HOME = BENCH_CELL.home_state
START = InitialState("can", (0.0, 0.3, 0.04), belt_speed=0.1, bin="right", seed=3)


@pytest.fixture
def rig(bench):
    bench.operator.put_board("away")
    bench.operator.set_light("white")
    bench.drivers.reset_stop()
    bench.operator.place(START)
    bench.drivers.stream(())
    bench.drivers.refresh()
    return bench.drivers


def test_arm_and_hand_are_commanded_and_read(rig):
    target = HOME[:7].copy()
    target[6] += 0.1
    for _ in range(60):
        rig.arms["right"].command(target)
        rig.tick()
    assert rig.arms["right"].read().position == pytest.approx(target, abs=0.01)
    assert rig.hands["right"].read().position == pytest.approx(HOME[7:27], abs=0.05)
    assert rig.arms["left"].joint_names[0] == "left_arm_joint1"


def test_a_held_command_goes_on_when_nothing_new_comes(rig):
    for _ in range(30):
        rig.tick()
    assert np.abs(rig.state() - HOME)[:7].max() < 0.01


def test_the_belt_runs_as_commanded(rig):
    rig.belt.command(0.2)
    rig.tick()
    assert rig.belt.read().speed == 0.2
    with pytest.raises(ValueError, match="belt speed must lie in"):
        rig.belt.command(3.0)


def test_cameras_stream_at_their_own_rate(rig):
    rig.stream(("head",), image_size=64, fps=12.5)
    times = []
    for _ in range(20):
        rig.tick()
        times.append(rig.cameras["head"].read().time_ns)
    assert rig.cameras["head"].read().rgb.shape == (64, 64, 3)
    assert set(np.diff(sorted(set(times)))) == {80_000_000}


def test_the_external_camera_gives_depth_with_its_image(rig):
    frame = rig.cameras["external"].capture()
    assert frame.depth is not None
    assert frame.depth.shape == frame.rgb.shape[:2] == (480, 640)


def test_the_emergency_stop_latches_refuses_commands_and_still_reads(rig):
    rig.stop()
    with pytest.raises(EmergencyStopError):
        rig.command(HOME)
    with pytest.raises(EmergencyStopError):
        rig.channel.ask("tick", action=HOME)
    with pytest.raises(EmergencyStopError):
        rig.belt.command(0.1)
    rig.tick()
    assert rig.is_stopped
    assert rig.belt.read().speed == 0.0
    assert rig.state().shape == (54,)
    rig.reset_stop()
    rig.command(HOME)
    rig.tick()
    assert not rig.is_stopped


def test_the_emergency_stop_holds_a_moving_arm_where_it_is(rig):
    target = HOME.copy()
    target[0] += 0.5
    for _ in range(10):
        rig.command(target)
        rig.tick()
    rig.stop()
    at = rig.state()[0]
    for _ in range(50):
        rig.tick()
    assert abs(rig.state()[0] - at) < 0.08
    assert rig.state()[0] < target[0] - 0.1


@pytest.mark.parametrize("action", [np.zeros(7), np.full(54, np.nan), np.full(54, 9.0)])
def test_an_impossible_command_is_refused_and_the_bench_lives_on(rig, action):
    rig.command(action)
    with pytest.raises(ValueError, match=r"joint targets|outside the range"):
        rig.tick()
    assert rig.tick() > 0


def test_red_light_is_seen(rig, bench):
    white = rig.cameras["head"].capture((64, 64)).rgb.mean(axis=(0, 1))
    bench.operator.set_light("red")
    red = rig.cameras["head"].capture((64, 64)).rgb.mean(axis=(0, 1))
    assert red[1] / red[0] < 0.6 * white[1] / white[0]


def test_the_board_is_found_by_opencv_where_the_operator_laid_it(rig, bench):
    cv2 = pytest.importorskip("cv2")
    bench.operator.put_board("world", (0.70, -0.05, 0.16))
    gray = rig.cameras["head"].capture((720, 720)).rgb.mean(axis=2).astype(np.uint8)
    found, corners = cv2.findChessboardCornersSB(gray, CORNERS)
    assert found
    assert len(corners) == len(corner_points()) == 54


def test_the_board_follows_the_hand(rig, bench):
    bench.operator.put_board("right_hand", (0.0, -0.08, 0.02), (1, 0, 0, 0))
    before = rig.cameras["head"].capture((128, 128)).rgb
    target = HOME.copy()
    target[0] += 0.4
    for _ in range(60):
        rig.command(target)
        rig.tick()
    after = rig.cameras["head"].capture((128, 128)).rgb
    bright = [np.argwhere(image.min(axis=2) > 190).mean(axis=0) for image in (before, after)]
    assert np.linalg.norm(bright[1] - bright[0]) > 5


def test_the_referee_judges_the_trial(rig, bench):
    for _ in range(10):
        rig.tick()
    verdict = bench.referee.verdict()
    assert (verdict.success, verdict.failure_mode, verdict.furthest_stage) == (False, "missed_pick", "approach")
    assert not bench.referee.is_over()
    assert bench.referee.progress() == (False, {"approach": 0.0})


def test_the_drivers_expose_no_ground_truth(rig, bench):
    truth = bench.referee.truth()
    hidden = {round(v, 9) for v in _numbers(json.loads(truth["world"])) if v not in (0.0, 1.0)}
    hidden |= {round(float(v), 9) for v in truth["object_position"]}
    replies = [rig.channel.ask(op) for op in ("hello", "read", "tick")]
    replies.append({k: v for k, v in rig.channel.ask("frame", camera="head").items() if k != "rgb"})
    assert not hidden & {round(v, 9) for reply in replies for v in _numbers(reply)}
    allowed = {"tick", "time_ns", "q", "qd", "belt_speed", "stopped", "frames", "cell", "pace", "hz", "is_simulated",
               "depth"}  # fmt: skip
    assert {key for reply in replies for key in reply} <= allowed
    for op in ("truth", "verdict", "progress", "place", "board", "light"):
        with pytest.raises(DriverError, match="unknown request"):
            rig.channel.ask(op)


def test_a_malformed_message_is_answered_not_obeyed(rig):
    with pytest.raises(ValueError, match="frame"):
        rig.channel.ask("frame", camera="kitchen")
    with pytest.raises(ValueError, match="image_size"):
        rig.channel.ask("configure", image_size=1, streams=[])
    with pytest.raises(DriverError, match="unknown request"):
        rig.channel.ask("format_disk")


def test_the_clients_fulfil_the_protocols(rig):
    accepted: CellDrivers = rig
    for name in ("tick", "state", "command", "stop", "reset_stop", "arms", "hands", "cameras", "belt", "is_stopped"):
        assert hasattr(accepted, name)


def test_a_trial_is_reproduced_by_its_start(bench):
    ends = []
    for _ in range(2):
        bench.operator.place(START)
        bench.drivers.refresh()
        for _ in range(20):
            bench.drivers.command(HOME)
            bench.drivers.tick()
        ends.append(bench.drivers.state())
    assert np.array_equal(*ends)


def test_two_seeds_are_two_cells_and_neither_is_the_nominal_one():
    from robots.drivers.bench.truth import draw_true_world

    worlds = [draw_true_world(BENCH_CELL, seed) for seed in (1, 2)]
    assert worlds[0] != worlds[1]
    for world in worlds:
        x, y, z = np.abs(world.layout.belt_offset) * 1e3
        assert 20 < x < 27
        assert 15 < y < 20
        assert 11 < z < 16
        assert world.visual.camera("right_wrist").focal_scale == pytest.approx(252 / 229, rel=0.01)
        assert 0.001 < np.abs(world.visual.camera("right_wrist").distortion_offset).max() < 0.015
        assert np.linalg.norm(world.visual.camera("head").offset) == pytest.approx(0.0301, abs=1e-6)
        assert np.degrees(np.linalg.norm(world.visual.camera("head").rotvec)) == pytest.approx(1.7, abs=1e-6)
        assert WorldParameters.from_json(world.to_json()) == world


class Clock:
    """A clock that only sleeping moves on, and whoever sets it."""

    def __init__(self) -> None:
        self.now_ns = 10**15

    def monotonic_ns(self) -> int:
        return self.now_ns

    def sleep(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)


def test_real_time_runs_at_50_hz_and_goes_on_while_nobody_asks(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(simulation, "time", clock)
    sim = simulation.BenchSimulation(BENCH_CELL, nominal_world(BENCH_CELL), seed=1, pace="realtime")
    began_ns, first = clock.now_ns, sim.tick()["tick"]
    assert [sim.tick()["tick"] for _ in range(24)] == list(range(first + 1, first + 25))
    assert clock.now_ns - began_ns == 25 * simulation.TICK_NS == 500_000_000
    clock.sleep(0.31)
    assert sim.tick()["tick"] == first + 24 + 16
    clock.sleep(simulation.BACKLOG_TICKS / 50 + 1)
    assert sim.tick()["tick"] == first + 24 + 17, "what is too late to be made up for is left out"


def test_a_bench_in_real_time_says_so_and_ticks():
    with BenchCell.start(seed=1, pace="realtime") as bench:
        assert bench.drivers.channel.ask("hello")["pace"] == "realtime"
        assert bench.drivers.tick() < bench.drivers.tick()


def test_a_stopped_bench_says_that_it_is_gone():
    bench = BenchCell.start(seed=1)
    bench._process.kill()
    bench._process.wait()
    with pytest.raises(DriverError, match="gone"):
        bench.drivers.tick()
    bench.stop()


def _numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | np.ndarray):
        return [n for item in value for n in _numbers(item)]
    is_number = isinstance(value, float | int | np.floating | np.integer) and not isinstance(value, bool)
    return [float(value)] if is_number else []
