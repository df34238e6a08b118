"""The parameters of a manipulator: arrays over its joints, so that one TOML file describes an arm with any number."""

from __future__ import annotations

from dockfmu.components.core.field import BOOLEAN, INTEGER, Group, enumeration, parameter
from dockfmu.components.core.ports import BASE_MOTION, LAGGED

JOINTS = 7
"""Number of joints of the arm in the catalogue; other numbers are a build option."""
SEGMENTS = 3
"""Largest number of segments of a link."""
MOST_BEAMS = 4
"""Largest number of beams in an arm with flexible links."""
POINTS = 8
"""Largest number of points in the table of joint angles that mode AUTO follows."""

AXIS = enumeration("JointAxis", X="roll", Y="pitch", Z="yaw")
SEGMENT = enumeration(
    "LinkSegment",
    NONE="no segment",
    RIGID="rigid segment",
    BEAM="straight beam along its length",
    LUMPED="rigid body on an angular spring at its start",
)
COMMAND_FRAME = enumeration(
    "CommandFrame", CAMERA="camera on the payload", TARGET="target beside the base's mating interface"
)
POSE_FEEDBACK = enumeration(
    "PoseFeedback",
    MOTORS="motor angles over the gear ratio: the swing of the payload in the gears does not enter the loop",
    OUTPUTS="encoders on the output shafts, as in the source, with much lower gains",
)
VARIANT = enumeration(
    "ManipulatorVariant",
    FULL="links with mass, joints with drives",
    MASSLESS_LINKS="as FULL, but with massless links and an equivalent inertia in each joint",
    KINEMATIC="joints follow their commanded rates exactly; no drives",
)
EFFICIENCY = enumeration(
    "GearEfficiency",
    DIRECTIONAL="losses oppose the flow of power in both directions",
    SOURCE="T_g over the efficiency in both directions, as printed in the source: creates energy when back-driven",
)


def _kinds(joints: int, flexible: bool) -> list[tuple[int, int, int]]:
    """Return the start values of the kinds of segments: beams, but for the root and where they are too many."""
    beam, rigid = (SEGMENT.codes[name] for name in ("BEAM", "RIGID"))
    bent = [not flexible or 0 < link <= MOST_BEAMS for link in range(joints + 1)]
    return [(beam if bends else rigid, 1, 1) for bends in bent]


def _links(joints: int, flexible: bool) -> tuple[Group, ...]:
    segments = (joints + 1, SEGMENTS)
    return (
        Group(
            "link",
            parameter("axis", "1", "axis of the joint at the start of the link, link axes; axes of all links are "
                      "parallel at joint angles 0",
                      (1, 3, 2, 2, 2, 3, 1) if joints == JOINTS else 1, shape=joints, type=AXIS),
            parameter("mass", "kg", "mass of links 1..N", 100.0, shape=joints, minimum=0.0),
            parameter("center_of_mass", "m", "centre of mass from the joint at the start of the link, link axes", 0.0,
                      shape=(joints, 3)),
            parameter("inertia", "kg.m2", "inertia about the centre of mass, link axes",
                      ((10.0, 0.0, 0.0), (0.0, 10.0, 0.0), (0.0, 0.0, 10.0)), shape=(joints, 3, 3)),
            parameter("half_width", "m", "largest distance of the link's mass from the box that its segments span; "
                      "bounds center_of_mass and inertia", 0.5, shape=joints, minimum=0.0),
        ),
        Group(
            "segment",
            parameter("kind", "1", "kind of each segment of links 0..N; the length of a link is the sum of its "
                      "segments", _kinds(joints, flexible), shape=segments, type=SEGMENT),
            parameter("length", "m", "vector from start to end, link axes", ((1.0, 0.0, 0.0), (0.0,) * 3, (0.0,) * 3),
                      shape=(*segments, 3)),
            parameter("bending", "N.m2", "bending stiffness EJ of beams", 5e6, shape=segments, minimum=0.0),
            parameter("torsion", "N.m2", "torsional stiffness GJ_p of beams", 2e6, shape=segments, minimum=0.0),
            parameter("extension", "N", "axial stiffness EA of beams", 1e8, shape=segments, minimum=0.0),
            parameter("twist_stiffness", "N.m/rad", "stiffness of lumped segments about x", 1e6, shape=segments,
                      minimum=0.0),
            parameter("tilt_stiffness", "N.m/rad", "stiffness of lumped segments about y and z", 1e6, shape=segments,
                      minimum=0.0),
            description="rows are links 0 (at the root) to N, columns their segments from start to end",
        ),
    )  # fmt: skip


