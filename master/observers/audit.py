"""Conservation of momentum and energy over a whole system, from outputs of its instances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockfmu.base.names import vector
from dockfmu.master import loop
from dockfmu.master.bond import Bond
from dockfmu.master.observers.observer import Observer, RunContext
from dockfmu.master.requests import Sampling
from dockfmu.master.result import Result
from dockfmu.master.system import Structure

SMALLEST_SCALE = 1e-12
"""Smallest scale of an error, in J, N.s or N.m.s: where nothing moves, energies of 1e-24 J differ by just as much."""
ROUNDING = 1000 * 2.0**-52
"""Least energy exchanged, relative to the largest energy, to which a residual is relative: some ten roundings of that
energy, in kinetic energies and in products of momentum and velocity, are then a hundredth."""
SWING = 0.1
"""Part of the largest change of the kinetic energy of one instance to which a residual is relative at least: instances
that swing on each other without a loss change no sum but by errors."""
LEVER = 0.1
"""Lever in m at which a linear momentum that is exchanged could have exchanged an angular one: the size of a port."""


class Audit(Observer):
    """Fills result.audit with the drifts of both momenta and the residual of the energy balance, all relative.

    `momentum` and `angular_momentum` name 3-vectors in inertial axes, about one fixed point, one of each instance.
    `impulse` and `angular_impulse` name 3-vectors of what has been supplied so far from outside (thrusters). The drift
    is the largest change of the sum less what was supplied, relative to the largest change of any one instance, that
    is, to the momentum exchanged. `owed` and `angular_owed` name 3-vectors of what an instance has received that
    another one will lose in its next step: they count as supplied in this sum.

    That sum may be constant merely because of how the instances account for what they exchange, whatever they compute.
    `own_momentum` and `own_angular_momentum` name the same momenta computed from the state of each instance; their
    drift tests the dynamics. `impulse_errors` and `angular_impulse_errors` name 3-vectors of the difference between
    impulses, and angular impulses, computed in two ways; the largest counts relative to the momentum exchanged.
    `own_pole` names the place, in inertial axes, about which the own angular momenta count, such as the port of the
    mechanism that reports them: an error of a linear momentum there does not count once more, times the distance of
    the origin.

    Errors of momenta are of the size of the change of forces in a step, whatever has been exchanged before. A run that
    ends within an impact has exchanged only a part of its momentum, and a central impact hardly any angular momentum.
    So all errors but the drifts of the exchange, which is rounding, are relative to at least `reference_momentum`: a
    linear momentum in N.s and an angular one in N.m.s, such as those of the approach. Those of angular momenta are
    relative to at least the linear momentum exchanged times LEVER too: equal pushers exchange no angular momentum.

    `kinetic` name kinetic energies, `stored` potential ones, `dissipated` energies dissipated so far, `supplied` works
    done so far on the system from outside. kinetic + stored + dissipated - supplied is constant; the residual is its
    largest change relative to `reference_energy` in J, or by default to the energy exchanged: the larger of the ranges
    over time of the sum of `kinetic` and of that of `stored`. It is relative to at least SMALLEST_SCALE, to ROUNDING of
    the largest energy, which may be that of a motion common to all, and, if `momentum` has one for each `kinetic`, in
    the same order, to SWING of the largest change of one of these.

    `late` names works that instances have received so far in the responses with which their steps begin, to what the
    last step had left open: kinetic energies at its end lack the work that follows, and `late_momentum` names the
    momenta. What is dissipated lacks the `late_losses` likewise. The energies of a row are judged with what the next
    row adds to these, those of the last row not at all.

    `frame` names the velocity of a body in its own axes and its quaternion, I to these axes, scalar part first. All
    energies are then those seen from a frame that moves as this body did at the start, which needs `momentum`. So they
    do not depend on a velocity that all instances have in common, and an error of momentum counts in its own line only,
    not times such a velocity.

    After the run `bonds_work` holds the work done over each bond on the owner of the flows, and `largest` the largest
    errors. With `keep_series`, for which a long run needs much memory, `series` holds the errors over time.
    """

    def __init__(
        self,
        *,
        momentum: Sequence[str] = (),
        angular_momentum: Sequence[str] = (),
        impulse: Sequence[str] = (),
        angular_impulse: Sequence[str] = (),
        owed: Sequence[str] = (),
        angular_owed: Sequence[str] = (),
        own_momentum: Sequence[str] = (),
        own_angular_momentum: Sequence[str] = (),
        own_pole: str | None = None,
        impulse_errors: Sequence[str] = (),
        angular_impulse_errors: Sequence[str] = (),
        kinetic: Sequence[str] = (),
        stored: Sequence[str] = (),
        dissipated: Sequence[str] = (),
        supplied: Sequence[str] = (),
        late: Sequence[str] = (),
        late_losses: Sequence[str] = (),
        late_momentum: Sequence[str] = (),
        frame: tuple[str, str] | None = None,
        bonds: Sequence[Bond] = (),
        reference_energy: float | None = None,
        reference_momentum: tuple[float, float] = (0.0, 0.0),
        every: int = 1,
        keep_series: bool = False,
    ) -> None:
        self.momenta = {
            "linear_momentum": tuple(momentum),
            "angular_momentum": tuple(angular_momentum),
            "own_momentum": tuple(own_momentum),
            "own_angular_momentum": tuple(own_angular_momentum),
        }
        self.impulses = {
            "linear_momentum": (*impulse, *owed),
            "angular_momentum": (*angular_impulse, *angular_owed),
            "own_momentum": tuple(impulse),
            "own_angular_momentum": tuple(angular_impulse),
        }
        self.own_pole = own_pole
        self.impulse_errors = {
            "linear_momentum": tuple(impulse_errors),
            "angular_momentum": tuple(angular_impulse_errors),
        }
        self.kinetic, self.stored = tuple(kinetic), tuple(stored)
        self.dissipated, self.supplied = tuple(dissipated), tuple(supplied)
        self.late, self.late_losses, self.late_momentum = tuple(late), tuple(late_losses), tuple(late_momentum)
        self.frame = frame
        self.bonds = tuple(bonds)
        self.reference_energy = reference_energy
        self.reference_momentum = reference_momentum
        self.every, self.keep_series = every, keep_series
        self.reset()

    def reset(self) -> None:
        self.bonds_work = {bond.name: 0.0 for bond in self.bonds}
        self._blocks: dict[str, list[np.ndarray]] = {}
        self._started = False

    def sampling(self, system: Structure) -> Sampling:
        names: list[str] = []
        for vectors in (*self.momenta.values(), *self.impulses.values(), *self.impulse_errors.values()):
            for name in vectors:
                names += vector(name)
        for name in self.late_momentum:
            names += vector(name)
        names += [*self.kinetic, *self.stored, *self.dissipated, *self.supplied, *self.late, *self.late_losses]
        motion = [] if self.frame is None else [*vector(self.frame[0]), *vector(self.frame[1], 4)]
        names += motion
        pole = () if self.own_pole is None else vector(self.own_pole)
        names += pole
        for bond in self.bonds:
            names += [*bond.efforts, *bond.flows]
        # keep the variables of an element together, because the loop reads them by one call; values come in this order
        names = sorted(set(names), key=lambda name: (name.partition(".")[0], name))
        column = {name: k for k, name in enumerate(names)}

        def columns(scalars: Sequence[str]) -> np.ndarray:
            return np.array([column[name] for name in scalars], np.uint64)

        def triples(vectors: Sequence[str]) -> np.ndarray:
            """Return the columns of 3-vectors, shape (vectors, 3)."""
            return columns([element for name in vectors for element in vector(name)]).reshape(-1, 3)

        self._drifting = {
            kind: (triples(found), triples(self.impulses[kind])) for kind, found in self.momenta.items() if found
        }
        self._error_columns = {
            kind: [(triples([name]), triples([])) for name in found] for kind, found in self.impulse_errors.items()
        }
        energies = (
            (*self.kinetic, *self.late), self.stored, (*self.dissipated, *self.late_losses), self.supplied
        )  # fmt: skip
        self._energies = [columns(found) for found in energies]
        # the energies contain what is owed, as the momenta do
        momenta = (*self.momenta["linear_momentum"], *self.late_momentum)
        self._energies += [triples(momenta), triples(self.impulses["own_momentum"])]
        # one momentum for each kinetic energy, in the same order, or none
        self._swinging = columns(self.kinetic), triples(self.momenta["linear_momentum"])
        self._late = np.concatenate([columns((*self.late, *self.late_losses)), triples(self.late_momentum).ravel()])
        self._frame_columns = columns(motion)
        self._pole = columns(pole)
        self._work = np.empty((4, 3))
        self._bond_columns = {bond.name: (columns(bond.efforts), columns(bond.flows)) for bond in self.bonds}
        return Sampling(tuple(names), self.every)

    def begin(self, run: RunContext) -> None:
        self._started = True
        self._first: np.ndarray | None = None
        self._last: tuple[float, np.ndarray] | None = None
        self._first_energies: np.ndarray | None = None
        self._waiting: np.ndarray | None = None
        self._exchanged = dict.fromkeys(self.momenta, 0.0)
        self._largest = dict.fromkeys(self.momenta, 0.0)
        self._drift = dict.fromkeys(self.momenta, 0.0)
        self._impulse_error = dict.fromkeys(self.impulse_errors, 0.0)
        self._residual = self._energy = self._swing = 0.0
        # least and largest change of the kinetic energies, and of the stored ones
        self._changes = np.zeros(4)

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        if self._first is None:
            self._first = values[0].copy()
            self._velocity = _velocity(self._first[self._frame_columns])
        first = self._first
        self._keep("time", time.copy())
        for kind, (momenta, impulses) in self._drifting.items():
            drift = np.empty(len(time))
            if kind == "own_angular_momentum" and self._pole.size:
                about = self._pole, momenta, impulses, *self._drifting["own_momentum"], self._work
                exchanged, largest = loop.drifts_about(values, first, *about, drift)
            else:
                exchanged, largest = loop.drifts(values, first, momenta, impulses, drift)
            self._exchanged[kind] = max(self._exchanged[kind], exchanged)
            self._largest[kind] = max(self._largest[kind], largest)
            self._drift[kind] = _larger(self._drift[kind], drift.max())
            self._keep(kind, drift)
        for kind, found in self._error_columns.items():
            for errors, nothing in found:
                error = np.empty(len(time))
                loop.drifts(values, first, errors, nothing, error)
                self._impulse_error[kind] = _larger(self._impulse_error[kind], error.max())
        if self.kinetic or self.stored:
            self._balance_energies(self._with_late(values))
        self._integrate(time, values)

    def _with_late(self, values: np.ndarray) -> np.ndarray:
        """Return the rows with what the next ones add to `late`; the last one waits for the next step."""
        if not self._late.size:
            return values
        rows = values if self._waiting is None else np.vstack([self._waiting, values])
        self._waiting = rows[-1:].copy()
        known = rows[:-1].copy()
        known[:, self._late] = np.diff(rows[:, self._late], axis=0)
        return known

    def _balance_energies(self, values: np.ndarray) -> None:
        """Judge the energies of rows."""
        if not len(values):
            return
        if self._first_energies is None:
            self._first_energies = values[0].copy()
        residual = np.empty(len(values))
        first = self._first_energies
        largest = loop.residuals(values, first, *self._energies, self._velocity, self._changes, residual)
        self._energy = max(self._energy, largest)
        self._residual = _larger(self._residual, np.abs(residual).max())
        self._keep("energy", residual)
        kinetic, momenta = self._swinging
        if 0 < len(kinetic) == len(momenta):
            change = values - first
            self._swing = max(self._swing, np.abs(change[:, kinetic] - change[:, momenta] @ self._velocity).max())

    def _relative(self, change: float, kind: str, least: float = 0.0) -> float:
        """Return `change` relative to the momentum of a kind that was exchanged, but to no less than `least`."""
        # if nothing was exchanged the drift is rounding, and is taken relative to the momentum itself
        exchanged = max(self._exchanged[kind], least)
        scale = exchanged if exchanged > 1e-9 * self._largest[kind] else self._largest[kind]
        return change / max(scale, SMALLEST_SCALE)

    def _least(self, linear: str, angular: str) -> dict[str, float]:
        """Return the momenta to which errors are relative at least, by kind."""
        one, other = self.reference_momentum
        return {linear: one, angular: max(other, LEVER * self._exchanged[linear])}

    def _keep(self, name: str, values: np.ndarray) -> None:
        if self.keep_series:
            self._blocks.setdefault(name, []).append(values)

    def _integrate(self, time: np.ndarray, values: np.ndarray) -> None:
        if self.bonds:
            if self._last is not None:
                time, values = np.append(self._last[0], time), np.vstack([self._last[1], values])
            for bond in self.bonds:
                efforts, flows = (values[:, columns] for columns in self._bond_columns[bond.name])
                power = (efforts[1:] * 0.5 * (flows[1:] + flows[:-1])).sum(axis=1)
                self.bonds_work[bond.name] += float(power @ np.diff(time))
            self._last = float(time[-1]), values[-1].copy()

    @property
    def largest(self) -> dict[str, float]:
        """The largest errors: of each kind of momentum, N.s or N.m.s, and of the `energy`, J."""
        return {**self._drift, "energy": self._residual}

    @property
    def series(self) -> dict[str, np.ndarray]:
        """`time` in s, and the errors over time: `linear_momentum` N.s, `angular_momentum` N.m.s, `energy` J."""
        return {name: np.concatenate(blocks) for name, blocks in self._blocks.items()}

    def end(self, result: Result) -> None:
        if not self._started:
            return
        for kind in ("linear_momentum", "angular_momentum"):
            if self.momenta[kind]:
                result.audit[f"{kind}_drift"] = self._relative(self._drift[kind], kind)
        own = [kind for kind in ("own_momentum", "own_angular_momentum") if self.momenta[kind]]
        if own:
            least = self._least("own_momentum", "own_angular_momentum")
            drifts = [self._relative(self._drift[kind], kind, least[kind]) for kind in own]
            result.audit["mechanism_momentum_drift"] = float(np.max(drifts))
        kinds = [kind for kind, found in self.impulse_errors.items() if found]
        if kinds:
            least = self._least("linear_momentum", "angular_momentum")
            errors = [self._relative(self._impulse_error[kind], kind, least[kind]) for kind in kinds]
            result.audit["base_impulse_error"] = float(np.max(errors))
        if self.kinetic or self.stored:
            if self._waiting is not None and not np.isfinite(self._waiting).all():
                self._residual = np.nan
            exchanged = float((self._changes[1::2] - self._changes[0::2]).max())
            exchanged = max(exchanged, SWING * self._swing)
            scale = self.reference_energy or max(exchanged, ROUNDING * self._energy, SMALLEST_SCALE)
            result.audit["energy_residual"] = self._residual / scale


def _velocity(motion: np.ndarray) -> np.ndarray:
    """Return the velocity in I of a body: from that in its axes and its quaternion, one after the other, or zero."""
    if not motion.size:
        return np.zeros(3)
    velocity, scalar, axis = motion[:3], motion[3], motion[4:]
    turned = 2.0 * np.cross(axis, velocity)
    return velocity + scalar * turned + np.cross(axis, turned)


def _larger(a: float, b: float) -> float:
    """Return the larger number; NaN if one of them is NaN, which `max` would drop."""
    return float(np.maximum(a, b))
