"""Axial damper: nut on a ball screw, its axial device, and its effect on the motion of the probe.

The device between nut and drive is that of `spring_and_brake` (V1) or of `two_brakes` (V2): the parameters of the
record determine which, and the kernels of the other one are not compiled.

Everything is reduced to the probe: `travel` x > 0 shortens the probe, force against travel, nut angle = x 2 pi / lead.
The equation of motion is central-docking (S 6.1.1) with errata E-5 and E-6, multiplied by 2 pi / lead:

    b x'' = -f - k |f| sgn x' - F_train(u) - c_train u' - F_brake(x') - F_stop(x, x'),        u = x - x_drive

f is the external force on the head along the probe (f < 0 pushes it in), b the inertance of probe and damper between
head and base. F_train includes the hysteresis of the gears (`gears`), F_stop is that of the end stops (`end_stops`).
The screw's friction is a force k |f| against the motion, whichever way power flows through the screw.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, fabs, pi
from typing import Any

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.physics import hysteresis
from dockfmu.components.probe_mechanism.axial import gears, spring_and_brake, two_brakes


def _by_parameters(existing: Callable[..., Any], modified: Callable[..., Any]) -> Any:
    """Return the kernel that calls one or the other, depending on the parameters, its first argument."""
    return variant("first_brake_stroke", modified, existing)


def _by_state(existing: Callable[..., Any], modified: Callable[..., Any]) -> Any:
    """Return the kernel that calls one or the other, depending on the group `axial`, its first argument."""
    return variant("dissipated_first_brake", modified, existing)


def load() -> Group:
    """Return the group `axial_load`: the loads on the nut at the middle of a micro-step."""
    return Group(
        "axial_load",
        private("head_force", "N", "on the head along the probe; < 0 pushes it in"),
        private("head_damping", "kg", "-d(head_force) / d(rate of the head) times the micro-step"),
        private("extra_force", "N", "of lever rollers and bent probe; > 0 shortens the probe"),
        private("extra_damping", "kg", "-d(extra_force) / d(rate of the probe) times the micro-step"),
        private("stop_force", "N", "of the end stops; > 0 shortens the probe"),
        private("stop_damping", "N.s/m", "of the end stop that is touched"),
        private("drive_travel", "m", "of the drive's output shaft, reduced to the probe"),
        private("drive_rate", "m/s", "of the drive's output shaft, reduced to the probe"),
    )


@kernel
def nut_per_travel(p):
    """Return the angle of the nut per travel of the probe, rad/m."""
    return 2.0 * pi / p.lead


@kernel
def drive_travel(p, drive_parameters, angle):
    """Return the angle (or rate) of the drive's output shaft as travel (or rate) of the probe, m (or m/s)."""
    return angle / (drive_parameters.nut_ratio * nut_per_travel(p))


_check_device = _by_parameters(spring_and_brake.check_parameters, two_brakes.check_parameters)
train = _by_parameters(spring_and_brake.train, two_brakes.train)
_device_energy = _by_parameters(spring_and_brake.stored_energy, two_brakes.stored_energy)
account_train = _by_parameters(spring_and_brake.account_train, two_brakes.account_train)
brake = _by_parameters(spring_and_brake.brake, two_brakes.brake)
_audit_device = _by_parameters(spring_and_brake.audit, two_brakes.audit)
account_brake = _by_state(spring_and_brake.account_brake, two_brakes.account_brake)
reset = _by_state(spring_and_brake.reset, two_brakes.reset)


@kernel
def check_parameters(p, status):
    """Return 0, or the code of the first table or pair of `p` that is not well posed."""
    code = gears.check_parameters(p, status)
    return code if code else _check_device(p, status)


@kernel
def initialize(p, a, travel):
    """Set the nut at rest at `travel` (m), with the train untwisted and all losses 0.

    Returns 0, or the code of a law of the gears that is not well posed.
    """
    a.travel = travel
    a.rate = 0.0
    a.slip = 0.0
    a.deflection = 0.0
    a.train_force = 0.0
    reset(a)
    a.dissipated_screw = 0.0
    return gears.initialize(p, a.gears)


