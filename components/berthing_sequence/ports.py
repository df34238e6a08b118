"""The record of the berthing sequence: views and sensors in, commands out, conventions section 5.8."""

from __future__ import annotations

from math import radians

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INTEGER, Group, enumeration, input, output, parameter, private
from dockfmu.components.core.record import Record
from dockfmu.components.manipulator.ports import MODE, STEP_STATE, STEP_TYPE

STEPS = 12
"""Largest number of commands of the script STEP."""
WAITING = 8
"""Length of the queue of looks: the operator's delay, in samples, is at most one less."""

SCRIPT = enumeration(
    "BerthingScript",
    NRT="constant forward rate",
    RT="aligns angles, then offset and roll, then approaches with small corrections",
    STEP="a list of Step and Insert commands",
    LIVE="a live operator: hand controllers, or Step and Insert commands",
    LIMP="joints without current; a thrust on the payload, or on its station, drives the capture",
)
PHASE = enumeration(
    "BerthingPhase",
    WAIT="before the first command, or between two commands",
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
    NONE="not decided yet",
    BERTHED="captured within the load limits",
    NOT_CAPTURED="the list of commands has ended without capture",
    OVERLOADED="captured with a load on the arm beyond its limit, or ended because of such a load",
    TIMED_OUT="no capture within the time limit",
    ABORTED="ended by the operator, or because the arm aborted a command",
    NOT_CAPTURED_AND_OVERLOADED="NOT_CAPTURED, and a load on the arm has exceeded its limit",
    TIMED_OUT_AND_OVERLOADED="TIMED_OUT, and a load on the arm has exceeded its limit",
    ABORTED_AND_OVERLOADED="ABORTED, and a load on the arm has exceeded its limit",
)


def _operator() -> Group:
    return Group(
        "operator",
        parameter("sample_time", "s", "time between two looks at the screens", 0.1, minimum=1e-3),
        parameter("delay", "s", "reaction delay from a look to the hand; at most 7 samples", 0.3, minimum=0.0),
        parameter("quantum", "1", "quantum of the deflection of the hand controllers; 0 for none", 0.1, minimum=0.0,
                  maximum=1.0),
        parameter("angle_noise", "rad", "standard deviation of an angle read from the overview views", radians(0.2),
                  minimum=0.0),
        parameter("offset_noise", "m", "standard deviation of an offset read from the aiming view", 0.0, minimum=0.0),
        parameter("seed", "1", "seed of the noise", 1, type=INTEGER, minimum=0),
        parameter("smoothing", "s", "time constant with which the operator averages the readings of the views", 2.0,
                  minimum=0.0),
        parameter("angle_zone", "rad", "dead zone of the angles", radians(0.3), minimum=0.0),
        parameter("offset_zone", "m", "dead zone of the offsets", 3e-3, minimum=0.0),
        parameter("angle_return", "rad", "angle above which the operator goes back to aligning", radians(1.0),
                  minimum=0.0),
        parameter("offset_return", "m", "offset above which the operator goes back to aligning", 10e-3, minimum=0.0),
        parameter("full_angle", "rad", "angle error for full deflection of a controller", radians(3.0), minimum=1e-6),
        parameter("full_offset", "m", "offset error for full deflection of a controller", 0.1, minimum=1e-6),
        parameter("correction", "1", "largest deflection of a correction during the approach", 0.3, minimum=0.0,
                  maximum=1.0),
        parameter("settle_time", "s", "time for which errors must stay within their zones", 4.0, minimum=0.0),
        parameter("approach", "1", "forward deflection during the approach", 1.0, minimum=0.0, maximum=1.0),
        description="scripted operator RT, and the forward deflection of NRT",
    )  # fmt: skip


