"""Axial damper: nut on a ball screw, gear train, spiral spring in series with a friction brake, magnetic brakes.

Everything is reduced to the probe: `travel` x > 0 shortens the probe, force against travel, nut angle = x 2 pi / lead.
The equation of motion is spec/06 (S 6.1.1) with errata E-5 and E-6, multiplied by 2 pi / lead:

    b x'' = -f - k |f| sgn x' - F_train(u) - c_train u' - F_magnetic(x'),        u = x - x_drive

f is the external force on the head along the probe (f < 0 pushes it in), b the inertance of probe and damper between
head and base. The screw's friction is a force k |f| against the motion, whichever way power flows through the screw.
"""

from math import copysign, fabs

from components.core.kernel import kernel
from components.core.table import interpolate, slope


@kernel
def train(p, slip, spring, u):
    """Series of elastic train, spring mechanism with friction, and friction brake, driven to the twist `u` (m).

    Return mapping of spec/06 section 5.2 (equal to the shifted tables of spec/03 section 5): (force in N, brake slip
    in m, spring deflection in m) from the memory (`slip`, `spring`) of the last call. The spring yields between its
    stops only towards compression; unloading it gives back the fraction `spring_return` of its force.
    """
    stiffness = p.train_stiffness
    rate = (p.spring_end - p.spring_preload) / p.spring_stroke
    e = u - slip
    force = stiffness * (e - spring)
    if force > p.spring_preload + rate * spring and spring < p.spring_stroke:
        spring = (stiffness * e - p.spring_preload) / (stiffness + rate)
    elif force < p.spring_return * (p.spring_preload + rate * spring) and spring > 0.0:
        spring = (stiffness * e - p.spring_return * p.spring_preload) / (stiffness + p.spring_return * rate)
    spring = min(max(spring, 0.0), p.spring_stroke)
    force = stiffness * (e - spring)
    if force > p.brake_compression:
        force = p.brake_compression
        slip = u - spring - force / stiffness
    elif force < -p.brake_extension:
        force = -p.brake_extension
        slip = u - spring - force / stiffness
    return force, slip, spring


@kernel
def spring_work(p, spring):
    """Work in J that winds the spring mechanism from rest to the deflection `spring`, friction included."""
    rate = (p.spring_end - p.spring_preload) / p.spring_stroke
    return (p.spring_preload + 0.5 * rate * spring) * spring


@kernel
def stored_energy(p, force, spring):
    """Energy in J that the train gives back: of the elastic train, and of the spring what its friction leaves."""
    return 0.5 * force * force / p.train_stiffness + p.spring_return * spring_work(p, spring)


@kernel
def train_loss(p, force, slip_before, spring_before, slip, spring):
    """Energy in J lost by slip of the brake and friction of the spring between two calls of `train`."""
    loss = force * (slip - slip_before)
    if spring > spring_before:
        loss += (1.0 - p.spring_return) * (spring_work(p, spring) - spring_work(p, spring_before))
    return loss


@kernel
def magnetic(p, rate):
    """Force in N of both magnetic brakes against the rate (S 6.1.5), and its derivative; held beyond the table."""
    speed = fabs(rate)
    return (
        copysign(interpolate(speed, p.magnetic_rate, p.magnetic_force), rate),
        slope(speed, p.magnetic_rate, p.magnetic_force),
    )


@kernel
def _solve(p, a, head_force, head_damping, extra_force, extra_damping, drive_travel, drive_rate, h):
    """Return (rate after the micro-step, rate without friction of the screw, inertia, elastic force, slip, spring,
    brake force, its derivative); arguments as of `advance`. Changes nothing."""
    rate = a.rate
    elastic, slip, spring = train(p, a.slip, a.spring, a.travel + 0.5 * h * rate - drive_travel)
    brake, brake_slope = magnetic(p, rate)
    inertia = p.inertance + head_damping + extra_damping + 0.5 * h * (p.train_damping + brake_slope)
    force = extra_force - head_force - elastic - p.train_damping * (rate - drive_rate) - brake
    free = rate + h * force / inertia
    friction_limit = h * p.screw_friction * fabs(head_force) / inertia
    end = copysign(max(fabs(free) - friction_limit, 0.0), free)
    return end, free, inertia, elastic, slip, spring, brake, brake_slope


@kernel
def predicted_rate(p, a, head_force, head_damping, extra_force, extra_damping, drive_travel, drive_rate, h):
    """Return the rate that `advance` with the same arguments would find."""
    return _solve(p, a, head_force, head_damping, extra_force, extra_damping, drive_travel, drive_rate, h)[0]


@kernel
def advance(p, a, head_force, head_damping, extra_force, extra_damping, drive_travel, drive_rate, h):
    """One micro-step h of the nut: half a drift, a kick at the middle, half a drift.

    `head_force` f, `extra_force` (lever rollers, bent probe; positive shortens the probe), `drive_travel` and
    `drive_rate` belong to the middle of the step; `head_damping` (kg) is -df / d(rate of the head) times the step, and
    `extra_damping` that of the extra force by the rate of the probe: contacts enter linearly implicitly. Viscous forces
    enter so at the middle, the friction of the screw implicitly at the end, so that it holds the nut at rest instead of
    chattering. Returns the force on the head that was applied.
    """
    rate = a.rate
    end, free, inertia, elastic, slip, spring, brake, brake_slope = _solve(
        p, a, head_force, head_damping, extra_force, extra_damping, drive_travel, drive_rate, h
    )
    a.dissipated_train += train_loss(p, elastic, a.slip, a.spring, slip, spring)
    a.slip = slip
    a.spring = spring
    a.rate = end
    step = 0.5 * h * (rate + a.rate)
    a.travel += step
    mean = 0.5 * (rate + a.rate)
    a.train_force = elastic + p.train_damping * (mean - drive_rate)
    a.dissipated_train += h * p.train_damping * (mean - drive_rate) * (mean - drive_rate)
    a.dissipated_magnetic += step * (brake + 0.5 * brake_slope * (a.rate - rate))
    a.dissipated_screw += step * inertia * (free - a.rate) / h
    return head_force + head_damping * (a.rate - rate) / h
