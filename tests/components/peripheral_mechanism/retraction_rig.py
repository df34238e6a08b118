"""A craft of 5 t that the retraction device draws to a fixed ring: T27 of peripheral-docking, with massless legs.

The craft is integrated here, semi-implicitly; legs, accumulators, cables and drive are the product's kernels.
"""

import numpy as np

from dockfmu.base.compiler import jit
from dockfmu.components.peripheral_mechanism import accumulator, component
from dockfmu.components.physics.devices import drive
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics.rotation import (
    advance,
    apply,
    apply_transposed,
    from_quaternion,
    from_rotation_vector,
    store_matrix,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import ZERO, add, cross, load, scale, store, subtract
from dockfmu.components.physics.ring_on_legs import platform, retraction

# columns of one row of the history
TIME, HEIGHT, TILT, RATE, TENSION, JOINED, LENGTH = 0, 1, 2, 3, slice(4, 7), slice(7, 10), slice(10, 13)


@jit
def place(m, position, attitude, velocity, spin):
    """Place the ring as the craft sees it: attitude frame 0 -> space is the transpose of that of the craft."""
    A = from_quaternion(attitude)  # space -> frame 0
    x = m.hexapod
    store(apply(A, subtract(ZERO, position)), x.ring.position)
    store_matrix(transpose(A), x.ring.rotation)
    store(subtract(apply(A, subtract(ZERO, velocity)), cross(spin, load(x.ring.position))), x.ring.velocity)
    store(apply_transposed(A, subtract(ZERO, spin)), x.ring.angular_velocity)
    return hexapod.follow(x)


@jit
def draw(m, q0, r0, volts, h, steps, every, out):
    """Run `steps` of h; returns how many rows of `out` were filled when the ring was drawn in."""
    p, x = m.parameters, m.hexapod
    attitude, spin, velocity = q0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    arm = (-2.5, 0.0, 0.0)
    position = r0  # of O_0 from the ring's centre, in space
    place(m, position, attitude, velocity, spin)
    for k in range(6):
        e = m.accumulator[k]
        accumulator.initialize(p.accumulators, e, p.legs.stroke - platform.effective_stroke(x.strut[k]))
        x.strut[k].mass[:] = 0.0
        x.strut[k].axial[:] = 0.0
        x.strut[k].transverse[:] = 0.0
        x.strut[k].nut_inertia = 0.0
    rows = 0
    for i in range(steps):
        place(m, position, attitude, velocity, spin)
        store(ZERO, x.ring.force)
        store(ZERO, x.ring.torque)
        accumulator.drive_legs(p, x, m.ring_state, m.accumulator, m.command.recoil_lock, h, h)
        angle = p.initial_gear_angle - m.motor.angle / p.drive.nut_ratio
        retraction.place(p.cables, x, m.cable, angle, -m.motor.rate / p.drive.nut_ratio)
        retraction.load_ring(x, m.cable)
        hexapod.accelerate(x, ZERO, ZERO, ZERO)
        # massless legs: what they do to the ring, they do to the craft in reverse
        force = (-x.force[0], -x.force[1], -x.force[2])
        turn = apply_transposed(transpose(from_quaternion(attitude)), (x.force[3], x.force[4], x.force[5]))
        torque = subtract(subtract(ZERO, turn), cross(load(x.ring.position), (x.force[0], x.force[1], x.force[2])))
        if x.ring.position[0] - 0.23908 < 0.02:
            force = add(force, (-1500.0, 0.0, 0.0))
        A = from_quaternion(attitude)
        about = add(torque, cross(scale(-1.0, arm), force))
        momentum = (4e3 * spin[0], 1.2e4 * spin[1], 1.2e4 * spin[2])
        about = subtract(about, cross(spin, momentum))
        spin = add(spin, scale(h, (about[0] / 4e3, about[1] / 1.2e4, about[2] / 1.2e4)))
        acceleration = apply_transposed(A, scale(1.0 / 5000.0, force))
        centre = add(position, apply_transposed(A, arm))
        moving = add(velocity, apply_transposed(A, cross(spin, arm))) if i > 0 else velocity
        moving = add(moving, scale(h, acceleration))
        centre = add(centre, scale(h, moving))
        attitude = advance(attitude, scale(h, spin))
        B = from_quaternion(attitude)
        position = subtract(centre, apply_transposed(B, arm))
        velocity = subtract(moving, apply_transposed(B, cross(spin, arm)))
        total = p.cables.drum_radius * retraction.total_tension(m.cable)
        drive.advance(p.drive, m.motor, volts, -total, h)
        if i % every == 0:
            out[rows, 0] = i * h
            out[rows, 1] = x.ring.position[0]
            out[rows, 2] = np.degrees(np.arccos(min(1.0, x.ring.rotation[0, 0])))
            out[rows, 3] = -m.motor.rate
            longest = -1.0
            for c in range(3):
                out[rows, 4 + c] = m.cable[c].tension
                out[rows, 7 + c] = m.cable[c].joined
                out[rows, 10 + c] = m.cable[c].length
            for k in range(6):
                longest = max(longest, x.strut[k].stroke)
            rows += 1
            if longest < 1e-3:
                return rows
    return rows


def retract(tilt, offset=(0.05, 0.02), height=0.545, h=1e-3, stop=600.0, every=100, **parameters):
    """History of a retraction, rows as the columns named above; `tilt` is the rotation vector of the ring, degrees."""
    c = component("external")
    m = c.record.view(c.start(**parameters))
    drive.initialize(m.parameters.drive, m.motor)
    platform.initialize(m.parameters, m.hexapod, m.ring_state, 0.14)
    retraction.initialize(m.parameters.cables, m.cable)
    m.hexapod.ring.mass, m.hexapod.ring.principal = 1.0, np.eye(3)
    turn = tuple(np.radians(tilt))
    ring = from_rotation_vector(turn)  # frame 0 -> ring
    craft = (ring[0], -ring[1], -ring[2], -ring[3])  # ring, fixed in space, -> frame 0
    r0 = tuple(-np.array(from_quaternion(ring)) @ np.array([height, *offset]))
    out = np.zeros((int(stop / h) // every + 1, 13))
    rows = draw(m, craft, r0, (27.0, 27.0), h, int(stop / h), every, out)
    return out[:rows]