def _steps() -> Group:
    return Group(
        "step",
        parameter("count", "1", "number of commands in the list", 0, type=INTEGER, minimum=0, maximum=STEPS),
        parameter("insert", "1", "the command is an Insert, else a Step", 0.0, shape=STEPS, type=BOOLEAN),
        parameter("axis", "1", "axis of the command: 1..3 along, 4..6 about x, y, z of the payload's interface", 1,
                  shape=STEPS, type=INTEGER, minimum=1, maximum=6),
        parameter("amplitude", "1", "signed amplitude of a command without unit, m or rad", 0.0, shape=STEPS),
        parameter("unit", "1", "m or rad: the command corrects the miss that the operator sees before it along or "
                  "about its axis, by whole units; 0: it moves by its amplitude", 0.0, shape=STEPS, minimum=0.0),
        parameter("zone", "1", "m or rad: largest miss that the operator leaves; at least half the unit", 0.0,
                  shape=STEPS, minimum=0.0),
        parameter("speed", "1", "speed, m/s or rad/s; 0 for the arm's design speed", 0.0, shape=STEPS, minimum=0.0),
        parameter("begin", "s", "earliest start since the start of the sequence; no command begins before the previous "
                  "one has ended", 0.0, shape=STEPS, minimum=0.0),
        description="list of the script STEP",
    )  # fmt: skip


