"""The mobility of one port: an element of a system steps alone, with a wrench on the port that differs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from dockfmu.components.physics.mechanics.rotation import from_quaternion, load_quaternion
from dockfmu.master.algorithms import Jacobi
from dockfmu.master.run.running import Running
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

WRENCH = tuple(f"{part}[{i}]" for part in ("force", "torque") for i in (1, 2, 3))
TWIST = tuple(f"{part}[{i}]" for part in ("velocity", "angular_velocity") for i in (1, 2, 3))
ATTITUDE = tuple(f"quaternion[{i}]" for i in (1, 2, 3, 4))
CHANGE = 1e-5
"""Change of the twist (m/s, rad/s) that the wrenches make: rounding and curvature are 1e-10 of it."""


@dataclass(frozen=True)
class PortMobility:
    """The mobility of a port, axes of the port, SI.

    Attributes
    ----------
    port : str
        Full name, such as `chaser.port[1]`.
    matrix : ndarray (6, 6)
        Mean acceleration and angular acceleration by a unit of force and torque on the port.
    attitude : ndarray (3, 3)
        Inertial axes to axes of the port, in the middle of the time.
    """

    port: str
    matrix: np.ndarray
    attitude: np.ndarray = field(repr=False)

    @property
    def effective_mass(self) -> np.ndarray:
        """Mass (3,) that a force along each axis of the port has to accelerate, kg; infinite of a fixed craft."""
        return inverses(np.diag(self.matrix)[:3])

    @property
    def effective_inertia(self) -> np.ndarray:
        """Inertia (3,) that a torque about each axis of the port has to accelerate, kg m2."""
        return inverses(np.diag(self.matrix)[3:])

    @property
    def asymmetry(self) -> float:
        """Largest difference between the matrix and its transpose, in units of the diagonal.

        Zero of a structure without control; rounding and large rates leave some 1e-6.
        """
        size = np.sqrt(np.abs(np.diag(self.matrix)))
        scale = np.outer(size, size)
        apart = np.abs(self.matrix - self.matrix.T)
        return float(np.max(apart / np.where(scale > 0.0, scale, 1.0)))


@dataclass
class Alone:
    """An element that steps by itself from the state that it has in the system."""

    run: Running
    step: float

    def __post_init__(self) -> None:
        self.start = self.run.save()

    def _after(self, port: str, change: Mapping[str, float], count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the twist of the port in inertial axes, and its attitude, after steps with a changed wrench."""
        self.run.rewind(self.start)
        names = list(change)
        before = self.run.get(names)
        self.run.set({name: value + change[name] for name, value in zip(names, before, strict=True)})
        self.run.advance(self.start.time + count * self.step)
        twist = np.array(self.run.get([f"{port}.{name}" for name in TWIST]))
        q = np.array(self.run.get([f"{port}.{name}" for name in ATTITUDE]))
        attitude = np.array(from_quaternion(load_quaternion(q)))
        return np.concatenate([attitude.T @ twist[:3], attitude.T @ twist[3:]]), q

    def mobility(self, port: str, count: int) -> PortMobility:
        """Return the mobility of a port over `count` steps."""
        self.run.rewind(self.start)
        first = np.array(self.run.get([f"{port}.{name}" for name in ATTITUDE]))
        still, last = self._after(port, {}, count)
        middle = first + math.copysign(1.0, float(first @ last)) * last
        attitude = np.array(from_quaternion(load_quaternion(middle / np.linalg.norm(middle))))
        columns = []
        for name in WRENCH:
            answer = np.abs(self._after(port, {f"{port}.{name}": 1.0}, count)[0] - still).max()
            size = CHANGE / answer if answer > 0.0 else 1.0
            up, down = (self._after(port, {f"{port}.{name}": sign * size}, count)[0] for sign in (1.0, -1.0))
            rate = (up - down) / (2.0 * size * count * self.step)
            columns.append(np.concatenate([attitude @ rate[:3], attitude @ rate[3:]]))
        return PortMobility(port, np.array(columns).T, attitude)


@contextmanager
def alone(structure: Structure, run: Running, name: str, step: float) -> Iterator[Alone]:
    """Yield an element by itself in its present state in the run, with the inputs that its next step takes there."""
    element = structure.elements[name]
    checkpoint = run.save()
    inputs = [f"{name}.{variable.name}" for variable in structure.description(name).select("input")]
    run.advance(run.time + step)
    given = dict(zip(inputs, run.get(inputs), strict=True))
    run.rewind(checkpoint)
    alone = Structure(f"{structure.name}.{name}")
    alone.add(name, element.file, element.start, process=element.process, timeout=element.timeout)
    alone.keeps = structure.keeps
    own = step / element.substeps
    with CoSimulation(alone, Schedule(step=own, start=run.time), Jacobi()).open() as part:
        part.rewind(replace(part.save(), states={name: checkpoint.states[name]}))
        part.set(given)
        yield Alone(part, own)


def inverses(values: np.ndarray) -> np.ndarray:
    """Return the inverses; infinite for zero."""
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / values)
