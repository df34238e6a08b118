"""Damping of flexible links: a logarithmic decrement of each mode of links and payload with all joints held.

With the stiffness k of the elastic coordinates, diagonal, and the inverse A of their inertia in the present pose,
k^1/2 A k^1/2 = U diag(omega^2) U^T, and

    C = k^1/2 U diag(2 zeta / omega) U^T k^1/2

gives each mode its damping ratio: what C_M is for the condensed spring (manipulator 3.10). Column j of A is the
acceleration by a unit force on coordinate j.
"""

from __future__ import annotations

from math import fabs, pi, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator import compliance
from dockfmu.components.manipulator.flexible import motion
from dockfmu.components.physics.mechanics import eigen
from dockfmu.components.physics.mechanics.vector import ZERO
from dockfmu.components.physics.tree import links as tree

FAST = 1e30
"""Square of a frequency above those of all modes."""
NONE = 1e-300
"""Damping below that of any mode, to divide by."""


@kernel
def _set_mobility(m):
    """Set k^1/2 A k^1/2; unused coordinates get their own, fast modes."""
    c = m.chain
    count = int(c.coordinates)
    size = c.mobility.shape[0]
    for i in range(size):
        for j in range(size):
            c.mobility[i, j] = 0.0
        c.mobility[i, i] = FAST
    for j in range(count):
        motion.place_links(m)
        for k in range(len(m.drive)):
            m.link[int(c.joint[k])].held = 1.0
        motion.set_impulse(m, ZERO, ZERO)
        m.link[int(c.coordinate[j])].drive = 1.0
        tree.accelerate(m.link[:], False, motion.flex_of(m))
        for i in range(count):
            found = m.link[int(c.coordinate[i])].qdd * sqrt(c.stiffness[i] * c.stiffness[j])
            c.mobility[i, j] = found if i >= j else 0.5 * (found + c.mobility[j, i])
            c.mobility[j, i] = c.mobility[i, j]


@kernel
def set_damping(m):
    """Set the damping of the elastic coordinates, and the lowest frequencies, for the present pose."""
    c = m.chain
    count = int(c.coordinates)
    _set_mobility(m)
    eigen.diagonalize_with_vectors(c.mobility, c.vectors)
    eigen.sort(c.mobility, c.vectors)
    for k in range(6):
        m.compliance.frequency[k] = sqrt(max(0.0, c.mobility[k, k])) / (2.0 * pi) if k < count else 0.0
    for i in range(count):
        for j in range(i + 1):
            total = 0.0
            for k in range(count):
                decrement = m.parameters.compliance.decrement[min(k, 5)]
                ratio = 2.0 * decrement / sqrt(4.0 * pi * pi + decrement * decrement)
                total += c.vectors[i, k] * c.vectors[j, k] * ratio / sqrt(c.mobility[k, k])
            c.damping[i, j] = total * sqrt(c.stiffness[i] * c.stiffness[j])
            c.damping[j, i] = c.damping[i, j]
    for i in range(count):
        # Gershgorin, with all coordinates scaled to a unit damping of their own
        total = 0.0
        for j in range(count):
            total += fabs(c.damping[i, j]) * sqrt(c.damping[i, i] / max(c.damping[j, j], NONE))
        c.bound[i] = total


@kernel
def update(m):
    """Compute the condensed stiffness for comparison, and the damping, in the present pose. Returns 0 or a code.

    The motors' angles stand for those of the joints in the condensed stiffness, as there; the joints are placed.
    """
    code = compliance.update(m)
    if code == 0:
        set_damping(m)
    return code
