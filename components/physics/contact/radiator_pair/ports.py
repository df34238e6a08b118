"""The record of the radiator's pair: contact-geometry section 8.2, with the data of the sets RefB2 and CP-B2."""

from __future__ import annotations

from pathlib import Path

from dockfmu.components.core.field import Field, Group, constants, parameter, private, temporaries
from dockfmu.components.core.parameters import read_parameter_sets
from dockfmu.components.core.starts import with_starts
from dockfmu.components.physics.contact import contact_list, force, pairs, profile, sums
from dockfmu.components.physics.contact.radiator_pair.pairs import PAIRS

PINS = 2
POINTS = 4
# 2^6 + 1 spheres around the end of the plug, the first and the last alike
SPHERES = 65
# faces of a passive profile: docking plane, cone, bore
FACES = 3
# pins, plug, points of the plane, ball
CONTACTS = PINS + 1 + POINTS + 1

PARAMETER_SETS = read_parameter_sets(Path(__file__).parent / "parameters")


def _bore(name: str) -> tuple[Field, ...]:
    """Return the parameters of a cone in the docking plane with a bore behind it."""
    return (
        parameter("plane_radius", "m", f"of the plane around the {name}", 0.0, minimum=0.0),
        parameter("mouth_radius", "m", "of the cone in the docking plane", 0.0, minimum=0.0),
        parameter("bore_radius", "m", "of the cylinder behind the cone", 0.0, minimum=0.0),
        parameter("cone_angle", "rad", "of the cone to its axis", 0.0, minimum=0.0),
        parameter("end", "m", "abscissa of the end of the cylinder", 0.0, minimum=0.0),
    )


def parameters() -> Group:
    """Return the group of dimensions, springs and force laws."""
    return Group(
        "parameters",
        # no group may begin with the fields of another: numba would take the longer record for the shorter one
        Group("guide", parameter("y", "m", "of the axes of cones 1 and 2 in the passive unit", 0.0, shape=PINS),
              *_bore("guide cone"), description="guide cones of the passive unit"),
        Group("socket", *_bore("entry cone"), description="locking socket of the passive unit, on its axis"),
        Group(
            "pin",
            parameter("x", "m", "of the centres of their end spheres, active unit", 0.0, shape=PINS),
            parameter("y", "m", "of the centres of their end spheres, active unit", 0.0, shape=PINS),
            parameter("radius", "m", "of their end spheres", 0.0, minimum=0.0),
            description="guide pins of the active unit",
        ),
        Group(
            "plug",
            parameter("x", "m", "X_tc0, of the centre of its torus, active unit", 0.0),
            parameter("ring_radius", "m", "of the circle of the sphere centres", 0.0, minimum=0.0),
            parameter("radius", "m", "of the spheres", 0.0, minimum=0.0),
            description="locking plug of the active unit, its end a torus",
        ),
        Group(
            "plane",
            parameter("y", "m", "of the points on which the active plane bears", 0.0, shape=POINTS),
            parameter("z", "m", "of the points on which the active plane bears", 0.0, shape=POINTS),
            parameter("radius", "m", "of the passive docking plane about its axis; a point beside it has no contact",
                      0.0, minimum=0.0),
        ),
        Group(
            "ball",
            parameter("x", "m", "abscissa of the plug's torus where the ball meets it, passive unit", 0.0),
            parameter("travel", "m", "from there to where the ball snaps behind the plug", 0.0, minimum=0.0),
            parameter("force", "N", "with which the ball resists the plug", 0.0, minimum=0.0),
            parameter("rise", "m", "travel over which the force rises", 0.0, minimum=0.0),
            description="spring-loaded ball that resists the plug and then holds it",
        ),
        parameter("tilt_limit", "rad", "largest angle between the axes in contact", 0.26, minimum=0.0),
        force.law("law_device", "pins, plug, and ball that holds"),
        force.law("law_plane", "each of the points of the docking plane"),
    )  # fmt: skip


def state() -> Group:
    """Return the group of the state, which only accepted steps change."""
    return Group(
        "state",
        private("captured", "1", "the ball is behind the plug"),
        private("dissipated_ball", "J", "by the ball when it snapped"),
    )


def geometry() -> Group:
    """Return the group of constants that `initialize` computes from the parameters."""
    return Group(
        "geometry",
        Group("guide", profile.faces(FACES)),
        Group("socket", profile.faces(FACES)),
        private("ring", "m", "sphere centres of the plug's end from its torus' centre", shape=(SPHERES, 3)),
        private("reach", "m", "of the foremost sphere of the active unit, from its docking plane"),
    )


def work() -> Group:
    """Return the group of work space of one evaluation; passive axes."""
    return Group(
        "work",
        force.motion("link", 1),
        sums.sums("sums", 1, "forces on both units"),
        private("through", "m", "of the plug beyond the place where the ball meets it"),
        private("ball_energy", "J", "in the spring of a ball that has passed the plug and is about to snap"),
    )


def unit() -> Group:
    """Return the group `radiator_pair` of a component: both units, with the start values of its sets."""
    members = (
        parameters(),
        state(),
        *map(constants, (geometry(), pairs.kinds(len(PAIRS)))),
        *map(temporaries, (work(), contact_list.tally(CONTACTS))),
        contact_list.status(),
    )
    return with_starts(Group("radiator_pair", *members), PARAMETER_SETS)
