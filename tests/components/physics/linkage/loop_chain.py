"""One dependent chain: its motion from the node's, and its inertia and forces reduced to the node.

The chain runs from the base to its cut joint on the node body. A cut S joint gives three constraints, a cut U joint
four, as many as the chain has joints, so that the chain follows the node: with the node's rates u,

    qd = H u,     qdd = H du/dt + h,     H = Cd^-1 Ci,  h = Cd^-1 c            (1.3.4), kinematics 8.3

u holds the velocity of the node's origin, if that moves, and its angular velocity, all in frame 0. In the order of an
evaluation: a `close_*` of `loop_closure`, `place` of `loop_bodies`, `constrain`, `follow`, joint forces, `reduce`, then
the dynamics of the node, `accelerate`, and the wrenches.
"""

from __future__ import annotations

from math import fabs

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import IDENTITY, compose, load_matrix
from dockfmu.components.physics.mechanics.spatial import lower, upper
from dockfmu.components.physics.mechanics.vector import add, axpy, cross, dot, load, store, subtract
from tests.components.physics.linkage.loop_bodies import (
    absolute_bias,
    absolute_velocity,
    bodies,
    inertia_wrench,
    move,
    weigh,
)
from tests.components.physics.linkage.loop_matrix import invert_3, invert_4

# determinant of Cd over its nominal value at which a chain counts as singular
SINGULAR = 1e-3


def chain(name: str, joints: int, node: int, count: int | None = None) -> Group:
    """A chain of `joints` (3 or 4) on a node with `node` rates: 3 if its origin is fixed in frame 0, 6 if it moves."""
    n = joints
    return Group(
        name,
        bodies(n),
        private("end_point", "m", "cut joint from the last joint, axes of the last body", shape=3),
        private("end_axes", "1", "last body -> axes of the cut U joint on it", IDENTITY, shape=(3, 3)),
        private("node_point", "m", "cut joint from the node's origin, node axes", shape=3),
        private("node_axes", "1", "node -> axes of the cut U joint on it", IDENTITY, shape=(3, 3)),
        private("length", "m", "strut with no stroke, or crank"),
        private("rod_length", "m", "rod of a crank"),
        private("force", "1", "of the joints on their bodies along the axes, N or N.m", shape=n),
        private("damping", "1", "-d force / d qd times the step: linearly implicit damping", shape=n),
        private("end", "m", "cut joint in frame 0", shape=3),
        private("lever", "m", "cut joint from the node's origin, frame 0", shape=3),
        private("moment_axis", "1", "direction of the constraint moment of a cut U joint, frame 0", shape=3),
        private("cut_axes", "1", "e_1 and e_2 of (1.3.2), frame 0", shape=(2, 3)),
        private("constraint", "1", "Cd: velocity of the cut joint per joint rate", shape=(n, n)),
        private("inverse", "1", "of Cd", shape=(n, n)),
        private("determinant", "1", "of Cd"),
        private("nominal_determinant", "1", "of Cd in the reference position; 0 if not known"),
        private("gain", "1", "H transposed: gain[i, j] = d qd[j] / d u[i]", shape=(node, n)),
        private("quadratic", "1", "h", shape=n),
        private("inertia", "1", "generalised inertia A", shape=(n, n)),
        private("generalised_force", "1", "b: joint forces less inertia without the qdd", shape=n),
        private("reaction", "1", "lambda, of the node on the chain's end: force in frame 0, N, moment, N.m", shape=n),
        count=count,
    )


@kernel
def _cut_row(c, w):
    """Rate of the angle between the cut joint's axes for the angular velocity w of the chain's end."""
    return dot(load(c.moment_axis), w)


@kernel
def _solve(c, v, last, out):
    """out <- Cd^-1 [v, last]; `last` is the row of a cut U joint."""
    n = c.bodies.mass.shape[0]
    for j in range(n):
        out[j] = c.inverse[j, 0] * v[0] + c.inverse[j, 1] * v[1] + c.inverse[j, 2] * v[2]
        if n == 4:
            out[j] += c.inverse[j, 3] * last


