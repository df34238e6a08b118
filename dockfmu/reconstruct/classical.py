"""The designers' method: the speed and the miss of the first contact from strokes and contact sensors (spec/13 4.2).

The stroke of the axial absorber gives the speed at linkage by a calibration, which is made by runs of the system. The
loss of speed on the cone, told by the lateral deflection, is added, and the gain by thrust since the first contact is
taken off. The way from the first contact to the bottom of the socket gives the radius of the first contact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.units import conversion, parse_unit
from dockfmu.declare.conditions.initial_conditions import CONDITIONS
from dockfmu.declare.toml.quantities import in_unit
from dockfmu.declare.toml.tables import DeclarationError, Table, finite_number
from dockfmu.reconstruct.telemetry import EventReading, Telemetry
from dockfmu.system import System

ENTRIES = (
    "stroke",
    "deflection",
    "push",
    "craft",
    "first",
    "second",
    "speeds",
    "misses",
    "stop",
    "window",
    "lateral_speed",
)
METRE = parse_unit("m")
SPEEDS, MISSES = (0.5, 0.8, 1.0, 1.25, 1.6), (0.03, 0.06, 0.09)
"""Speeds of the calibration over the declared one, for a small miss, and misses at the declared speed, m."""
LATERAL_SPEED = 0.005
"""Standard deviation of the speed across the axis, m/s; assumed."""
SENSORS = (("first", "first_contact"), ("second", "socket_bottom"))
"""Entries that name the events of the contact sensors, and what they are called by default."""
AXIS_MISS = 0.01
"""Miss of the runs at other speeds, m: a head that is quite centred meets the bottom first."""


@dataclass(frozen=True)
class ClassicalConditions:
    """Conditions of the first contact with their standard deviations, SI units.

    Attributes
    ----------
    linkage, speed, miss, direction : tuple of (float, float)
        Speed at linkage, at the first contact, radius of the first contact, its direction from y toward z, each with
        its standard deviation.
    budget : list of (str, str, float, str)
        Of what, by what, standard deviation, unit.
    runs : list of dict
        The runs of the calibration.
    """

    linkage: tuple[float, float]
    speed: tuple[float, float]
    miss: tuple[float, float]
    direction: tuple[float, float]
    budget: list[tuple[str, str, float, str]]
    runs: list[dict[str, float]]
    notes: list[str]

    def lines(self) -> list[tuple[str, float, float, str]]:
        """Return name, value, standard deviation and unit of each condition."""
        return [
            ("speed at linkage", *self.linkage, "m/s"),
            ("speed at first contact", *self.speed, "m/s"),
            ("miss at first contact", *self.miss, "m"),
            ("direction of the miss", *np.degrees(self.direction).tolist(), "deg"),
        ]


@dataclass(frozen=True)
class _CalibrationLine:
    """A line fitted to runs: value = offset + slope x, and the scatter of the runs about it."""

    offset: float
    slope: float
    scatter: float

    def __call__(self, x: float) -> float:
        return self.offset + self.slope * x


def reconstruct_classically(
    telemetry: Telemetry, system: System, progress: Callable[[str], None] = lambda _: None
) -> ClassicalConditions:
    """Return the conditions of the first contact of a system by the table `classical` of the file.

    Raises DeclarationError for entries, signals and events that are missing.
    """
    table = telemetry.table.table("classical", ENTRIES)
    first, second = (_event(telemetry, table.text(*entry), table) for entry in SENSORS)
    t1, d1 = _middle(first)
    t2, d2 = _middle(second)
    if not t2 > t1:
        raise DeclarationError(f"{table.where}: {second.name} was told before {first.name}")
    t12, d12 = t2 - t1, float(np.hypot(d1, d2))
    window = table.number("window", 3.0, positive=True)
    stroke, d_stroke = _largest(telemetry, table, "stroke", 1, t2, t2 + window)
    bend, d_bend = _largest(telemetry, table, "deflection", 2, t1, t2 + 0.1)
    runs = _calibrate(telemetry, system, table, progress)
    gain, d_gain, held = _gain(telemetry, system, table, t1, t2, d12)
    runs = sorted(runs, key=lambda run: run["stroke"])
    x, y = (np.array([run[name] for run in runs]) for name in ("stroke", "linkage"))
    if np.any(np.diff(y) <= 0.0):
        raise DeclarationError(f"{table.where}: the stroke does not grow with the speed over the runs: choose `speeds`")
    linkage = float(np.interp(stroke[0], x, y))
    d_curve = _left_out(x, y)
    notes = []
    if not x[0] <= stroke[0] <= x[-1]:
        notes.append(
            f"classical: the stroke of {stroke[0]:.4g} m is beyond those of the calibration, {x[0]:.4g} to "
            f"{x[-1]:.4g} m: the speed at linkage is that of the nearest run"
        )
    slope = float(np.interp(stroke[0], 0.5 * (x[1:] + x[:-1]), np.diff(y) / np.diff(x)))
    loss_line = _fit([run["deflection"] for run in runs], [run["loss"] for run in runs])
    bent = float(np.hypot(*bend))
    loss = loss_line(bent)
    speed = linkage + loss - gain
    parts = {
        "stroke": slope * d_stroke,
        "calibration of the stroke": d_curve,
        "calibration of the loss on the cone": loss_line.scatter,
        "deflection": loss_line.slope * d_bend,
        "thrust over the time between the sensors": d_gain,
    }
    d_speed = float(np.sqrt(sum(value**2 for value in parts.values())))
    lateral = table.number("lateral_speed", LATERAL_SPEED)
    way_line = _fit([run["way"] for run in runs], [run["miss"] for run in runs])
    way = (speed + held) * t12
    miss = way_line(way)
    of_miss = {
        "speed": way_line.slope * t12 * d_speed,
        "times of the sensors": way_line.slope * (speed + held) * d12,
        "calibration of the way": way_line.scatter,
        "lateral speed, which the calibration does not have": lateral * t12,
    }
    d_miss = float(np.sqrt(sum(value**2 for value in of_miss.values())))
    turns = np.array([run["turn"] for run in runs])
    mean_turn = float(np.angle(np.exp(1j * turns).mean()))
    spread = float(np.sqrt(-2.0 * np.log(max(abs(np.exp(1j * turns).mean()), 1e-6))))
    direction = float(np.angle(np.exp(1j * (np.arctan2(bend[1], bend[0]) + mean_turn))))
    budget = [("speed at first contact", by, abs(value), "m/s") for by, value in parts.items()]
    budget += [("miss", by, abs(value), "m") for by, value in of_miss.items()]
    return ClassicalConditions(
        (linkage, float(np.hypot(slope * d_stroke, d_curve))), (speed, d_speed), (miss, d_miss),
        (direction, float(np.hypot(spread, d_bend / max(bent, 1e-9)))), budget, runs, notes,
    )  # fmt: skip


def _event(telemetry: Telemetry, name: str, table: Table) -> EventReading:
    for event in telemetry.events:
        if event.name == name:
            return event
    told = ", ".join(dict.fromkeys(event.name for event in telemetry.events)) or "none"
    raise DeclarationError(f"{table.where}: the telemetry tells no event {shown(name)}; it tells {told}")


def _middle(event: EventReading) -> tuple[float, float]:
    """Return the middle of an interval and the standard deviation of a time that is anywhere in it."""
    return 0.5 * (event.after + event.by), (event.by - event.after) / np.sqrt(12.0)


def _largest(
    telemetry: Telemetry, table: Table, entry: str, size: int, begin: float, end: float
) -> tuple[np.ndarray, float]:
    """Return the readings, m, at the time of their largest resultant in a window, and their standard deviation."""
    given = table.content.get(entry)
    names = [given] if isinstance(given, str) else table.texts(entry, size=size)
    columns, sigma, common = [], 0.0, None
    for name in names:
        signal = telemetry.signal(name)
        scale, _ = conversion(signal.sensor.unit, METRE)
        mask = telemetry.mask[signal.part]
        time = telemetry.time[signal.part][mask]
        values = scale * (telemetry.values[signal.part][mask] - signal.sensor.bias) / signal.sensor.scale
        sigma = max(sigma, abs(scale * float(telemetry.sigma[signal.part][0]) / signal.sensor.scale))
        common = time[(time >= begin) & (time <= end)] if common is None else common
        if not len(common):
            raise DeclarationError(f"{table.where}: {entry}: {name} has no readings from {begin:.3g} to {end:.3g} s")
        columns.append(np.interp(common, time, values))
    rows = np.column_stack(columns)
    return rows[int(np.argmax(np.linalg.norm(rows, axis=1)))], sigma


def _thrust_and_mass(system: System, table: Table) -> tuple[float, float]:
    """Return the thrust of the craft that pushes, N, and its mass, kg. Raises StructureError for an unknown craft."""
    craft = system.structure.element(table.text("craft", "chaser")).name
    names = ("parameters.push_thrust", "parameters.mass")
    push, mass = (float(system.structure.start_value(craft, name)) for name in names)
    return push, mass


def _gain(
    telemetry: Telemetry, system: System, table: Table, t1: float, t2: float, d12: float
) -> tuple[float, float, float]:
    """Return the speed that thrust gave from t1 to t2, its deviation, and the mean of the gain over that time, m/s."""
    push, mass = _thrust_and_mass(system, table)
    given = table.content.get("push")
    if given is None:
        return 0.0, 0.0, 0.0
    told = isinstance(given, str) and given in telemetry.names
    thrust = None if told else finite_number(in_unit(given, parse_unit("N"), f"{table.where}: push"))
    if thrust is not None:
        rate = thrust / mass
        return rate * (t2 - t1), rate * d12, 0.5 * rate * (t2 - t1)
    signal = telemetry.signal(str(given))
    mask = telemetry.mask[signal.part]
    time, on = telemetry.time[signal.part][mask], telemetry.values[signal.part][mask]
    at = np.linspace(t1, t2, 501)
    held = on[np.clip(np.searchsorted(time, at, side="right") - 1, 0, None)] * push / mass
    steps = np.concatenate([[0.0], np.cumsum(0.5 * (held[1:] + held[:-1]) * np.diff(at))])
    return float(steps[-1]), float(held.max() * d12), float(steps.mean())


def _left_out(x: np.ndarray, y: np.ndarray) -> float:
    """Return how far the runs are from the curve of the others, root mean square."""
    errors = [y[k] - np.interp(x[k], np.delete(x, k), np.delete(y, k)) for k in range(1, len(x) - 1)]
    return float(np.sqrt(np.mean(np.square(errors))))


def _fit(x: list[float], y: list[float]) -> _CalibrationLine:
    slope, offset = np.polyfit(x, y, 1)
    left = np.array(y) - offset - slope * np.array(x)
    return _CalibrationLine(float(offset), float(slope), float(np.sqrt(left @ left / max(len(x) - 2, 1))))


def _calibrate(
    telemetry: Telemetry, system: System, table: Table, progress: Callable[[str], None]
) -> list[dict[str, float]]:
    """Return what runs of the system give: their conditions, and what the sensors would tell of them."""
    conditions = system.conditions
    if conditions is None:
        raise DeclarationError(f"{table.where}: {telemetry.system} has no initial conditions to calibrate with")
    velocity = [float(value) for value in conditions.velocity]
    speeds = [float(value) for value in table.items("speeds") or (share * velocity[0] for share in SPEEDS)]
    misses = [float(value) for value in table.items("misses") or MISSES]
    direction = np.array([np.cos(-0.25 * np.pi), np.sin(-0.25 * np.pi)])
    trials = [(speed, AXIS_MISS) for speed in speeds] + [(velocity[0], miss) for miss in misses]
    runs = []
    for speed, miss in trials:
        progress(f"calibration: {speed:.3g} m/s, miss {miss:.3g} m")
        chosen = {
            f"{CONDITIONS}.miss": (miss * direction).tolist(),
            f"{CONDITIONS}.velocity": [speed, 0.0, 0.0],
            f"{CONDITIONS}.angular_velocity": [0.0, 0.0, 0.0],
            f"{CONDITIONS}.yaw": 0.0, f"{CONDITIONS}.pitch": 0.0, f"{CONDITIONS}.roll": 0.0,
        }  # fmt: skip
        found = _trial(system.with_values(chosen), telemetry, table)
        if found is not None:
            runs.append({"speed": speed, "miss": miss, **found, "turn": _turn(found, direction)})
    if len(runs) < 4:
        raise DeclarationError(f"{table.where}: too few runs of the calibration reach the socket: choose `speeds`")
    return [{**run, "loss": run["speed"] + run["gain"] - run["linkage"]} for run in runs]


def _turn(found: dict[str, float], direction: np.ndarray) -> float:
    """Return the angle from the deflection to the direction of the miss."""
    return float(np.arctan2(direction[1], direction[0]) - np.arctan2(found["bend_z"], found["bend_y"]))


def _trial(system: System, telemetry: Telemetry, table: Table) -> dict[str, float] | None:
    """Run a docking and return strokes, speeds and the way; None if it does not reach the socket."""
    names = [table.text("first", "first_contact"), table.text("second", "socket_bottom")]
    stroke, bends = _variables(telemetry, table, "stroke"), _variables(telemetry, table, "deflection")
    mechanism = stroke[0].partition(".")[0]
    closing = f"{mechanism}.docking.velocity[1]"
    outcome = system.run(stop=table.number("stop", 8.0, positive=True), every=5, record=[*stroke, *bends, closing])
    if any(name not in outcome.events for name in names):
        return None
    t1, t2 = (outcome.events[name] for name in names)
    after = (outcome.time >= t2) & (outcome.time <= t2 + table.number("window", 3.0, positive=True))
    between = (outcome.time >= t1) & (outcome.time <= t2 + 0.1)
    bent = np.column_stack([outcome[name][between] for name in bends])
    largest = bent[int(np.argmax(np.linalg.norm(bent, axis=1)))]
    speed = outcome[closing]
    own = (outcome.time >= t1) & (outcome.time <= t2)
    way = float(np.trapezoid(speed[own], outcome.time[own]))
    push, mass = _thrust_and_mass(system, table) if "push" in table.content else (0.0, 1.0)
    return {
        "stroke": float(np.abs(outcome[stroke[0]][after]).max()),
        "linkage": float(np.interp(t2, outcome.time, speed)),
        "deflection": float(np.linalg.norm(largest)),
        "bend_y": float(largest[0]),
        "bend_z": float(largest[1]),
        "way": way,
        "gain": push / mass * (t2 - t1 if own.any() else 0.0),
    }


def _variables(telemetry: Telemetry, table: Table, entry: str) -> list[str]:
    """Return the variables of the system that the signals of an entry read."""
    given = table.content.get(entry)
    names = [given] if isinstance(given, str) else list(table.texts(entry))
    found = []
    for name in names:
        source = telemetry.signal(name).sensor.source
        if not isinstance(source, dict) or len(source) != 1:
            raise DeclarationError(f"{table.where}: {entry}: {name} must read one variable of the system")
        found.append(next(iter(source)))
    return found
