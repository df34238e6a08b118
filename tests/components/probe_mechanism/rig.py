"""Two free rigid bodies coupled through the probe mechanism, in one compiled loop: the smallest docking.

The bodies conserve momentum to rounding: each applies the mean wrench it gets in the port axes and at the port origin
of the middle of the step, and integrates its angular momentum in I.
"""

from __future__ import annotations

from math import radians

import numpy as np

from dockfmu.components.core.field import private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.record import Record
from dockfmu.components.physics.mechanics.rotation import (
    advance,
    apply,
    apply_transposed,
    from_angles,
    from_quaternion,
    load_quaternion,
    quaternion,
    store_quaternion,
)
from dockfmu.components.physics.mechanics.vector import add, cross, dot, load, scale, store, subtract
from dockfmu.components.probe_cyclogram import component as cyclogram
from dockfmu.components.probe_cyclogram.kernel import step as decide
from dockfmu.components.probe_mechanism import component
from dockfmu.components.probe_mechanism.kernel import initialize, step

CRAFT = Record(
    private("mass", "kg", ""),
    private("inertia", "kg.m2", "principal", shape=3),
    private("port", "m", "from the centre of mass; axes as the craft's", shape=3),
    private("position", "m", "I", shape=3),
    private("velocity", "m/s", "I", shape=3),
    private("quaternion", "1", "I -> craft", (1.0, 0.0, 0.0, 0.0), shape=4),
    private("spin", "N.m.s", "angular momentum about the centre of mass, I", shape=3),
    private("acceleration", "m/s2", "of the centre of mass, I, in the last step", shape=3),
    private("angular_acceleration", "rad/s2", "craft axes, in the last step", shape=3),
    private("thrust", "N", "at the centre of mass along x of the craft"),
    private("work", "J", "done by thrust"),
)


@kernel
def rate(c, A):
    spin = apply(A, load(c.spin))
    return (spin[0] / c.inertia[0], spin[1] / c.inertia[1], spin[2] / c.inertia[2])


@kernel
def put_port(c, port):
    A = from_quaternion(load_quaternion(c.quaternion))
    w = rate(c, A)
    arm = load(c.port)
    store(add(load(c.position), apply_transposed(A, arm)), port.position)
    store_quaternion(load_quaternion(c.quaternion), port.quaternion)
    store(add(apply(A, load(c.velocity)), cross(w, arm)), port.velocity)
    store(w, port.angular_velocity)


@kernel
def put_acceleration(c, port):
    A = from_quaternion(load_quaternion(c.quaternion))
    w = rate(c, A)
    arm = load(c.port)
    e = load(c.angular_acceleration)
    a = add(cross(e, arm), cross(w, cross(w, arm)))
    store(add(apply(A, load(c.acceleration)), a), port.acceleration)
    store(e, port.angular_acceleration)


@kernel
def move(c, port, h):
    """The craft over h under the wrench `port.force`, `port.torque` and its thrust."""
    q = load_quaternion(c.quaternion)
    w = rate(c, from_quaternion(q))
    middle = from_quaternion(advance(q, scale(0.5 * h, w)))
    total = add(load(port.force), (c.thrust, 0.0, 0.0))
    acceleration = scale(1.0 / c.mass, apply_transposed(middle, total))
    torque = apply_transposed(middle, add(load(port.torque), cross(load(c.port), load(port.force))))
    store(add(load(c.spin), scale(h, torque)), c.spin)
    v = load(c.velocity)
    mean = add(v, scale(0.5 * h, acceleration))
    store(add(load(c.position), scale(h, mean)), c.position)
    store(add(v, scale(h, acceleration)), c.velocity)
    store(acceleration, c.acceleration)
    c.work += h * dot(apply_transposed(middle, (c.thrust, 0.0, 0.0)), mean)
    # the rate at the middle turns the craft: second order
    half = rate(c, middle)
    before = rate_of(c, middle, scale(-h, torque))
    turn = scale(0.5, add(half, before))
    q = advance(q, scale(h, turn))
    store_quaternion(q, c.quaternion)
    after = rate(c, from_quaternion(q))
    store(scale(1.0 / h, subtract(after, w)), c.angular_acceleration)


@kernel
def rate_of(c, A, change):
    spin = apply(A, add(load(c.spin), change))
    return (spin[0] / c.inertia[0], spin[1] / c.inertia[1], spin[2] / c.inertia[2])


@kernel
def craft_energy(c):
    w = rate(c, from_quaternion(load_quaternion(c.quaternion)))
    v = load(c.velocity)
    return 0.5 * (c.mass * dot(v, v) + c.inertia[0] * w[0] ** 2 + c.inertia[1] * w[1] ** 2 + c.inertia[2] * w[2] ** 2)


@kernel
def command(c, m, active, push, t, h):
    """The cyclogram `c` reads the sensors of `m` and gives its commands to it and to the active craft's thrusters."""
    c.sensor.extended = m.sensor.extended
    c.sensor.retracted = m.sensor.retracted
    c.sensor.first_contact = m.sensor.first_contact
    c.sensor.socket_bottom = m.sensor.socket_bottom
    c.sensor.capture = m.sensor.capture
    c.docking.plane_gap = m.docking.plane_gap
    for i in range(3):
        c.docking.angles[i] = m.docking.angles[i]
    code = decide(c, t, h)
    for s in range(2):
        m.command.motor_voltage[s] = c.command.motor_voltage[s]
    m.command.lateral_brakes = c.command.lateral_brakes
    m.command.latches_armed = c.command.latches_armed
    m.command.limiter_release = c.command.limiter_release
    active.thrust = push * c.command.push
    return code


