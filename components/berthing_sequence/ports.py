"""The record of the berthing sequence: sights and sensors in, commands out, spec/00 section 5.8."""

from __future__ import annotations

from math import radians

from components.core import ports
from components.core.field import BOOLEAN, INTEGER, Field, Group, enumeration, input, output, parameter, private
from components.core.record import Record
from components.manipulator.ports import MODE, STEP_STATE, STEP_TYPE

STEPS = 12
"""Commands of the script STEP, at most."""
WAITING = 8
"""Samples that the operator's delay can hold back, and one."""

SCRIPT = enumeration(
    "BerthingScript",
    NRT="constant forward rate, nothing else",
    RT="aligns angles, then offset and roll, then approaches with small corrections",
    STEP="a list of Step and Insert commands",
    LIVE="a live operator: hand controllers, or Step and Insert commands",
)
PHASE = enumeration(
    "BerthingPhase",
    WAIT="nothing is commanded yet, or between two commands",
    ALIGN_ANGLES="pitch and yaw are aligned by the overview cameras",
    ALIGN_OFFSET="offset and roll are aligned by the aiming camera",
    APPROACH="forward, with small corrections in RT",
    STEP="a Step command is carried out",
    INSERT="an Insert command is carried out",
    CAPTURED="after capture",
    END="the sequence has ended; the arm holds",
)
OUTCOME = enumeration(
    "BerthingOutcome",
    NONE="nothing is decided yet",
    BERTHED="captured within the limits of the load",
    NOT_CAPTURED="the list of commands is over and nothing is captured",
    OVERLOADED="a load on the arm has exceeded its limit",
    TIMED_OUT="no capture within the time limit",
    ABORTED="ended by the operator, or because the arm broke a command off",
)


def _event(name: str, description: str) -> Field:
    return output(name, "s", f"time of {description}; -1 before", -1.0, discrete=True)


def _operator() -> Group:
    return Group(
        "operator",
        parameter("sample_time", "s", "between two looks at the screens", 0.1, minimum=1e-3),
        parameter("delay", "s", "of reaction: from a look to the hand; at most 7 samples", 0.3, minimum=0.0),
        parameter("quantum", "1", "of the deflection of the hand controllers; 0 is none", 0.1, minimum=0.0,
                  maximum=1.0),
        parameter("angle_noise", "rad", "standard deviation of an angle read from the overview views", radians(0.2),
                  minimum=0.0, display_unit="deg"),
        parameter("offset_noise", "m", "standard deviation of an offset read from the aiming view", 0.0, minimum=0.0),
        parameter("seed", "1", "of the noise", 1, type=INTEGER, minimum=0),
        parameter("smoothing", "s", "over which the operator averages what the views show", 2.0, minimum=0.0),
        parameter("angle_zone", "rad", "angles within it are left alone", radians(0.3), minimum=0.0,
                  display_unit="deg"),
        parameter("offset_zone", "m", "offsets within it are left alone", 3e-3, minimum=0.0),
        parameter("angle_return", "rad", "angle beyond which the approach is broken off", radians(1.0), minimum=0.0,
                  display_unit="deg"),
        parameter("offset_return", "m", "offset beyond which the approach is broken off", 10e-3, minimum=0.0),
        parameter("full_angle", "rad", "error for which a controller is deflected fully", radians(3.0), minimum=1e-6,
                  display_unit="deg"),
        parameter("full_offset", "m", "error for which a controller is deflected fully", 0.1, minimum=1e-6),
        parameter("correction", "1", "largest deflection of a correction during the approach", 0.3, minimum=0.0,
                  maximum=1.0),
        parameter("settle_time", "s", "for which errors must stay within their zones", 4.0, minimum=0.0),
        parameter("approach", "1", "deflection forward during the approach", 1.0, minimum=0.0, maximum=1.0),
        description="scripted operator RT, and NRT's deflection forward",
    )  # fmt: skip


def _steps() -> Group:
    return Group(
        "step",
        parameter("count", "1", "commands of the list", 0, type=INTEGER, minimum=0, maximum=STEPS),
        parameter("insert", "1", "the command is an Insert, else a Step", 0.0, shape=STEPS, type=BOOLEAN),
        parameter("axis", "1", "1..3 along, 4..6 about x, y, z of the payload's interface", 1, shape=STEPS,
                  type=INTEGER, minimum=1, maximum=6),
        parameter("amplitude", "1", "with sign, m or rad", 0.0, shape=STEPS),
        parameter("speed", "1", "m/s or rad/s; 0 is the arm's design speed", 0.0, shape=STEPS, minimum=0.0),
        parameter("begin", "s", "since the start of the sequence; a command begins after the one before it at least",
                  0.0, shape=STEPS, minimum=0.0),
        description="list of the script STEP",
    )  # fmt: skip


