"""Housing and flexible probe: the tree of five bodies of the probe mechanism, with its lateral damper.

q1, q2: housing about y and z in the U joint at O_0; q3, q4, q5: bending about y and z and torsion of the probe in a
fictitious hinge at the exit bearing (central-docking sections 2 and 5.6, source 5.3 and 6.1). A movable limiter is a
sixth body that slides on the housing: q6, see `limiter`; the state of the tree says whether there is one. The travel of
the probe is not a joint of the tree: its length L_H and rate come from the axial damper, mass data of the probe stay
those at L_H(0) (ruling R15), and axial forces on the head pass to the base.

A micro-step of length h, of second order: `drift` by h/2, `place`, `select`, contact, `set_forces`, `evaluate`, `kick`,
`drift` by h/2; `react` where the wrench on the base is needed. Names: p = parameters.probe, t = tree,
pl = parameters.lateral, d = damper.
"""

from __future__ import annotations

from math import cos, fabs, isfinite, sin

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core.component import Message, combined, fail
from dockfmu.components.core.field import Group, output, parameter, private
from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.physics import hysteresis
from dockfmu.components.physics.mechanics.rotation import IDENTITY, apply, load_matrix
from dockfmu.components.physics.mechanics.spatial import lower, upper
from dockfmu.components.physics.mechanics.vector import ZERO, add, axpy, cross, load, store, subtract
from dockfmu.components.probe_mechanism.generated import housing_and_probe, with_movable_limiter
from dockfmu.components.probe_mechanism.lateral import chains, lateral_damper

# the links that contacts load; the last axis of a twist or wrench is [angular, linear]
PROBE = 0
LIMITER = 1
# joints that turn; a movable limiter slides
ANGLES = 5
# inertia about a joint below which it counts as zero, kg m^2
LEAST_INERTIA = 1e-12

NO_INERTIA = 201
ANGLE = 202
NOT_FINITE = 203
PROBE_LAW = 205

_OWN = {
    NO_INERTIA: Message("joint {status.index:.0f} of the probe mechanism has no inertia about its axis"),
    ANGLE: Message(
        "joint.angle[{status.index:.0f}] = {status.value:.4g} rad exceeds "
        "parameters.probe.angle_limit = {parameters.probe.angle_limit:.4g} rad",
        outcome=LIMIT_EXCEEDED,
    ),
    NOT_FINITE: Message("the acceleration of joint {status.index:.0f} of the probe mechanism is not finite"),
}
MESSAGES = combined(_OWN, hysteresis.messages("parameters.probe, joint {status.index:.0f}", PROBE_LAW))


def parameters() -> Group:
    """Return the group `probe`: housing and flexible probe; the start values are set PR-1.

    Theory: central-docking section 8.3.
    """
    return Group(
        "probe",
        parameter("bearing_distance", "m", "L_M: hinge centre -> exit bearing", 0.35, minimum=0.0),
        parameter(
            "free_length", "m", "L_H(0): exit bearing -> head centre at the initial position", 0.45, minimum=1e-3
        ),
        parameter("shortest_length", "m", "least L_H for the bending stiffness", 0.09, minimum=1e-3),
        parameter("housing_mass", "kg", "swinging housing with all that turns in it", 35.0, minimum=1e-6),
        parameter("housing_centre", "m", "centre of mass from the hinge, frame M", ZERO, shape=3),
        parameter(
            "housing_inertia",
            "kg.m2",
            "about the hinge, frame M",
            ((0.2, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.0)),
            shape=(3, 3),
        ),
        parameter("probe_mass", "kg", "free part of the probe with its head", 8.0, minimum=1e-6),
        parameter(
            "probe_centre",
            "m",
            "centre of mass from the exit bearing at L_H(0), frame H",
            (0.309375, 0.0, 0.0),
            shape=3,
        ),
        parameter(
            "probe_inertia",
            "kg.m2",
            "about the exit bearing at L_H(0), frame H",
            ((0.0139, 0.0, 0.0), (0.0, 0.945, 0.0), (0.0, 0.0, 0.945)),
            shape=(3, 3),
        ),
        parameter("bending_stiffness", "N.m/rad", "of the exit hinge at L_H(0)", 8e3, minimum=1.0),
        parameter("bending_damping", "N.m.s/rad", "structural damping at L_H(0)", 3.5, minimum=0.0),
        parameter("bending_limit", "rad", "working range of the bending law", 0.15, minimum=1e-3),
        parameter("torsion_stiffness", "N.m/rad", "of the probe", 5e3, minimum=1.0),
        parameter("torsion_damping", "N.m.s/rad", "structural damping", 0.33, minimum=0.0),
        parameter("torsion_limit", "rad", "working range of the torsion law", 0.15, minimum=1e-3),
        *hysteresis.loop_parameters(loss=0.3),
        parameter("angle_limit", "rad", "largest angle of a joint for which the model holds", 0.5, minimum=0.0),
        description="housing and flexible probe",
    )


