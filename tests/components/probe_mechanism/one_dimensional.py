"""Two point masses, the axial damper between them, the contacts of the socket: the model of central-docking 9.4.

With the axial device of V1 (`RECORD`) or of V2 (`RECORD_V2`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import tanh

import numpy as np

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.core.record import Memory, Record
from dockfmu.components.probe_mechanism.axial import axial_train, spring_and_brake, two_brakes
from dockfmu.components.probe_mechanism.axial.ports import SPRING_AND_BRAKE, TWO_BRAKES, AxialPorts


def record_of(device: AxialPorts) -> Record:
    """The axial damper alone."""
    return Record(device.state, axial_train.load(), Group("parameters", device.parameters))


LOST = Record(
    *(
        private(f"dissipated_{name}", "J", "")
        for name in dict.fromkeys((*SPRING_AND_BRAKE.devices, *TWO_BRAKES.devices))
    )
)
RECORD, RECORD_V2 = record_of(SPRING_AND_BRAKE), record_of(TWO_BRAKES)

STIFFNESS, DAMPING, PLAY, SENSOR_FRICTION = 1e7, 5e3, 0.025, 40.0
ACTIVE, PASSIVE = 20e3, 400e3


def elastic_gears(record: Record) -> Memory:
    """Return the memory of a gear train without hysteresis, a line whatever its twist."""
    m = record.memory()
    m.parameters.axial.hysteresis_loss = 0.0
    assert axial_train.initialize(m.parameters.axial, m.axial, 0.0) == 0
    return m.axial.gears.memory


@kernel
def loss_of_two_brakes(p, force, slip_before, deflection_before, slip, deflection):
    """The energy in J lost by both brakes between two calls of `two_brakes.train`."""
    return two_brakes.first_brake_loss(p, deflection_before, deflection) + force * (slip - slip_before)


train_loss = variant("first_brake_stroke", loss_of_two_brakes, spring_and_brake.train_loss)


@kernel
def _run(p, a, load, speed, h, active, passive, thrust, lost, out):
    x1, x2, v1, v2 = 0.0, 0.0, speed, 0.0
    for i in range(out.shape[0]):
        x1 += 0.5 * h * v1
        x2 += 0.5 * h * v2
        depth = x1 - a.travel - 0.5 * h * a.rate - x2
        closing = v1 - a.rate - v2
        bottom = 0.0
        latch = 0.0
        if depth > 0.0:
            bottom = max(0.0, STIFFNESS * depth + DAMPING * closing)
        if depth < -PLAY:
            latch = max(0.0, -STIFFNESS * (depth + PLAY) - DAMPING * closing)
        force = latch - bottom - SENSOR_FRICTION * tanh(closing / 1e-3)
        load.head_force = force
        axial_train.advance(p, a, load, h)
        v1 += h * (force + thrust) / active
        v2 -= h * force / passive
        x1 += 0.5 * h * v1
        x2 += 0.5 * h * v2
        out[i, 0] = bottom
        out[i, 1] = latch
        out[i, 2] = a.travel
        out[i, 3] = a.slip
        out[i, 4] = a.deflection
        out[i, 5] = closing
        out[i, 6] = x1 - a.travel - x2
        out[i, 7] = 0.5 * active * v1 * v1 + 0.5 * passive * v2 * v2 + 0.5 * p.inertance * a.rate * a.rate
        out[i, 8] = axial_train.audit(p, a, 0.0, a.slip, a.deflection, lost) + a.dissipated_screw
        force, slip, deflection = axial_train.evaluate(p, a, a.travel)
        out[i, 9] = axial_train.stored_energy(p, a, a.travel, force, slip, deflection)
        out[i, 10] = train_loss(p, force, a.slip, a.deflection, slip, deflection)
        loss = SENSOR_FRICTION * tanh(closing / 1e-3) * closing
        if depth > 0.0:
            loss += (bottom - STIFFNESS * depth) * closing
        elif depth < -PLAY:
            loss -= (latch + STIFFNESS * (depth + PLAY)) * closing
        out[i, 11] = loss * h


@dataclass
class Impact:
    """Histories of a central impact. `bottom`, `latch` (N) and `closing` belong to the middles of the steps."""

    t: np.ndarray
    bottom: np.ndarray
    latch: np.ndarray
    travel: np.ndarray
    slip: np.ndarray
    deflection: np.ndarray
    closing: np.ndarray
    depth: np.ndarray
    kinetic: np.ndarray
    dissipated: np.ndarray
    stored: np.ndarray
    pending: np.ndarray
    contact_loss: np.ndarray

    def pulses(self) -> list[tuple[str, float]]:
        """Alternate hits on the socket's bottom and on the latch stops: (name, largest force in N)."""
        found: list[tuple[str, float]] = []
        for name, force in zip(*self._hits(), strict=True):
            if found and found[-1][0] == name:
                found[-1] = (name, max(force, found[-1][1]))
            else:
                found.append((name, force))
        return found

    def _hits(self):
        force = np.maximum(self.bottom, self.latch)
        hit = force > 0.0
        return np.where(self.latch[hit] > 0.0, "latch", "bottom"), force[hit]


def central_impact(
    speed: float,
    h: float = 1e-4,
    stop: float = 6.0,
    active: float = ACTIVE,
    passive: float = PASSIVE,
    thrust: float = 0.0,
    record: Record = RECORD,
    **parameters: float,
) -> Impact:
    """Head on the socket's bottom at t = 0, closing at `speed`, drive locked, `thrust` (N) on the active mass.

    The gear train is elastic, as in central-docking 9.4, unless `hysteresis_loss` says otherwise (ruling R49).
    """
    m = record.memory()
    m.parameters.axial.hysteresis_loss = 0.0
    for name, value in parameters.items():
        setattr(m.parameters.axial, name, value)
    assert axial_train.initialize(m.parameters.axial, m.axial, 0.0) == 0
    steps = round(stop / h)
    out = np.zeros((steps, 12))
    lost = LOST.memory()
    _run(m.parameters.axial, m.axial, m.axial_load, speed, h, active, passive, thrust, lost, out)
    return Impact(h * (1.0 + np.arange(steps)), *out.T)
