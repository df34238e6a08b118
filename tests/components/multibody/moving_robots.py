"""Imported robots that move freely, in the declaration and in MuJoCo."""

from dataclasses import replace

import numpy as np

from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.importing import read_robot
from tests.components.multibody.test_importing import compiled, random_state

DURATION = 0.5
"""s, of the motion."""


def moving_robot(file, seed=1):
    """Return (model, MuJoCo's model, (qpos, qvel)) of a robot in the same random state.

    Loops are open and limits off in the model; in MuJoCo's, `eq_active` of the data must be set to zero.
    """
    reference = compiled(file)
    imported = read_robot(file).model
    laws = tuple(replace(law, lower=-np.inf, upper=np.inf) for law in imported.laws)
    model = replace(imported, joints=imported.tree, laws=laws)
    system = Multibody(model)
    state, qpos, qvel, _ = random_state(system, reference, np.random.default_rng(seed))
    places = zip(model.joints, system.system.position_slices, system.system.rate_slices, strict=True)
    joints = tuple(
        replace(joint, coordinates=tuple(map(float, state.q[here])), rates=tuple(map(float, 0.5 * state.u[rates])))
        for joint, here, rates in places
    )
    return replace(model, joints=joints), reference, (qpos, 0.5 * qvel)


def coordinates_of_mujoco(model, data, names):
    """Return the coordinates of hinges and slides as the declaration counts them."""
    import mujoco

    places = [model.jnt_qposadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)] for name in names]
    return (data.qpos - model.qpos0)[places]
