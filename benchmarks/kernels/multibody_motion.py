"""Motion of imported robots in the kernels and by MuJoCo's `mj_step`: processor time at equal accuracy.

python -m benchmarks multibody_motion

An arm, a quadruped in flight and a satellite with panels move freely for half a second, loops open, without contact
and limits. Errors are the largest of hinges and slides at the end, rad or m, against MuJoCo's RK4 with steps of 20 us.
Closed chains are the imported satellite whose boom is on a strut, and chains of hinges whose end a ball joint holds on
the base; errors are against LOOP in numpy, integrated by DOP853. MuJoCo's constraints are soft: their time constant is
the shortest stable one, two steps, their impedance the largest, 0.9999, and the solver is Newton's to 1e-12.
Both run in compiled loops on one thread: `mj_step` with a number of steps, the kernels with micro-steps of one length.
Between two steps the time at an error is interpolated in logarithms. Times are the shortest of some rounds in turn.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import mujoco
import numpy as np
from scipy.integrate import solve_ivp

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.analysis import Multibody, MultibodyState
from dockfmu.components.multibody.declaration import Declared
from dockfmu.components.multibody.importing import read_robot
from dockfmu.components.multibody.model import Model
from tests.components.multibody.moving_robots import DURATION, coordinates_of_mujoco, moving_robot
from tests.components.multibody.test_constraint_forces import chain
from tests.components.multibody.test_importing import DESCRIPTIONS, compiled

STEPS = (1e-2, 5e-3, 2.5e-3, 1e-3, 5e-4, 2.5e-4, 1e-4, 5e-5)
ERRORS = (1e-3, 1e-4, 1e-5, 1e-6)
INTEGRATORS = {
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "RK4": mujoco.mjtIntegrator.mjINT_RK4,
}
ROUNDS = 5

IMPEDANCE = 0.9999
"""Largest one of MuJoCo's constraints."""

Points = list[tuple[float, float]]
Start = tuple[np.ndarray, np.ndarray]
Simulation = Callable[[float], tuple[np.ndarray, float]]


def main() -> None:
    """Print the tables."""
    for name in DESCRIPTIONS:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name
            file.write_text(DESCRIPTIONS[name])
            model, reference, start = moving_robot(file)
        names = [joint.name for joint in model.joints if joint.kind in ("revolute", "prismatic")]
        simulate = {key: _mujoco(reference, start, names, value) for key, value in INTEGRATORS.items()}
        exact, _ = simulate["RK4"](2e-5)
        _tables(name, {"kernels": _kernels(model), **simulate}, exact)
    for name, model, reference, start in _closed():
        names = [joint.name for joint in model.tree if joint.kind == "revolute"]
        simulate = {key: _mujoco(reference, start, names, value, True) for key, value in INTEGRATORS.items()}
        _tables(name, {"kernels": _kernels(model), **simulate}, _by_loop(model, names))


def _tables(name: str, simulate: dict[str, Simulation], exact: np.ndarray) -> None:
    """Print the times at some errors, then errors and times of all steps."""
    curves = _curves(simulate, exact)
    print(f"\n| {name}, error | " + " | ".join(f"{key}, us" for key in curves) + " |")
    print("|---|" + "---|" * len(curves))
    for error in ERRORS:
        print(f"| {error:.0e} | " + " | ".join(_time_at(points, error) for points in curves.values()) + " |")
    print("\n| step, s | " + " | ".join(f"{key}: error, us" for key in curves) + " |\n|---|" + "---|" * len(curves))
    for k, step in enumerate(STEPS):
        print(f"| {step:.1e} | " + " | ".join(f"{p[k][0]:.1e}, {p[k][1]:.0f}" for p in curves.values()) + " |")


def _curves(simulate: dict[str, Simulation], exact: np.ndarray) -> dict[str, Points]:
    """Return (error, time for `DURATION`, us) of each step, all measured in turn."""
    curves: dict[str, Points] = {key: [] for key in simulate}
    for step in STEPS:
        runs = [{key: one(step) for key, one in simulate.items()} for _ in range(ROUNDS)]
        for key, points in curves.items():
            error = float(np.abs(runs[0][key][0] - exact).max())
            points.append((error if np.isfinite(error) else np.inf, 1e6 * min(run[key][1] for run in runs)))
    return curves


