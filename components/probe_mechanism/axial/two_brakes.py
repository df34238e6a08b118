"""Axial device of the modified mechanism (V2): two friction brakes in series, no spring and no magnetic brakes.

The train between nut and drive is a series of elastic gears, a first friction brake FrB1 with a limited stroke, and the
friction brake FrB2 that V1 has too (central-docking 5.2). FrB1 slips in compression at about a quarter of the force of
FrB2, and back at a third of its own; it does not return by itself, and at the start of its stroke it is a hard stop.
The drive re-cocks it when it retracts the probe against a larger force than that. Everything is reduced to the probe.
The functions are those that `axial` calls for a build with this device, see `spring_and_brake`.
"""

from __future__ import annotations

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.hysteresis import reaction
from dockfmu.components.probe_mechanism.axial.gears import twist_at
from dockfmu.components.probe_mechanism.axial.spring_and_brake import hold_brake

FIRST_COMPRESSION = 252
FIRST_EXTENSION = 253

MESSAGES = {
    FIRST_COMPRESSION: Message(
        "parameters.axial.first_brake_compression = {parameters.axial.first_brake_compression:g} N must be below "
        "parameters.axial.brake_compression = {parameters.axial.brake_compression:g} N: the first brake slips first"
    ),
    FIRST_EXTENSION: Message(
        "parameters.axial.first_brake_extension = {parameters.axial.first_brake_extension:g} N must be below "
        "parameters.axial.brake_extension = {parameters.axial.brake_extension:g} N: the first brake slips first"
    ),
}


@kernel
def check_parameters(p, status):
    """Return 0, or the code of the first pair of brake forces that is in the wrong order."""
    if not p.first_brake_compression < p.brake_compression:
        return fail(status, FIRST_COMPRESSION, p.first_brake_compression, 0)
    if not p.first_brake_extension < p.brake_extension:
        return fail(status, FIRST_EXTENSION, p.first_brake_extension, 0)
    return 0


@kernel
def train(p, gears, slip, deflection, u):
    """Return (force in N, slip of FrB2 in m, stroke of FrB1 in m) of the train driven to the twist `u` (m).

    Return mapping of central-docking section 5.2 (hysteresis section 6) from the memory (`slip`, `deflection`) of the
    last call, with the segment of the gears' hysteresis that `gears` holds; `deflection` is the stroke of FrB1, from 0
    to `first_brake_stroke`.
    """
    e = u - slip
    force = reaction(gears, e - deflection)
    if force > p.first_brake_compression:
        deflection = min(e - twist_at(gears, p.first_brake_compression), p.first_brake_stroke)
    elif force < -p.first_brake_extension:
        deflection = max(e - twist_at(gears, -p.first_brake_extension), 0.0)
    force, slip = hold_brake(p, gears, u, slip, deflection)
    return force, slip, deflection


@kernel
def stored_energy(p, deflection):
    """Return 0 J: brakes give nothing back."""
    return 0.0


@kernel
def first_brake_loss(p, deflection_before, deflection):
    """Return the energy in J that FrB1 dissipates between two of its strokes without a reversal, >= 0."""
    change = deflection - deflection_before
    return change * p.first_brake_compression if change > 0.0 else -change * p.first_brake_extension


@kernel
def reset(a):
    """Clear the losses of the device."""
    a.dissipated_train = 0.0
    a.dissipated_first_brake = 0.0
    a.dissipated_brake = 0.0


@kernel
def account_train(p, a, force, slip, deflection):
    """Add the losses of both brakes on the way to `slip` and `deflection` from those in `a`."""
    a.dissipated_first_brake += first_brake_loss(p, a.deflection, deflection)
    a.dissipated_brake += force * (slip - a.slip)


@kernel
def brake(p, rate):
    """Return the force (N) on the nut against its rate and the derivative (N s/m): this device has no such brake."""
    return 0.0, 0.0


@kernel
def account_brake(a, work):
    """Add nothing: this device has no brake on the nut."""


@kernel
def audit(p, a, force, slip, deflection, out):
    """Set the losses of gear train and brakes at the end of a step, where the train is at the arguments.

    Returns their sum, J.
    """
    out.dissipated_train = a.dissipated_train
    out.dissipated_first_brake = a.dissipated_first_brake + first_brake_loss(p, a.deflection, deflection)
    out.dissipated_brake = a.dissipated_brake + force * (slip - a.slip)
    return out.dissipated_train + out.dissipated_first_brake + out.dissipated_brake