RECORD = Record(
    Group(
        "relative",
        input("position", "m", "position of PI relative to BI, axes BI", (-1.0, 0.0, 0.0), shape=3),
        input("quaternion", "1", "attitude BI -> PI, scalar first", ports.IDENTITY_QUATERNION, shape=4),
        input("velocity", "m/s", "velocity of PI as seen in BI, axes BI", shape=3),
        input("angular_velocity", "rad/s", "angular velocity of PI relative to BI, axes BI", shape=3),
        description="mating interface of the payload relative to that of the base",
    ),
    Group(
        "tip",
        input("force", "N", "force of the arm on its gripper", shape=3),
        input("torque", "N.m", "torque of the arm on its gripper", shape=3),
    ),
    Group(
        "sensor",
        input("first_contact", "1", "the units touch", type=BOOLEAN),
        input("socket_bottom", "1", "the head touches the bottom of its socket", type=BOOLEAN),
        input("capture", "1", "the units are captured", type=BOOLEAN),
    ),
    Group(
        "hand",
        input("translation", "1", "deflection of the left controller, along the axes of the command frame", shape=3,
              minimum=-1.0, maximum=1.0),
        input("rotation", "1", "deflection of the right controller, about the axes of the command frame", shape=3,
              minimum=-1.0, maximum=1.0),
    ),
    Group(
        "operator",
        input("abort", "1", "end the sequence", type=BOOLEAN),
        input("mode", "1", "LIVE: SEMI by hand, SUPV by operator.step; in any other mode the arm holds",
              MODE.codes["SEMI"], type=MODE),
        Group(
            "step",
            input("type", "1", "type of the command", STEP_TYPE.codes["STEP"], type=STEP_TYPE),
            input("axis", "1", "axis of the command: 1..3 along, 4..6 about x, y, z of the payload's interface", 1,
                  type=INTEGER, minimum=1, maximum=6),
            input("amplitude", "1", "signed amplitude, m or rad", discrete=True),
            input("speed", "1", "speed, m/s or rad/s; 0 for the arm's design speed", discrete=True, minimum=0.0),
            input("trigger", "1", "a rising edge starts the command", type=BOOLEAN),
            description="Step and Insert commands of a live operator in SUPV",
        ),
        description="commands of a live operator other than the hand controllers",
    ),
    Group(
        "command",
        output("mode", "1", "control mode of the arm", MODE.codes["HOLD"], type=MODE),
        output("velocity", "m/s", "velocity of the origin of the command frame, its axes", shape=3, discrete=True),
        output("angular_velocity", "rad/s", "angular velocity of the payload, axes of the command frame", shape=3,
               discrete=True),
        Group(
            "step",
            output("type", "1", "type of the command", STEP_TYPE.codes["STEP"], type=STEP_TYPE),
            output("axis", "1", "axis of the command: 1..3 along, 4..6 about x, y, z of the payload's interface", 1,
                   type=INTEGER),
            output("amplitude", "1", "signed amplitude, m or rad", discrete=True),
            output("speed", "1", "speed, m/s or rad/s; 0 for the design speed", discrete=True),
            output("trigger", "1", "execute the command", type=BOOLEAN),
        ),
        output("abort", "1", "set all commanded rates to zero", type=BOOLEAN),
        input("state", "1", "state of the arm's Step and Insert commands", STEP_STATE.codes["IDLE"], type=STEP_STATE),
    ),
    Group(
        "payload",
        output("force", "N", "LIMP: thrust on the payload, axes PL", shape=3, discrete=True),
        description="thrusters, for the port of the same name of the arm",
    ),
    Group(
        "notice",
        output("not_reached", "1", "Steps, and Inserts without a capture, that did not reach their pose", type=INTEGER),
        description="what did not go as commanded; counts",
    ),
    Group(
        "sight",
        output("angles", "rad", "yaw, pitch, roll of PI against BI, as estimated by the operator", shape=3),
        output("offset", "m", "offset of BI across the axis of PI, y and z of PI, as estimated by the operator",
               shape=2),
        output("deflection", "1", "deflections of the hand controllers: three translations, three rotations", shape=6),
        description="estimates and actions of the scripted operator",
    ),
    Group(
        "load",
        output("force", "N", "magnitude of tip.force"),
        output("torque", "N.m", "magnitude of tip.torque"),
        output("peak_force", "N", "largest force so far"),
        output("peak_torque", "N.m", "largest torque so far"),
        output("exceeded", "1", "a limit has been exceeded", type=BOOLEAN),
    ),
    output("phase", "1", "phase of the sequence", 1.0, type=PHASE),
    output("finished", "1", "the sequence has ended", type=BOOLEAN),
    output("outcome", "1", "outcome of the sequence", 1.0, type=OUTCOME),
    *ports.events(
        first_contact="the first contact",
        capture="capture",
        overload="the first load above its limit",
        end="the end of the sequence",
    ),
    Group(
        "parameters",
        parameter("script", "1", "source of the commands", SCRIPT.codes["NRT"], type=SCRIPT),
        parameter("axial_speed", "m/s", "axial speed for full deflection", 0.019, minimum=0.0),
        parameter("lateral_speed", "m/s", "lateral speed for full deflection", 0.010, minimum=0.0),
        parameter("angular_speed", "rad/s", "angular speed for full deflection", radians(0.15), minimum=0.0),
        parameter("thrust", "N", "LIMP: thrust on the payload until capture, axes PL", (100.0, 0.0, 0.0), shape=3),
        parameter("thrust_time", "s", "LIMP: longest thrust", 60.0, minimum=0.0),
        parameter("start_delay", "s", "time before the first command", 0.0, minimum=0.0),
        parameter("stop_at_capture", "1", "the operator stops the arm at capture", 0, type=BOOLEAN),
        parameter("post_time", "s", "time from capture, or from the last command, to the end", 5.0, minimum=0.0),
        parameter("time_limit", "s", "longest time to capture", 900.0, minimum=0.0),
        Group(
            "limit",
            parameter("force", "N", "largest permitted force on the arm's gripper", 1000.0, minimum=0.0),
            parameter("torque", "N.m", "largest permitted torque on the arm's gripper", 3000.0, minimum=0.0),
            parameter("guard", "1", "a load above its limit ends the sequence", 1, type=BOOLEAN),
        ),
        _operator(),
        _steps(),
    ),
    ports.status(),
    Group(
        "work",
        private("next_look", "s", "time of the next look, since the start"),
        private("looks", "1", "number of looks so far"),
        private("settled", "s", "time since which errors are within their zones; -1 while they are not"),
        private("command", "1", "index of the current command in the list"),
        private("ended", "s", "time at which the last Step or Insert ended; -1 before"),
        private("triggered", "1", "the current command has been issued"),
        private("issued", "s", "time at which a trigger was last given, or taken back; -1 before"),
        private("ran", "1", "the arm has started the current command"),
        private("captured", "1", "capture has been signalled"),
        Group("hand", private("deflection", "1", "deflections waiting for the delay", shape=6), count=WAITING),
    ),
    ports.start_time(),
)  # fmt: skip
