"""The record of the pair of rings: contact-geometry section 7, with the data of sets RefRing and CP-1R."""

from __future__ import annotations

from pathlib import Path

from dockfmu.components.core.field import (
    BOOLEAN,
    INTEGER,
    Field,
    Group,
    constants,
    input,
    output,
    parameter,
    private,
    temporaries,
)
from dockfmu.components.core.parameters import read_parameter_sets
from dockfmu.components.core.starts import with_starts
from dockfmu.components.physics.contact import contact_list, force, held_friction, pairs, profile, sums
from dockfmu.components.physics.contact.ring_pair.pairs import PAIRS, SLOTS
from dockfmu.components.physics.mechanics.kinematics import placement

PETALS = 3
SIDES = 2
LAYERS = 2
LATCHES = 2 * PETALS
SENSORS = PETALS
POINTS = 2 * PETALS
# row of the active ring
RING = 0.0

PARAMETER_SETS = read_parameter_sets(Path(__file__).parent / "parameters")
STARTS = tuple(entry for entry in PARAMETER_SETS if entry.name in ("RefRing", "CP-1R"))


def parameters() -> Group:
    """Return the group of dimensions, springs and force laws; both rings are alike."""
    return Group(
        "parameters",
        Group(
            "ring",
            parameter("radius", "m", "of the rim, the inner edge of the ring plane", 0.0, minimum=0.0),
            parameter("outer_radius", "m", "of the ring plane", 0.0, minimum=0.0),
            parameter(
                "conformity", "m", "difference of depths along a line within which all of it bears; 0: one point", 0.0
            ),
        ),
        Group(
            "petal",
            parameter("height", "m", "of the tip above the ring plane", 0.0, minimum=0.0),
            parameter("cone_angle", "rad", "of the outer face to the axis", 0.0, minimum=0.0),
            parameter("root_half_width", "rad", "in the ring plane, on the rim", 0.0, minimum=0.0),
            parameter("tip_half_width", "rad", "at the tip", 0.0, minimum=0.0),
            parameter("lower_radius", "m", "of the inner face in the ring plane", 0.0, minimum=0.0),
            parameter("lower_half_width", "rad", "of the inner face there", 0.0, minimum=0.0),
            description="guide petals, at azimuths 90, 330, 210 deg of the active ring",
        ),
        Group("plane", parameter("radius", "m", "of the points on which the active ring plane bears", 0.0)),
        Group(
            "sensor",
            parameter("radius", "m", "of the plungers from the axis", 0.0, minimum=0.0),
            parameter("azimuth", "rad", "of the plungers from their petals' middle", 0.0),
            parameter("protrusion", "m", "of the plungers above the ring plane", 0.0, minimum=0.0),
            parameter("threshold", "m", "depression at which a sensor switches", 0.0, minimum=0.0),
            description="mating sensors at the roots of the active petals",
        ),
        Group(
            "stop",
            parameter("outer_radius", "m", "of the front face in the passive ring plane", 0.0, minimum=0.0),
            parameter("inner_radius", "m", "of the edge between front and rear face", 0.0, minimum=0.0),
            description="stops of the passive unit, of revolution: faces at 45 deg to the axis, meeting in an edge",
        ),
        Group(
            "latch",
            parameter("height", "m", "of the root above the ring plane, on the petal's outer face", 0.0, minimum=0.0),
            parameter("azimuth", "rad", "from the petal's middle, one to either side", 0.0),
            parameter("length", "m", "of the extended latch", 0.0, minimum=0.0),
            parameter("stroke", "m", "by which it can be pushed in", 0.0, minimum=0.0),
            parameter("mass", "kg", "that moves", 1.0, minimum=1e-6),
            parameter("stiffness", "N/m", "of its spring", 0.0, minimum=0.0),
            parameter("preload", "N", "of its spring when extended", 0.0, minimum=0.0),
            description="latches of the active petals, two each, sliding at 45 deg to the axis",
        ),
        force.law("law_petal", "rims on petals"),
        force.law("law_side", "side edges of petals on each other"),
        force.law("law_plane", "each of the six points of the ring plane"),
        force.law("law_front", "roller of a latch on the front of its stop"),
        force.law("law_rear", "fired latch behind its stop"),
        force.law("law_sensor", "plunger of a mating sensor, its own spring"),
    )


def inputs() -> Group:
    """Return the group of the inputs that the component sets before an evaluation."""
    return Group(
        "input",
        placement("base", "frame 0 relative to PU, PU axes"),
        placement("link", "ring-plane frame AR of the active ring relative to frame 0, frame 0 axes"),
        *held_friction.inputs(1),
        private("release", "1", "this latch is commanded to be drawn in", shape=LATCHES),
    )


def release() -> Field:
    """Return the command of a component that draws the latches in, so that the units can part."""
    return input(
        "release", "1", "draw this latch in, so that it holds no longer; two of each petal", shape=LATCHES, type=BOOLEAN
    )