def _drives(joints: int) -> tuple[Group, ...]:
    return (
        Group(
            "joint",
            parameter("locked", "1", "the joint is locked and has no drive", 0, shape=joints, type=BOOLEAN),
            parameter("angle_limit", "rad", "angle of the hard stops, in both directions", 4.71238898, shape=joints,
                      minimum=1e-3),
            parameter("rate_limit", "rad/s", "limit of the commanded rate", 0.04, shape=joints, minimum=0.0),
            parameter("equivalent_inertia", "kg.m2", "inertia about the joint that replaces the links in "
                      "MASSLESS_LINKS", 1000.0, shape=joints, minimum=0.0),
            parameter("stop_stiffness", "N.m/rad", "stiffness of the hard stops", 1e6, shape=joints, minimum=0.0),
            parameter("stop_damping", "N.m.s/rad", "damping of the hard stops", 0.0, shape=joints, minimum=0.0),
        ),
        Group(
            "motor",
            parameter("inertia", "kg.m2", "inertia J_m of the rotor", 4e-4, shape=joints, minimum=1e-9),
            parameter("torque_constant", "N.m/A", "torque constant K_T", 0.2, shape=joints, minimum=1e-9),
            parameter("voltage_constant", "V.s/rad", "back-EMF constant K_B", 0.2, shape=joints, minimum=0.0),
            parameter("resistance", "Ohm", "resistance R_L", 2.0, shape=joints, minimum=1e-6),
            parameter("time_constant", "s", "electrical time constant tau_m", 1e-3, shape=joints, minimum=1e-6),
            parameter("voltage_limit", "V", "voltage limit V_max", 28.0, shape=joints, minimum=0.0),
            parameter("current_limit", "A", "current limit I_max", 5.0, shape=joints, minimum=0.0),
            parameter("friction", "N.m", "dry friction T_c", 0.02, shape=joints, minimum=0.0),
            parameter("damping", "N.m.s/rad", "viscous friction b_v", 1e-5, shape=joints, minimum=0.0),
            parameter("brake", "N.m", "dry friction T_br added by the brake", 0.7, shape=joints, minimum=0.0),
        ),
        Group(
            "gear",
            parameter("ratio", "1", "gear ratio i_R: motor rate over joint rate", 1842.0, shape=joints, minimum=1.0),
            parameter("inertia", "kg.m2", "inertia J_g at the input shaft", 2e-6, shape=joints, minimum=1e-12),
            parameter("stiffness", "N.m/rad", "stiffness at the output shaft, beyond the backlash", 1e6, shape=joints,
                      minimum=1e-3),
            parameter("play", "rad", "B_L: half the backlash at the input shaft", 0.5, shape=joints, minimum=1e-9),
            parameter("play_torque", "N.m", "torque T_delta at the input shaft at which the backlash is taken up; 0 "
                      "for half the stiffness times B_L, which makes the law smooth", 0.0, shape=joints, minimum=0.0),
            parameter("damping_ratio", "1", "damping ratio, c_g over 2 sqrt(k_g J_m)", 0.05, shape=joints, minimum=0.0),
            parameter("efficiency", "1", "efficiency eta", 0.85, shape=joints, minimum=0.01, maximum=1.0),
            parameter("efficiency_law", "1", "effect of the efficiency when the load drives the motor", 1,
                      type=EFFICIENCY),
        ),
        Group(
            "servo",
            parameter("inner_period", "s", "period of the inner rate loop, which sets voltages", 5e-4, minimum=2e-5,
                      maximum=0.1),
            parameter("outer_period", "s", "period of the outer rate loop and of the controller, a multiple of "
                      "inner_period", 8e-3, minimum=1e-6, maximum=1.0),
            parameter("outer_gain", "1", "proportional gain K_op of the outer loop", 0.2, shape=joints, minimum=0.0),
            parameter("integral_gain", "1/s", "integral gain K_oi of the outer loop", 1.0, shape=joints, minimum=0.0),
            parameter("inner_gain", "V.s/rad", "proportional gain K_ip of the inner loop", 0.3, shape=joints,
                      minimum=0.0),
            parameter("rate_quantum", "rad/s", "quantum of the commanded motor rate; 0 for none", 0.0, minimum=0.0),
            parameter("tachometer_quantum", "rad/s", "quantum of the measured motor rate; 0 for none", 0.0,
                      minimum=0.0),
            parameter("angle_quantum", "rad", "quantum of the measured joint angle; 0 for none", 0.0, minimum=0.0),
        ),
    )  # fmt: skip


