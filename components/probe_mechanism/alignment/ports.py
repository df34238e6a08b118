"""Record groups of the alignment levers, and the simplifications of the source."""

from __future__ import annotations

from dockfmu.components.core.field import Group, enumeration, parameter, private

SIMPLIFICATIONS = enumeration(
    "Simplifications",
    NONE="energy is kept: rollers load the nut, bent probe resists shortening, latches bend the tip they turn with",
    SOURCE="as in Yaskevich 2020, 6.1: none of the three acts back; audit.work_levers, _stiffness, _tip are their work",
)
AS_IN_SOURCE = SIMPLIFICATIONS.codes["SOURCE"]

LEVER_PARAMETERS = Group(
    "levers",
    parameter("travel", "m", "table of the cam: compression of the probe, rising",
              (0.0, 0.18, 0.3, 0.31, 0.335, 0.38), shape=6),
    parameter("axial", "m", "centre of the leading lever's roller along x of M, at the travels of the table",
              (0.25, 0.25, 0.25, 0.25, 0.25, 0.25), shape=6),
    parameter("radial", "m", "distance of the roller's centre from x of M, at the travels of the table",
              (0.11, 0.11, 0.1975, 0.189, 0.18582, 0.14807), shape=6, minimum=0.0),
    parameter("azimuth", "rad", "of the leading lever, from y to z of M", 0.0),
    description="alignment levers: path of the rollers in the housing frame M",
)  # fmt: skip

LEVERS = Group(
    "levers",
    private("radial", "1", "direction of a roller's path normal to x, y and z of M", shape=(3, 2)),
    private("slope", "1", "derivative of a roller's centre with respect to the travel, M", shape=(3, 3)),
)
