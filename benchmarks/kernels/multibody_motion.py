"""Motion of imported robots in the kernels and by MuJoCo's `mj_step`: processor time at equal accuracy.

python -m benchmarks multibody_motion

An arm, a quadruped in flight and a satellite with panels move freely for half a second, loops open, without contact
and limits. Errors are the largest of hinges and slides at the end, rad or m, against MuJoCo's RK4 with steps of 20 us.
Both run in compiled loops on one thread: `mj_step` with a number of steps, the kernels with micro-steps of one length.
Between two steps the time at an error is interpolated in logarithms.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import mujoco
import numpy as np

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import Declared
from dockfmu.components.multibody.model import Model
from tests.components.multibody.moving_robots import DURATION, coordinates_of_mujoco, moving_robot
from tests.components.multibody.random_models import interpreted
from tests.components.multibody.test_importing import DESCRIPTIONS

STEPS = (1e-2, 5e-3, 2.5e-3, 1e-3, 5e-4, 2.5e-4, 1e-4, 5e-5)
ERRORS = (1e-3, 1e-4, 1e-5, 1e-6)
INTEGRATORS = {
    "Euler": mujoco.mjtIntegrator.mjINT_EULER,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "RK4": mujoco.mjtIntegrator.mjINT_RK4,
}
ROUNDS = 5

Points = list[tuple[float, float]]


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
        simulate = {"kernels": _kernels(model), **simulate}
        curves = {key: _curve(one, exact) for key, one in simulate.items()}
        print(f"\n| {name}, error | " + " | ".join(f"{key}, us" for key in curves) + " |")
        print("|---|" + "---|" * len(curves))
        for error in ERRORS:
            print(f"| {error:.0e} | " + " | ".join(_time_at(points, error) for points in curves.values()) + " |")
        print("\n| step, s | " + " | ".join(f"{key}: error, us" for key in curves) + " |\n|---|" + "---|" * len(curves))
        for k, step in enumerate(STEPS):
            print(f"| {step:.1e} | " + " | ".join(f"{p[k][0]:.1e}, {p[k][1]:.0f}" for p in curves.values()) + " |")


def _curve(simulate: Callable[[float], tuple[np.ndarray, float]], exact: np.ndarray) -> Points:
    """Return (error, time for `DURATION`, us) of each step."""
    points = []
    for step in STEPS:
        runs = [simulate(step) for _ in range(ROUNDS)]
        points.append((float(np.abs(runs[0][0] - exact).max()), 1e6 * min(elapsed for _, elapsed in runs)))
    return points


def _time_at(points: Points, error: float) -> str:
    """Return the time, us, at an error, between the points around it."""
    for (error0, time0), (error1, time1) in pairwise(points):
        if error0 >= error > error1:
            share = np.log(error0 / error) / np.log(error0 / error1)
            return f"{np.exp(np.log(time0) + share * np.log(time1 / time0)):.0f}"
    return f"< {points[0][1]:.0f}" if points[0][0] < error else f"> {points[-1][1]:.0f}"


def _mujoco(
    model: mujoco.MjModel, start: tuple[np.ndarray, np.ndarray], names: list[str], integrator: int
) -> Callable[[float], tuple[np.ndarray, float]]:
    def simulate(step: float) -> tuple[np.ndarray, float]:
        model.opt.timestep, model.opt.integrator = step, integrator
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = start
        data.eq_active[:] = 0
        begin = time.process_time()
        mujoco.mj_step(model, data, round(DURATION / step))
        return coordinates_of_mujoco(model, data, names), time.process_time() - begin

    return simulate


def _kernels(model: Model) -> Callable[[float], tuple[np.ndarray, float]]:
    component = interpreted(component_of(Declared(model, "benchmark")))

    def simulate(step: float) -> tuple[np.ndarray, float]:
        values = {"micro_tolerance": 0.0, "micro_step": step, "longest_micro_step": max(step, 1e-2)}
        instance = Instance(component, **{f"parameters.stepping.{key}": value for key, value in values.items()})
        begin = time.process_time()
        instance.step(0.0, DURATION)
        elapsed = time.process_time() - begin
        return np.array([coordinate.position for coordinate in instance.m.coordinate]), elapsed

    return simulate


if __name__ == "__main__":
    main()
