"""Assemble the linear Gaussian model of craft under unknown wrenches: its time axis, steps, layouts and readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import block_diag, expm

from dockfmu.reconstruct.craft import ACCELERATION, CraftModel, LinearReading
from dockfmu.reconstruct.kalman import Filtered, GaussMarkov, discrete, matern, variance_slopes
from dockfmu.reconstruct.telemetry import Telemetry

TICK = 1e-5
"""Readings that are closer than this share a time, s: the least step of the model."""
START_RATE, START_SPEED, START_ACCELERATION = 0.05, 0.05, 0.1
"""Standard deviations at the start: rates of a craft, rad/s, speed, m/s, and acceleration, m/s2, of a port by a mode.

The smaller of both counts: fast modes of a large speed would have accelerations that no structure has.
"""


@dataclass(frozen=True)
class UnknownWrench:
    """The unknown wrench on a port of a craft: the numbers of its components, and its map from the inputs.

    `inputs`, shape (6, m), says how the m scalar inputs of the whole model make this wrench.
    """

    craft: str
    port: int
    inputs: np.ndarray


@dataclass(frozen=True)
class SensorLayout:
    """Craft under unknown wrenches as their sensors see them: all that does not depend on what is assumed of inputs.

    Attributes
    ----------
    crafts : dict of str to CraftModel
        The craft, in the order of their states.
    wrenches : tuple of UnknownWrench
        What is unknown.
    inputs : int
        The number of scalar inputs.
    used : dict of str to LinearReading
        Signals by name, as a linear model has them.
    time : ndarray, shape (N,)
        Times of the model, s.
    rows : list of ndarray
        For each time, the numbers of the readings of the telemetry that are taken there.
    sigma : ndarray, shape (n,)
        Standard deviations of the readings: of their noise, and of known loads at times when these may have changed.
    """

    telemetry: Telemetry
    crafts: Mapping[str, CraftModel]
    wrenches: tuple[UnknownWrench, ...]
    inputs: int
    used: Mapping[str, LinearReading]
    time: np.ndarray
    rows: list[np.ndarray]
    signal_of: np.ndarray
    known: Callable[[str, np.ndarray], np.ndarray]
    parts: Mapping[str, slice]
    sigma: np.ndarray
    kept: dict[tuple[int, float, int], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    """Transition and noise of each unit input over steps by their ticks, for a length scale and a smoothness."""

    @property
    def states(self) -> int:
        """The number of states without the inputs."""
        return sum(craft.states for craft in self.crafts.values())


def lay_out(
    telemetry: Telemetry,
    crafts: Mapping[str, CraftModel],
    wrenches: Sequence[UnknownWrench],
    used: Mapping[str, LinearReading],
    known: Callable[[str, np.ndarray], np.ndarray],
    doubt: Callable[[str, np.ndarray], np.ndarray] | None = None,
) -> SensorLayout:
    """Return the layout of the readings of the signals `used`.

    `known` gives the loads of a craft that are known, over time, and `doubt` how far they may be wrong.
    """
    chosen = np.zeros(len(telemetry.time), bool)
    signal_of = np.full(len(telemetry.time), -1)
    for number, signal in enumerate(telemetry.signals):
        signal_of[signal.part] = number
        if signal.name in used:
            chosen[signal.part] = telemetry.mask[signal.part]
    at = np.flatnonzero(chosen)
    at = at[np.argsort(telemetry.time[at], kind="stable")]
    times = telemetry.time[at]
    begins = np.flatnonzero(np.diff(times, prepend=-np.inf) > TICK)
    rows = np.split(at, begins[1:])
    parts, start = {}, 0
    for name, craft in crafts.items():
        parts[name] = slice(start, start + craft.states)
        start += craft.states
    sigma = telemetry.sigma.copy()
    for signal in telemetry.signals:
        if doubt is not None and signal.name in used:
            sigma[signal.part] = np.hypot(
                sigma[signal.part], _of_loads(used[signal.name], crafts, doubt, telemetry.time[signal.part])
            )
    inputs = wrenches[0].inputs.shape[1]
    return SensorLayout(
        telemetry, crafts, tuple(wrenches), inputs, used, times[begins], rows, signal_of, known, parts, sigma
    )  # fmt: skip


def _of_loads(
    reading: LinearReading,
    crafts: Mapping[str, CraftModel],
    loads: Callable[[str, np.ndarray], np.ndarray],
    time: np.ndarray,
) -> np.ndarray:
    """Return what loads of craft over time make of a reading at once."""
    total = np.zeros(len(time))
    for name, factor, what, port, offset, axis in reading.parts:
        total += reading.scale * factor * (loads(name, time) @ crafts[name].row(what, port, offset, axis)[1])
    return total


@dataclass(frozen=True)
class InputPrior:
    """Assume of the inputs: standard deviations, shape (m,), a length scale, s, and a smoothness, 1 or 2.

    `level` multiplies the standard deviation of the noise that drives each of them in each step, shape (N - 1, m).
    """

    sigma: np.ndarray
    length: float
    order: int
    level: np.ndarray


def input_rows(layout: SensorLayout, order: int) -> np.ndarray:
    """Return the matrix that takes the inputs out of the augmented state, shape (m, states)."""
    rows = np.zeros((layout.inputs, layout.states + order * layout.inputs))
    for k in range(layout.inputs):
        rows[k, layout.states + order * k] = 1.0
    return rows


def assemble(layout: SensorLayout, prior: InputPrior, rates: Mapping[str, np.ndarray] | None = None) -> GaussMarkov:
    """Return the augmented model: states of the craft, then each input with its derivatives.

    `rates` are those of the craft over time, shape (N, 3) each, for what is of second order in them.
    """
    A, drives, whole = _continuous(layout, prior)
    loads = known_loads(layout, rates)
    drift = _drift(layout, A, drives, loads, len(whole))
    layouts, numbers, readings = _readings(layout, input_rows(layout, prior.order), loads, rates)
    steps, step = _steps(layout, whole, prior)
    return GaussMarkov(np.zeros(len(whole)), _covariance(layout, prior), steps, step, drift, layouts, numbers, readings)


def with_prior(model: GaussMarkov, layout: SensorLayout, prior: InputPrior) -> GaussMarkov:
    """Return the model that a layout has, with another prior of the same smoothness: its readings stay."""
    steps, step = _steps(layout, _continuous(layout, prior)[2], prior)
    return replace(model, covariance=_covariance(layout, prior), steps=steps, step=step)


def _continuous(layout: SensorLayout, prior: InputPrior) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Return the dynamics of the craft, their maps from loads, and the dynamics of craft and inputs together."""
    n, m, order = layout.states, layout.inputs, prior.order
    A, B = block_diag(*[craft.dynamics()[0] for craft in layout.crafts.values()]), np.zeros((n, m))
    drives = {name: craft.dynamics()[1] for name, craft in layout.crafts.items()}
    for wrench in layout.wrenches:
        craft = layout.crafts[wrench.craft]
        B[layout.parts[wrench.craft]] += drives[wrench.craft] @ craft.load(wrench.port) @ wrench.inputs
    whole = np.zeros((n + order * m, n + order * m))
    whole[:n, :n] = A
    whole[:n] += B @ input_rows(layout, order)
    whole[n:, n:] = np.kron(np.eye(m), matern(order, 1.0, prior.length)[0])
    return A, drives, whole