@kernel
def run(m, active, passive, c, push, h, first, steps, every, slots, block, out):
    """`steps` steps of h from step `first` on; every `every` steps the `slots` of the mechanism go to `out`, with
    totals of momentum (3), angular momentum (3) and energy behind them. With `push` > 0 (N) the cyclogram `c` commands;
    the run ends when it does."""
    row = 0
    for k in range(first, first + steps):
        if push > 0.0:
            command(c, m, active, push, k * h, h)
            if c.finished > 0.0:
                return 0
        code = step(m, k * h, h)
        if code:
            return code
        move(active, m.base, h)
        move(passive, m.target, h)
        put_port(active, m.base)
        put_port(passive, m.target)
        put_acceleration(active, m.base)
        if (k + 1) % every == 0:
            n = len(slots)
            for i in range(n):
                out[row, i] = block[slots[i]]
            energy = m.audit.kinetic_energy + m.audit.stored_energy + m.audit.dissipated_energy
            energy += craft_energy(active) + craft_energy(passive)
            energy -= (
                m.audit.work_drive
                + m.audit.work_stiffness
                + m.audit.work_levers
                + m.audit.work_tip
                + active.work
                + passive.work
            )
            out[row, n + 6] = energy
            for i in range(3):
                out[row, n + i] = m.audit.momentum[i]
                out[row, n + 3 + i] = m.audit.angular_momentum[i]
            add_momentum(active, out[row], n)
            add_momentum(passive, out[row], n)
            row += 1
    return 0


@kernel
def add_momentum(c, out, n):
    linear = scale(c.mass, load(c.velocity))
    angular = add(load(c.spin), cross(load(c.position), linear))
    for i in range(3):
        out[n + i] += linear[i]
        out[n + 3 + i] += angular[i]


MASS_OF_MECHANISM = 43.0


class Docking:
    """An active craft with the mechanism and a passive one, both rigid and free.

    `gap`: axial distance of the head's centre from its place at first touch of the socket's bottom (m, > 0 apart);
    `miss` (y, z) m of the port; `angles` (yaw, pitch, roll) rad of the active craft; `velocity` of its centre of mass.
    """

    def __init__(
        self,
        gap=0.0,
        miss=(0.0, 0.0),
        angles=(0.0, 0.0, 0.0),
        velocity=(0.15, 0.0, 0.0),
        rate=(0.0, 0.0, 0.0),
        mass=20e3,
        inertia=(0.5e5, 1.9e5, 1.9e5),
        port=(5.0, 0.0, 0.0),
        turn=0.0,
        parameters=None,
        axial="spring_and_brake",
        limiter="fixed",
        sets=(),
    ):
        self.component = component(axial=axial, limiter=limiter)
        chosen = {entry.name: entry for entry in self.component.parameter_sets}
        self.block = self.component.start(*(chosen[name] for name in sets), **(parameters or {}))
        self.m = self.component.record.view(self.block)
        self.active, self.passive = CRAFT.memory(), CRAFT.memory()
        a, p = self.active, self.passive
        a.mass, a.inertia[:], a.port[:] = mass - MASS_OF_MECHANISM, inertia, port
        p.mass, p.inertia[:], p.port[:] = 400e3, (1.2e8, 2.0e8, 2.0e8), (-20.0, 0.0, 0.0)
        p.position[:] = 20.0, 0.0, 0.0
        A = from_angles(*angles)
        about_x = np.array(from_angles(0.0, 0.0, turn)).T
        A = np.array(A) @ about_x.T
        a.quaternion[:] = quaternion(tuple(map(tuple, A)))
        cone = self.m.probe_cone.parameters.cone
        bottom, radius = cone.x[int(cone.vertices) - 1], 0.045
        head = np.array([bottom - radius - gap, *miss])
        length = self.m.parameters.probe.bearing_distance + self.m.parameters.probe.free_length
        base = about_x @ head - A.T @ [length, 0.0, 0.0]
        a.position[:] = base - A.T @ np.array(port)
        a.velocity[:] = about_x @ velocity
        a.spin[:] = A.T @ (np.array(inertia) * rate)
        put_port(a, self.m.base)
        put_port(p, self.m.target)
        self.steps = 0
        self.cyclogram = cyclogram().record.memory()
        assert cyclogram().initialize(self.cyclogram) == 0
        code = initialize(self.m)
        assert code == 0, self.component.explain(code, self.block)

    def run(self, duration, h=1e-3, every=1, record=(), push=0.0):
        """Histories of the recorded scalars, of `t`, and of the totals `momentum`, `angular_momentum`, `energy`.

        With `push` > 0 the cyclogram commands mechanism and thrusters, and the histories end with its sequence.
        """
        steps = round(duration / h)
        slots = np.array([self.component.record.index[name] for name in record], np.int64)
        out = np.full((steps // every, len(slots) + 7), np.nan)
        c = self.cyclogram
        code = run(self.m, self.active, self.passive, c, push, h, self.steps, steps, every, slots, self.block, out)
        assert code == 0, self.component.explain(code, self.block)
        out = out[~np.isnan(out[:, -1])]
        found = {name: out[:, i] for i, name in enumerate(record)}
        n = len(slots)
        found["t"] = h * (self.steps + every * (1.0 + np.arange(len(out))))
        found["momentum"], found["angular_momentum"], found["energy"] = (
            out[:, n : n + 3],
            out[:, n + 3 : n + 6],
            out[:, n + 6],
        )
        self.steps += steps
        return found


def degrees(*angles):
    return tuple(map(radians, angles))
