"""Laws of coordinates: springs, dampers, stops, friction, hysteretic springs; the energy of all springs.

They are linearly implicit over a micro-step: a coordinate is taken at the mean of its positions at
both ends, its rate likewise. With the acceleration a of the joint these are q + h^2/4 a and q' + h/2 a, so that a
spring adds k h^2/4 to the inertia that the joint feels, a damper c h/2: the implicit midpoint rule, stable for any
step, which keeps the energy of a linear spring exactly. A hysteretic spring is linear within a micro-step: its segment
is selected where the micro-step begins.
"""

from __future__ import annotations

from math import fabs

from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import drives, failures, point_forces
from dockfmu.components.physics import hysteresis
from dockfmu.components.physics.mechanics.vector import dot, load

FAR = 1e9
"""Stop of a coordinate that has none, rad or m."""


@kernel
def stop_excess(p, q):
    """Return how far a coordinate is beyond its upper stop, or the negative of how far below its lower one; else 0."""
    if q > p.upper:
        return q - p.upper
    if q < p.lower:
        return q - p.lower
    return 0.0


@kernel
def _stops(p, q, rate, h, acceleration):
    """Return (explicit force, implicit inertia, active) of the stops at the mid-step coordinate q and start rate.

    `acceleration` predicts whether the stop pushes: it never pulls.
    """
    excess = stop_excess(p, q)
    if excess == 0.0:
        return 0.0, 0.0, False
    force = -p.stop_stiffness * excess - p.stop_damping * rate
    implicit = 0.25 * h * h * p.stop_stiffness + 0.5 * h * p.stop_damping
    if (force - implicit * acceleration) * excess > 0.0:
        return 0.0, 0.0, True
    return force, implicit, True


@kernel
def _friction(p, deflection, rate, h, acceleration):
    """Return (explicit force, implicit inertia) of Coulomb friction with an elastic presliding deflection."""
    stiffness = p.friction_stiffness
    force = -stiffness * (deflection + 0.5 * h * rate)
    implicit = 0.25 * h * h * stiffness
    predicted = force - implicit * acceleration
    if predicted > p.friction:
        return p.friction, 0.0
    if predicted < -p.friction:
        return -p.friction, 0.0
    return force, implicit


@kernel
def start_loops(link, coordinate, law, loop, run):
    """Set the laws of hysteretic springs and their memory at the start. Returns (0, or its code; coordinate)."""
    for i in range(int(run.loops)):
        o = loop[i]
        k = int(o.coordinate)
        p = law[k]
        lost = p.hysteresis_loss
        largest = hysteresis.largest_loss(p.hysteresis_common, p.hysteresis_ratio)
        hysteresis.elastic_loop(
            o.law,
            p.hysteresis_stiffness,
            p.hysteresis_range,
            p.hysteresis_play,
            p.hysteresis_common,
            min(lost, largest),
            p.hysteresis_ratio,
        )
        code = hysteresis.validate(o.law)
        if code != 0:
            return code, k + 1
        hysteresis.reset(o.law, o.memory)
        b = link[int(coordinate[k].link)]
        hysteresis.update(o.law, o.memory, b.q - p.hysteresis_rest, b.rate, 1.0)
        # a spring that is deformed at the start has lost nothing yet
        o.memory.dissipated_energy = 0.0
    return 0, 0


@kernel
def select_segments(link, coordinate, law, loop, run):
    """Select the segments of all hysteretic springs at the start of a micro-step."""
    for i in range(int(run.loops)):
        o = loop[i]
        k = int(o.coordinate)
        b = link[int(coordinate[k].link)]
        before = o.memory.state
        hysteresis.update(o.law, o.memory, b.q - law[k].hysteresis_rest, b.rate, 1.0)
        if o.memory.state != before:
            run.restart = 1.0


@kernel
def drive_coordinates(g, h):
    """Set drives and armatures of all coordinates for a micro-step h, placed in its middle.

    With h = 0 they are those of the present state.
    """
    link, coordinate, law, loop, run = g.link, g.coordinate, g.law, g.loop, g.run
    for k in range(int(run.coordinates)):
        c = coordinate[k]
        p = law[k]
        b = link[int(c.link)]
        drive = c.drive
        armature = 0.0
        if p.has_law != 0.0:
            rate = b.last_rate
            drive += p.preload - p.stiffness * (b.q - p.rest) - p.damping * rate
            armature = 0.25 * h * h * p.stiffness + 0.5 * h * p.damping
            force, inertia, _ = _stops(p, b.q, rate, h, b.predicted)
            drive += force
            armature += inertia
            if p.friction > 0.0:
                force, inertia = _friction(p, c.deflection, rate, h, b.predicted)
                drive += force
                armature += inertia
        b.drive = drive
        b.armature = armature
    for i in range(int(run.loops)):
        o = loop[i]
        k = int(o.coordinate)
        b = link[int(coordinate[k].link)]
        b.drive -= hysteresis.reaction(o.memory, b.q - law[k].hysteresis_rest)
        b.armature += 0.25 * h * h * o.memory.stiffness
    if run.drive_count > 0.0:
        drives.drive(link, g.drive, g.drive_law, run, h)