def _closed() -> Iterator[tuple[str, Model, mujoco.MjModel, Start]]:
    """Yield (name, model, MuJoCo's model, its start) of closed chains that move."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sat.xml"
        file.write_text(DESCRIPTIONS["sat.xml"])
        model, reference = read_robot(file).model, compiled(file)
    system = Multibody(model)
    state = system.state(rates={"root.angle": 0.8, "hinge.angle": -0.5, "hub.rotation_z": 0.4})
    places = zip(model.tree, system.system.position_slices, system.system.rate_slices, strict=True)
    joints = tuple(
        replace(joint, coordinates=tuple(map(float, state.q[here])), rates=tuple(map(float, state.u[part])))
        for joint, here, part in places
    )
    start = _in_mujoco(system, reference, state)
    yield "satellite with a strut", replace(model, joints=(*joints, *model.cuts)), reference, start
    for count in (5, 20):
        model, mjcf = chain(1, count)
        reference = mujoco.MjModel.from_xml_string(mjcf(IMPEDANCE))
        for k in range(count):
            assert mujoco.mj_id2name(reference, mujoco.mjtObj.mjOBJ_BODY, k + 1) == f"b{k}"
        yield f"loop of {count} bodies", model, reference, (reference.qpos0.copy(), np.zeros(reference.nv))


def _in_mujoco(system: Multibody, model: mujoco.MjModel, state: MultibodyState) -> Start:
    """Return (qpos, qvel) of a state; hinges count from qpos0 in the declaration."""
    qpos, qvel = model.qpos0.copy(), np.zeros(model.nv)
    places = zip(system.model.tree, system.system.position_slices, system.system.rate_slices, strict=True)
    for joint, here, rates in places:
        index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint.name)
        if joint.kind == "free":
            index = int(model.body_jntadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, joint.name)])
        at, dof = int(model.jnt_qposadr[index]), int(model.jnt_dofadr[index])
        part = state.q[here]
        qpos[at : at + len(part)] = part if len(part) > 1 else part + model.qpos0[at]
        qvel[dof : dof + rates.stop - rates.start] = state.u[rates]
    return qpos, qvel


def _by_loop(model: Model, names: list[str]) -> np.ndarray:
    """Return coordinates after `DURATION` by LOOP and DOP853."""
    system = Multibody(model)
    state = system.start
    size = len(state.q)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        now = replace(state, q=y[:size], u=y[size:], time=t)
        return np.concatenate((system.system.coordinate_rates(now.q, now.u), system.forward_dynamics(now)))

    start = np.concatenate((state.q, state.u))
    run = solve_ivp(rates, (0.0, DURATION), start, "DOP853", rtol=1e-9, atol=1e-10)
    return np.array([run.y[system.coordinates.index(f"{name}.angle"), -1] for name in names])


def _time_at(points: Points, error: float) -> str:
    """Return the time, us, at an error, between the points around it."""
    for (error0, time0), (error1, time1) in pairwise(points):
        if error0 >= error > error1:
            share = np.log(error0 / error) / np.log(error0 / error1)
            return f"{np.exp(np.log(time0) + share * np.log(time1 / time0)):.0f}"
    return f"< {points[0][1]:.0f}" if points[0][0] < error else f"> {points[-1][1]:.0f}"


def _mujoco(model: mujoco.MjModel, start: Start, names: list[str], integrator: int, closed: bool = False) -> Simulation:
    def simulate(step: float) -> tuple[np.ndarray, float]:
        model.opt.timestep, model.opt.integrator = step, integrator
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = start
        data.eq_active[:] = 0
        if closed:
            # of several equality constraints the first is the loop
            data.eq_active[0] = 1
            model.opt.tolerance, model.opt.iterations = 1e-12, 100
            model.eq_solref[0], model.eq_solimp[0] = (2.0 * step, 1.0), (IMPEDANCE, IMPEDANCE, 1e-3, 0.5, 2.0)
        begin = time.process_time()
        mujoco.mj_step(model, data, round(DURATION / step))
        elapsed = time.process_time() - begin
        if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, names[0]) < 0:
            # joints without names, in the order of the declaration
            return data.qpos - model.qpos0, elapsed
        return coordinates_of_mujoco(model, data, names), elapsed

    return simulate


def _kernels(model: Model) -> Simulation:
    model = replace(model, joints=tuple(replace(joint, closure_limit=1e9) for joint in model.joints))
    component = component_of(Declared(model, "benchmark"))

    def simulate(step: float) -> tuple[np.ndarray, float]:
        values = {"micro_tolerance": 0.0, "micro_step": step, "longest_micro_step": max(step, 1e-2)}
        instance = Instance(component, **{f"parameters.stepping.{key}": value for key, value in values.items()})
        begin = time.process_time()
        try:
            instance.step(0.0, DURATION)
        except ComponentError:
            # too long a step for the loop
            return np.full(len(instance.m.coordinate), np.inf), time.process_time() - begin
        elapsed = time.process_time() - begin
        return np.array([coordinate.position for coordinate in instance.m.coordinate]), elapsed

    return simulate


if __name__ == "__main__":
    main()
