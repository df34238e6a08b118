"""Linear models of craft: what the wrench on a port does to the rates, modes and accelerations of a `Spacecraft`.

A craft is read from the element of a system: mass, inertia, ports and nozzles from its parameters, its modes from the
table in its FMU. Rates and accelerations are in axes C of the craft. The rigid motion and the modes do not act on each
other, as in a craft of one-way coupling (docs/theory/spacecraft.md); the deformation turns no sensor. What is of second
order in the rates, the gyroscopic torque and centripetal accelerations, is taken along a known motion.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean, subscripts
from dockfmu.base.units import Unit, UnitError, conversion, parse_unit
from dockfmu.components.physics.mechanics.rotation import from_angles
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.system import Structure
from dockfmu.telemetry.sensors import MEASURES, PortPoint, Sensor

WRENCH = ("force[1]", "force[2]", "force[3]", "torque[1]", "torque[2]", "torque[3]")
"""Components of a wrench, in the axes of its port."""
ACCELERATION, RATE, TURNING = "acceleration", "angular_velocity", "angular_acceleration"
UNITS = {ACCELERATION: MEASURES["acceleration"], RATE: MEASURES["rate"], TURNING: parse_unit("rad/s2")}


@dataclass(frozen=True)
class CraftMode:
    """The modes of a craft, axes C: frequency and damping of each, rad/s, and its shape at ports and nozzle 1.

    `port` has the shape (ports, 6, n), displacement and rotation; `control` (6, n), those of the first nozzle, where
    thrust without a place of its own acts.
    """

    frequency: np.ndarray
    damping: np.ndarray
    port: np.ndarray
    control: np.ndarray


@dataclass(frozen=True)
class CraftModel:
    """A craft: mass, kg, inertia about its centre of mass, kg m2, and its ports: arm, m, and axes, C to port.

    `nozzle` is the arm of nozzle 1, m; `push`, N, the thrust of `command.push`.
    """

    name: str
    mass: float
    inertia: np.ndarray
    arm: np.ndarray
    axes: np.ndarray
    nozzle: np.ndarray
    push: float
    modes: CraftMode

    @property
    def states(self) -> int:
        """The number of states: three rates, and two of each mode."""
        return 3 + 2 * len(self.modes.frequency)

    def with_modes(self, count: int) -> CraftModel:
        """Return the craft with the lowest `count` modes."""
        modes = self.modes
        kept = CraftMode(
            modes.frequency[:count], modes.damping[:count], modes.port[:, :, :count], modes.control[:, :count]
        )
        return CraftModel(self.name, self.mass, self.inertia, self.arm, self.axes, self.nozzle, self.push, kept)

    def load(self, port: int) -> np.ndarray:
        """Return force, torque about the centre of mass, and modal forces of a wrench on a port, (6 + n, 6).

        The wrench is in the axes of the port, about its origin.
        """
        turn = np.kron(np.eye(2), self.axes[port].T)
        about = np.block([[np.eye(3), np.zeros((3, 3))], [skew(self.arm[port]), np.eye(3)]])
        return np.vstack([about @ turn, self.modes.port[port].T @ turn])

    def thrust(self) -> np.ndarray:
        """Return the same of a force and a torque about the centre of mass in axes C, as of control and push."""
        about_nozzle = np.block([[np.eye(3), np.zeros((3, 3))], [-skew(self.nozzle), np.eye(3)]])
        return np.vstack([np.eye(6), self.modes.control.T @ about_nozzle])

    def dynamics(self) -> tuple[np.ndarray, np.ndarray]:
        """Return A and B of dx/dt = A x + B load, x = (rate, coordinates, their rates), load as by `load`."""
        n = len(self.modes.frequency)
        A, B = np.zeros((3 + 2 * n, 3 + 2 * n)), np.zeros((3 + 2 * n, 6 + n))
        B[:3, 3:6] = np.linalg.inv(self.inertia)
        A[3 : 3 + n, 3 + n :] = np.eye(n)
        A[3 + n :, 3 : 3 + n] = -np.diag(self.modes.frequency**2)
        A[3 + n :, 3 + n :] = -np.diag(self.modes.damping)
        B[3 + n :, 6:] = np.eye(n)
        return A, B

    def gyroscopic(self, rate: np.ndarray) -> np.ndarray:
        """Return the torques that the rates, shape (k, 3), bring about: -rate x inertia rate, shape (k, 3)."""
        return -np.cross(rate, rate @ self.inertia)

    def row(self, what: str, port: int, offset: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the parts of a reading by state and by load: that of a sensor fixed to a port, all in its axes.

        `what` is `acceleration`, `angular_velocity` or `angular_acceleration`; port -1 is the centre of mass, axes C.
        """
        A, B = self.dynamics()
        n = len(self.modes.frequency)
        turn = np.eye(3) if port < 0 else self.axes[port].T
        arm = np.zeros(3) if port < 0 else self.arm[port] + turn @ offset
        along = turn @ axis
        shape = np.zeros((6, n)) if port < 0 else self.modes.port[port]
        if what == RATE:
            row = np.zeros(self.states)
            row[:3] = along
            row[3 + n :] = along @ shape[3:]
            return row, np.zeros(6 + n)
        angular = np.zeros((3, self.states))
        angular[:, :3] = np.eye(3)
        angular[:, 3 + n :] = shape[3:]
        if what == TURNING:
            return along @ angular @ A, along @ angular @ B
        # d/dt of the velocity of the point: that of the centre of mass, of the modes, and what turns with the port
        moved = np.zeros((3, self.states))
        moved[:, :3] = -skew(arm)
        moved[:, 3 + n :] = shape[:3] - skew(turn @ offset if port >= 0 else np.zeros(3)) @ shape[3:]
        direct = along @ moved @ B
        direct[:3] += along / self.mass
        return along @ moved @ A, direct

    def centripetal(self, port: int, offset: np.ndarray, axis: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Return rate x (rate x arm) along the axis of an accelerometer for rates of shape (k, 3)."""
        turn = np.eye(3) if port < 0 else self.axes[port].T
        arm = np.zeros(3) if port < 0 else self.arm[port] + turn @ offset
        return np.asarray(np.cross(rate, np.cross(rate, arm)) @ (turn @ axis))


def skew(v: np.ndarray) -> np.ndarray:
    """Return the matrix of v x."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def craft_of(structure: Structure, name: str) -> CraftModel:
    """Return the model of an element with the parameters of a `Spacecraft`.

    Raises DeclarationError for an element without them, and StructureError for one that does not exist.
    """
    structure.element(name)
    known = structure.description(name).variables

    def value(variable: str, default: float | None = None) -> float:
        full = f"parameters.{variable}"
        if full not in known:
            if default is None:
                raise DeclarationError(f"{name} has no {full}: it is no craft of the component spacecraft")
            return default
        return float(structure.start_value(name, full) or 0.0)

    def vector(variable: str) -> np.ndarray:
        return np.array([value(f"{variable}[{k}]") for k in (1, 2, 3)])

    if value("fixed", 0.0):
        raise DeclarationError(f"{name} stands still: it has no motion that would tell a load")
    ports = sum(f"parameters.port[{p}].position[1]" in known for p in range(1, 100))
    frame = np.array(from_angles(*vector("axes"))).reshape(3, 3)
    centre = vector("center_of_mass")
    inertia = np.array([[value(f"inertia[{i},{j}]") for j in (1, 2, 3)] for i in (1, 2, 3)])
    mass = value("mass")
    if value("inertia_about_origin", 0.0):
        inertia = inertia - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    arm = np.array([frame @ (vector(f"port[{p}].position") - centre) for p in range(1, ports + 1)])
    axes = [np.array(from_angles(*vector(f"port[{p}].angles"))).reshape(3, 3) @ frame.T for p in range(1, ports + 1)]
    return CraftModel(
        name, mass, frame @ inertia @ frame.T, arm, np.array(axes), frame @ (vector("thruster[1].position") - centre),
        value("push_thrust", 0.0), _modes(structure, name, known, int(value("modes_used", 0.0)), frame, ports),
    )  # fmt: skip


def _modes(
    structure: Structure, name: str, known: Mapping[str, Any], used: int, frame: np.ndarray, ports: int
) -> CraftMode:
    """Return the modes that the FMU of a craft has in its table `modes.f64`, turned to axes C."""
    if "parameters.modes_used" not in known:
        return CraftMode(np.empty(0), np.empty(0), np.empty((ports, 6, 0)), np.empty((6, 0)))
    with zipfile.ZipFile(structure.elements[name].file) as archive:
        names = archive.namelist()
        if "resources/coupling.f64" in names:
            raise DeclarationError(
                f"{name}: its modes are coupled two-way, which the linear model does not have; leave them out "
                "(modes = 0)"
            )
        stored = np.frombuffer(archive.read("resources/modes.f64"), "<f8")
    count = int(known["parameters.modes_used"].maximum or 0)
    thrusters = sum(f"parameters.thruster[{k}].position[1]" in known for k in range(1, 1000))
    sizes = np.cumsum([count, count, count, count, 6 * ports * count, 3 * thrusters * count])
    frequency, decrement, _, _, port, _, control = np.split(stored, sizes)
    turn = np.kron(np.eye(2), frame)
    shapes = turn @ np.swapaxes(port.reshape(ports, count, 6), 1, 2)
    damping = 2.0 * frequency * decrement / np.sqrt(4.0 * pi**2 + decrement**2)
    at = turn @ control.reshape(count, 6).T
    return CraftMode(frequency[:used], damping[:used], shapes[:, :, :used], at[:, :used])


@dataclass(frozen=True)
class LinearReading:
    """A sensor as a craft's state and load see it: (craft, factor, what, port, offset, axis) of each part, and a scale.

    The reading is scale times the sum of factor times what, plus bias, in the unit of its signal.
    """

    parts: tuple[tuple[str, float, str, int, np.ndarray, np.ndarray], ...]
    scale: float
    bias: float


def linear_reading(sensor: Sensor, crafts: Mapping[str, CraftModel], where: str) -> LinearReading | None:
    """Return what a sensor measures of the motion of craft; None for one that measures something else.

    Raises DeclarationError for a unit that does not fit, and for a port that the craft does not have.
    """
    if isinstance(sensor.source, PortPoint):
        point = sensor.source
        what = ACCELERATION if point.measures == "acceleration" else RATE
        craft, port = _port_of(point.port, crafts, where)
        if craft is None:
            return None
        return LinearReading(
            ((craft, 1.0, what, port, point.offset, point.axis),),
            sensor.scale * _factor(UNITS[what], sensor.unit, where),
            sensor.bias,
        )
    found, kinds = [], set()
    for name, factor in sensor.source.items():
        stem, places = subscripts(name)
        owner, _, what = stem.rpartition(".")
        if what not in UNITS or len(places) != 1 or (owner.endswith(".body") and what != RATE):
            return None
        craft, port = _port_of(owner, crafts, where)
        if craft is None:
            return None
        kinds.add(what)
        found.append((craft, factor, what, port, np.zeros(3), np.eye(3)[places[0] - 1]))
    if len(kinds) != 1:
        raise DeclarationError(f"{where}: its variables are of different kinds")
    return LinearReading(tuple(found), sensor.scale * _factor(UNITS[kinds.pop()], sensor.unit, where), sensor.bias)


def _port_of(owner: str, crafts: Mapping[str, CraftModel], where: str) -> tuple[str | None, int]:
    """Return craft and number from 0 of a port, -1 for the body; no craft for another owner."""
    craft = next((name for name in crafts if owner.startswith(f"{name}.")), None)
    if craft is None:
        return None, -1
    rest = owner[len(craft) + 1 :]
    if rest == "body":
        return craft, -1
    names = [f"port[{p}]" for p in range(1, len(crafts[craft].arm) + 1)]
    if rest not in names:
        raise DeclarationError(f"{where}: {craft} has no {shown(rest)}{did_you_mean(rest, names)}")
    return craft, names.index(rest)


def _factor(own: Unit, unit: Unit, where: str) -> float:
    try:
        return conversion(own, unit)[0]
    except UnitError as error:
        raise DeclarationError(f"{where}: {error}") from error
