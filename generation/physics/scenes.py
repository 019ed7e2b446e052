"""From a cell's scene to the engine: starts, and the columns of qpos and ctrl that mean something."""

import mujoco
import numpy as np

from generation.physics.protocol import Array, Start
from robots.cell.initial import InitialState
from robots.cell.scene import Scene

# Model fields that `Scene.reset` changes from one start to the next and that physics reads.
START_FIELDS = (
    "geom_contype", "geom_conaffinity", "geom_surfacevel", "body_pos", "body_mass", "body_inertia", "body_subtreemass",
    "body_invweight0", "dof_invweight0", "dof_M0", "actuator_acc0",
)  # fmt: skip


def start_of(scene: Scene, initial: InitialState) -> Start:
    """Reset the scene to `initial` and take down what a simulation needs to begin there."""
    scene.reset(initial)
    spec = mujoco.mjtState.mjSTATE_INTEGRATION
    state = _state(scene, int(spec))
    return Start(state, {name: getattr(scene.model, name).copy() for name in START_FIELDS})


def _state(scene: Scene, spec: int) -> Array:
    state = np.empty(mujoco.mj_stateSize(scene.model, spec))
    mujoco.mj_getState(scene.model, scene.data, state, spec)
    return state
