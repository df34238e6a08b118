"""The record of the probe-cone unit: contact-geometry section 6, with the data of sets RefCone and CP-1."""

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
from dockfmu.components.physics.contact import (
    contact_list,
    force,
    held_friction,
    pairs,
    profile,
    sprung_lever,
    sums,
)
from dockfmu.components.physics.contact.probe_cone.pairs import PAIRS, SLOTS
from dockfmu.components.physics.mechanics.kinematics import placement

VERTICES = 8
PADS = 16
ROLLERS = 3
LATCHES = 4
SENSORS = 2
# rows of the links: head H, limiter M; and of the sums: head, pads, rollers
HEAD = 0.0
LIMITER = 1.0
ROLLER = 2.0

PARAMETER_SETS = read_parameter_sets(Path(__file__).parent / "parameters")
# the sets whose values are the unit's start values
START_SETS = ("RefCone", "CP-1")


def parameters() -> Group:
    """Return the group of dimensions, springs and force laws."""
    return Group(
        "parameters",
        Group(
            "cone",
            parameter("vertices", "1", "points of the profile in use", 3, type=INTEGER, minimum=3, maximum=VERTICES),
            parameter("x", "m", "abscissa of the points, mouth to bottom", shape=VERTICES, start=0.0),
            parameter("r", "m", "radius of the points, mouth to axis", shape=VERTICES, start=0.0),
            description="meridian of the passive unit: docking plane, frusta, socket wall, socket bottom",
        ),
        Group(
            "slot",
            parameter("x", "m", "abscissa of the stops", 0.0),
            parameter("distance", "m", "of the slot plane from the axis", 0.0, minimum=0.0),
            parameter("half_width", "m", "of the narrow part, less half the width of the latch", 0.0, minimum=0.0),
            parameter("narrow_depth", "m", "where the inclined walls begin, from the stop", 0.0, minimum=0.0),
            parameter("wide_depth", "m", "where they end, from the stop", 0.0, minimum=0.0),
            parameter("wall_angle", "rad", "of the inclined walls to the axis", 0.0, minimum=0.0),
            description="slots for the latches at azimuths 0, 90, 180, 270 deg",
        ),
        Group("head", parameter("radius", "m", "of the head sphere", 0.0, minimum=0.0)),
        Group(
            "latch",
            parameter("pivot", "m", "along x, radial; from the head centre", 0.0, shape=2),
            parameter("root", "m", "point 1 of the front edge, from the pivot", 0.0, shape=2),
            parameter("tip", "m", "point 2 of the front edge, from the pivot", 0.0, shape=2),
            parameter("rear_root", "m", "point 3 of the rear edge, from the head centre", 0.0, shape=2),
            parameter("rear_tip", "m", "point 4 of the rear edge, from the head centre", 0.0, shape=2),
            *sprung_lever.spring(),
            parameter(
                "missing",
                "1",
                "this latch is missing (a fault): it neither touches nor holds, and nothing can be captured",
                0.0,
                shape=LATCHES,
                type=BOOLEAN,
            ),
            description="head latches in the planes of the slots",
        ),
        Group(
            "sensor",
            parameter("count", "1", "capture sensors in use", 0, type=INTEGER, minimum=0, maximum=SENSORS),
            parameter("azimuth", "rad", "of their planes, from +y toward +z", 0.0, shape=SENSORS),
            parameter("pivot", "m", "along x, radial; from the head centre", 0.0, shape=2),
            parameter("centre", "m", "of the roller, from the pivot", 0.0, shape=2),
            parameter("radius", "m", "of the roller", 0.0, minimum=0.0),
            *sprung_lever.spring(),
            parameter("friction", "N", "of all sensors along the socket after capture", 0.0, minimum=0.0),
            parameter("slip_velocity", "m/s", "below which this friction fades", 1e-3, minimum=1e-9),
            description="capture sensors of the head",
        ),
        Group(
            "limiter",
            parameter("pads", "1", "number of pads, evenly spaced", 0, type=INTEGER, minimum=0, maximum=PADS),
            parameter("azimuth", "rad", "of the first pad", 0.0),
            parameter("x", "m", "front and rear end of a pad, frame M", 0.0, shape=2),
            parameter("r", "m", "front and rear end of a pad, frame M", 0.0, shape=2),
            description="pads of the limiter of angular motion",
        ),
        Group(
            "roller",
            parameter("count", "1", "alignment rollers in use", 0, type=INTEGER, minimum=0, maximum=ROLLERS),
            parameter("radius", "m", "of a roller", 0.0, minimum=0.0),
        ),
        force.law("law_head", "head on cone, edges and socket wall"),
        force.law("law_bottom", "head on the socket bottom"),
        force.law("law_latch", "latches on stops and walls of the slots"),
        force.law("law_limiter", "pads and rollers on the cone"),
    )


