"""Compliance of the links, condensed to the 6 x 6 stiffness K_M at the gripper, and its damping.

Theory: manipulator 3.8, 3.10.

Links are chains of massless segments. The linear theory is exact: the compliances of the segments are transported to
E and summed (algorithm A). Gears and backlash belong to the drives, not to this compliance. Vectors of six are
translation (force), then rotation (torque).
"""

from __future__ import annotations

from math import pi, sqrt

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator.arm_data import SEGMENT
from dockfmu.components.physics.mechanics import eigen, matrix
from dockfmu.components.physics.mechanics.rotation import (
    IDENTITY,
    about_x,
    about_y,
    about_z,
    apply,
    compose,
    load_matrix,
    transpose,
)
from dockfmu.components.physics.mechanics.vector import add, load, scale

NONE = SEGMENT.codes["NONE"]
BEAM = SEGMENT.codes["BEAM"]
LUMPED = SEGMENT.codes["LUMPED"]

NO_BENDING = 311
NO_TORSION = 312
NO_EXTENSION = 313
NO_TWIST = 314
NO_TILT = 315
NO_LENGTH = 316
RIGID_ARM = 317
NO_MASS = 318

_SEGMENT = "link {status.value:.0f}, segment {status.index:.0f} (link 0 is at the root): "
MESSAGES = {
    NO_BENDING: Message(_SEGMENT + "a beam needs parameters.segment.bending above 0"),
    NO_TORSION: Message(_SEGMENT + "a beam needs parameters.segment.torsion above 0"),
    NO_EXTENSION: Message(_SEGMENT + "a beam needs parameters.segment.extension above 0"),
    NO_TWIST: Message(_SEGMENT + "a lumped segment needs parameters.segment.twist_stiffness above 0"),
    NO_TILT: Message(_SEGMENT + "a lumped segment needs parameters.segment.tilt_stiffness above 0"),
    NO_LENGTH: Message(_SEGMENT + "a beam needs a length in parameters.segment.length"),
    RIGID_ARM: Message(
        "in this pose the arm is rigid in direction {status.index:.0f} of six: parameters.segment must have beams or "
        "lumped segments that are compliant in all of them"
    ),
    NO_MASS: Message("parameters.payload.mass and parameters.payload.inertia do not form a valid mass matrix"),
}


@kernel
def check_segments(m):
    """Return 0 if all segments have the stiffness required by their kind, else the code of the first failure."""
    p = m.parameters.segment
    for j in range(p.kind.shape[0]):
        for k in range(p.kind.shape[1]):
            code = 0
            if p.kind[j, k] == BEAM:
                length = load(p.length[j, k])
                if not p.bending[j, k] > 0.0:
                    code = NO_BENDING
                elif not p.torsion[j, k] > 0.0:
                    code = NO_TORSION
                elif not p.extension[j, k] > 0.0:
                    code = NO_EXTENSION
                elif not length[0] * length[0] + length[1] * length[1] + length[2] * length[2] > 0.0:
                    code = NO_LENGTH
            elif p.kind[j, k] == LUMPED:
                if not p.twist_stiffness[j, k] > 0.0:
                    code = NO_TWIST
                elif not p.tilt_stiffness[j, k] > 0.0:
                    code = NO_TILT
            if code != 0:
                return fail(m.status, code, float(j), k + 1)
    return 0


@kernel
def _skew(a):
    return ((0.0, -a[2], a[1]), (a[2], 0.0, -a[0]), (-a[1], a[0], 0.0))


@kernel
def set_beam(length, bending, torsion, extension, psi):
    """Set the compliance of a straight beam of this length vector at its end, axes of the segment (E10, E11)."""
    size = sqrt(length[0] * length[0] + length[1] * length[1] + length[2] * length[2])
    e = scale(1.0 / size, length)
    across = _skew(e)
    for i in range(3):
        for j in range(3):
            along = e[i] * e[j]
            normal = -along
            if i == j:
                normal += 1.0
            psi[i, j] = size * size * size / (3.0 * bending) * normal + size / extension * along
            psi[3 + i, 3 + j] = size / bending * normal + size / torsion * along
            psi[3 + i, j] = 0.5 * size * size / bending * across[i][j]
            psi[j, 3 + i] = psi[3 + i, j]