@kernel
def account_coordinates(g, h):
    """Add up work and losses of the laws over a micro-step, after the kick, and advance the friction.

    `b.q` is still the coordinate in the middle, as for `drive_coordinates`; `b.qdd` the acceleration of the step.
    """
    link, coordinate, law, loop, run = g.link, g.coordinate, g.law, g.loop, g.run
    for k in range(int(run.coordinates)):
        c = coordinate[k]
        p = law[k]
        b = link[int(c.link)]
        mean = 0.5 * (b.last_rate + b.rate)
        moved = h * mean
        run.drives += c.drive * moved
        c.holding = 0.0
        if b.held != 0.0:
            c.holding = -b.load
            run.motions -= b.load * moved
        c.force = 0.0
        if p.has_law == 0.0:
            continue
        acceleration = (b.rate - b.last_rate) / h
        q = b.q + 0.25 * h * h * acceleration
        spring = p.preload - p.stiffness * (q - p.rest)
        damper = -p.damping * mean
        run.dampers -= damper * moved
        # the predicted acceleration decided on the branch: the force that acted follows from it with the actual one
        explicit, inertia, active = _stops(p, b.q, b.last_rate, h, b.predicted)
        stop = explicit - inertia * acceleration
        excess = stop_excess(p, b.q)
        if active:
            if fabs(excess) > p.stop_limit:
                failures.note(run, failures.STOP_LIMIT, k + 1.0, excess)
            run.stops -= (stop + p.stop_stiffness * (excess + q - b.q)) * moved
        if active != (c.stopped != 0.0):
            c.stopped = 1.0 if active else 0.0
            run.restart = 1.0
        friction = 0.0
        if p.friction > 0.0:
            explicit, inertia = _friction(p, c.deflection, b.last_rate, h, b.predicted)
            friction = explicit - inertia * acceleration
            before = c.deflection
            limit = p.friction / p.friction_stiffness
            c.deflection = min(max(before + moved, -limit), limit)
            change = 0.5 * p.friction_stiffness * (c.deflection * c.deflection - before * before)
            run.friction -= friction * moved + change
        c.force = spring + damper + stop + friction
    for i in range(int(run.loops)):
        o = loop[i]
        k = int(o.coordinate)
        b = link[int(coordinate[k].link)]
        q = b.q + 0.25 * h * (b.rate - b.last_rate)
        coordinate[k].force -= hysteresis.reaction(o.memory, q - law[k].hysteresis_rest)
    if run.drive_count > 0.0:
        drives.account(link, g.drive, g.drive_law, run, h)


@kernel
def lost_in_loops(loop, run):
    """Return what hysteresis has lost so far, J."""
    lost = 0.0
    for i in range(int(run.loops)):
        lost += loop[i].memory.dissipated_energy
    return lost


@kernel
def stored_energy(g):
    """Return the energy of all springs, stops, frictions, gears, and of the preloads, J.

    It needs the coordinates and what springs show, no placed link: states that are saved have none.
    """
    link, coordinate, law, loop, run = g.link, g.coordinate, g.law, g.loop, g.run
    energy = drives.stored_energy(link, g.drive, g.drive_law, run)
    for i in range(int(run.loops)):
        o = loop[i]
        k = int(o.coordinate)
        x = link[int(coordinate[k].link)].q - law[k].hysteresis_rest
        work = 0.5 * (o.memory.reaction + hysteresis.reaction(o.memory, x)) * (x - o.memory.deformation)
        energy += o.memory.stored_energy + work
    for k in range(int(run.coordinates)):
        c = coordinate[k]
        p = law[k]
        q = link[int(c.link)].q
        if p.has_law != 0.0:
            excess = stop_excess(p, q)
            stretch = q - p.rest
            energy += 0.5 * p.stiffness * stretch * stretch - p.preload * q
            energy += 0.5 * p.stop_stiffness * excess * excess
            energy += 0.5 * p.friction_stiffness * c.deflection * c.deflection
    return energy + point_forces.energy_of_springs(g.spring, g.strength, run)


@kernel
def account_parameters(g):
    """Add what parameters that have changed since the last step have done to the energy of springs and in the field."""
    run = g.run
    run.tuned += stored_energy(g) - dot(load(g.gravity), load(run.end_height)) - run.end_potential


@kernel
def time_to_stop(link, coordinate, law, run):
    """Return the time until the first coordinate reaches a stop at its present rate, s; 1e9 if none does."""
    least = 1e9
    for k in range(int(run.coordinates)):
        p = law[k]
        if p.has_law == 0.0 or p.stop_stiffness == 0.0:
            continue
        b = link[int(coordinate[k].link)]
        if b.rate > 0.0 and b.q < p.upper:
            least = min(least, (p.upper - b.q) / b.rate)
        elif b.rate < 0.0 and b.q > p.lower:
            least = min(least, (p.lower - b.q) / b.rate)
    return least