def outputs() -> Group:
    """Return the group `joint`: angles and rates of the tree."""
    return Group(
        "joint",
        output("angle", "rad", "housing about y, z; probe bending about y, z; torsion", shape=ANGLES),
        output("rate", "rad/s", "rates of the angles", shape=ANGLES),
    )


def state(limiter: Group | None = None) -> Group:
    """Return the group `tree`: joint angles and rates, memory of the flexible probe, links and loads, results.

    With a movable limiter, whose constants and memory are the group `limiter`, it has a sixth joint and a third link.
    """
    joints, links, kept = ANGLES, "head H, housing M", housing_and_probe.KEPT
    if limiter:
        joints, links, kept = ANGLES + 1, "head H, limiter, housing M", with_movable_limiter.KEPT
    return Group(
        "tree",
        private("q", "rad", "joint angles; m for the sliding one", shape=joints),
        private("qd", "rad/s", "joint rates", shape=joints),
        private("qdd", "rad/s2", "joint accelerations of the last evaluation", shape=joints),
        Group(
            "link",
            private("position", "m", "origin relative to O_0, frame 0", shape=3),
            private("rotation", "1", "frame 0 -> link", IDENTITY, shape=(3, 3)),
            private("velocity", "m/s", "of the origin relative to frame 0, frame 0", shape=3),
            private("angular_velocity", "rad/s", "relative to frame 0, frame 0", shape=3),
            count=joints - 3,
            description=f"links: {links}; the last one is the housing",
        ),
        Group(
            "load",
            private("force", "N", "of contacts on the link, link axes", shape=3),
            private("torque", "N.m", "of contacts on the link about its origin, link axes", shape=3),
            count=2,
            description="contact loads on head and limiter, to be set before each evaluation",
        ),
        private("tip_slope", "rad", "additional slope of the probe's tip about y and z", shape=2),
        private("length", "m", "L_H: exit bearing -> head centre"),
        private("twist", "1", "of the links relative to frame 0, about their joints, link axes", shape=(2, 6)),
        private("acceleration", "1", "of the links' absolute twists, about their joints, link axes", shape=(2, 6)),
        private(
            "load_damping",
            "1",
            "-d load / d twist times the step, about the joints, link axes, upper triangle: linearly implicit loads",
            shape=(2, 6, 6),
        ),
        private("implicit", "1", "wrench that the accelerations add to the loads, likewise", shape=(2, 6)),
        private("node_inertia", "kg.m2", "of the chains reduced to the housing, upper triangle, frame 0", shape=(3, 3)),
        private("node_torque", "N.m", "of the chains reduced to the housing, frame 0", shape=3),
        private("turning", "rad/s2", "acceleration of the housing as seen from the base, frame 0", shape=3),
        private("force", "N.m", "on the joints of probe and movable limiter", shape=joints - 2),
        private("damping", "kg.m2", "of the joints of probe and movable limiter times the step", shape=joints - 2),
        private("pivot", "kg.m2", "articulated inertia about each joint", shape=joints),
        private("kept", "1", "values that one generated kernel passes to the next", shape=kept),
        hysteresis.law("bending_law", "rad", "N.m", causality="constant"),
        hysteresis.law("torsion_law", "rad", "N.m", causality="constant"),
        Group("element", hysteresis.memory("memory", "rad", "N.m"), count=3),
        private("coefficient", "N.m.s/rad", "damping of the probe's joints in this evaluation", shape=3),
        private("gain", "1", "L_H(0) / L_H: factor on the bending moments"),
        private("tip_force", "N.m", "of latches and head sensors on the bending joints by the tip's slope", shape=2),
        private(
            "response",
            "1",
            "change of the joints' rates per change of the base's velocity and angular velocity",
            shape=(joints, 6),
        ),
        private("base_force", "N", "on the carrier, frame 0", shape=3),
        private("base_torque", "N.m", "on the carrier about O_0, frame 0", shape=3),
        private("affine_mass", "1", "M_A in [f; m] = W - M_A [w_0; epsilon_0]", shape=(6, 6)),
        private("viscous", "J", "dissipated by structural damping of the probe so far"),
        private("stored_energy", "J", "in the flexible probe"),
        private("dissipated_probe", "J", "by the flexible probe so far"),
        private("gain_work", "J", "put into the bent probe so far by changes of its length"),
        private("kinetic_energy", "J", "of tree and chains"),
        private("momentum", "N.s", "of tree and chains, frame 0 axes", shape=3),
        private("angular_momentum", "N.m.s", "of tree and chains about O_0, frame 0 axes", shape=3),
        private("mass", "kg", "of tree and chains"),
        private("static_moment", "kg.m", "of tree and chains about O_0, frame 0 axes", shape=3),
        *([limiter] if limiter else []),
    )


