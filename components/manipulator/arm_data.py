"""The parameters of a manipulator: arrays over its joints, so that one TOML file describes an arm of any number."""

from __future__ import annotations

from components.core.field import BOOLEAN, INTEGER, Group, enumeration, parameter
from components.core.ports import BASE_MOTION

JOINTS = 7
"""Joints of the arm in the catalogue; other numbers are a build option."""
SEGMENTS = 3
"""Segments of a link, at most."""
POINTS = 8
"""Points of the table of joint angles that mode AUTO follows, at most."""

AXIS = enumeration("JointAxis", X="roll", Y="pitch", Z="yaw")
SEGMENT = enumeration(
    "LinkSegment",
    NONE="there is no such segment",
    RIGID="does not yield",
    BEAM="straight beam along its length",
    LUMPED="rigid body that yields in an angular spring at its start",
)
COMMAND_FRAME = enumeration(
    "CommandFrame", CAMERA="camera on the payload", TARGET="target beside the base's mating interface"
)
VARIANT = enumeration(
    "ManipulatorVariant",
    FULL="links with mass, joints with drives",
    MASSLESS_LINKS="as FULL, links without mass: one inertia in each joint",
    KINEMATIC="joints follow their commanded rates exactly; no drives",
)
EFFICIENCY = enumeration(
    "GearEfficiency",
    DIRECTIONAL="losses oppose the flow of power in both directions",
    SOURCE="T_g over the efficiency in both directions, as the source prints it: makes energy when driven back",
)


def _links(joints: int) -> tuple[Group, ...]:
    segments = (joints + 1, SEGMENTS)
    return (
        Group(
            "link",
            parameter("axis", "1", "of the joint at its start, in link axes; links are parallel at angles 0",
                      (1, 3, 2, 2, 2, 3, 1) if joints == JOINTS else 1, shape=joints, type=AXIS),
            parameter("mass", "kg", "of links 1..N", 100.0, shape=joints, minimum=0.0),
            parameter("center_of_mass", "m", "from the joint at its start, link axes", 0.0, shape=(joints, 3)),
            parameter("inertia", "kg.m2", "about the centre of mass, link axes",
                      ((10.0, 0.0, 0.0), (0.0, 10.0, 0.0), (0.0, 0.0, 10.0)), shape=(joints, 3, 3)),
        ),
        Group(
            "segment",
            parameter("kind", "1", "segments of links 0..N; a link is as long as its segments together",
                      (3, 1, 1), shape=segments, type=SEGMENT),
            parameter("length", "m", "from start to end, link axes", ((1.0, 0.0, 0.0), (0.0,) * 3, (0.0,) * 3),
                      shape=(*segments, 3)),
            parameter("bending", "N.m2", "EJ of beams", 5e6, shape=segments, minimum=0.0),
            parameter("torsion", "N.m2", "GJ_p of beams", 2e6, shape=segments, minimum=0.0),
            parameter("extension", "N", "EA of beams", 1e8, shape=segments, minimum=0.0),
            parameter("twist_stiffness", "N.m/rad", "about x of lumped segments", 1e6, shape=segments, minimum=0.0),
            parameter("tilt_stiffness", "N.m/rad", "about y and z of lumped ones", 1e6, shape=segments, minimum=0.0),
            description="rows are links 0 (at the root) to N, columns their segments from start to end",
        ),
    )  # fmt: skip


