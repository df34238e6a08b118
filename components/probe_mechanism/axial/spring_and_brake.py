"""Axial device of the existing mechanism (V1): spiral spring in series with a friction brake, magnetic brakes.

The train between nut and drive is a series of elastic gears, a spring mechanism with friction and a friction brake
(central-docking 5.2); the magnetic brakes turn with the nut (central-docking 5.3). Everything is reduced to the probe.
The functions are those that `axial` calls for a build with this device; those of `two_brakes` take the same arguments.
"""

from __future__ import annotations

from math import copysign, fabs

from dockfmu.components.core import check
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.table import interpolate, slope
from dockfmu.components.physics.hysteresis import reaction
from dockfmu.components.probe_mechanism.axial.gears import twist_at

MAGNETIC_TABLE = 241
MAGNETIC_ORIGIN = 242
SPRING_END = 244

MESSAGES = {
    MAGNETIC_TABLE: Message(
        "parameters.axial.magnetic_rate[{status.index:.0f}] = {status.value:g} m/s: the rates of the table must rise "
        "strictly from 0"
    ),
    MAGNETIC_ORIGIN: Message(
        "parameters.axial.magnetic_force[1] = {status.value:g} N: the table must begin at (0, 0): a magnetic brake has "
        "no force at rest"
    ),
    SPRING_END: Message(
        "parameters.axial.spring_end = {parameters.axial.spring_end:g} N must be above "
        "parameters.axial.spring_preload = {parameters.axial.spring_preload:g} N"
    ),
}


@kernel
def check_parameters(p, status):
    """Return 0, or the code of the first table or pair of `p` that is not well posed."""
    place = check.first_not_rising(p.magnetic_rate)
    if p.magnetic_rate[0] != 0.0:
        place = 1
    if place > 0:
        return fail(status, MAGNETIC_TABLE, p.magnetic_rate[place - 1], place)
    if p.magnetic_force[0] != 0.0:
        return fail(status, MAGNETIC_ORIGIN, p.magnetic_force[0], 1)
    if not p.spring_end > p.spring_preload:
        return fail(status, SPRING_END, p.spring_end, 0)
    return 0


@kernel
def hold_brake(p, gears, u, slip, deflection):
    """Return (force in N, slip in m) of the gears and the friction brake of a train driven to the twist `u` (m).

    `slip` is that of the last call, `deflection` (m) that of what is in series with them.
    """
    force = reaction(gears, u - slip - deflection)
    if force > p.brake_compression:
        force = p.brake_compression
        slip = u - deflection - twist_at(gears, force)
    elif force < -p.brake_extension:
        force = -p.brake_extension
        slip = u - deflection - twist_at(gears, force)
    return force, slip


@kernel
def _deflection_at_slip(p, rate):
    """Return the deflection (m) at which the spring bears as much as the brake, which then slips instead."""
    return (p.brake_compression - p.spring_preload) / rate


@kernel
def train(p, gears, slip, deflection, u):
    """Return (force in N, brake slip in m, spring deflection in m) of the train driven to the twist `u` (m).

    Return mapping of central-docking section 5.2 (for elastic gears equal to the shifted tables of hysteresis section
    5) from the memory (`slip`, `deflection`) of the last call, with the segment of their hysteresis that `gears` holds.
    The spring yields between its stops only towards compression, and bears no more than the brake in series with it;
    unloading it gives back the fraction `spring_return` of its force.
    """
    stiffness = gears.stiffness
    rate = (p.spring_end - p.spring_preload) / p.spring_stroke
    e = u - slip
    force = reaction(gears, e - deflection)
    if force > p.spring_preload + rate * deflection and deflection < p.spring_stroke:
        wound = min((reaction(gears, e) - p.spring_preload) / (stiffness + rate), _deflection_at_slip(p, rate))
        deflection = max(deflection, wound)
    elif force < p.spring_return * (p.spring_preload + rate * deflection) and deflection > 0.0:
        deflection = (reaction(gears, e) - p.spring_return * p.spring_preload) / (stiffness + p.spring_return * rate)
    deflection = min(max(deflection, 0.0), p.spring_stroke)
    force, slip = hold_brake(p, gears, u, slip, deflection)
    return force, slip, deflection


@kernel
def _spring_work(p, deflection):
    """Return the work in J that winds the spring mechanism from rest to `deflection`, friction included."""
    rate = (p.spring_end - p.spring_preload) / p.spring_stroke
    return (p.spring_preload + 0.5 * rate * deflection) * deflection


@kernel
def stored_energy(p, deflection):
    """Return the energy that the spring mechanism gives back, J: its work less friction."""
    return p.spring_return * _spring_work(p, deflection)


@kernel
def train_loss(p, force, slip_before, deflection_before, slip, deflection):
    """Return the energy in J lost by slip of the brake and friction of the spring between two calls of `train`."""
    loss = force * (slip - slip_before)
    if deflection > deflection_before:
        loss += (1.0 - p.spring_return) * (_spring_work(p, deflection) - _spring_work(p, deflection_before))
    return loss


@kernel
def reset(a):
    """Clear the losses of the device."""
    a.dissipated_train = 0.0
    a.dissipated_magnetic = 0.0


@kernel
def account_train(p, a, force, slip, deflection):
    """Add the losses of the train on the way to `slip` and `deflection` from those in `a`."""
    a.dissipated_train += train_loss(p, force, a.slip, a.deflection, slip, deflection)


@kernel
def brake(p, rate):
    """Return the force (N) of both magnetic brakes against the rate (S 6.1.5), and its derivative (N s/m).

    Beyond the table the force is constant.
    """
    speed = fabs(rate)
    return (
        copysign(interpolate(speed, p.magnetic_rate, p.magnetic_force), rate),
        slope(speed, p.magnetic_rate, p.magnetic_force),
    )


@kernel
def account_brake(a, work):
    """Add the work (J) of the magnetic brakes in a micro-step."""
    a.dissipated_magnetic += work


@kernel
def audit(p, a, force, slip, deflection, out):
    """Set the losses of train and magnetic brakes at the end of a step, where the train is at the arguments.

    Returns their sum, J.
    """
    out.dissipated_train = a.dissipated_train + train_loss(p, force, a.slip, a.deflection, slip, deflection)
    out.dissipated_magnetic = a.dissipated_magnetic
    return out.dissipated_train + out.dissipated_magnetic