# the generated kernels of a tree with or without a movable limiter; their first argument is the tree
_place = variant("limiter", with_movable_limiter.place, housing_and_probe.place)
_accelerate = variant("limiter", with_movable_limiter.accelerate, housing_and_probe.accelerate)
_react = variant("limiter", with_movable_limiter.react, housing_and_probe.react)
_momentum = variant("limiter", with_movable_limiter.momentum, housing_and_probe.momentum)


@kernel
def housing(t):
    """Return the link of the housing, on which the chains of the lateral damper close."""
    return t.link[len(t.link) - 1]


@kernel
def initialize(p, t, pl, d, status):
    """Set the tree at rest with its angles 0, memory and energies cleared, chains attached."""
    for j in range(ANGLES):
        t.q[j] = 0.0
        t.qd[j] = 0.0
    loss = p.hysteresis_loss
    ratio = p.hysteresis_ratio
    common = p.hysteresis_common
    hysteresis.elastic_loop(t.bending_law, p.bending_stiffness, p.bending_limit, 0.0, common, loss, ratio)
    hysteresis.elastic_loop(t.torsion_law, p.torsion_stiffness, p.torsion_limit, 0.0, common, loss, ratio)
    for k in range(3):
        law = _law(t, k)
        code = hysteresis.validate(law)
        if code != 0:
            return fail(status, PROBE_LAW + code, 0.0, 3 + k)
        hysteresis.reset(law, t.element[k].memory)
    t.viscous = 0.0
    t.tip_force[0] = 0.0
    t.tip_force[1] = 0.0
    t.length = p.free_length
    _place(t, p, 0.0)
    code = lateral_damper.initialize(pl, d, housing(t), status)
    if code == 0:
        code = place(p, t, d, p.free_length, 0.0, status)
    if code == 0:
        code = select(t, d, status)
    return code


@kernel
def mass(p, pl):
    """Return the mass of all bodies that move on the base, kg."""
    total = p.housing_mass + p.probe_mass
    for k in range(2):
        for i in range(2):
            total += pl.spring.link_mass[k, i] + pl.brake.link_mass[k, i]
    return total


@kernel
def _law(t, k):
    """Return the law of the probe's joint k: bending, bending, torsion."""
    if k == 2:
        return t.torsion_law
    return t.bending_law


@kernel
def drift(t, h):
    """Advance the joints over h with their rates."""
    for j in range(len(t.q)):
        t.q[j] += h * t.qd[j]


@kernel
def place(p, t, d, length, length_rate, status):
    """Place links, bodies and chains from the joint angles and rates, and from L_H (m) and its rate (m/s)."""
    for j in range(ANGLES):
        if not fabs(t.q[j]) <= p.angle_limit:
            return fail(status, ANGLE, t.q[j], j + 1)
    t.length = length
    _place(t, p, length_rate)
    t.gain = p.free_length / max(length, p.shortest_length)
    return lateral_damper.place(d, housing(t), status)


@kernel
def select(t, d, status):
    """Select the hysteresis segments of probe and springs, once per micro-step, after `place`."""
    for k in range(3):
        gain = t.gain if k < 2 else 1.0
        code = hysteresis.update(_law(t, k), t.element[k].memory, t.q[2 + k], t.qd[2 + k], gain)
        if code != 0:
            return fail(status, PROBE_LAW + code, t.q[2 + k], 3 + k)
    return lateral_damper.select(d, status)