@kernel
def evaluate(p, a, u):
    """Return (force in N, slip of the brake, deflection of the device in m) of the train driven to the twist u (m)."""
    return train(p, a.gears.memory, a.slip, a.deflection, u)


@kernel
def stored_energy(p, a, u, force, slip, deflection):
    """Return the energy that the train gives back, J, driven to the twist u as `evaluate` found it."""
    return gears.stored_energy(a.gears.memory, u - slip - deflection, force) + _device_energy(p, deflection)


@kernel
def torque(p, a, force, drive_rate):
    """Return m_FR in N m on the nut, with damping, under the elastic `force` (N) of the train: central-docking 5.2."""
    return (force + p.train_damping * (a.rate - drive_rate)) / nut_per_travel(p)


@kernel
def audit(p, a, force, slip, deflection, out):
    """Set the losses of the device and of the gears at the end of a step, where the train is at the arguments.

    Returns their sum, J.
    """
    out.dissipated_gears = a.gears.memory.dissipated_energy
    return _audit_device(p, a, force, slip, deflection, out) + out.dissipated_gears


@kernel
def _solve(p, a, load, h):
    """Solve the micro-step of `advance`, with the same arguments; changes nothing.

    Returns (rate after the micro-step, rate without friction of the screw, inertia, elastic force, slip, deflection,
    force of the brake on the nut, its derivative).
    """
    rate = a.rate
    elastic, slip, deflection = evaluate(p, a, a.travel + 0.5 * h * rate - load.drive_travel)
    braking, brake_slope = brake(p, rate)
    viscous = p.train_damping + brake_slope + load.stop_damping
    inertia = p.inertance + load.head_damping + load.extra_damping + 0.5 * h * viscous
    force = load.extra_force - load.head_force - elastic - p.train_damping * (rate - load.drive_rate) - braking
    force += load.stop_force - load.stop_damping * rate
    free = rate + h * force / inertia
    friction_limit = h * p.screw_friction * fabs(load.head_force) / inertia
    end = copysign(max(fabs(free) - friction_limit, 0.0), free)
    return end, free, inertia, elastic, slip, deflection, braking, brake_slope


@kernel
def predicted_rate(p, a, load, h):
    """Return the rate that `advance` with the same arguments would find, m/s."""
    return _solve(p, a, load, h)[0]


@kernel
def advance(p, a, load, h):
    """Advance the nut over a micro-step h: half a drift, a kick at the middle, half a drift.

    `load` is the group `axial_load`, at the middle of the step. Contacts and viscous forces enter linearly implicitly
    at the middle, the friction of the screw implicitly at the end, so that it holds the nut at rest instead of
    chattering. Returns the force on the head that was applied, N.
    """
    rate = a.rate
    twist = a.travel + 0.5 * h * rate - load.drive_travel
    end, free, inertia, elastic, slip, deflection, braking, brake_slope = _solve(p, a, load, h)
    account_train(p, a, elastic, slip, deflection)
    a.slip = slip
    a.deflection = deflection
    a.rate = end
    step = 0.5 * h * (rate + a.rate)
    a.travel += step
    mean = 0.5 * (rate + a.rate)
    a.train_force = elastic + p.train_damping * (mean - load.drive_rate)
    a.dissipated_train += h * p.train_damping * (mean - load.drive_rate) * (mean - load.drive_rate)
    account_brake(a, step * (braking + 0.5 * brake_slope * (a.rate - rate)))
    a.dissipated_screw += step * inertia * (free - a.rate) / h
    # a deformation that is not finite fails the next evaluation of the tree
    hysteresis.update(a.gears.law, a.gears.memory, twist - slip - deflection, a.rate - load.drive_rate, 1.0)
    return load.head_force + load.head_damping * (a.rate - rate) / h
