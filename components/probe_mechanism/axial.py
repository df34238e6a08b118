"""Axial damper: nut on a ball screw, gear train, spiral spring in series with a friction brake, magnetic brakes.

Everything is reduced to the probe: `travel` x > 0 shortens the probe, force against travel, nut angle = x 2 pi / lead.
The equation of motion is spec/06 (S 6.1.1) with errata E-5 and E-6, multiplied by 2 pi / lead:

    b x'' = -f - k |f| sgn x' - F_train(u) - c_train u' - F_magnetic(x'),        u = x - x_drive

f is the external force on the head along the probe (f < 0 pushes it in), b the inertance of probe and damper between
head and base. The screw's friction is a force k |f| against the motion, whichever way power flows through the screw.
"""

from math import copysign, fabs, pi

from components.core.field import Group, private
from components.core.kernel import kernel
from components.core.table import interpolate, slope


def load() -> Group:
    """Return the group `axial_load`: what acts on the nut at the middle of a micro-step."""
    return Group(
        "axial_load",
        private("head_force", "N", "on the head along the probe; < 0 pushes it in"),
        private("head_damping", "kg", "-d(head_force) / d(rate of the head) times the micro-step"),
        private("extra_force", "N", "of lever rollers and bent probe; > 0 shortens the probe"),
        private("extra_damping", "kg", "-d(extra_force) / d(rate of the probe) times the micro-step"),
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


@kernel
def train(p, slip, spring, u):
    """Return (force in N, brake slip in m, spring deflection in m) of the train driven to the twist `u` (m).

    The train is a series of elastic gears, spring mechanism with friction, and friction brake. Return mapping of
    spec/06 section 5.2 (equal to the shifted tables of spec/03 section 5) from the memory (`slip`, `spring`) of the
    last call. The spring yields between its stops only towards compression; unloading it gives back the fraction
    `spring_return` of its force.
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
    """Return the work in J that winds the spring mechanism from rest to the deflection `spring`, friction included."""
    rate = (p.spring_end - p.spring_preload) / p.spring_stroke
    return (p.spring_preload + 0.5 * rate * spring) * spring


@kernel
def stored_energy(p, force, spring):
    """Return the energy that the train gives back, J: of the elastic gears, and of the spring what friction leaves."""
    return 0.5 * force * force / p.train_stiffness + p.spring_return * spring_work(p, spring)


@kernel
def train_loss(p, force, slip_before, spring_before, slip, spring):
    """Return the energy in J lost by slip of the brake and friction of the spring between two calls of `train`."""
    loss = force * (slip - slip_before)
    if spring > spring_before:
        loss += (1.0 - p.spring_return) * (spring_work(p, spring) - spring_work(p, spring_before))
    return loss


@kernel
def magnetic(p, rate):
    """Return the force (N) of both magnetic brakes against the rate (S 6.1.5), and its derivative (N s/m).

    Beyond the table the force holds.
    """
    speed = fabs(rate)
    return (
        copysign(interpolate(speed, p.magnetic_rate, p.magnetic_force), rate),
        slope(speed, p.magnetic_rate, p.magnetic_force),
    )


@kernel
def _solve(p, a, load, h):
    """Return what `advance` needs, with arguments as it has; changes nothing.

    (rate after the micro-step, rate without friction of the screw, inertia, elastic force, slip, spring, brake force,
    its derivative).
    """
    rate = a.rate
    elastic, slip, spring = train(p, a.slip, a.spring, a.travel + 0.5 * h * rate - load.drive_travel)
    brake, brake_slope = magnetic(p, rate)
    inertia = p.inertance + load.head_damping + load.extra_damping + 0.5 * h * (p.train_damping + brake_slope)
    force = load.extra_force - load.head_force - elastic - p.train_damping * (rate - load.drive_rate) - brake
    free = rate + h * force / inertia
    friction_limit = h * p.screw_friction * fabs(load.head_force) / inertia
    end = copysign(max(fabs(free) - friction_limit, 0.0), free)
    return end, free, inertia, elastic, slip, spring, brake, brake_slope


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
    end, free, inertia, elastic, slip, spring, brake, brake_slope = _solve(p, a, load, h)
    a.dissipated_train += train_loss(p, elastic, a.slip, a.spring, slip, spring)
    a.slip = slip
    a.spring = spring
    a.rate = end
    step = 0.5 * h * (rate + a.rate)
    a.travel += step
    mean = 0.5 * (rate + a.rate)
    a.train_force = elastic + p.train_damping * (mean - load.drive_rate)
    a.dissipated_train += h * p.train_damping * (mean - load.drive_rate) * (mean - load.drive_rate)
    a.dissipated_magnetic += step * (brake + 0.5 * brake_slope * (a.rate - rate))
    a.dissipated_screw += step * inertia * (free - a.rate) / h
    return load.head_force + load.head_damping * (a.rate - rate) / h