@kernel
def _probe_forces(p, t, h):
    """Set the moments of the flexible probe and its linearly implicit damping (central-docking section 5.6)."""
    for k in range(3):
        c = p.torsion_damping
        if k < 2:
            c = t.gain * p.bending_damping
        t.coefficient[k] = c
        t.force[k] = -hysteresis.reaction(t.element[k].memory, t.q[2 + k]) - c * t.qd[2 + k]
        t.damping[k] = 0.5 * h * c
    for k in range(2):
        t.force[k] += t.tip_force[k]


@kernel
def turn_tip(t, torque):
    """Load the bending joints with the `torque` (3, N.m, H axes) of latches and head sensors about the head's centre.

    It is the torque of their springs. They are on the tip, which turns by its slope `tip_slope` beyond the link H. The
    bending joints feel the work of the torque on that turn, with which the latches move: erratum E-11 with virtual work
    (ruling R42).
    """
    y = t.tip_slope[0]
    t.tip_force[0] = (1.5 * cos(t.q[2]) - 1.0) * torque[1]
    t.tip_force[1] = (1.5 * cos(t.q[3]) - 1.0) * (sin(y) * torque[0] + cos(y) * torque[2])


@kernel
def axial_force(p, t):
    """Return the force of the bending stiffness k(L) on the probe's travel, -k'(L) q^2 / 2, N; positive shortens it.

    The bent probe stiffens as it shortens, `gain` = L(0) / L, and the nut supplies the energy (ruling R42). With
    hysteresis q^2 k / 2 is the energy that the joint would give back. Call it after `select`.
    """
    if t.length <= p.shortest_length:
        return 0.0
    energy = t.element[0].memory.recoverable + t.element[1].memory.recoverable
    return -energy * t.gain / t.length


@kernel
def reach(t, k):
    """Return the distance from the joint of link k to its origin, along its x, m; a slider's joint is its origin."""
    return t.length if k == PROBE else 0.0


@kernel
def load_on(t, k):
    """Return (torque, force) of the contacts on link k about its joint, link axes, without its implicit part."""
    force = load(t.load[k].force)
    return add(load(t.load[k].torque), cross((reach(t, k), 0.0, 0.0), force)), force


@kernel
def mean_twist(t, k, link, origin, w, v, h):
    """Return the mean (angular velocity, velocity) of link k about its joint over a micro-step h after `evaluate`.

    Link axes. `w`, and `v` at O_0, are those of the base at the start of the micro-step; they, the `origin` O_0 and the
    `link` with its position and rotation are in any one frame.
    """
    A = load_matrix(link.rotation)
    arm = axpy(-reach(t, k), A[0], subtract(load(link.position), origin))
    spin = axpy(0.5 * h, upper(t.acceleration[k]), upper(t.twist[k]))
    speed = axpy(0.5 * h, lower(t.acceleration[k]), lower(t.twist[k]))
    return add(spin, apply(A, w)), add(speed, apply(A, add(v, cross(w, arm))))


@kernel
def dynamics(p, t, d, omega0, epsilon0, acceleration0):
    """Set the accelerations of joints and chains, for given joint forces and loads.

    Returns 0, or 1 + j if joint j has no inertia.
    """
    for i in range(3):
        t.node_torque[i] = 0.0
        for k in range(3):
            t.node_inertia[i, k] = 0.0
    for k in range(2):
        chains.reduce(d.spring[k], d.brake[k], omega0, epsilon0, acceleration0, t.node_inertia, t.node_torque)
    _accelerate(t, p, omega0, epsilon0, acceleration0)
    for j in range(len(t.q)):
        if not t.pivot[j] > LEAST_INERTIA:
            return 1 + j
    for k in range(2):
        chains.accelerate(d.spring[k], d.brake[k], t.turning)
    return 0


@kernel
def react(p, t, d):
    """Set `base_force` and `base_torque` after `dynamics` (D11 of dynamics).

    They are the contact loads less the inertia of tree and chains, without the axial inertance (R15).
    """
    _react(t, p)
    for k in range(2):
        chains.lose(d.spring[k], d.brake[k], t.turning, t.base_torque, t.base_force)


@kernel
def set_forces(p, t, pl, d, brakes_on, h):
    """Set the forces and the damping of all joints for a micro-step h at the placed position.

    `brakes_on` (0 or 1) switches the additional lateral brakes.
    """
    _probe_forces(p, t, h)
    lateral_damper.forces(pl, d, brakes_on, h)


