"""Conservation of momentum and energy over a whole system, from what its instances tell of themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from master import loop
from master.bond import Bond
from master.errors import StructureError
from master.names import vector
from master.observers.observer import Observer, Run
from master.result import Result
from master.rows import Sampling
from master.system import System


class Audit(Observer):
    """Fills result.audit with the drifts of both momenta and the residual of the energy balance, all relative.

    `momentum` and `angular_momentum` name 3-vectors in inertial axes, about one fixed point, one of each instance.
    `impulse` and `angular_impulse` name 3-vectors that came so far from outside (thrusters). The drift is the largest
    change of the sum less what came from outside, relative to the largest change of any one instance: what was
    exchanged.

    `stored` name kinetic and potential energies, `dissipated` energies dissipated so far, `supplied` works done so far
    on the system from outside. stored + dissipated - supplied is constant; the residual is its largest change relative
    to `reference_energy` in J, or to the largest sum of `stored` where that is not given.

    After the run `bonds_work` holds the work done over each bond on the owner of the flows, and `series` the errors
    over time.
    """

    def __init__(
        self,
        *,
        momentum: Sequence[str] = (),
        angular_momentum: Sequence[str] = (),
        impulse: Sequence[str] = (),
        angular_impulse: Sequence[str] = (),
        stored: Sequence[str] = (),
        dissipated: Sequence[str] = (),
        supplied: Sequence[str] = (),
        bonds: Sequence[Bond] = (),
        reference_energy: float | None = None,
        every: int = 1,
    ) -> None:
        self.momenta = {"linear_momentum": tuple(momentum), "angular_momentum": tuple(angular_momentum)}
        self.impulses = {"linear_momentum": tuple(impulse), "angular_momentum": tuple(angular_impulse)}
        self.stored, self.dissipated, self.supplied = tuple(stored), tuple(dissipated), tuple(supplied)
        self.bonds = tuple(bonds)
        self.reference_energy = reference_energy
        self.every = every
        self.bonds_work = {bond.name: 0.0 for bond in bonds}
        self._blocks: dict[str, list[np.ndarray]] = {}
        self._started = False

    def sampling(self, system: System) -> Sampling:
        unequal = [bond.name for bond in self.bonds if len(bond.efforts) != len(bond.flows)]
        if unequal:
            raise StructureError([f"bond {name}: as many efforts as flows are needed" for name in unequal])
        names: list[str] = []
        for vectors in (*self.momenta.values(), *self.impulses.values()):
            for name in vectors:
                names += vector(name)
        names += [*self.stored, *self.dissipated, *self.supplied]
        for bond in self.bonds:
            names += [*bond.efforts, *bond.flows]
        # elements together, which the loop reads by one call each, in the order in which the values come
        names = sorted(set(names), key=lambda name: (name.partition(".")[0], name))
        self._column = {name: k for k, name in enumerate(names)}
        return Sampling(tuple(self._column), self.every)

    def begin(self, run: Run) -> None:
        self._started = True
        self._first: np.ndarray | None = None
        self._last: tuple[float, np.ndarray] | None = None
        self._exchanged = dict.fromkeys(self.momenta, 0.0)
        self._largest = dict.fromkeys(self.momenta, 0.0)
        self._drift = dict.fromkeys(self.momenta, 0.0)
        self._residual = self._energy = 0.0

    def sample(self, time: np.ndarray, values: np.ndarray) -> None:
        first = self._first = values[0].copy() if self._first is None else self._first
        self._keep("time", time.copy())
        for kind, names in self.momenta.items():
            if names:
                drift = np.empty(len(time))
                momenta, impulses = self._vectors(names), self._vectors(self.impulses[kind])
                exchanged, largest = loop.drifts(values, first, momenta, impulses, drift)
                self._exchanged[kind] = max(self._exchanged[kind], exchanged)
                self._largest[kind] = max(self._largest[kind], largest)
                self._drift[kind] = max(self._drift[kind], float(drift.max()))
                self._keep(kind, drift)
        if self.stored:
            residual = np.empty(len(time))
            parts = [self._columns(names) for names in (self.stored, self.dissipated, self.supplied)]
            self._energy = max(self._energy, loop.residuals(values, first, *parts, residual))
            self._residual = max(self._residual, float(np.abs(residual).max()))
            self._keep("energy", residual)
        self._integrate(time, values)

    def _columns(self, names: Sequence[str]) -> np.ndarray:
        return np.array([self._column[name] for name in names], np.uint64)

    def _vectors(self, names: Sequence[str]) -> np.ndarray:
        """Columns of 3-vectors, shape (vectors, 3)."""
        return self._columns([element for name in names for element in vector(name)]).reshape(-1, 3)

    def _keep(self, name: str, values: np.ndarray) -> None:
        self._blocks.setdefault(name, []).append(values)

    def _integrate(self, time: np.ndarray, values: np.ndarray) -> None:
        if self.bonds:
            if self._last is not None:
                time, values = np.append(self._last[0], time), np.vstack([self._last[1], values])
            for bond in self.bonds:
                efforts, flows = values[:, self._columns(bond.efforts)], values[:, self._columns(bond.flows)]
                power = (efforts[1:] * 0.5 * (flows[1:] + flows[:-1])).sum(axis=1)
                self.bonds_work[bond.name] += float(power @ np.diff(time))
            self._last = float(time[-1]), values[-1].copy()

    @property
    def series(self) -> dict[str, np.ndarray]:
        """`time` in s, and the changes of the sums: `linear_momentum` N.s, `angular_momentum` N.m.s, `energy` J."""
        return {name: np.concatenate(blocks) for name, blocks in self._blocks.items()}

    def end(self, result: Result) -> None:
        if not self._started:
            return
        for kind, names in self.momenta.items():
            if names:
                # where nothing was exchanged the drift is rounding, and is seen against the momentum itself
                exchanged = self._exchanged[kind]
                scale = exchanged if exchanged > 1e-9 * self._largest[kind] else self._largest[kind]
                result.audit[f"{kind}_drift"] = self._drift[kind] / scale if scale > 0.0 else 0.0
        if self.stored:
            scale = self.reference_energy or self._energy
            result.audit["energy_residual"] = self._residual / scale if scale > 0.0 else 0.0
