"""The direct method: the wrench at the interface as the unknown input of linear models of the craft."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dockfmu.components.physics.mechanics.rotation import from_quaternion
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.system import Structure
from dockfmu.reconstruct.assembly import (
    InputPrior,
    SensorLayout,
    UnknownWrench,
    assemble,
    input_rows,
    known_loads,
    known_part,
    lay_out,
)
from dockfmu.reconstruct.checks import suspects
from dockfmu.reconstruct.craft import WRENCH, CraftModel, LinearReading, craft_of, linear_reading, skew
from dockfmu.reconstruct.kalman import Filtered, filtered, samples, smoothed
from dockfmu.reconstruct.known_loads import known_inputs, known_load
from dockfmu.reconstruct.observability import check_told
from dockfmu.reconstruct.regularity import fit_prior
from dockfmu.reconstruct.settings import DirectSettings, chosen_ports, direct_settings
from dockfmu.reconstruct.telemetry import Telemetry
from dockfmu.reconstruct.unbiased import UnobservableError, estimate_unbiased

Z90 = 1.6448536269514722
"""Half the width of the 90 % band of a normal distribution, in standard deviations."""
SIGNIFICANT = 5.0
"""A load is told apart from none where it exceeds so many of its standard deviations somewhere in the window."""


@dataclass(frozen=True)
class DirectLoads:
    """The wrenches on ports of craft over time, as their posterior by the direct method.

    Attributes
    ----------
    time : ndarray, shape (N,)
        Times, s.
    ports : dict of str to bool
        The ports, and whether each is that of a target, into which its x axis points.
    mean, covariance : ndarray, shape (N, k), (N, k, k)
        Of all components, six for each port: `names`.
    drawn : ndarray, shape (samples, N, k)
        Samples of the posterior; none for the unbiased method.
    fitted : ndarray, shape (n,)
        What the smoothed model makes of each reading of the telemetry, NaN for those that were not used.
    residuals : dict of str to (ndarray, ndarray)
        Times and innovations of each signal over their standard deviations: white with variance 1 for a true model.
    prior : InputPrior or None
        What was assumed of the inputs.
    mass_error : float
        Relative standard deviation of the masses, by which all loads are wrong alike.
    log_likelihood : float
        Of the readings.
    notes : tuple of str
        What to know of the result.
    """

    telemetry: Telemetry
    time: np.ndarray
    ports: Mapping[str, bool]
    mean: np.ndarray
    covariance: np.ndarray
    drawn: np.ndarray
    fitted: np.ndarray
    residuals: Mapping[str, tuple[np.ndarray, np.ndarray]]
    prior: InputPrior | None
    mass_error: float
    log_likelihood: float
    notes: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The names of the components, port and component."""
        return [f"{port}.{component}" for port in self.ports for component in WRENCH]

    @property
    def sigma(self) -> np.ndarray:
        """The standard deviations of the components over time, shape (N, k)."""
        return np.asarray(np.sqrt(np.maximum(np.diagonal(self.covariance, axis1=1, axis2=2), 0.0)))

    @property
    def band(self) -> tuple[np.ndarray, np.ndarray]:
        """The lower and the upper ends of the 90 % bands over time, shape (N, k) each."""
        half = Z90 * self.sigma
        return self.mean - half, self.mean + half