@kernel
def constrain(c, node_rotation):
    """Constraint matrices and `gain` = H^T for `node_rotation` frame 0 -> node, kinematics 8.1 and 8.2.

    The columns of Cd are velocities of the cut joint from the joint screws, equal to the recursion (1.3) with erratum
    K3. Returns False where their determinant falls below 1e-3 of `nominal_determinant`, or to 0: near a singularity.
    """
    b = c.bodies
    n = b.mass.shape[0]
    last = load_matrix(b.rotation[n - 1])
    end = load(b.point[n - 1])
    lever = (0.0, 0.0, 0.0)
    for i in range(3):
        end = axpy(c.end_point[i], last[i], end)
        lever = axpy(c.node_point[i], node_rotation[i], lever)
    store(end, c.end)
    store(lever, c.lever)
    if n == 4:
        e1 = compose(load_matrix(c.end_axes), last)[1]
        e2 = compose(load_matrix(c.node_axes), node_rotation)[2]
        store(e1, c.cut_axes[0])
        store(e2, c.cut_axes[1])
        store(cross(e1, e2), c.moment_axis)
    for j in range(n):
        w = upper(b.screw[j])
        v = add(lower(b.screw[j]), cross(w, end))
        for i in range(3):
            c.constraint[i, j] = v[i]
        if n == 4:
            c.constraint[3, j] = _cut_row(c, w)
    if n == 4:
        c.determinant = invert_4(c.constraint, c.inverse)
    else:
        c.determinant = invert_3(c.constraint, c.inverse)
    if not fabs(c.determinant) > SINGULAR * fabs(c.nominal_determinant):
        return False
    free = c.gain.shape[0] - 3
    for k in range(c.gain.shape[0]):
        unit = (1.0 if k % 3 == 0 else 0.0, 1.0 if k % 3 == 1 else 0.0, 1.0 if k % 3 == 2 else 0.0)
        if k < free:
            _solve(c, unit, 0.0, c.gain[k])
        else:
            _solve(c, cross(unit, lever), _cut_row(c, unit), c.gain[k])
    return True


@kernel
def follow(c, parents, u):
    """Rates `qd` = H u of the joints, twists of the bodies, and h, kinematics 8.2 and 8.3 with errata K4 and K5."""
    b = c.bodies
    n = b.mass.shape[0]
    free = c.gain.shape[0] - 3
    for j in range(n):
        rate = 0.0
        for k in range(c.gain.shape[0]):
            rate += c.gain[k, j] * u[k]
        b.qd[j] = rate
    move(b, parents)
    end = load(c.end)
    lever = load(c.lever)
    node = (u[free], u[free + 1], u[free + 2])
    w = upper(b.velocity[n - 1])
    e = upper(b.bias[n - 1])
    v = add(lower(b.velocity[n - 1]), cross(w, end))
    acceleration = add(add(lower(b.bias[n - 1]), cross(e, end)), cross(w, v))
    missing = subtract(cross(node, cross(node, lever)), acceleration)
    last = 0.0
    if n == 4:
        e1 = load(c.cut_axes[0])
        e2 = load(c.cut_axes[1])
        turning = add(cross(cross(w, e1), e2), cross(e1, cross(node, e2)))
        last = -_cut_row(c, e) - dot(turning, subtract(w, node))
    _solve(c, missing, last, c.quadratic)