def _drives(joints: int) -> tuple[Group, ...]:
    return (
        Group(
            "joint",
            parameter("locked", "1", "does not turn and has no drive", 0, shape=joints, type=BOOLEAN),
            parameter("angle_limit", "rad", "of the hard stops, both ways", 4.71238898, shape=joints, minimum=1e-3,
                      display_unit="deg"),
            parameter("rate_limit", "rad/s", "of commanded rates", 0.04, shape=joints, minimum=0.0,
                      display_unit="deg/s"),
            parameter("equivalent_inertia", "kg.m2", "about the joint, that stands for the links in MASSLESS_LINKS",
                      1000.0, shape=joints, minimum=0.0),
            parameter("stop_stiffness", "N.m/rad", "of the hard stops", 1e6, shape=joints, minimum=0.0),
            parameter("stop_damping", "N.m.s/rad", "of the hard stops", 0.0, shape=joints, minimum=0.0),
        ),
        Group(
            "motor",
            parameter("inertia", "kg.m2", "of the rotor", 4e-4, shape=joints, minimum=1e-9),
            parameter("torque_constant", "N.m/A", "K_T", 0.2, shape=joints, minimum=1e-9),
            parameter("voltage_constant", "V.s/rad", "K_B", 0.2, shape=joints, minimum=0.0),
            parameter("resistance", "Ohm", "R_L", 2.0, shape=joints, minimum=1e-6),
            parameter("time_constant", "s", "electrical, tau_m", 1e-3, shape=joints, minimum=1e-6),
            parameter("voltage_limit", "V", "V_max", 28.0, shape=joints, minimum=0.0),
            parameter("current_limit", "A", "I_max", 5.0, shape=joints, minimum=0.0),
            parameter("friction", "N.m", "dry friction T_c", 0.02, shape=joints, minimum=0.0),
            parameter("damping", "N.m.s/rad", "viscous friction b_v", 1e-5, shape=joints, minimum=0.0),
            parameter("brake", "N.m", "T_br, dry friction that the brake adds", 0.7, shape=joints, minimum=0.0),
        ),
        Group(
            "gear",
            parameter("ratio", "1", "i_R: motor rate over joint rate", 1842.0, shape=joints, minimum=1.0),
            parameter("inertia", "kg.m2", "J_g, at the input shaft", 2e-6, shape=joints, minimum=1e-12),
            parameter("stiffness", "N.m/rad", "at the output shaft, beyond the backlash", 1e6, shape=joints,
                      minimum=1e-3),
            parameter("play", "rad", "B_L: half backlash at the input shaft", 0.5, shape=joints, minimum=1e-9),
            parameter("play_torque", "N.m", "T_delta at the input shaft where the backlash is taken up; 0 is half the "
                      "stiffness times B_L, with which the law is smooth", 0.0, shape=joints, minimum=0.0),
            parameter("damping_ratio", "1", "c_g over 2 sqrt(k_g J_m)", 0.05, shape=joints, minimum=0.0),
            parameter("efficiency", "1", "eta", 0.85, shape=joints, minimum=0.01, maximum=1.0),
            parameter("efficiency_law", "1", "how it acts when the load drives the motor", 1, type=EFFICIENCY),
        ),
        Group(
            "servo",
            parameter("inner_period", "s", "of the inner rate loop: voltages", 5e-4, minimum=2e-5, maximum=0.1),
            parameter("outer_period", "s", "of the outer rate loop and of the controller, a multiple of inner_period",
                      8e-3, minimum=1e-6, maximum=1.0),
            parameter("outer_gain", "1", "K_op", 0.2, shape=joints, minimum=0.0),
            parameter("integral_gain", "1/s", "K_oi", 1.0, shape=joints, minimum=0.0),
            parameter("inner_gain", "V.s/rad", "K_ip", 0.3, shape=joints, minimum=0.0),
            parameter("rate_quantum", "rad/s", "of the code of the commanded motor rate; 0 is none", 0.0, minimum=0.0),
            parameter("tachometer_quantum", "rad/s", "of the code of the motor rate; 0 is none", 0.0, minimum=0.0),
            parameter("angle_quantum", "rad", "of the code of the joint angle; 0 is none", 0.0, minimum=0.0),
        ),
    )  # fmt: skip


def _payload(joints: int) -> tuple[Group, ...]:
    return (
        Group(
            "payload",
            parameter("mass", "kg", "of the payload", 1000.0, minimum=1e-3),
            parameter("inertia", "kg.m2", "about its centre of mass, axes PL",
                      ((400.0, 0.0, 0.0), (0.0, 400.0, 0.0), (0.0, 0.0, 400.0)), shape=(3, 3)),
        ),
        Group("grapple", parameter("position", "m", "l_GF: grapple fixture in PL", 0.0, shape=3)),
        Group(
            "interface",
            parameter("position", "m", "l_PI: mating interface in PL", 0.0, shape=3),
            parameter("angles", "rad", "yaw, pitch, roll of PI against PL", 0.0, shape=3, display_unit="deg"),
            parameter("base_motion", "1", "how PI reports its acceleration to a mechanism on the payload: SOURCE or "
                      "LAGGED", BASE_MOTION.codes["LAGGED"], type=BASE_MOTION),
        ),
        Group(
            "camera",
            parameter("position", "m", "origin of the command frame CAMERA, from PI in PI axes", 0.0, shape=3),
            parameter("angles", "rad", "yaw, pitch, roll of its axes against PI", 0.0, shape=3, display_unit="deg"),
        ),
        Group(
            "initial",
            parameter("angle", "rad", "of the joints", 0.0, shape=joints, display_unit="deg"),
            parameter("payload_angles", "rad", "yaw, pitch, roll of PL against B; the fixture is grappled as it lies, "
                      "without deflection", 0.0, shape=3, display_unit="deg"),
        ),
    )  # fmt: skip


