"""Retraction device: three cables on drums with cams, self-locking gears, one drive.

Theory: source 7.5, peripheral-docking section 7.

Drive -> flexible shafts -> power gears -> gear cam -> intermediate cam -> main cam -> drum -> cable. Cam angles grow as
cable is paid out. A spreading spring between the cams keeps a small tension in a slack cable; when the cams are
stacked, the cable is taut. The tension of a cable twists its flexible shaft and so shifts the gear cam: the shaft is in
series with the cable (erratum E-P10). Names: p = parameters.cables, c = cable, x = hexapod.
"""

from __future__ import annotations

from math import cos, pi, sin

from dockfmu.components.core.field import BOOLEAN, Group, output, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import apply, load_matrix
from dockfmu.components.physics.mechanics.vector import accumulate, cross, dot, load, norm, scale, store, subtract
from dockfmu.components.physics.ring_on_legs import platform

CABLES = 3


def parameters() -> Group:
    """Return the group `cables`; the start values are set PM-1 (peripheral-docking section 11.4)."""
    return Group(
        "cables",
        parameter(
            "ring_radius",
            "m",
            "radius of the attachments on the ring, at the azimuths of the pairs",
            0.58,
            minimum=1e-3,
        ),
        parameter("base_radius", "m", "radius of the points where the cables leave their drums", 0.58, minimum=1e-3),
        parameter("retracted_length", "m", "free length of a cable at the retracted position", 0.23908, minimum=0.0),
        parameter("stiffness", "N/m", "stiffness of one cable", 1e6, minimum=1.0),
        parameter("damping", "N.s/m", "damping of one cable", 2e3, minimum=0.0),
        parameter("spring_tension", "N", "tension of the spreading spring, in each cable", 10.0, minimum=0.0),
        parameter("drum_radius", "m", "radius of the drums", 0.07, minimum=1e-6),
        parameter("cam_angle", "rad", "angular size of each cam", pi / 12.0, minimum=0.0),
        parameter(
            "shaft_compliance", "rad/(N.m)", "compliance of one flexible shaft, reduced to its drum", 0.0, minimum=0.0
        ),
        description="cables, drums and cams of the retraction device",
    )


def outputs() -> Group:
    """Return the group `cable`."""
    return Group(
        "cable",
        output("tension", "N", "tension of the cable"),
        output("length", "m", "length from the drum to the ring"),
        output("joined", "1", "the cams are stacked: the cable is taut", type=BOOLEAN),
        output("drum_angle", "rad", "angle of the drum cam, 0 at the retracted position, grows as cable is paid out"),
        output("gear_angle", "rad", "angle of the gear cam, grows as cable is paid out"),
        output("drum_rate", "rad/s", "rate of the drum"),
        private("drum_point", "m", "point where the cable leaves its drum, frame 0", shape=3),
        private("ring_point", "m", "point where the cable is attached to the ring, ring axes", shape=3),
        private("direction", "1", "unit vector drum -> ring, frame 0", shape=3),
        private("deformation", "m", "deformation of the cable; negative while it is slack"),
        private("rate", "m/s", "rate of the length"),
        private("dissipated", "J", "energy dissipated by the damping of the cable"),
        count=CABLES,
    )


@kernel
def largest_angle(p):
    """Return the gear angle at which the drive is switched off, rad (peripheral-docking 7.1, U2)."""
    return 2.0 * pi - 4.0 * p.cam_angle


@kernel
def _attachment(radius, i):
    azimuth = i * (2.0 * pi / 3.0)
    return (0.0, radius * cos(azimuth), radius * sin(azimuth))


@kernel
def initialize(p, cables):
    """Set the attachments of the cables, and set their losses to zero."""
    for i in range(CABLES):
        store(_attachment(p.base_radius, i), cables[i].drum_point)
        store(_attachment(p.ring_radius, i), cables[i].ring_point)
        cables[i].dissipated = 0.0


@kernel
def _stiffness(p):
    """Return the stiffness of a cable in series with its flexible shaft, N/m."""
    return 1.0 / (1.0 / p.stiffness + p.shaft_compliance * p.drum_radius * p.drum_radius)


@kernel
def place(p, x, cables, angle, rate):
    """Place the cables on a placed ring, with the gears at `angle` (rad, `rate` rad/s), and set their tensions."""
    stiffness = _stiffness(p)
    paid_out = p.retracted_length + p.drum_radius * (angle - 2.0 * p.cam_angle)
    for i in range(CABLES):
        c = cables[i]
        end, velocity = platform.point(x, load(c.ring_point))
        reach = subtract(end, load(c.drum_point))
        c.length = norm(reach)
        n = scale(1.0 / c.length, reach)
        store(n, c.direction)
        c.rate = dot(n, velocity)
        c.deformation = c.length - paid_out
        c.drum_angle = (c.length - p.retracted_length) / p.drum_radius
        c.gear_angle = angle
        c.tension = p.spring_tension
        if c.deformation > 0.0:
            c.joined = 1.0
            c.drum_rate = rate
            pull = stiffness * c.deformation + p.damping * (c.rate - rate * p.drum_radius)
            c.tension += max(0.0, pull)
        else:
            c.joined = 0.0
            c.drum_rate = c.rate / p.drum_radius


@kernel
def load_ring(x, cables):
    """Add the tensions to the wrench on the ring (7.5.7)."""
    alpha = load_matrix(x.ring.rotation)
    for i in range(CABLES):
        c = cables[i]
        force = scale(-c.tension, load(c.direction))
        accumulate(force, x.ring.force)
        accumulate(cross(load(c.ring_point), apply(alpha, force)), x.ring.torque)


@kernel
def load_base(cables, base_force, base_torque):
    """Add the tensions to the wrench on the base, which carries the drums, about O_0, frame 0."""
    for i in range(CABLES):
        c = cables[i]
        force = scale(c.tension, load(c.direction))
        accumulate(force, base_force)
        accumulate(cross(load(c.drum_point), force), base_torque)


@kernel
def total_tension(cables):
    """Return the sum of the tensions, N."""
    return cables[0].tension + cables[1].tension + cables[2].tension


@kernel
def _elastic(p, c):
    """Return (elastic force of a cable in N, its energy in J); that of the spreading spring is 0 where it gets taut."""
    if c.deformation <= 0.0:
        return 0.0, p.spring_tension * c.deformation
    force = _stiffness(p) * c.deformation
    return force, 0.5 * force * c.deformation + p.spring_tension * c.deformation


@kernel
def dissipate(p, cables, rate, h):
    """Add the losses of the cables over h at the placed position, the gears turning with `rate`."""
    for i in range(CABLES):
        c = cables[i]
        force, _ = _elastic(p, c)
        c.dissipated += h * (c.tension - p.spring_tension - force) * (c.rate - rate * p.drum_radius)


@kernel
def stored_energy(p, cables):
    """Return the energy of cables and spreading springs, J."""
    total = 0.0
    for i in range(CABLES):
        total += _elastic(p, cables[i])[1]
    return total