def inputs() -> Group:
    """Return the group of the inputs that the component sets before an evaluation."""
    return Group(
        "input",
        placement("base", "frame 0 relative to PU, PU axes"),
        placement("link", "head H and limiter M relative to frame 0, frame 0 axes", count=2),
        Group(
            "roller",
            private("position", "m", "centre, frame M", shape=3),
            private("velocity", "m/s", "of the centre relative to M, M axes", shape=3),
            count=ROLLERS,
        ),
        private("tip_slope", "rad", "extra slope of the bent probe's end about y, z", shape=2),
        *held_friction.inputs(2),
        private("ahead", "s", "time within which open contacts may close, see `tally.closing`; 0: none may"),
        private("latches_armed", "1", "0 while the latch drive withdraws the latches", 1.0),
    )


def outputs() -> Group:
    """Return the group of the outputs of an evaluation."""
    return Group(
        "output",
        force.wrench("target", "on the passive unit, PU axes, about the origin of PU"),
        force.wrench("link", "on head and limiter, link axes, about the link's origin", count=2),
        force.wrench("limiter", "the pads' share of link 2, M axes, about the origin of M"),
        force.wrench("roller", "each roller's share of link 2, M axes, about the origin of M", count=ROLLERS),
        private("first_contact", "1", "DK1: the head touches the cone or an edge"),
        private("socket_bottom", "1", "DK2: the head touches the socket bottom"),
        private("capture", "1", "DSG: all latches have fired"),
        private("limiter_contact", "1", "a pad touches"),
        private("roller_contact", "1", "this roller touches", shape=ROLLERS),
        private("latch_fired", "1", "this latch has fired", shape=LATCHES),
        private("stored_energy", "J", "in contacts and in the springs of latches and sensors"),
        private("dissipated_latches", "J", "by latches snapping out so far"),
    )


def validity(*more: Field) -> Group:
    """Return the group `validity` of a component: micro-steps outside the domain of the formulas (ruling R40).

    `more` fields of the component come first.
    """

    def count(name: str, description: str) -> Field:
        return output(name, "1", f"micro-steps in which {description}", type=INTEGER)

    return Group(
        "validity",
        *more,
        count("latch_tilt", "a latch bore in its slot tilted by more than 15 deg: the slot is modelled as plane"),
        count("wide_slot", "a latch bore on the wide part of its slot, which the source's latches never touch"),
        count("lever_arm", "a latch or sensor pressed on an arm shorter than 1 mm: its force is that on 1 mm"),
        count("three_rollers", "three alignment rollers bore at once, which jams the alignment"),
        description="micro-steps computed outside the domain of the formulas",
    )


def latches_armed() -> Field:
    """Return the command to the latches."""
    return input("latches_armed", "1", "latches released; false: the latch drive withdraws them", 1.0, type=BOOLEAN)


def sensors() -> tuple[Field, ...]:
    """Return the contact sensors of a component."""
    return (
        output("first_contact", "1", "DK1: the head touched the cone in this step", type=BOOLEAN),
        output("socket_bottom", "1", "DK2: the head touched the bottom of the socket in this step", type=BOOLEAN),
        output("capture", "1", "DSG: four latches in their slots", type=BOOLEAN),
    )


def flags(*more: Field) -> Group:
    """Return the group `flag` of a component: what touched, and which latches have fired; `more` fields come first."""
    return Group(
        "flag",
        *more,
        output("limiter_contact", "1", "a limiter pad touched the cone in this step", type=BOOLEAN),
        output("roller_contact", "1", "this roller touched the cone in this step", shape=3, type=BOOLEAN),
        output("latch", "1", "this latch has fired", shape=4, type=BOOLEAN),
    )