RECORD = Record(
    Group(
        "relative",
        input("position", "m", "PI from BI, axes BI", (-1.0, 0.0, 0.0), shape=3),
        input("quaternion", "1", "BI -> PI, scalar first", ports.IDENTITY_QUATERNION, shape=4),
        input("velocity", "m/s", "of PI as seen in BI, axes BI", shape=3),
        input("angular_velocity", "rad/s", "of PI relative to BI, axes BI", shape=3),
        description="the payload's mating interface seen from that of the base",
    ),
    Group(
        "tip",
        input("force", "N", "of the arm on its gripper", shape=3),
        input("torque", "N.m", "of the arm on its gripper", shape=3),
    ),
    Group(
        "sensor",
        input("first_contact", "1", "the units touch", type=BOOLEAN),
        input("socket_bottom", "1", "the head touches the bottom of its socket", type=BOOLEAN),
        input("capture", "1", "the units are captured", type=BOOLEAN),
    ),
    Group(
        "hand",
        input("translation", "1", "left controller, along the axes of the command frame", shape=3, minimum=-1.0,
              maximum=1.0),
        input("rotation", "1", "right controller, about the axes of the command frame", shape=3, minimum=-1.0,
              maximum=1.0),
    ),
    Group(
        "operator",
        input("abort", "1", "ends the sequence", type=BOOLEAN),
        input("mode", "1", "LIVE: SEMI by hand, SUPV by operator.step; in any other the arm holds", MODE.codes["SEMI"],
              type=MODE),
        Group(
            "step",
            input("type", "1", "of the command", STEP_TYPE.codes["STEP"], type=STEP_TYPE),
            input("axis", "1", "1..3 along, 4..6 about x, y, z of the payload's interface", 1, type=INTEGER, minimum=1,
                  maximum=6),
            input("amplitude", "1", "with sign, m or rad", discrete=True),
            input("speed", "1", "m/s or rad/s; 0 is the arm's design speed", discrete=True, minimum=0.0),
            input("trigger", "1", "a rising edge starts the command", type=BOOLEAN),
            description="Step and Insert commands of a live operator in SUPV",
        ),
        description="what a live operator commands beside the hand controllers",
    ),
    Group(
        "command",
        output("mode", "1", "who moves the arm, and how", MODE.codes["HOLD"], type=MODE),
        output("velocity", "m/s", "of the origin of the command frame, its axes", shape=3, discrete=True),
        output("angular_velocity", "rad/s", "of the payload, axes of the command frame", shape=3, discrete=True),
        Group(
            "step",
            output("type", "1", "of the command", STEP_TYPE.codes["STEP"], type=STEP_TYPE),
            output("axis", "1", "1..3 along, 4..6 about x, y, z of the payload's interface", 1, type=INTEGER),
            output("amplitude", "1", "with sign, m or rad", discrete=True),
            output("speed", "1", "m/s or rad/s; 0 is the design speed", discrete=True),
            output("trigger", "1", "the command is to be carried out", type=BOOLEAN),
        ),
        output("abort", "1", "all commanded rates zero", type=BOOLEAN),
        input("state", "1", "of the arm's Step and Insert commands", STEP_STATE.codes["IDLE"], type=STEP_STATE),
    ),
    Group(
        "sight",
        output("angles", "rad", "yaw, pitch, roll of PI against BI, as the operator believes", shape=3,
               display_unit="deg"),
        output("offset", "m", "of BI across the axis of PI, y and z of PI, as the operator believes", shape=2),
        output("deflection", "1", "of the hand controllers: three translations, three rotations", shape=6),
        description="what the scripted operator sees and does",
    ),
    Group(
        "load",
        output("force", "N", "size of tip.force"),
        output("torque", "N.m", "size of tip.torque"),
        output("peak_force", "N", "largest so far"),
        output("peak_torque", "N.m", "largest so far"),
        output("exceeded", "1", "a limit has been exceeded", type=BOOLEAN),
    ),
    output("phase", "1", "of the sequence", 1.0, type=PHASE),
    output("finished", "1", "the sequence has ended", type=BOOLEAN),
    output("outcome", "1", "of the sequence", 1.0, type=OUTCOME),
    Group(
        "event",
        _event("first_contact", "the first contact"),
        _event("capture", "capture"),
        _event("overload", "the first load beyond its limit"),
        _event("end", "the end of the sequence"),
    ),
    Group(
        "parameters",
        parameter("script", "1", "who commands", SCRIPT.codes["NRT"], type=SCRIPT),
        parameter("axial_speed", "m/s", "for a full deflection", 0.019, minimum=0.0),
        parameter("lateral_speed", "m/s", "for a full deflection", 0.010, minimum=0.0),
        parameter("angular_speed", "rad/s", "for a full deflection", radians(0.15), minimum=0.0, display_unit="deg/s"),
        parameter("start_delay", "s", "before the first command", 0.0, minimum=0.0),
        parameter("stop_at_capture", "1", "the operator stops the arm at capture", 0, type=BOOLEAN),
        parameter("post_time", "s", "from capture, or from the last command, to the end", 5.0, minimum=0.0),
        parameter("time_limit", "s", "longest time to capture", 900.0, minimum=0.0),
        Group(
            "limit",
            parameter("force", "N", "largest load on the arm's gripper", 1000.0, minimum=0.0),
            parameter("torque", "N.m", "largest load on the arm's gripper", 3000.0, minimum=0.0),
            parameter("guard", "1", "a load beyond its limit ends the sequence", 1, type=BOOLEAN),
        ),
        _operator(),
        _steps(),
    ),
    ports.status(),
    Group(
        "work",
        private("next_look", "s", "since the start"),
        private("looks", "1", "how many"),
        private("settled", "s", "since when errors are within their zones; -1 they are not"),
        private("command", "1", "index of the present command of the list"),
        private("ended", "s", "when the last Step or Insert was over; -1 before"),
        private("triggered", "1", "the present command has been given"),
        private("ran", "1", "the arm has taken the present command"),
        private("captured", "1", "capture has been signalled"),
        Group("hand", private("deflection", "1", "waiting for the delay", shape=6), count=WAITING),
    ),
    ports.start_time(),
)  # fmt: skip