def _covariance(layout: SensorLayout, prior: InputPrior) -> np.ndarray:
    _, _, stationary = matern(prior.order, 1.0, prior.length)
    return np.asarray(block_diag(_start(layout), *[sigma**2 * stationary for sigma in prior.sigma]))


def noise_slopes(layout: SensorLayout, prior: InputPrior, found: Filtered) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of the log likelihood by the logarithms of what is assumed of the inputs.

    They are those by the standard deviations at the start, shape (m,), and by the levels of each step, (N - 1, m).
    """
    n, m, order = layout.states, layout.inputs, prior.order
    slopes = variance_slopes(found)
    stationary = matern(order, 1.0, prior.length)[2]
    parts = [slice(n + order * k, n + order * (k + 1)) for k in range(m)]
    start = np.array([np.sum(slopes[0][part, part] * stationary) for part in parts])
    ticks = _ticks(layout)
    by_step = np.empty((len(ticks), m))
    for h in np.unique(ticks):
        own = np.flatnonzero(ticks == h)
        noise = layout.kept[int(h), prior.length, order][1]
        by_step[own] = slopes[1:][own].reshape(len(own), -1) @ noise.reshape(m, -1).T
    return 2.0 * prior.sigma**2 * start, 2.0 * (prior.sigma * prior.level) ** 2 * by_step


def _ticks(layout: SensorLayout) -> np.ndarray:
    return np.asarray(np.round(np.diff(layout.time) / TICK).astype(int))


def _steps(
    layout: SensorLayout, whole: np.ndarray, prior: InputPrior
) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
    """Return the different steps, and their number from each time to the next; noise adds up over the inputs."""
    n, order = layout.states, prior.order
    unit = matern(order, 1.0, prior.length)[1]
    ticks = _ticks(layout)
    logs = np.round(1e6 * np.log(prior.level)).astype(int)
    unique, number = np.unique(np.column_stack([ticks, logs]), axis=0, return_inverse=True)
    steps = []
    for h, *own in unique.tolist():
        key = (h, prior.length, order)
        if key not in layout.kept:
            parts = []
            for k in range(layout.inputs):
                noise = np.zeros_like(whole)
                at = slice(n + order * k, n + order * (k + 1))
                noise[at, at] = unit
                F, Q = discrete(whole, noise, h * TICK)
                parts.append(Q)
            layout.kept[key] = F, np.array(parts)
        F, parts_of = layout.kept[key]
        steps.append((F, np.tensordot((prior.sigma * np.exp(1e-6 * np.array(own))) ** 2, parts_of, 1)))
    return steps, number.ravel()


def _start(layout: SensorLayout) -> np.ndarray:
    """Return the covariance of the states of the craft at the start."""
    sigma = []
    for name, craft in layout.crafts.items():
        modes = craft.modes
        port = next((wrench.port for wrench in layout.wrenches if wrench.craft == name), 0)
        size = np.maximum(np.linalg.norm(modes.port[port][:3], axis=0), 1e-2 / np.sqrt(craft.mass))
        speed = np.minimum(START_SPEED, START_ACCELERATION / np.maximum(modes.frequency, 1e-3)) / size
        sigma += [np.full(3, START_RATE), speed / np.maximum(modes.frequency, 1e-3), speed]
    return np.diag(np.concatenate(sigma) ** 2)


def known_loads(layout: SensorLayout, rates: Mapping[str, np.ndarray] | None) -> dict[str, np.ndarray]:
    """Return the known loads of each craft at each time, with the gyroscopic torques, shape (N, 6 + n)."""
    found = {}
    for name, craft in layout.crafts.items():
        loads = layout.known(name, layout.time)
        if rates is not None:
            loads = loads.copy()
            loads[:, 3:6] += craft.gyroscopic(rates[name])
        found[name] = loads
    return found


def _drift(
    layout: SensorLayout, A: np.ndarray, drives: Mapping[str, np.ndarray], loads: Mapping[str, np.ndarray], size: int
) -> np.ndarray:
    """Return what known loads, held over each step, do to the states."""
    n, count = layout.states, len(layout.time)
    drift = np.zeros((max(count - 1, 0), size))
    forced = np.zeros((count, n))
    for name, load in loads.items():
        forced[:, layout.parts[name]] = load @ drives[name].T
    if not forced.any():
        return drift
    block = np.zeros((2 * n, 2 * n))
    block[:n, :n], block[:n, n:] = A, np.eye(n)
    h = np.round(np.diff(layout.time) / TICK).astype(int)
    for ticks in np.unique(h):
        held = expm(block * (ticks * TICK))[:n, n:]
        own = h == ticks
        drift[own, :n] = 0.5 * (forced[:-1] + forced[1:])[own] @ held.T
    return drift


def _readings(
    layout: SensorLayout,
    rows: np.ndarray,
    loads: Mapping[str, np.ndarray],
    rates: Mapping[str, np.ndarray] | None,
) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray, list[np.ndarray]]:
    """Return the layouts of readings, their number at each time, and what is read less what is known."""
    telemetry, signals = layout.telemetry, layout.telemetry.signals
    seen = {
        number: _seen(layout, layout.used[signal.name], rows)
        for number, signal in enumerate(signals)
        if signal.name in layout.used
    }
    offsets = known_part(layout, loads, rates)
    patterns: dict[bytes, int] = {}
    layouts: list[tuple[np.ndarray, np.ndarray]] = []
    numbers, readings = np.empty(len(layout.time), int), []
    for k, taken in enumerate(layout.rows):
        which = layout.signal_of[taken]
        sigma = layout.sigma[taken]
        key = which.tobytes() + sigma.tobytes()
        if key not in patterns:
            patterns[key] = len(layouts)
            layouts.append((np.array([seen[number] for number in which]).reshape(-1, rows.shape[1]), sigma**2))
        numbers[k] = patterns[key]
        readings.append(telemetry.values[taken] - offsets[taken])
    return layouts, numbers, readings


def _seen(layout: SensorLayout, reading: LinearReading, rows: np.ndarray) -> np.ndarray:
    """Return the row of a signal over the augmented state."""
    total = np.zeros(rows.shape[1])
    for name, factor, what, port, offset, axis in reading.parts:
        craft = layout.crafts[name]
        by_state, by_load = craft.row(what, port, offset, axis)
        total[layout.parts[name]] += reading.scale * factor * by_state
        for wrench in layout.wrenches:
            if wrench.craft == name:
                own = by_load @ craft.load(wrench.port) @ wrench.inputs
                total += reading.scale * factor * own @ rows
    return total


def known_part(
    layout: SensorLayout, loads: Mapping[str, np.ndarray], rates: Mapping[str, np.ndarray] | None
) -> np.ndarray:
    """Return what bias, known loads and the rates make of each reading, shape (n,) of the telemetry."""
    offsets = np.zeros(len(layout.telemetry.time))
    place = np.zeros(len(offsets), int)
    for k, taken in enumerate(layout.rows):
        place[taken] = k
    for signal in layout.telemetry.signals:
        reading = layout.used.get(signal.name)
        if reading is None:
            continue
        at = place[signal.part]
        total = np.full(len(at), reading.bias)
        for name, factor, what, port, offset, axis in reading.parts:
            craft = layout.crafts[name]
            _, by_load = craft.row(what, port, offset, axis)
            total += reading.scale * factor * (loads[name][at] @ by_load)
            if what == ACCELERATION and rates is not None:
                total += reading.scale * factor * craft.centripetal(port, offset, axis, rates[name][at])
        offsets[signal.part] = total
    return offsets