def _payload(joints: int) -> tuple[Group, ...]:
    return (
        Group(
            "payload",
            parameter("mass", "kg", "mass of the payload", 1000.0, minimum=1e-3),
            parameter("inertia", "kg.m2", "inertia of the payload about its centre of mass, axes PL",
                      ((400.0, 0.0, 0.0), (0.0, 400.0, 0.0), (0.0, 0.0, 400.0)), shape=(3, 3)),
        ),
        Group("grapple", parameter("position", "m", "l_GF: grapple fixture in PL", 0.0, shape=3)),
        Group(
            "interface",
            parameter("position", "m", "l_PI: mating interface in PL", 0.0, shape=3),
            parameter("angles", "rad", "yaw, pitch, roll of PI against PL", 0.0, shape=3),
            parameter("base_motion", "1", "how PI reports its acceleration to a mechanism on the payload: SOURCE or "
                      "LAGGED", LAGGED, type=BASE_MOTION),
        ),
        Group(
            "camera",
            parameter("position", "m", "origin of the command frame CAMERA, from PI in PI axes", 0.0, shape=3),
            parameter("angles", "rad", "yaw, pitch, roll of the command frame CAMERA against PI", 0.0, shape=3),
        ),
        Group(
            "initial",
            parameter("angle", "rad", "initial joint angles", 0.0, shape=joints),
            parameter("payload_angles", "rad", "initial yaw, pitch, roll of PL against B; the fixture is grappled in "
                      "this pose, without deflection", 0.0, shape=3),
        ),
    )  # fmt: skip


