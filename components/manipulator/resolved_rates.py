"""Resolved rates: from the twist of the payload to joint rates, damped near singular poses (manipulator 3.7)."""

from __future__ import annotations

from math import sqrt

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator.arm_data import COMMAND_FRAME
from dockfmu.components.physics.mechanics import eigen
from dockfmu.components.physics.mechanics.rotation import apply_transposed, compose, from_angles, load_matrix, transpose
from dockfmu.components.physics.mechanics.vector import add, cross, load, subtract

TARGET = COMMAND_FRAME.codes["TARGET"]

SINGULAR = 321
MESSAGES = {
    SINGULAR: Message(
        "the arm is in a singular pose (smallest singular value {status.value:.3g}), and parameters.control."
        "singular_value = {parameters.control.singular_value:.3g} allows no damping: raise it, or move the arm away "
        "joint by joint"
    ),
}


@kernel
def to_target(m):
    """Return the rotation R -> BI."""
    p = m.parameters
    root = from_angles(p.base.angles[0], p.base.angles[1], p.base.angles[2])
    target = from_angles(p.target.angles[0], p.target.angles[1], p.target.angles[2])
    return compose(target, transpose(root))


@kernel
def want(m, velocity, spin, point):
    """Set the demanded twist of E that gives `point` of the payload this velocity; all in axes R."""
    last = len(m.arm) - 1
    arm = subtract(load(m.sensed.point[last]), point)
    v = add(velocity, cross(spin, arm))
    for i in range(3):
        m.resolved.twist[i] = v[i]
        m.resolved.twist[3 + i] = spin[i]


@kernel
def set_twist(m):
    """Set the demanded twist of E from the operator's rates: of the camera, camera axes, or of PI, target axes."""
    p = m.parameters
    facing = load_matrix(m.sensed.interface)
    point = load(m.sensed.position)
    if p.control.command_frame == TARGET:
        axes = to_target(m)
    else:
        angles = p.camera.angles
        point = add(point, apply_transposed(facing, load(p.camera.position)))
        axes = compose(from_angles(angles[0], angles[1], angles[2]), facing)
    velocity = apply_transposed(axes, load(m.command.velocity))
    want(m, velocity, apply_transposed(axes, load(m.command.angular_velocity)), point)


@kernel
def _set_jacobian(m):
    """Set the Jacobian of E, translations over the length scale, and J J^T.

    Joints that are locked or braked have zero columns: the others do without them (ruling R58).
    """
    p = m.parameters
    r = m.resolved
    last = len(m.arm) - 1
    tip = load(m.sensed.point[last])
    for k in range(last):
        axis = load(m.sensed.axis[k])
        arm = cross(axis, subtract(tip, load(m.sensed.point[k])))
        free = 1.0 if p.joint.locked[k] == 0.0 and m.command.brake[k] == 0.0 else 0.0
        for i in range(3):
            r.jacobian[i, k] = free * arm[i] / p.control.length_scale
            r.jacobian[3 + i, k] = free * axis[i]
    for i in range(6):
        for j in range(6):
            total = 0.0
            for k in range(last):
                total += r.jacobian[i, k] * r.jacobian[j, k]
            r.gram[i, j] = total


@kernel
def resolve(m):
    """Set the commanded joint rates to J^T (J J^T + lambda^2)^-1 times the demanded twist. Returns 0 or a code."""
    p = m.parameters.control
    r = m.resolved
    _set_jacobian(m)
    eigen.diagonalize_with_vectors(r.gram, r.vectors)
    least = r.gram[0, 0]
    for i in range(1, 6):
        least = min(least, r.gram[i, i])
    r.least = sqrt(max(0.0, least))
    damping = 0.0
    if r.least < p.singular_value:
        ratio = r.least / p.singular_value
        damping = p.damping * p.damping * (1.0 - ratio * ratio)
        m.flag.singular = 1.0
    elif not least > 1e-12:
        return fail(m.status, SINGULAR, r.least, 0)
    for k in range(len(m.drive)):
        m.drive[k].command = 0.0
    for i in range(6):
        along = 0.0
        for j in range(6):
            demand = r.twist[j]
            if j < 3:
                demand /= p.length_scale
            along += r.vectors[j, i] * demand
        along /= r.gram[i, i] + damping
        for k in range(len(m.drive)):
            total = 0.0
            for j in range(6):
                total += r.jacobian[j, k] * r.vectors[j, i]
            m.drive[k].command += total * along
    return 0