@kernel
def evaluate(p, t, d, omega0, epsilon0, acceleration0, status):
    """Set the joint accelerations `qdd` after `set_forces`, with `load` set. Returns 0, or the code of a failure.

    Motion of the base in frame 0, tuples: angular velocity (rad/s), angular acceleration (rad/s2), acceleration of O_0
    (m/s2).
    """
    code = dynamics(p, t, d, omega0, epsilon0, acceleration0)
    if code != 0:
        return fail(status, NO_INERTIA, 0.0, code)
    for j in range(len(t.q)):
        if not isfinite(t.qdd[j]):
            return fail(status, NOT_FINITE, t.qdd[j], j + 1)
    return 0


@kernel
def kick(t, d, h):
    """Advance the joint rates over h with the accelerations of the last evaluation, and add the losses."""
    for j in range(len(t.q)):
        mean = t.qd[j] + 0.5 * h * t.qdd[j]
        if 2 <= j < ANGLES:
            t.viscous += h * t.coefficient[j - 2] * mean * mean
        t.qd[j] += h * t.qdd[j]
    lateral_damper.kick(d, h)


@kernel
def release_dampers(t, d):
    """Remove the linearly implicit damping from the inertias; the next evaluation sets it again."""
    for k in range(len(t.damping)):
        t.damping[k] = 0.0
    for k in range(2):
        d.spring[k].damping = 0.0
        d.brake[k].damping = 0.0
        for i in range(6):
            for j in range(6):
                t.load_damping[k, i, j] = 0.0


@kernel
def jolt(t, velocity, angular_velocity):
    """Change the joints' rates by `response` to a jump of the base's velocity and angular velocity, frame 0, tuples."""
    for j in range(len(t.q)):
        for k in range(3):
            t.qd[j] += t.response[j, k] * velocity[k] + t.response[j, 3 + k] * angular_velocity[k]


@kernel
def affine(p, t, d, omega0):
    """Set M_A and L of dynamics section 11 (`affine_mass`, -`response`), by unit accelerations of the base.

    Overwrites the accelerations of the last evaluation. Returns 0, or 1 + j if joint j has no inertia.
    """
    code = dynamics(p, t, d, omega0, ZERO, ZERO)
    react(p, t, d)
    force = load(t.base_force)
    torque = load(t.base_torque)
    for j in range(len(t.q)):
        for k in range(6):
            t.response[j, k] = -t.qdd[j]
    for k in range(6):
        unit = (1.0 if k % 3 == 0 else 0.0, 1.0 if k % 3 == 1 else 0.0, 1.0 if k % 3 == 2 else 0.0)
        if k < 3:
            code = max(code, dynamics(p, t, d, omega0, ZERO, unit))
        else:
            code = max(code, dynamics(p, t, d, omega0, unit, ZERO))
        react(p, t, d)
        for i in range(3):
            t.affine_mass[i, k] = force[i] - t.base_force[i]
            t.affine_mass[3 + i, k] = torque[i] - t.base_torque[i]
        for j in range(len(t.q)):
            t.response[j, k] += t.qdd[j]
    store(force, t.base_force)
    store(torque, t.base_torque)
    return code


@kernel
def momentum(p, t, d, velocity0, omega0):
    """Set kinetic energy, momenta, mass and static moment of tree and chains on a moving base.

    `velocity0` of O_0 and `omega0` of the base, absolute, frame 0 axes, tuples. Call it after `place`.
    """
    _momentum(t, p, omega0, velocity0)
    for k in range(2):
        chains.momentum(d.spring[k], d.brake[k], omega0, velocity0, t)


@kernel
def report(t, pl, d, joint, lateral_outputs):
    """Set the outputs `joint` and `lateral`, and the energies of probe and damper, after a `place`."""
    stored = 0.0
    t.dissipated_probe = t.viscous
    t.gain_work = 0.0
    for k in range(3):
        memory = t.element[k].memory
        now = hysteresis.reaction(memory, t.q[2 + k])
        stored += memory.stored_energy + 0.5 * (memory.reaction + now) * (t.q[2 + k] - memory.deformation)
        t.dissipated_probe += memory.dissipated_energy
        t.gain_work += memory.gain_work
    t.stored_energy = stored
    for j in range(ANGLES):
        joint.angle[j] = t.q[j]
        joint.rate[j] = t.qd[j]
    lateral_damper.report(pl, d, lateral_outputs)