def _control(joints: int) -> tuple[Group, ...]:
    return (
        Group(
            "trajectory",
            parameter("points", "1", "number of points in the table that mode AUTO follows; 0 commands zero rates", 0,
                      type=INTEGER, minimum=0, maximum=POINTS),
            parameter("time", "s", "times since the mode began, ascending", [float(k) for k in range(POINTS)],
                      shape=POINTS, minimum=0.0),
            parameter("angle", "rad", "joint angles at these times", 0.0, shape=(POINTS, joints)),
            parameter("gain", "1/s", "gain K_p on the angle error; 0 and its bound as for control.pose_gain", 0.0,
                      minimum=0.0),
            parameter("tolerance", "rad", "largest error of each joint angle with which the last row is reached", 2e-3,
                      minimum=0.0),
        ),
        Group(
            "control",
            parameter("command_frame", "1", "command frame of the operator's rates", 1, type=COMMAND_FRAME),
            parameter("singular_value", "1", "singular value sigma_0 below which rates are damped", 0.05, minimum=0.0),
            parameter("damping", "1", "damping lambda_0 at a singular pose", 0.05, minimum=1e-6),
            parameter("length_scale", "m", "length by which translations are scaled relative to rotations", 10.0,
                      minimum=1e-3),
            parameter("braking_zone", "rad", "zone before a stop in which rates fall to zero", 0.08726646,
                      minimum=1e-6),
            parameter("pose_feedback", "1", "angles on which Step, Insert and AUTO close their loop", 1,
                      type=POSE_FEEDBACK),
            parameter("pose_gain", "1/s", "gain K_x of Step and Insert on the pose error; 0 for a quarter of the limit "
                      "in loop, which follows from the data, at most 0.05", 0.0, minimum=0.0),
            parameter("position_tolerance", "m", "largest error of the sensed position with which a Step or Insert has "
                      "reached its pose", 5e-3, minimum=0.0),
            parameter("angle_tolerance", "rad", "largest error of the sensed attitude with which it has", 3e-3,
                      minimum=0.0),
            parameter("settle_time", "s", "time after the planned end of a command, or of the table of AUTO, in which "
                      "its pose must be reached", 20.0, minimum=0.0),
            parameter("linear_speed", "m/s", "design speed of linear Steps", 5e-4, minimum=1e-9),
            parameter("angular_speed", "rad/s", "design speed of angular Steps", 2.1816616e-4, minimum=1e-9),
            parameter("insert_speed", "m/s", "design speed of Insert", 1e-3, minimum=1e-9),
            parameter("ramp", "s", "time in which a Step or Insert reaches its speed", 2.0, minimum=0.0),
            parameter("guarded", "1", "loads above force_limit or torque_limit abort a Step or Insert", 1,
                      type=BOOLEAN),
            parameter("force_limit", "N", "limit of tip.force", 1000.0, minimum=0.0),
            parameter("torque_limit", "N.m", "limit of tip.torque", 3000.0, minimum=0.0),
        ),
    )  # fmt: skip


def parameters(joints: int, flexible: bool = False) -> Group:
    """Return the group `parameters` of an arm with `joints` joints, whose links may be `flexible`."""
    return Group(
        "parameters",
        parameter("variant", "1", "level of detail of the model", VARIANT.codes["FULL"], type=VARIANT),
        parameter("base_fixed", "1", "R is fixed in I = B; otherwise it moves with the port base", 1, type=BOOLEAN),
        parameter(
            "base_motion",
            "1",
            "how the station reports the acceleration of R: LAGGED or AFFINE",
            LAGGED,
            type=BASE_MOTION,
        ),
        Group(
            "base",
            parameter("position", "m", "l_BR: root R in B", 0.0, shape=3),
            parameter("angles", "rad", "yaw, pitch, roll of R against B", 0.0, shape=3),
        ),
        Group(
            "target",
            parameter("position", "m", "l_BI: mating interface of the base in B", 0.0, shape=3),
            parameter("angles", "rad", "yaw, pitch, roll of BI against B", 0.0, shape=3),
        ),
        *_links(joints, flexible),
        *_drives(joints),
        Group(
            "compliance",
            parameter(
                "decrement",
                "1",
                "logarithmic decrement of each mode of the payload on the arm, from the lowest; the last is that of "
                "all further modes of flexible links",
                0.2,
                shape=6,
                minimum=0.0,
            ),
            parameter(
                "diagonal_damping",
                "1",
                "keep only the diagonal of C_M, as the source does; without effect on flexible links",
                0,
                type=BOOLEAN,
            ),
            parameter(
                "angle_change",
                "rad",
                "change of a joint angle above which the stiffness is outdated",
                0.034906585,
                minimum=0.0,
            ),
            parameter("automatic", "1", "recompute the stiffness when it is outdated", 1, type=BOOLEAN),
        ),
        *_payload(joints),
        *_control(joints),
        parameter("micro_step", "s", "longest step of drives, links and payload", 5e-4, minimum=2e-5, maximum=8e-3),
    )