def reconstruct_directly(
    telemetry: Telemetry,
    structure: Structure,
    settings: DirectSettings | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> DirectLoads:
    """Return the wrenches at the interface from accelerations and rates of the craft.

    Parameters
    ----------
    telemetry : Telemetry
        What was read.
    structure : Structure
        The system whose craft were read.
    settings : DirectSettings, optional
        What is asked; by default what the table `direct` of the file says.
    progress : callable
        Receives a sentence on each stage.

    Raises
    ------
    UnobservableError
        for sensors that cannot tell the wrench: the message says what they can
    DeclarationError
        for a file that is wrong
    """
    settings = settings or direct_settings(telemetry.table)
    crafts, used, notes = _crafts(telemetry, structure, settings)
    ports = chosen_ports(settings, structure, tuple(crafts))
    if not ports:
        raise UnobservableError(
            f"{telemetry.table.where}: no signal is an acceleration or a rate of a craft, which the direct method needs"
        )
    crafts = {name: craft for name, craft in crafts.items() if any(p.rpartition(".")[0] == name for p in ports)}
    used = {name: reading for name, reading in used.items() if {part[0] for part in reading.parts} <= set(crafts)}
    wrenches = _wrenches(ports, settings, structure)
    inputs = known_inputs(telemetry, structure, crafts, settings)
    notes += _thrust_notes(structure, crafts, {known.craft for known in inputs})
    layout = lay_out(
        telemetry, crafts, wrenches, used,
        lambda name, time: known_load(crafts[name], inputs, time),
        lambda name, time: known_load(crafts[name], inputs, time, doubt=True),
    )  # fmt: skip
    if len(layout.time) < 3:
        raise UnobservableError(f"{telemetry.table.where}: {len(layout.time)} times with readings are too few")
    check_told(layout, list(ports), settings)
    if settings.method == "unbiased":
        return _unbiased(layout, ports, settings, tuple(notes))
    progress(f"{len(layout.time)} times of {len(used)} signals")
    prior = fit_prior(layout, settings, progress)
    found = filtered(assemble(layout, prior))
    rates = _rates(layout, found)
    found = filtered(assemble(layout, prior, rates))
    rows = _wrench_rows(layout, prior.order)
    mean, covariance = smoothed(found, rows)
    progress("samples of the posterior")
    drawn = samples(found, rows, settings.samples, np.random.default_rng(settings.seed))
    result = DirectLoads(
        telemetry,
        layout.time,
        ports,
        mean,
        covariance,
        drawn,
        _fitted(layout, found, rates),
        _residuals(layout, found),
        prior,
        settings.mass_error,
        found.log_likelihood,
        (),
    )
    return replace(result, notes=(*notes, *_quiet(result), *suspects(layout, prior, found)))


def _crafts(
    telemetry: Telemetry, structure: Structure, settings: DirectSettings
) -> tuple[dict[str, CraftModel], dict[str, LinearReading], list[str]]:
    """Return the craft that signals read, with these signals, and notes on the others."""
    crafts = {}
    for name in structure.elements:
        if "parameters.port[1].position[1]" in structure.description(name).variables:
            crafts[name] = craft_of(structure, name)
    if settings.modes is not None:
        crafts = {name: craft.with_modes(settings.modes) for name, craft in crafts.items()}
    used: dict[str, LinearReading] = {}
    notes: list[str] = []
    for signal in telemetry.signals:
        reading = linear_reading(signal.sensor, crafts, f"{telemetry.table.where}, signal {signal.name}")
        if reading is not None and telemetry.mask[signal.part].any():
            used[signal.name] = reading
    told = {part[0] for reading in used.values() for part in reading.parts}
    return {name: craft for name, craft in crafts.items() if name in told}, used, notes


def _thrust_notes(structure: Structure, crafts: Mapping[str, CraftModel], known: set[str]) -> list[str]:
    driven = {c.target for c in structure.connections if c.input == "command.push"}
    return [
        f"{name} may push, and neither a column nor direct.known tells when: its thrust is part of the wrench"
        for name in crafts
        if name in driven and name not in known and crafts[name].push > 0.0
    ]


def _wrenches(ports: Mapping[str, bool], settings: DirectSettings, structure: Structure) -> list[UnknownWrench]:
    """Return the unknown wrenches with their maps from the inputs."""
    chosen = [WRENCH.index(name) for name in settings.components]
    pick = np.zeros((6, len(chosen)))
    pick[chosen, np.arange(len(chosen))] = 1.0
    m = len(chosen)
    places = [(port.rpartition(".")[0], int(port.rpartition("[")[2][:-1]) - 1) for port in ports]
    if not settings.together:
        found = []
        for number, (craft, port) in enumerate(places):
            inputs = np.zeros((6, m * len(places)))
            inputs[:, m * number : m * (number + 1)] = pick
            found.append(UnknownWrench(craft, port, inputs))
        return found
    targets = list(ports.values())
    if len(places) != 2 or sorted(targets) != [False, True]:
        raise DeclarationError("direct: together needs sensors on both craft that dock, an active and a passive one")
    passive = targets.index(True)
    across = opposite_wrench(structure, list(ports)[passive], list(ports)[1 - passive])
    own = np.hstack([pick, np.zeros((6, m))])
    other = np.hstack([across @ pick, pick])
    return [UnknownWrench(*places[k], own if k == passive else other) for k in range(2)]


def opposite_wrench(structure: Structure, passive: str, active: str) -> np.ndarray:
    """Return the map from the wrench on a passive port to that on the active one, as they stand at the start, (6, 6).

    The mechanism between them is taken as massless and its length as that at the start.
    """
    (r2, A2), (r1, A1) = (_pose(structure, port) for port in (passive, active))
    r, turn = A2 @ (r1 - r2), A1 @ A2.T
    return np.asarray(-np.block([[turn, np.zeros((3, 3))], [-turn @ skew(r), turn]]))


def _pose(structure: Structure, port: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the position of a port in I at the start, m, and its axes, I to port."""
    name, number = port.rpartition(".")[0], int(port.rpartition("[")[2][:-1]) - 1
    craft = craft_of(structure, name)

    def values(what: str, size: int) -> np.ndarray:
        full = [f"parameters.initial.{what}[{k}]" for k in range(1, size + 1)]
        return np.array([float(structure.start_value(name, one) or 0.0) for one in full])

    w, x, y, z = values("quaternion", 4).tolist()
    body = np.array(from_quaternion((w, x, y, z))).reshape(3, 3)
    return values("position", 3) + body.T @ craft.arm[number], craft.axes[number] @ body


def _wrench_rows(layout: SensorLayout, order: int) -> np.ndarray:
    """Return the matrix that takes all wrenches out of the augmented state, six rows for each port."""
    return np.asarray(np.vstack([wrench.inputs for wrench in layout.wrenches]) @ input_rows(layout, order))


def _rates(layout: SensorLayout, found: Filtered) -> dict[str, np.ndarray]:
    """Return the smoothed rates of each craft over time, shape (N, 3)."""
    size = len(found.model.mean)
    rows = np.zeros((3 * len(layout.crafts), size))
    for k, part in enumerate(layout.parts.values()):
        rows[3 * k : 3 * k + 3, part.start : part.start + 3] = np.eye(3)
    mean, _ = smoothed(found, rows)
    return {name: mean[:, 3 * k : 3 * k + 3] for k, name in enumerate(layout.parts)}


def _fitted(layout: SensorLayout, found: Filtered, rates: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return what the smoothed states make of each reading."""
    offsets = known_part(layout, known_loads(layout, rates), rates)
    mean, _ = smoothed(found)
    fitted = np.full(len(layout.telemetry.time), np.nan)
    for k, taken in enumerate(layout.rows):
        H, _ = found.model.layouts[found.model.layout[k]]
        fitted[taken] = H @ mean[k] + offsets[taken]
    return fitted


def _residuals(layout: SensorLayout, found: Filtered) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the innovations of each signal over their standard deviations, with their times."""
    count = len(layout.telemetry.time)
    white = np.full(count, np.nan)
    for k, taken in enumerate(layout.rows):
        if len(taken):
            spread = np.diagonal(np.linalg.inv(found.precisions[k]))
            white[taken] = found.innovations[k] / np.sqrt(spread)
    told = {}
    for signal in layout.telemetry.signals:
        if signal.name in layout.used:
            own = white[signal.part]
            here = np.isfinite(own)
            told[signal.name] = (layout.telemetry.time[signal.part][here], own[here])
    return told


def _quiet(result: DirectLoads) -> list[str]:
    """Return a note on each port on which no load is told apart from none: a window without contact."""
    strength = np.abs(result.mean) / np.maximum(result.sigma, 1e-300)
    notes = []
    for number, port in enumerate(result.ports):
        own = strength[:, 6 * number : 6 * number + 6]
        if own.max() < SIGNIFICANT:
            notes.append(
                f"no load on {port} is told apart from none: the window has no contact, or its loads are below the "
                f"noise ({result.sigma[:, 6 * number].mean():.3g} N along the axis)"
            )
    return notes


def _unbiased(
    layout: SensorLayout, ports: Mapping[str, bool], settings: DirectSettings, notes: tuple[str, ...]
) -> DirectLoads:
    """Return the wrenches by the minimum-variance unbiased filter, from the frames that read all at once."""
    prior = InputPrior(np.ones(layout.inputs), 1.0, 1, np.ones((max(len(layout.time) - 1, 0), layout.inputs)))
    model = assemble(layout, prior)
    n, m = layout.states, layout.inputs
    most = int(np.argmax(np.bincount(model.layout)))
    at = np.flatnonzero(model.layout == most)
    H, R = model.layouts[most]
    h = np.diff(layout.time[at])
    if not len(h) or np.ptp(h) > 0.02 * np.median(h):
        raise UnobservableError("the unbiased method needs readings at a constant rate: take out the gaps by a window")
    plain = replace(layout, time=np.arange(2.0) * float(np.median(h)), rows=layout.rows[:2], kept={})
    F, _ = assemble(plain, InputPrior(np.ones(m), 1e9, 1, np.ones((1, m)))).steps[0]
    A, G, C, D = F[:n, :n], F[:n, n:], H[:, :n], H[:, n:]
    noise = 1e-12 * model.covariance[:n, :n]
    readings = np.array([model.readings[int(k)] for k in at])
    found = estimate_unbiased(A, G, C, D, noise, np.diag(R), readings, model.mean[:n], model.covariance[:n, :n])
    rows = np.vstack([wrench.inputs for wrench in layout.wrenches])
    count = len(found.inputs)
    fitted = np.full(len(layout.telemetry.time), np.nan)
    time = layout.time[at][:count]
    more = () if len(at) == len(layout.time) else ("the unbiased method left out readings of other frames",)
    return DirectLoads(
        telemetry=layout.telemetry,
        time=time,
        ports=ports,
        mean=found.inputs @ rows.T,
        covariance=rows @ found.input_covariance @ rows.T,
        drawn=np.empty((0, count, len(rows))),
        fitted=fitted,
        residuals={},
        prior=None,
        mass_error=settings.mass_error,
        log_likelihood=float("nan"),
        notes=(*notes, *more),
    )