def outputs() -> Group:
    """Return the group of the outputs of an evaluation."""
    return Group(
        "output",
        force.wrench("target", "on the passive unit, PU axes, about the origin of PU"),
        force.wrench("link", "on the active ring, its axes, about its origin"),
        private("contact", "1", "the rings touch, by petals, rims, planes, sensors or latches"),
        private("mated", "1", "this mating sensor is pressed in beyond its threshold", shape=SENSORS),
        private("latched", "1", "this latch has fired: 1 and 2 of petal 1, then of petals 2 and 3", shape=LATCHES),
        private("capture", "1", "all mating sensors are pressed in"),
        private("capture_mechanical", "1", "capture, and at least one latch of each petal has fired"),
        private("stored_energy", "J", "in contacts, and in springs and motion of the latches"),
        private("dissipated_latches", "J", "by latches snapping out or against the ends of their stroke so far"),
    )


def capture() -> Group:
    """Return the group `capture` of a component: the distance of the mating sensors from capture."""
    return Group(
        "capture",
        output("margin", "m", "longest remaining travel of a mating sensor; positive until all are pressed in"),
    )


def validity() -> Group:
    """Return the group `validity` of a component: micro-steps outside the domain of the formulas (ruling R40)."""

    def count(name: str, description: str) -> Field:
        return output(name, "1", f"micro-steps in which {description}", type=INTEGER)

    return Group(
        "validity",
        count("petal_tip", "a petal bore with its tip: tips are modelled as sharp and flat"),
        count("ring_border", "a point of the ring plane bore on its border"),
        description="micro-steps computed outside the domain of the formulas",
    )


def state() -> Group:
    """Return the group of the state, which only accepted micro-steps change."""
    return Group(
        "state",
        Group(
            "latch",
            private("travel", "m", "by which it is pushed in"),
            private("rate", "m/s", "of the travel"),
            private("depth", "m", "of its roller in the front of the stops when it was last moved"),
            private("fired", "1", "has snapped out behind its stop: no longer resists"),
            private("released", "1", "is drawn into its petal by command: touches nothing"),
            count=LATCHES,
        ),
        held_friction.memory(SLOTS, 1),
        Group(
            "validity",
            private("petal_tip", "1", "as the outputs of `validity`"),
            private("ring_border", "1", "as the outputs of `validity`"),
        ),
        private("dissipated_latches", "J", "by latches so far"),
    )


def _petals(name: str, description: str) -> Group:
    """Return the group of the three petals of a ring, in that ring's own frame."""
    return Group(
        name,
        private("azimuth", "1", "cosine and sine of the azimuth of its middle", shape=2),
        Group(
            "side",
            private("normal", "1", "of the side face, out of the petal", shape=3),
            Group(
                "edge",
                private("root", "m", "start: extended below the ring plane (upper), or in it (lower)", shape=3),
                private("along", "m", "vector from there to the tip", shape=3),
                count=LAYERS,
            ),
            count=SIDES,
        ),
        count=PETALS,
        description=description,
    )


def geometry() -> Group:
    """Return the group of constants that `initialize` computes from the parameters."""
    return Group(
        "geometry",
        private("cosine", "1", "of the angle of outer and inner face to the axis", shape=LAYERS),
        private("sine", "1", "of the angle of outer and inner face to the axis", shape=LAYERS),
        private("radius", "m", "of outer and inner face in the ring plane", shape=LAYERS),
        private("spread", "1", "cosine and sine of the angle between points of a spread contact", shape=2),
        private("side_offset", "m", "of a side face: its normal times a point of it"),
        _petals("petal", "petals in the frame of their ring: AR, or PU turned by 180 deg about y"),
        _petals("passive", "passive petals in PU"),
        private("point", "m", "points of the ring plane, AR", shape=(POINTS, 3)),
        private("plunger", "m", "extended tips of the mating sensors, AR", shape=(SENSORS, 3)),
        private("latch_root", "m", "roots of the latches, AR", shape=(LATCHES, 3)),
        private("latch_along", "1", "unit vectors along the latches, root to roller, AR", shape=(LATCHES, 3)),
        profile.faces(2),
        private("reach", "m", "of the latches above the ring plane"),
    )


def work() -> Group:
    """Return the group of work space of one evaluation."""
    return Group(
        "work",
        force.motion("link", 1),
        sums.sums("sums", 1, "forces on the passive unit and on the active ring"),
        sums.sums("bearing", 1, "those of all contacts but the latches'"),
        private("known", "1", "set of contacts that are left out"),
    )


def tally() -> Group:
    """Return the group of the list of contacts of one evaluation."""
    return contact_list.tally(
        SLOTS,
        private("bearing", "1", "number of them that are not contacts of latches"),
        private("closed", "1", "set of the contacts, one bit each: see `contact_list.closed_set`"),
        private("tips", "1", "contacts by the tip of a petal"),
        private("borders", "1", "contacts on the border of the ring plane"),
    )


def unit() -> Group:
    """Return the group `ring_pair` of a component: both rings, with the start values of RefRing and CP-1R."""
    members = (
        parameters(),
        *map(temporaries, (inputs(), outputs())),
        state(),
        *map(constants, (geometry(), pairs.kinds(len(PAIRS)))),
        *map(temporaries, (work(), tally())),
        contact_list.status(),
    )
    return with_starts(Group("ring_pair", *members), STARTS)