def _control(joints: int) -> tuple[Group, ...]:
    return (
        Group(
            "trajectory",
            parameter("points", "1", "of the table that mode AUTO follows; 0 holds the angles", 0, type=INTEGER,
                      minimum=0, maximum=POINTS),
            parameter("time", "s", "since the mode began, rising", [float(k) for k in range(POINTS)], shape=POINTS,
                      minimum=0.0),
            parameter("angle", "rad", "of the joints at these times", 0.0, shape=(POINTS, joints), display_unit="deg"),
            parameter("gain", "1/s", "K_p on the error of the angles, as control.pose_gain", 0.05, minimum=0.0),
        ),
        Group(
            "control",
            parameter("command_frame", "1", "of the operator's rates", 1, type=COMMAND_FRAME),
            parameter("singular_value", "1", "sigma_0, below which rates are damped", 0.05, minimum=0.0),
            parameter("damping", "1", "lambda_0 at a singular pose", 0.05, minimum=1e-6),
            parameter("length_scale", "m", "by which translations are compared with rotations", 10.0, minimum=1e-3),
            parameter("braking_zone", "rad", "before a stop, in which rates fall to zero", 0.08726646, minimum=1e-6,
                      display_unit="deg"),
            parameter("pose_gain", "1/s", "K_x of Step and Insert on the error of the sensed pose: below twice the "
                      "damping ratio times the lowest frequency of the payload on the arm", 0.05, minimum=0.0),
            parameter("linear_speed", "m/s", "of linear Steps", 5e-4, minimum=1e-9),
            parameter("angular_speed", "rad/s", "of angular Steps", 2.1816616e-4, minimum=1e-9, display_unit="deg/s"),
            parameter("insert_speed", "m/s", "of Insert", 1e-3, minimum=1e-9),
            parameter("ramp", "s", "in which a Step or Insert gets up to speed", 2.0, minimum=0.0),
            parameter("guarded", "1", "loads above the next two break a Step or Insert off", 1, type=BOOLEAN),
            parameter("force_limit", "N", "of tip.force", 1000.0, minimum=0.0),
            parameter("torque_limit", "N.m", "of tip.torque", 3000.0, minimum=0.0),
        ),
    )  # fmt: skip


def parameters(joints: int) -> Group:
    """Return the group `parameters` of an arm of `joints` joints."""
    return Group(
        "parameters",
        parameter("variant", "1", "how much of the arm is modelled", VARIANT.codes["FULL"], type=VARIANT),
        parameter("base_fixed", "1", "R stands still in I = B; else it moves with the port base", 1, type=BOOLEAN),
        parameter("base_motion", "1", "how the station reports the acceleration of R: LAGGED or AFFINE",
                  BASE_MOTION.codes["LAGGED"], type=BASE_MOTION),
        Group(
            "base",
            parameter("position", "m", "l_BR: root R in B", 0.0, shape=3),
            parameter("angles", "rad", "yaw, pitch, roll of R against B", 0.0, shape=3, display_unit="deg"),
        ),
        Group(
            "target",
            parameter("position", "m", "l_BI: mating interface of the base in B", 0.0, shape=3),
            parameter("angles", "rad", "yaw, pitch, roll of BI against B", 0.0, shape=3, display_unit="deg"),
        ),
        *_links(joints),
        *_drives(joints),
        Group(
            "compliance",
            parameter("decrement", "1", "logarithmic decrement of each mode of the payload on the arm, from the lowest",
                      0.2, shape=6, minimum=0.0),
            parameter("diagonal_damping", "1", "keep only the diagonal of C_M, as the source does", 0, type=BOOLEAN),
            parameter("angle_change", "rad", "of a joint, after which flag.stiffness_outdated rises", 0.034906585,
                      minimum=0.0, display_unit="deg"),
        ),
        *_payload(joints),
        *_control(joints),
        parameter("micro_step", "s", "longest step of drives, links and payload", 5e-4, minimum=2e-5, maximum=8e-3),
    )  # fmt: skip
