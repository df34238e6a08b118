"""The standard test in the literature on co-simulation: two masses, coupled by force and displacement.

    ground --k1,c1-- m1 --kc-- m2 --k2,c2-- ground

The first mass gets the force of the coupling spring; the second owns that spring, gets the displacement of its other
end, and gives the force. Both are exact for the mean of their input over a step, so that the error is that of the
coupling alone, and every algorithm is a matrix: `amplification` computes it without any code of the master.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.linalg import expm

from dockfmu.components.core.component import Component
from dockfmu.components.core.field import Group, input, output, parameter
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.record import Record
from dockfmu.components.oscillator.kernel import _free_motion
from dockfmu.master.system import Structure

RECORD = Record(
    input("displacement", "m", "of the far end of the coupling spring, mean over the step", evaluated="mean"),
    input("displacement_start", "m", "the same at the start of the step", evaluated="start"),
    output("position", "m", "displacement of the mass"),
    output("velocity", "m/s", "velocity of the mass"),
    output("force", "N", "of the coupling spring on what holds its far end, at the end of the step"),
    Group(
        "parameters",
        parameter("mass", "kg", "moving mass", 1.0, minimum=1e-9),
        parameter("stiffness", "N/m", "of the spring to the ground", 1.0, minimum=0.0),
        parameter("damping", "N.s/m", "of the damper to the ground", 0.0, minimum=0.0),
        parameter("coupling", "N/m", "stiffness of the coupling spring", 1.0, minimum=1e-9),
        parameter("initial_position", "m", "displacement at the start", 0.0),
        parameter("initial_velocity", "m/s", "velocity at the start", 0.0),
    ),
)


@kernel
def initialize(m):
    m.position = m.parameters.initial_position
    m.velocity = m.parameters.initial_velocity
    m.force = m.parameters.coupling * (m.position - m.displacement)
    return 0


@kernel
def step(m, t, h):
    p = m.parameters
    k = (p.stiffness + p.coupling) / p.mass
    c = p.damping / p.mass
    drive = p.coupling * m.displacement / p.mass
    from_position, from_velocity = _free_motion(k, c, h)
    acceleration = drive - c * m.velocity - k * m.position
    rest = drive / k
    position = rest + from_position * (m.position - rest) + from_velocity * m.velocity
    m.velocity = from_position * m.velocity + from_velocity * acceleration
    m.position = position
    # on a straight line the mean lies in the middle
    m.force = p.coupling * (m.position - (2.0 * m.displacement - m.displacement_start))
    return 0


def component() -> Component:
    return Component(
        name="SprungMass",
        description="mass between a spring to the ground and a spring to an end that is moved",
        record=RECORD,
        initialize=initialize,
        step=step,
        messages={},
        module=Path(__file__),
    )


@dataclass(frozen=True)
class Masses:
    """Data of the pair; `start` are positions and velocities (x1, v1, x2, v2)."""

    m1: float = 1.0
    m2: float = 1.0
    k1: float = 1.0
    k2: float = 1.0
    c1: float = 0.0
    c2: float = 0.0
    coupling: float = 1.0
    start: tuple[float, float, float, float] = (0.1, 0.0, -0.05, 0.0)

    def matrix(self) -> np.ndarray:
        """Return the matrix of the whole pair: z' = matrix @ z."""
        k, kc = np.diag([self.k1, self.k2]), self.coupling * np.array([[1.0, -1.0], [-1.0, 1.0]])
        full = np.zeros((4, 4))
        full[0, 1] = full[2, 3] = 1.0
        full[np.ix_([1, 3], [0, 2])] = -(k + kc) / np.array([[self.m1], [self.m2]])
        full[1, 1], full[3, 3] = -self.c1 / self.m1, -self.c2 / self.m2
        return full

    def system(self, oscillator: Path, sprung: Path) -> Structure:
        """Return the coupled system: `first` is an Oscillator, `second` a SprungMass; the first steps first."""
        x1, v1, x2, v2 = self.start
        system = Structure("two masses")
        system.add("first", oscillator, _start(self.m1, self.k1, self.c1, x1, v1))
        system.add("second", sprung, _start(self.m2, self.k2, self.c2, x2, v2) | {"parameters.coupling": self.coupling})
        for name in ("displacement", "displacement_start"):
            system.connect("first", "position", "second", name)
        system.connect("second", "force", "first", "force")
        system.order = ("first", "second")
        return system


def _start(mass: float, stiffness: float, damping: float, position: float, velocity: float) -> dict[str, float]:
    return {
        "parameters.mass": mass,
        "parameters.stiffness": stiffness,
        "parameters.damping": damping,
        "parameters.initial_position": position,
        "parameters.initial_velocity": velocity,
    }