@kernel
def set_lumped(length, twist, tilt, psi):
    """Set the compliance of a rigid segment on an angular spring at its start (E10)."""
    lever = _skew(length)
    give = (1.0 / twist, 1.0 / tilt, 1.0 / tilt)
    for i in range(3):
        for j in range(3):
            psi[3 + i, 3 + j] = 0.0
            psi[3 + i, j] = give[i] * lever[i][j]
            psi[j, 3 + i] = psi[3 + i, j]
            total = 0.0
            for k in range(3):
                total += lever[k][i] * give[k] * lever[k][j]
            psi[i, j] = total
        psi[3 + i, 3 + i] = give[i]


@kernel
def _add_segment(f, turn, lever):
    """Add G^T Psi G to the compliance; `turn` maps segment axes to E, `lever` points from the segment's end to E."""
    G = f.transport
    back = compose(transpose(turn), _skew(lever))
    for i in range(3):
        for j in range(3):
            G[i, j] = turn[j][i]
            G[3 + i, 3 + j] = turn[j][i]
            G[i, 3 + j] = 0.0
            G[3 + i, j] = back[i][j]
    matrix.multiply(f.segment, G, f.product)
    for i in range(6):
        for j in range(6):
            total = 0.0
            for k in range(6):
                total += G[k, i] * f.product[k, j]
            f.compliance[i, j] += total


@kernel
def set_compliance(m):
    """Set P_M at E, axes E, for the angles `flexure.angle`: algorithm A of manipulator 3.8."""
    f = m.flexure
    p = m.parameters
    for i in range(6):
        for j in range(6):
            f.compliance[i, j] = 0.0
    turn = IDENTITY
    lever = (0.0, 0.0, 0.0)
    for j in range(len(m.arm) - 1, -1, -1):
        for k in range(p.segment.kind.shape[1] - 1, -1, -1):
            kind = p.segment.kind[j, k]
            if kind == NONE:
                continue
            length = load(p.segment.length[j, k])
            if kind == BEAM:
                set_beam(length, p.segment.bending[j, k], p.segment.torsion[j, k], p.segment.extension[j, k], f.segment)
            elif kind == LUMPED:
                set_lumped(length, p.segment.twist_stiffness[j, k], p.segment.tilt_stiffness[j, k], f.segment)
            if kind in (BEAM, LUMPED):
                _add_segment(f, turn, lever)
            lever = add(lever, apply(turn, length))
        if j > 0:
            turn = compose(turn, joint_turn(p.link.axis[j - 1], f.angle[j - 1]))
    for i in range(6):
        for j in range(i):
            f.compliance[i, j] = 0.5 * (f.compliance[i, j] + f.compliance[j, i])
            f.compliance[j, i] = f.compliance[i, j]


@kernel
def joint_turn(axis, angle):
    """Return the rotation from the link before a joint to the link after it."""
    if axis == 1.0:
        return about_x(angle)
    if axis == 2.0:
        return about_y(angle)
    return about_z(angle)


@kernel
def _invert(m):
    """Set the stiffness to the inverse of the compliance. Returns 0, or the code for an arm rigid in some direction."""
    f = m.flexure
    K = m.compliance.stiffness
    for i in range(6):
        for j in range(6):
            f.scaled[i, j] = f.compliance[i, j]
    eigen.diagonalize_with_vectors(f.scaled, f.modes)
    largest = 0.0
    for i in range(6):
        largest = max(largest, f.scaled[i, i])
    for i in range(6):
        if not f.scaled[i, i] > 1e-13 * largest:
            return fail(m.status, RIGID_ARM, f.scaled[i, i], i + 1)
    for i in range(6):
        for j in range(6):
            f.product[i, j] = f.compliance[i, j]
    matrix.factor_lu(f.product, f.pivot, 6)
    for j in range(6):
        for i in range(6):
            f.column[i] = 0.0
        f.column[j] = 1.0
        matrix.solve_lu(f.product, f.pivot, f.column, 6)
        for i in range(6):
            K[i, j] = f.column[i]
    for i in range(6):
        for j in range(i):
            K[i, j] = 0.5 * (K[i, j] + K[j, i])
            K[j, i] = K[i, j]
    return 0


