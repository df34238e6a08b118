"""Closed-form joint coordinates of dependent chains (source 1.4, kinematics section 9).

A chain type is named by its joints from the base outward; the last one, on the node, is cut and written as a
constraint:

| type | joints of the cut chain | constraints | used in |
|---|---|---|---|
| UPS | y, z, stroke | 3 | spring mechanisms of the probe mechanism, plain struts |
| UCU, SPU | y, z, roll, stroke | 4 | struts of peripheral mechanisms |
| RUS | z, z, y | 3 | magnetic brakes of the probe mechanism, Hunt platform |
| RSU | z, z, y, roll | 4 | Hunt platform |

The closed forms take and give tuples. A caller whose chain has a roll joint closes it itself, as `hexapod.close` does.
"""

from __future__ import annotations

from math import fabs, sqrt

from dockfmu.components.core.kernel import kernel

# distance in m below which a strut has no direction
LEAST_DISTANCE = 1e-9


@kernel
def strut_joints(r):
    """Return the joints of a strut whose ends are `r` apart, axes of its first joint, kinematics 9.2.

    Returns (well-posed, cosine and sine of the first angle, of the second, length of the strut). There is no sign
    logic, and no singularity up to 90 degrees of the second angle (erratum K7 of the source's cotangents).
    """
    x, y, z = r
    flat = sqrt(x * x + z * z)
    length = sqrt(flat * flat + y * y)
    if not flat > LEAST_DISTANCE:
        return False, 1.0, 0.0, 1.0, 0.0, length
    return True, x / flat, -z / flat, flat / length, y / length, length


@kernel
def crank_joint(r, crank, rod):
    """Return the joint of a `crank` whose `rod` ends at `r`, axes of that joint, kinematics 9.4.

    Returns (in reach, cosine and sine of the angle, rod in axes of the crank). The elbow is on the side of the larger
    angle: 0 < p1 < 180 deg, -180 deg < p2 < 0.
    """
    flat = sqrt(r[0] * r[0] + r[1] * r[1])
    reach = rod * rod - r[2] * r[2]
    cosine = (crank * crank + flat * flat - reach) / (2.0 * crank * flat) if flat > 0.0 else 2.0
    if not (reach > 0.0 and fabs(cosine) < 1.0):
        return False, 1.0, 0.0, (rod, 0.0, 0.0)
    sine = sqrt(1.0 - cosine * cosine)
    c1 = (cosine * r[0] - sine * r[1]) / flat
    s1 = (sine * r[0] + cosine * r[1]) / flat
    return True, c1, s1, (c1 * r[0] + s1 * r[1] - crank, c1 * r[1] - s1 * r[0], r[2])


@kernel
def rod_joints(d):
    """Return the cosines and sines (c2, s2, c3, s3) of the two joints between crank and rod.

    `d` is the rod in axes of the crank's end.
    """
    flat = sqrt(d[0] * d[0] + d[1] * d[1])
    rod = sqrt(flat * flat + d[2] * d[2])
    return d[0] / flat, d[1] / flat, flat / rod, -d[2] / rod