def _held(mass: float, stiffness: float, damping: float, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrices (from the state, from a held force) to the state (x, v) after h."""
    full = np.zeros((3, 3))
    full[0, 1] = 1.0
    full[1] = -stiffness / mass, -damping / mass, 1.0 / mass
    transition = expm(full * h)
    return transition[:2, :2], transition[:2, 2]


def amplification(masses: Masses, algorithm: str, h: float) -> np.ndarray:
    """Return the matrix of one macro step of an algorithm on (x1, v1, x2, v2, force, x1 before, force before)."""
    f1, g1 = _held(masses.m1, masses.k1, masses.c1, h)
    f2, g2 = _held(masses.m2, masses.k2 + masses.coupling, masses.c2, h)
    kc = masses.coupling

    def first(z: np.ndarray, force: float) -> np.ndarray:
        return f1 @ z[:2] + g1 * force

    def second(z: np.ndarray, start: float, end: float) -> tuple[np.ndarray, float]:
        state = f2 @ z[2:4] + g2 * kc * 0.5 * (start + end)
        return state, kc * (state[0] - end)

    def result(z: np.ndarray, one: np.ndarray, two: np.ndarray, force: float) -> np.ndarray:
        return np.array([*one, *two, force, z[0], z[4]])

    def jacobi(z: np.ndarray) -> np.ndarray:
        return result(z, first(z, z[4]), *second(z, z[0], z[0]))

    def jacobi_linear(z: np.ndarray) -> np.ndarray:
        return result(z, first(z, 1.5 * z[4] - 0.5 * z[6]), *second(z, z[0], 2.0 * z[0] - z[5]))

    def gauss_seidel(z: np.ndarray) -> np.ndarray:
        one = first(z, z[4])
        return result(z, one, *second(z, one[0], one[0]))

    def gauss_seidel_linear(z: np.ndarray) -> np.ndarray:
        one = first(z, 1.5 * z[4] - 0.5 * z[6])
        return result(z, one, *second(z, z[0], one[0]))

    def settled(sweep: Callable[[float], tuple[np.ndarray, np.ndarray, float]], z: np.ndarray) -> np.ndarray:
        # the force at the end is an affine function of the one that is assumed
        at_0, at_1 = sweep(0.0)[2], sweep(1.0)[2]
        return result(z, *sweep(at_0 / (1.0 - (at_1 - at_0))))

    def implicit(z: np.ndarray) -> np.ndarray:
        def sweep(force: float) -> tuple[np.ndarray, np.ndarray, float]:
            one = first(z, 0.5 * (z[4] + force))
            return one, *second(z, z[0], one[0])

        return settled(sweep, z)

    def implicit_held(z: np.ndarray) -> np.ndarray:
        def sweep(force: float) -> tuple[np.ndarray, np.ndarray, float]:
            one = first(z, force)
            return one, *second(z, one[0], one[0])

        return settled(sweep, z)

    steps: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "jacobi": jacobi,
        "jacobi_linear": jacobi_linear,
        "gauss_seidel": gauss_seidel,
        "gauss_seidel_linear": gauss_seidel_linear,
        "fixed_point": implicit,
        "quasi_newton": implicit,
        "implicit_held": implicit_held,
    }
    return np.column_stack([steps[algorithm](unit) for unit in np.eye(7)])


def begin(masses: Masses, h: float, told: float = 1e-3) -> np.ndarray:
    """Return the vector of `amplification` for steps h at the start.

    Linear extrapolation begins with the slopes that the FMUs report before the first step: the mean rates over a step
    of their default length `told` with the inputs held.
    """
    x1, v1, x2, v2 = masses.start
    force = masses.coupling * (x2 - x1)
    f1, g1 = _held(masses.m1, masses.k1, masses.c1, told)
    f2, g2 = _held(masses.m2, masses.k2 + masses.coupling, masses.c2, told)
    x1_rate = ((f1 @ [x1, v1] + g1 * force)[0] - x1) / told
    x2_rate = ((f2 @ [x2, v2] + g2 * masses.coupling * x1)[0] - x2) / told
    return np.array([x1, v1, x2, v2, force, x1 - h * x1_rate, force - h * masses.coupling * x2_rate])


def spectral_radius(masses: Masses, algorithm: str, h: float) -> float:
    return float(np.abs(np.linalg.eigvals(amplification(masses, algorithm, h))).max())


def stable_step(masses: Masses, algorithm: str, longest: float, tolerance: float = 1e-9) -> float:
    """Return the longest macro step, at most `longest`, up to which no growth per step exceeds `tolerance`."""
    steps = np.geomspace(1e-4 * longest, longest, 2000)
    grows = [h for h in steps if spectral_radius(masses, algorithm, h) > 1.0 + tolerance]
    return grows[0] if grows else longest
