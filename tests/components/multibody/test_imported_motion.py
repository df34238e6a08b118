"""Imported robots over time: the kernels of the FMU against MuJoCo's RK4."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.importing import read_robot
from tests.components.multibody.moving_robots import DURATION, coordinates_of_mujoco, moving_robot
from tests.components.multibody.random_models import made
from tests.components.multibody.test_importing import DESCRIPTIONS

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.slow


def of_mujoco(model, start, names):
    """Return MuJoCo's coordinates of hinges and slides after `DURATION`, RK4 with 0.2 ms."""
    model.opt.timestep, model.opt.integrator = 2e-4, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = start
    data.eq_active[:] = 0
    mujoco.mj_step(model, data, round(DURATION / 2e-4))
    return coordinates_of_mujoco(model, data, names)


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_imported_models_move_as_in_mujoco(name, tmp_path):
    """An arm, a quadruped in flight and a satellite with panels, gravity, springs and dampers, 0.5 s.

    The kernels are of second order: halving the step leaves a quarter of the error, and what both steps extrapolate to
    agrees to 2e-6 rad, a hundredth of the error of the shorter one.
    """
    file = tmp_path / name
    file.write_text(DESCRIPTIONS[name])
    model, reference, start = moving_robot(file)
    expected = of_mujoco(reference, start, [j.name for j in model.joints if j.kind in ("revolute", "prismatic")])
    found = []
    for micro_step in (1e-3, 5e-4):
        stepping = {"micro_tolerance": 0.0, "micro_step": micro_step}
        instance = Instance(made(model), **{f"parameters.stepping.{key}": value for key, value in stepping.items()})
        for k in range(50):
            instance.step(0.01 * k, 0.01)
        found.append(np.array([coordinate.position for coordinate in instance.m.coordinate]))
    errors = [np.abs(values - expected).max() for values in found]
    assert 3.5 < errors[0] / errors[1] < 4.5
    np.testing.assert_allclose((4.0 * found[1] - found[0]) / 3.0, expected, rtol=0, atol=2e-6)


def test_imported_loop_moves_as_by_the_reference_formulation(tmp_path):
    """The satellite with a boom on a strut, 0.2 s: kernels of closed chains against LOOP by DOP853.

    Second order: a quarter of the error with half the step, and the extrapolated coordinates agree to 1e-7.
    """
    file = tmp_path / "sat.xml"
    file.write_text(DESCRIPTIONS["sat.xml"])
    model = read_robot(file).model
    system = Multibody(model)
    state = system.state(rates={"root.angle": 0.8, "hinge.angle": -0.5, "hub.rotation_z": 0.4})
    size = len(state.q)

    def rates(t, y):
        u = y[size:]
        udot = system.forward_dynamics(replace(state, q=y[:size], u=u, time=t))
        return np.concatenate((system.system.coordinate_rates(y[:size], u), udot))

    run = solve_ivp(rates, (0.0, 0.2), np.concatenate((state.q, state.u)), "DOP853", rtol=1e-9, atol=1e-10)
    names = ("root.angle", "hinge.angle", "pin.angle")
    expected = np.array([run.y[system.coordinates.index(name), -1] for name in names])
    places = zip(model.tree, system.system.position_slices, system.system.rate_slices, strict=True)
    joints = tuple(
        replace(joint, coordinates=tuple(map(float, state.q[here])), rates=tuple(map(float, state.u[part])))
        for joint, here, part in places
    )
    moving = replace(model, joints=(*joints, *model.cuts))
    found = []
    for micro_step in (1e-3, 5e-4):
        stepping = {"micro_tolerance": 0.0, "micro_step": micro_step}
        instance = Instance(made(moving), **{f"parameters.stepping.{key}": value for key, value in stepping.items()})
        for k in range(20):
            instance.step(0.01 * k, 0.01)
        found.append(np.array([coordinate.position for coordinate in instance.m.coordinate]))
    errors = [np.abs(values - expected).max() for values in found]
    assert 3.0 < errors[0] / errors[1] < 5.0
    np.testing.assert_allclose((4.0 * found[1] - found[0]) / 3.0, expected, rtol=0, atol=1e-7)