@kernel
def reduce(c, omega0, epsilon0, acceleration0, inertia, force):
    """inertia += H^T A H, force += H^T (b - A h): the chain as felt by the node, dynamics D3, D4, D10.

    A by composite bodies and b by one backward sum of inertia wrenches. `inertia` (node, node) and `force` (node) are
    conjugate to u of frame 0, relative to the base. Fills c.inertia and c.generalised_force; the linearly implicit
    damping adds to the diagonal of A, as a force -damping qdd would.
    """
    b = c.bodies
    n = b.mass.shape[0]
    weigh(b)
    mass = 0.0
    h = (0.0, 0.0, 0.0)
    J = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    torque = (0.0, 0.0, 0.0)
    push = (0.0, 0.0, 0.0)
    for j in range(n - 1, -1, -1):
        if b.mass[j] > 0.0:
            mass += b.mass[j]
            h = add(h, load(b.first_moment[j]))
            own = load_matrix(b.moment_of_inertia[j])
            J = (add(J[0], own[0]), add(J[1], own[1]), add(J[2], own[2]))
            w, v = absolute_velocity(b, j, omega0)
            e, a = absolute_bias(b, j, omega0, epsilon0, acceleration0)
            m, f = inertia_wrench(b, j, w, v, e, a)
            torque = add(torque, m)
            push = add(push, f)
        w = upper(b.screw[j])
        v = lower(b.screw[j])
        c.generalised_force[j] = c.force[j] - dot(w, torque) - dot(v, push)
        f = axpy(mass, v, cross(w, h))
        m = add((dot(J[0], w), dot(J[1], w), dot(J[2], w)), cross(h, v))
        for i in range(j + 1):
            a_ij = dot(upper(b.screw[i]), m) + dot(lower(b.screw[i]), f)
            c.inertia[i, j] = a_ij
            c.inertia[j, i] = a_ij
        c.inertia[j, j] += c.damping[j]
    for k in range(c.gain.shape[0]):
        for j in range(n):
            column = 0.0
            for i in range(n):
                column += c.gain[k, i] * c.inertia[i, j]
            force[k] += c.gain[k, j] * c.generalised_force[j] - column * c.quadratic[j]
            for i in range(k + 1):
                inertia[k, i] += column * c.gain[i, j]
    for k in range(c.gain.shape[0]):
        for i in range(k):
            inertia[i, k] = inertia[k, i]


@kernel
def accelerate(c, ud):
    """`qdd` = H ud + h from the node's accelerations relative to the base."""
    for j in range(c.bodies.mass.shape[0]):
        qdd = c.quadratic[j]
        for k in range(c.gain.shape[0]):
            qdd += c.gain[k, j] * ud[k]
        c.bodies.qdd[j] = qdd


@kernel
def react(c):
    """`reaction` = Cd^-T (A qdd - b): what the cut joint carries, dynamics section 7 step 4."""
    n = c.bodies.mass.shape[0]
    for i in range(n):
        c.reaction[i] = 0.0
    for j in range(n):
        needed = -c.generalised_force[j]
        for i in range(n):
            needed += c.inertia[j, i] * c.bodies.qdd[i]
        for i in range(n):
            c.reaction[i] += c.inverse[j, i] * needed


@kernel
def inertia_of_motion(c, omega0, epsilon0, acceleration0):
    """(torque about O_0, force), frame 0, that the chain's bodies need for their motion, with the qdd."""
    b = c.bodies
    torque = (0.0, 0.0, 0.0)
    force = (0.0, 0.0, 0.0)
    angular = (0.0, 0.0, 0.0)
    linear = (0.0, 0.0, 0.0)
    for j in range(b.mass.shape[0]):
        angular = axpy(b.qdd[j], upper(b.screw[j]), angular)
        linear = axpy(b.qdd[j], lower(b.screw[j]), linear)
        if b.mass[j] > 0.0:
            w, v = absolute_velocity(b, j, omega0)
            e, a = absolute_bias(b, j, omega0, epsilon0, acceleration0)
            m, f = inertia_wrench(b, j, w, v, add(e, angular), add(a, linear))
            torque = add(torque, m)
            force = add(force, f)
    return torque, force


@kernel
def base_wrench(c, omega0, epsilon0, acceleration0):
    """(torque about O_0, force), frame 0, of the chain on its base: what the node gives less what the bodies need.

    After `react`; D8 of dynamics with erratum D6.
    """
    torque, force = inertia_of_motion(c, omega0, epsilon0, acceleration0)
    pushed = load(c.reaction)
    moment = cross(load(c.end), pushed)
    if c.bodies.mass.shape[0] == 4:
        moment = axpy(c.reaction[3], load(c.moment_axis), moment)
    return subtract(moment, torque), subtract(pushed, force)