def capture() -> Group:
    """Return the group `capture` of a component: the distance of the latches from capture."""
    return Group(
        "capture",
        output("margin", "m", "distance of the latch that is farthest from closing to the outline of its slot, along "
               "the axis or across it; negative if and only if all latches have fired"),
    )  # fmt: skip


def state() -> Group:
    """Return the group of the state, which only accepted micro-steps change."""
    return Group(
        "state",
        Group(
            "validity",
            private("latch_tilt", "1", "as the outputs of `validity`"),
            private("wide_slot", "1", "as the outputs of `validity`"),
            private("lever_arm", "1", "as the outputs of `validity`"),
            private("three_rollers", "1", "as the outputs of `validity`"),
        ),
        sprung_lever.lever("latch", LATCHES),
        sprung_lever.lever("sensor", SENSORS),
        private("captured", "1", "all latches have fired"),
        held_friction.memory(SLOTS, 2),
        private("dissipated_latches", "J", "by latches snapping out so far"),
    )


def geometry() -> Group:
    """Return the group of constants that `initialize` computes from the parameters."""
    return Group(
        "geometry",
        profile.faces(VERTICES - 2),
        private("faces", "1", "of the convex chain: all but the bottom"),
        private("bottom_x", "m", "abscissa of the bottom"),
        private("bottom_r", "m", "radius of the bottom"),
        private("reach", "m", "largest distance of a latch or sensor from the head centre"),
        Group(
            "wall",
            private("cosine", "1", "of the angle of the inclined walls to the axis"),
            private("sine", "1", "of the angle of the inclined walls to the axis"),
            private("wide_half_width", "m", "half the width of the slot behind the inclined walls"),
            description="walls of the slots",
        ),
        Group(
            "azimuth",
            private("radial", "1", "outward", shape=3),
            private("tangential", "1", "x cross radial", shape=3),
            count=LATCHES + SENSORS,
            description="of latches, then sensors, in the head as of slots in PU",
        ),
        private("pad_reach", "m", "from the middle of a pad to its ends, with a margin"),
        Group(
            "pad",
            private("start", "m", "front end, frame M", shape=3),
            private("along", "m", "from the front end to the rear end, frame M", shape=3),
            private("middle", "m", "middle, frame M", shape=3),
            count=PADS,
        ),
    )


def work() -> Group:
    """Return the group of work space of one evaluation."""
    return Group(
        "work",
        force.motion("link", count=2),
        sprung_lever.frame("latch", LATCHES),
        sprung_lever.frame("sensor", SENSORS),
        private("levers_clear", "1", "no latch or sensor can touch, however it is turned: they are not placed"),
        sums.sums("bearing", 2 + ROLLERS, "forces of class 1, on the passive unit, head, pads and rollers"),
        sums.sums("levers", 1, "forces of class 2, on the passive unit and the head"),
    )


def tally() -> Group:
    """Return the group of the list of contacts of one evaluation."""
    return contact_list.tally(
        SLOTS,
        private("sensor_friction", "N", "of the capture sensors on the passive unit after capture, along x of PU"),
        private("class_1", "1", "number of contacts that are of class 1; levers hold the others"),
        private("closed", "1", "set of the class-1 contacts, one bit each: see `contact_list.closed_set`"),
        private("closing", "1", "set of those that are open and near enough to close within `input.ahead`"),
        private("tilted", "1", "contacts of fired latches that are tilted too far"),
        private("wide", "1", "fired latches on the wide part of their slots"),
    )


def unit() -> Group:
    """Return the group `probe_cone` of a component: the whole unit, with the start values of RefCone and CP-1."""
    members = (
        parameters(),
        *map(temporaries, (inputs(), outputs())),
        state(),
        *map(constants, (geometry(), pairs.kinds(len(PAIRS)))),
        *map(temporaries, (work(), tally())),
        contact_list.status(),
    )
    sets = [entry for entry in PARAMETER_SETS if entry.name in START_SETS]
    return with_starts(Group("probe_cone", *members), sets)
