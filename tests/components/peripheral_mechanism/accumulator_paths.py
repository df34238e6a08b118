"""Quasi-static paths of one energy accumulator of PM-1, and its law in plain Python from the states alone."""

import numpy as np

from dockfmu.base.compiler import jit
from dockfmu.components.core.field import Group
from dockfmu.components.core.record import Record
from dockfmu.components.peripheral_mechanism import accumulator

RECORD = Record(Group("parameters", accumulator.parameters()), accumulator.state())
DIRECT = np.array([[0.0, 0.06, 0.12, 0.18, 0.24], [270.0, 410.0, 560.0, 720.0, 900.0]])
RETURN = np.array([[0.0, 0.06, 0.12, 0.18, 0.23928], [162.0, 246.0, 336.0, 432.0, 540.0]])
STIFFNESS = 5e5


def branch(table, x):
    """A branch of the table, its end segments prolonged."""
    i = np.clip(np.searchsorted(table[0], x, side="right") - 1, 0, 3)
    slope = np.diff(table[1]) / np.diff(table[0])
    return table[1][i] + slope[i] * (x - table[0][i])


class Spring:
    """One accumulator. `move` goes through samples `step` (m) apart; deformations here are in mm."""

    def __init__(self, start, locked=True, **parameters):
        self.m = RECORD.memory()
        self.p = self.m.parameters.accumulators
        self.p.clutch_delay = 0.0
        for name, value in parameters.items():
            setattr(self.p, name, value)
        self.e = self.m.accumulator[0]
        accumulator.initialize(self.p, self.e, 1e-3 * start)
        self.start_energy = self.energy
        self.lock = float(locked)
        self.states = [self.state]
        self.work = 0.0

    @property
    def state(self):
        return int(self.e.state)

    @property
    def force(self):
        return float(self.e.force)

    @property
    def energy(self):
        return accumulator.stored_energy(self.p, self.e)

    @property
    def dissipated(self):
        """By hysteresis and unlocking."""
        return self.start_energy + self.e.work - self.energy - self.e.slipped

    def move(self, to, step=1e-5):
        start, end = self.e.deformation, 1e-3 * to
        count = max(1, round(abs(end - start) / step))
        for d in np.linspace(start, end, count + 1)[1:]:
            self.sample(d, end - start)
        return self.force

    def sample(self, d, rate):
        before, at = self.force, self.e.deformation
        accumulator.advance(self.p, self.e, self.lock, d, rate, 0.0)
        self.work += 0.5 * (before + self.force) * (d - at)
        if self.state != self.states[-1]:
            self.states.append(self.state)


@jit
def wander(p, e, d, locks, out):
    """Take the samples d with the lock commands; out: state, force, dissipated so far, of each sample."""
    start = accumulator.stored_energy(p, e)
    for i in range(len(d)):
        accumulator.advance(p, e, locks[i], d[i], d[i] - e.deformation, 0.0)
        out[i, 0] = e.state
        out[i, 1] = e.force
        out[i, 2] = start + e.work - accumulator.stored_energy(p, e) - e.slipped
        out[i, 3] = e.shift
        out[i, 4] = e.held_top
