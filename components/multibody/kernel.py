"""`initialize` and `step` of a multibody system."""

from __future__ import annotations

from dockfmu.components.core import timing
from dockfmu.components.core.component import fail
from dockfmu.components.core.inlining import pasted
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import AFFINE
from dockfmu.components.multibody import (
    assembly,
    checks,
    closure,
    drives,
    elastic_sections,
    exchange,
    failures,
    forces,
    impulse_response,
    locks,
    outcomes,
    outputs,
    point_forces,
    port_response,
    start,
    stepping,
)
from dockfmu.components.multibody.contacts import accounts, detection, sensors
from dockfmu.components.multibody.contacts import forces as contact_forces
from dockfmu.components.multibody.groups import groups_of
from dockfmu.components.physics.devices import micro_steps
from dockfmu.components.physics.mechanics.vector import store
from dockfmu.components.physics.tree import elastic_bodies, links, momentum
from dockfmu.components.physics.tree.articulated import passed_wrench


@kernel
def _finish(g, tau, t, h):
    """Evaluate the state at the end of a step h, `tau` after its start, and set all outputs; h = 0 at the start."""
    base, target, link, run, touch = g.base, g.target, g.link, g.run, g.touch
    run.now = t
    stepping.follow_motions(link, g.coordinate, g.law, run, t)
    stepping.predict(link, 0.0)
    stepping.place_base(g, tau)
    detection.place_target(target, run, tau)
    stepping.evaluate(g, 0.0)
    links.move(link)
    force, torque = passed_wrench(link[0])
    store(force, run.force)
    store(torque, run.torque)
    if run.carried != 0.0:
        if h > 0.0:
            exchange.finish(link, run, h)
        exchange.remember(link, run)
    if run.carried != 0.0 or run.has_target != 0.0:
        exchange.account_angular_momentum(base, target, link, run, h)
    closure.publish(link, g.cut, g.row, run)
    outputs.publish_joints(link, g.coordinate, g.rotation, run)
    outputs.publish_bodies(link, g.body, run)
    outputs.publish_ports(link, g.port, g.gravity, run, h)
    if run.affine_ports > 0.0:
        port_response.finish(g.port, run, g.audit, h)
    accounts.publish(touch.pair, touch.contact, touch.kind, touch.tally, run)
    accounts.publish_target(target, run, h)
    point_forces.show_springs(link, g.spring, g.strength, run)
    springs = forces.stored_energy(g)
    stored = springs + touch.sums.stored_energy
    if run.elastic > 0.0:
        stored += elastic_bodies.strain_energy(link, g.solver.flex, run)
    moving = drives.kinetic_energy(g.drive, g.drive_law, run)
    outputs.publish_audit(g.audit, g.gravity, link, moving, springs, stored, forces.lost_in_loops(g.loop, run), run)


@kernel
def _advance(g, p, clock, t, h):
    """Make all micro-steps of a step h, until one fails."""
    link, touch, run = g.link, g.touch, g.run
    run.failure = 0.0
    run.now = t
    run.short = p.micro_step
    forces.account_parameters(g)
    stepping.place_base(g, 0.0)
    exchange.begin(run)
    point_forces.hold_ports(g.port, run, h)
    if run.affine != 0.0 or run.struck != 0.0:
        impulse_response.jolt(g)
    if run.affine_ports > 0.0:
        port_response.hold(g.port, run, h)
    accounts.begin_step(touch.contact, touch.load, run)
    if run.locks > 0.0:
        locks.command(g)
    # inputs may have jumped: predict with the accelerations that they cause
    stepping.predict(link, 0.0)
    stepping.place_base(g, 0.0)
    detection.place_target(g.target, run, 0.0)
    stepping.evaluate(g, 0.0)
    if run.free_root != 0.0:
        # a state that was restored has no velocities of links
        links.move(link)
        momentum.keep(link, run)
    done = 0.0
    left = 1
    while left > 0:
        left = timing.micro_steps(h - done, clock.micro_step)
        size = (h - done) / left
        locks.keep_coordinates(link, g.lock, run)
        stepping.micro_step(g, done, t + done, size)
        done += size
        if run.conditions > 0.0:
            sensors.read(link, g.coordinate, touch.surface, touch.tally, g.sensor, g.level, run)
            sensors.command(g.sensor, g.condition, g.lock, run)
        if run.locks > 0.0:
            locks.catch(g, done)
        until = min(locks.time_to_catch(link, g.lock, run), point_forces.time_to_pull(g.spring, g.strength, run, size))
        if run.pairs > 0.0:
            # half a micro-step has passed since the pairs were detected
            until = min(until, max(detection.time_to_contact(touch.surface, touch.pair, run) - 0.5 * size, 0.0))
        stepping.choose_next(p, clock, link, g.coordinate, g.law, run, until, size)
        left = 0 if run.failure != 0.0 else left - 1


