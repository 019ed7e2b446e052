"""Every reason of the funnel, on states made for it."""

import numpy as np
import pytest

from generation.filtering import EarlyStop, Funnel, Reason, TrajectoryJudge
from generation.physics import Flag
from robots.cell.initial import InitialState
from robots.cell.scene import Scene

TICKS = 60
AT_REST = (0.58, -0.04, 0.0465)  # in the left bin, on its floor
IN_AIR = (0.60, -0.10, 0.30)
INITIAL = InitialState("can", (0.0, 0.2, 0.04), belt_speed=0.0, bin="left")


def _states(scene: Scene, *places: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """States in which the can spends equal times at each place, the robot at home."""
    scene.reset(INITIAL)
    qpos, qvel = np.tile(scene.data.qpos, (TICKS, 1)), np.zeros((TICKS, scene.model.nv))
    a = scene.object_qpos
    for part, place in zip(np.array_split(np.arange(TICKS), len(places)), places, strict=True):
        qpos[part, a : a + 3] = place
    return qpos, qvel


def _reason(
    scene: Scene, *places: tuple[float, float, float], speed: float = 0.0, flag: int = Flag.OK
) -> Reason | None:
    qpos, qvel = _states(scene, *places)
    qvel[:, scene.object_dof] = speed
    return TrajectoryJudge(scene).judge(INITIAL, qpos, qvel, flag).reason


def test_released_and_at_rest_in_its_bin_long_enough_is_a_success(scene: Scene) -> None:
    judgement = TrajectoryJudge(scene).judge(INITIAL, *_states(scene, IN_AIR, AT_REST), Flag.OK)
    assert judgement.reason is None
    assert judgement.ticks == TICKS // 2 + 24


def test_a_short_rest_is_no_success(scene: Scene) -> None:
    assert _reason(scene, IN_AIR, IN_AIR, AT_REST) is Reason.NOT_AT_REST


@pytest.mark.parametrize(
    ("places", "reason"),
    [
        (((0.765, -0.05, 0.14),), Reason.NO_GRASP),
        ((IN_AIR, (0.765, -0.05, 0.14)), Reason.DROPPED),
        ((IN_AIR, (0.58, -0.56, 0.0465)), Reason.WRONG_BIN),
    ],
)
def test_failures_say_where_the_object_went(scene: Scene, places: tuple, reason: Reason) -> None:
    assert _reason(scene, *places) is reason


def test_an_object_that_still_moves_in_its_bin_is_not_at_rest(scene: Scene) -> None:
    assert _reason(scene, IN_AIR, AT_REST, speed=0.1) is Reason.NOT_AT_REST


def test_an_object_between_the_fingers_is_not_released(scene: Scene) -> None:
    scene.reset(INITIAL)
    thumb = scene.data.geom_xpos[scene.model.geom("right_hand_thumb_pad").id]
    assert _reason(scene, IN_AIR, tuple(thumb)) is Reason.NOT_RELEASED


@pytest.mark.parametrize(("flag", "reason"), [(Flag.NAN, Reason.NAN), (Flag.OVERFLOW, Reason.OVERFLOW)])
def test_an_unhealthy_simulation_is_never_a_success(scene: Scene, flag: Flag, reason: Reason) -> None:
    assert _reason(scene, IN_AIR, AT_REST, flag=flag) is reason


def test_a_hand_pressed_into_the_floor_is_a_collision(scene: Scene) -> None:
    qpos, qvel = _states(scene, IN_AIR, AT_REST)
    scene.reset(INITIAL)
    joint = scene.model.joint("right_arm_joint2").qposadr[0]
    qpos[20:26, joint] -= np.linspace(0.2, 0.6, 6)
    assert TrajectoryJudge(scene).judge(INITIAL, qpos, qvel, Flag.OK).reason is Reason.COLLISION


def test_simulations_stop_early_once_the_outcome_is_settled(scene: Scene) -> None:
    stop = EarlyStop(scene, [INITIAL] * 3, np.array([10] * 3), np.array([10] * 3))
    qpos, qvel = _states(scene, AT_REST, (0.765, -0.05, 0.14), IN_AIR)
    rows, running = qpos[[0, 25, 59]], np.arange(3)
    over = [stop(tick, running, rows, qvel[:3]) for tick in range(50)]
    first = [next((k for k, marks in enumerate(over) if marks[i]), None) for i in range(3)]
    assert first == [10 + 30, 10 + 15, None]


def test_the_funnel_counts_every_attempt_once() -> None:
    funnel = Funnel()
    for reason in (None, Reason.DROPPED, None, Reason.NAN, "dropped"):
        funnel.add(reason)
    counts = funnel.to_json()
    assert counts["attempts"] == 5 == counts["accepted"] + sum(counts[reason.value] for reason in Reason)
    assert funnel.rejections() == {"dropped": 2, "nan": 1}