@kernel
def _set_payload_mass(m):
    """Set the mass matrix of the payload at E, axes E (E23), for zero deflection: E coincides with GF."""
    M = m.flexure.mass
    p = m.parameters.payload
    turn = load_matrix(m.free_body.fixture)
    arm = apply(turn, scale(-1.0, load(m.parameters.grapple.position)))
    inertia = compose(compose(turn, load_matrix(p.inertia)), transpose(turn))
    lever = _skew(arm)
    square = arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2]
    for i in range(3):
        for j in range(3):
            M[i, j] = 0.0
            M[3 + i, j] = p.mass * lever[i][j]
            M[j, 3 + i] = M[3 + i, j]
            M[3 + i, 3 + j] = 0.5 * (inertia[i][j] + inertia[j][i]) - p.mass * arm[i] * arm[j]
        M[i, i] = p.mass
        M[3 + i, 3 + i] += p.mass * square


@kernel
def _set_damping(m):
    """Set C_M from the decrements of the modes, (4.2.7) with E24. Returns 0, or the code of an invalid mass matrix.

    With M = L L^T and L^-1 K L^-T = V diag(lambda) V^T it is L V diag(c) (L V)^T.
    """
    f = m.flexure
    L = f.mass
    if not eigen.factor_cholesky(L):
        return fail(m.status, NO_MASS, 0.0, 0)
    for j in range(6):
        for i in range(6):
            total = m.compliance.stiffness[i, j]
            for k in range(i):
                total -= L[i, k] * f.product[k, j]
            f.product[i, j] = total / L[i, i]
    for i in range(6):
        for j in range(6):
            total = f.product[i, j]
            for k in range(j):
                total -= L[j, k] * f.scaled[i, k]
            f.scaled[i, j] = total / L[j, j]
    for i in range(6):
        for j in range(i):
            f.scaled[i, j] = 0.5 * (f.scaled[i, j] + f.scaled[j, i])
            f.scaled[j, i] = f.scaled[i, j]
    eigen.diagonalize_with_vectors(f.scaled, f.modes)
    eigen.sort(f.scaled, f.modes)
    matrix.multiply(L, f.modes, f.product)
    for k in range(6):
        omega = sqrt(max(0.0, f.scaled[k, k]))
        m.compliance.frequency[k] = omega / (2.0 * pi)
        decrement = m.parameters.compliance.decrement[k]
        f.column[k] = 2.0 * decrement * omega / sqrt(4.0 * pi * pi + decrement * decrement)
    diagonal = m.parameters.compliance.diagonal_damping != 0.0
    for i in range(6):
        for j in range(6):
            total = 0.0
            for k in range(6):
                total += f.product[i, k] * f.column[k] * f.product[j, k]
            if diagonal and i != j:
                total = 0.0
            m.compliance.damping[i, j] = total
    return 0


@kernel
def update(m):
    """Compute stiffness and damping for the present angles of the motors, without backlash. Returns 0 or a code."""
    for k in range(len(m.drive)):
        d = m.drive[k]
        angle = d.motor_angle
        if m.parameters.joint.locked[k] != 0.0:
            angle = d.input_angle
        m.flexure.angle[k] = angle / m.parameters.gear.ratio[k]
    set_compliance(m)
    code = _invert(m)
    if code != 0:
        return code
    _set_payload_mass(m)
    return _set_damping(m)
