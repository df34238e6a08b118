"""Outputs of a multibody system at a communication point, and its energy and momentum."""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import point_forces
from dockfmu.components.physics.mechanics.rotation import (
    advance,
    apply,
    apply_transposed,
    compose,
    conjugate,
    continued,
    from_quaternion,
    load_attitude,
    load_matrix,
    load_quaternion,
    quaternion,
    store_quaternion,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import ZERO, add, cross, dot, load, scale, store, subtract
from dockfmu.components.physics.tree import momentum
from dockfmu.components.physics.tree.links import FREE


@kernel
def publish_joints(link, coordinate, turning, run):
    """Set the outputs of the joints."""
    for k in range(int(run.coordinates)):
        c = coordinate[k]
        b = link[int(c.link)]
        c.position = b.q
        c.rate = b.rate
        c.acceleration = b.qdd
        c.holding = -b.load if b.held != 0.0 else 0.0
    for k in range(int(run.rotations)):
        r = turning[k]
        b = link[int(r.link)]
        q = load_quaternion(b.quaternion)
        spin = load(b.spin)
        place = load(b.place)
        speed = load(b.speed)
        if r.reversed != 0.0:
            # the outer body is the predecessor
            A = from_quaternion(q)
            if b.kind == FREE:
                # position of the inner origin in the axes of the outer body, and its rate there
                moved = apply(A, place)
                speed = subtract(cross(spin, moved), apply(A, speed))
                place = (-moved[0], -moved[1], -moved[2])
            spin = scale(-1.0, apply_transposed(A, spin))
            q = conjugate(q)
        store_quaternion(continued(q, load_quaternion(r.quaternion)), r.quaternion)
        store(spin, r.angular_velocity)
        store(place, r.position)
        store(speed, r.velocity)


@kernel
def publish_bodies(link, body, run):
    """Set the poses and twists of all bodies."""
    for k in range(len(body)):
        o = body[k]
        b = link[int(o.link)]
        A = load_matrix(b.rotation)
        axes = load_matrix(o.axes)
        own = compose(transpose(axes), A)
        w = load(b.angular_velocity)
        arm = scale(-1.0, apply_transposed(own, load(o.reference)))
        store(add(add(load(run.base_position), load(b.position)), arm), o.position)
        store_quaternion(continued(quaternion(own), load_quaternion(o.quaternion)), o.quaternion)
        v = add(add(load(run.base_velocity), load(b.velocity)), cross(w, arm))
        store(apply(own, v), o.velocity)
        store(apply(own, w), o.angular_velocity)


@kernel
def publish_ports(link, port, gravity, run, h):
    """Set pose, twist and acceleration of the ports: the mean acceleration over a step h, the present one for h = 0."""
    for k in range(int(run.ports)):
        p = port[k]
        b = link[int(p.link)]
        A = compose(load_matrix(p.turn), load_matrix(b.rotation))
        r, relative = point_forces.point_twist(b, p.arm)
        v = add(load(run.base_velocity), relative)
        w = load(b.angular_velocity)
        store(add(add(load(run.base_position), load(b.position)), r), p.position)
        store_quaternion(continued(quaternion(A), load_quaternion(p.quaternion)), p.quaternion)
        store(apply(A, v), p.velocity)
        store(apply(A, w), p.angular_velocity)
        if h > 0.0:
            a = scale(1.0 / h, subtract(v, load(p.last_velocity)))
            e = scale(1.0 / h, subtract(w, load(p.last_spin)))
        else:
            e = load(b.angular_acceleration)
            a = add(load(b.acceleration), add(cross(e, r), cross(w, cross(w, r))))
            a = add(a, load(gravity))
        store(apply(A, a), p.acceleration)
        store(apply(A, e), p.angular_acceleration)
        store(v, p.last_velocity)
        store(w, p.last_spin)


@kernel
def publish_audit(audit, gravity, link, moving, springs, stored, loops_lost, run):
    """Set energies, works and momenta; the links must be placed with their velocities.

    `moving` is the kinetic energy of rotors, `springs` the energy of springs, `stored` that of contacts and elastic
    bodies too, `loops_lost` what hysteresis has lost.
    """
    kinetic, linear, angular, moment = momentum.momenta(link, load(run.base_velocity), ZERO)
    mass = momentum.total_mass(link)
    audit.kinetic_energy = kinetic + moving
    height = add(moment, scale(mass, load(run.base_position)))
    weight = dot(load(gravity), height)
    audit.stored_energy = stored - weight
    store(height, run.end_height)
    run.end_potential = springs - weight
    audit.dissipated_dampers = run.dampers
    audit.dissipated_stops = run.stops
    audit.dissipated_friction = run.friction
    audit.dissipated_springs = run.springs_lost
    audit.dissipated_locks = run.locks_lost
    audit.dissipated_contacts = run.contacts_lost
    audit.dissipated_hysteresis = loops_lost
    audit.dissipated_motors = run.motors_lost
    lost = run.dampers + run.stops + run.friction + run.springs_lost + run.locks_lost + run.contacts_lost
    lost += loops_lost + run.motors_lost
    audit.dissipated_energy = lost
    audit.work_drives = run.drives
    audit.work_motors = run.motors
    audit.work_motions = run.motions
    audit.work_ports = run.ports_work
    audit.work_base = run.base_work
    audit.work_target = run.work_target
    audit.work_parameters = run.tuned
    audit.work_response = run.response_work
    audit.loss_response = run.response_loss
    store(load(run.response_momentum), audit.momentum_response)
    store(linear, audit.momentum)
    turning = add(angular, cross(load(run.base_position), linear))
    store(subtract(turning, load(run.apart)), audit.angular_momentum)


@kernel
def publish_base(base, link, run, h):
    """Set the wrenches on the base: means over a step h, from the impulses, and those at its end."""
    A = load_matrix(link[0].rotation)
    store(apply(A, load(run.force)), base.force_now)
    store(apply(A, load(run.torque)), base.torque_now)
    if h == 0.0:
        store(load(base.force_now), base.force)
        store(load(base.torque_now), base.torque)
        return
    # the craft applies the mean in its axes in the middle of the step
    q = load_attitude(base.quaternion)
    w = load(base.angular_velocity)
    e = load(base.angular_acceleration)
    turn = (
        0.5 * h * (w[0] + 0.25 * h * e[0]),
        0.5 * h * (w[1] + 0.25 * h * e[1]),
        0.5 * h * (w[2] + 0.25 * h * e[2]),
    )
    middle = from_quaternion(advance(q, turn))
    store(apply(middle, scale(1.0 / h, load(run.impulse))), base.force)
    store(apply(middle, scale(1.0 / h, load(run.angular_impulse))), base.torque)