@pasted
def _publish(m, g, h):
    """Set the outputs of elastic bodies, base, sensors and outcome at the end of a step h; h = 0 at the start."""
    run = m.run
    if run.elastic > 0.0:
        elastic_bodies.publish(g.link, m.elastic[:], g.solver.flex, m.deflection[:], m.modal[:], run)
        sections = (m.section[:], m.flex.section[:], m.flex.section_node[:], m.flex.section_mode[:])
        elastic_sections.publish(g.link, sections, g.solver.flex, run)
    m.closure.rank = run.rank
    m.closure.freedoms = run.freedoms
    outputs.publish_base(g.base, g.link, run, h)
    if run.affine != 0.0:
        impulse_response.set_affine_mass(g, h)
    sensors.read(g.link, g.coordinate, g.touch.surface, g.touch.tally, g.sensor, g.level, run)
    outcomes.decide(m.outcome, m.result[:], m.requirement[:], g.sensor, g.lock, run)


@pasted
def _begin(m, g):
    """Set the laws and the state of the start, and close and settle the system. Returns 0, or the code of a failure."""
    p = m.parameters
    run = m.run
    start.clear(run, m.start_time)
    port_response.start(g.port, p.port[:], run)
    run.affine = 1.0 if run.carried != 0.0 and p.base_motion == AFFINE else 0.0
    accounts.clear(g.touch.pair, g.touch.contact, run)
    contact_forces.set_laws(g.touch.kind, p.contact[:], g.touch.pair, run)
    locks.start(g.link, g.lock, run)
    m.stepping.jerk = 0.0
    micro_steps.restart(p.stepping, m.stepping)
    stepping.follow_motions(g.link, g.coordinate, g.law, run, m.start_time)
    code = assembly.assemble(g, m.status)
    if code == 0 and run.elastic > 0.0:
        code = assembly.settle(g, m.status)
    if code:
        return code
    drives.start(g.link, g.drive, g.drive_law, run)
    code, place = forces.start_loops(g.link, g.coordinate, g.law, g.loop, run)
    if code:
        return fail(m.status, failures.HYSTERESIS + code, 0.0, place)
    return 0


@kernel
def initialize(m):
    """Set the system to its initial state. Returns 0, or the code of a failure."""
    p = m.parameters
    g = groups_of(m)
    code = checks.check_inputs(g, p.base_motion, m.status)
    if code == 0:
        code = checks.check_ports(p.port[:], m.run, m.status)
    if code == 0:
        code = checks.check_masses(p.body[:], m.status)
    if code == 0:
        code = checks.check_laws(g.law, m.run, m.status)
    if code:
        return code
    start.place_points(g, p.joint[:], p.port[:], p.surface[:])
    outline = detection.set_faces(g.touch.surface, p.vertex[:], g.touch.face, g.touch.pair, m.run)
    if outline:
        return fail(m.status, failures.OUTLINE, 0.0, outline)
    start.set_masses(g.link, g.body, p.body[:])
    code = start.set_state(g, p.rotation[:], m.status)
    if code == 0:
        code = _begin(m, g)
    if code:
        return code
    _finish(g, 0.0, m.start_time, 0.0)
    _publish(m, g, 0.0)
    code = checks.check_joints(g.link, g.coordinate, g.rotation, m.run, m.status)
    if code == 0:
        code = checks.check_springs(g.spring, g.strength, m.run, m.status)
    if code == 0:
        code = checks.check_motion(g.link, m.run, m.status)
    if code == 0:
        m.status.code = 0.0
    return code


@kernel
def step(m, t, h):
    """Advance the system from t by h > 0, s. Returns 0, or the code of a failure."""
    p = m.parameters
    g = groups_of(m)
    code = checks.check_inputs(g, p.base_motion, m.status)
    if code == 0:
        code = checks.check_laws(g.law, m.run, m.status)
    if code:
        return code
    _advance(g, p.stepping, m.stepping, t, h)
    _finish(g, h, t + h, h)
    _publish(m, g, h)
    code = checks.check_motion(g.link, m.run, m.status)
    if code == 0:
        m.status.code = 0.0
    return code
