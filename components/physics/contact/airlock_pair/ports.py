"""The record of the airlock's pair: berthing section 8.1, with the data of the sets RefB1 and CP-B1."""

from __future__ import annotations

from pathlib import Path

from dockfmu.components.core.field import Group, constants, parameter, private, temporaries
from dockfmu.components.core.parameters import read_parameter_sets
from dockfmu.components.core.starts import with_starts
from dockfmu.components.physics.contact import contact_list, force, pairs, profile, sums
from dockfmu.components.physics.contact.airlock_pair.pairs import PAIRS

SPHERES = 2
CONES = 2
EDGES = 2
LATCHES = 4
# 2^6 + 1 generatrices around each cone, the first and the last alike
GENERATRICES = 65
# faces of the passive profile: plane around the mouth, cone, rear face of the strike
FACES = 3
# row of the head
HEAD = 0.0
# three for each sphere, one for each edge, three for each latch
CONTACTS = 3 * SPHERES + EDGES + 3 * LATCHES

PARAMETER_SETS = read_parameter_sets(Path(__file__).parent / "parameters")


def parameters() -> Group:
    """Return the group of dimensions, springs and force laws."""
    return Group(
        "parameters",
        Group(
            "cone",
            parameter("mouth_radius", "m", "R_CONE, at x = 0 of frame P", 0.0, minimum=0.0),
            parameter("plane_radius", "m", "R_PlaneMax, of the plane around the mouth", 0.0, minimum=0.0),
            parameter("strike_radius", "m", "R_STOP, of the edge behind which the latches hold", 0.0, minimum=0.0),
            parameter("depth", "m", "H_CONE, from the mouth to the strike", 0.0, minimum=0.0),
            parameter("strike_angle", "rad", "of the rear face of the strike to the axis", 0.0, minimum=0.0),
            parameter("wall_radius", "m", "of the socket behind the strike", 0.0, minimum=0.0),
            parameter("bottom", "m", "abscissa of the bottom of the socket", 0.0, minimum=0.0),
            description="passive unit in frame P: origin in the mouth's centre, x into the cone",
        ),
        Group(
            "head",
            parameter("sphere_x", "m", "centres from the hinge, nose first", 0.0, shape=SPHERES),
            parameter("sphere_radius", "m", "of the spheres", 0.0, shape=SPHERES, minimum=0.0),
            parameter("shank_angle", "rad", "half-angle of the shank behind the rear sphere", 0.0, minimum=0.0),
            parameter("shank_x", "m", "end of the shank toward the hinge", 0.0),
            description="in frame H: origin in the hinge, x toward the cone; tangent cones join the spheres",
        ),
        Group(
            "latch",
            parameter("x", "m", "points L0 to L3 of an extended latch, from the hinge", 0.0, shape=4),
            parameter("r", "m", "their distances from the axis of the head", 0.0, shape=4),
            parameter("travel", "m", "by which a latch can be pushed in", 0.0, minimum=0.0),
            parameter("preload", "N", "of its spring when extended", 0.0, minimum=0.0),
            parameter("stiffness", "N/m", "of its spring", 0.0, minimum=0.0),
            description="four latches at azimuths 0, 90, 180, 270 deg of the head; they slide toward its axis",
        ),
        parameter("tilt_limit", "rad", "largest angle between the axes near the cone", 0.26, minimum=0.0),
        force.law("law_head", "spheres and cones of the head"),
        force.law("law_latch", "latches at the end of their travel, and behind the strike"),
    )  # fmt: skip


def state() -> Group:
    """Return the group of the state, which only accepted micro-steps change."""
    return Group(
        "state",
        Group(
            "latch",
            private("travel", "m", "by which it is pushed in"),
            private("fired", "1", "has snapped out behind the strike: it no longer yields"),
            count=LATCHES,
        ),
        private("dissipated_latches", "J", "by latches that snapped out"),
    )


def geometry() -> Group:
    """Return the group of constants that `initialize` computes from the parameters."""
    return Group(
        "geometry",
        profile.faces(FACES),
        private("sine", "1", "of the half-angle of the head's cones, positive where they widen backward", shape=CONES),
        private("cosine", "1", "of the half-angle of the head's cones", shape=CONES),
        private("nose_cone", "m", "generatrices between the spheres: start, vector; H", shape=(GENERATRICES, 6)),
        private("shank", "m", "generatrices behind the rear sphere: start, vector; H", shape=(GENERATRICES, 6)),
    )


def work() -> Group:
    """Return the group of work space of one evaluation; P axes."""
    return Group(
        "work",
        force.motion("link", 1),
        sums.sums("sums", 1, "forces on the passive unit and on the head, about the hinge"),
        Group(
            "latch",
            private("travel", "m", "by which it is pushed in, in this evaluation"),
            private("clear", "1", "the extended latch is behind the strike, and free of it"),
            count=LATCHES,
        ),
    )


def unit() -> Group:
    """Return the group `airlock_pair` of a component: head and cone, with the start values of its sets."""
    members = (
        parameters(),
        state(),
        *map(constants, (geometry(), pairs.kinds(len(PAIRS)))),
        *map(temporaries, (work(), contact_list.tally(CONTACTS))),
        contact_list.status(),
    )
    return with_starts(Group("airlock_pair", *members), PARAMETER_SETS)
