"""The record of the cyclogram: sensors in, commands out, conventions section 5.3."""

from math import radians

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INTEGER, Group, enumeration, input, output, parameter, private
from dockfmu.components.core.record import Record
from dockfmu.components.physics.devices import separation

PHASE = enumeration(
    "Phase",
    PREPARE="the drive extends the probe",
    READY="probe extended, waiting for the first contact",
    PUSH="thrusters push the head into the socket",
    RETREAT="no capture in time: thrusters reversed, latches withdrawn",
    CAPTURED="latches in their slots, waiting for the socket's bottom",
    START="head captured and at the bottom: timers run",
    DAMP="relative rotation is damped",
    RETRACT="the drive pulls the units together",
    END="docked, departed, separated or aborted; drive and thrusters off",
    MATED="docked, waiting to undock",
    RELEASE="undocking: the latches are withdrawn",
    SEPARATE="no latch holds: the pushers drive the units apart",
)

OUTCOME = enumeration(
    "Outcome",
    NONE="nothing is decided yet",
    DOCKED="retracted until the docking planes meet",
    RETREATED="no capture in time: departed",
    TIMED_OUT="a time limit has passed: the sequence waits for the operator",
    ABORTED="ended by the operator, or because the probe came back without the passive craft",
    MISALIGNED="retracted until the docking planes meet, with more roll than the slots leave",
    SEPARATED="undocked: the units are apart and clear of each other",
)

SENSOR_FAULT = enumeration(
    "SensorFault",
    NONE="the sensor works",
    MISSING="no signal: it reads false whatever it senses",
    STUCK="it always reads stuck_at",
    LATE="it reads true only the delay after what it senses",
)

# order of the sensors in the faults
FIRST_CONTACT, SOCKET_BOTTOM, CAPTURE = 0, 1, 2
SENSORS = 3

RECORD = Record(
    Group(
        "sensor",
        input("extended", "1", "IP: probe at its initial, extended position", type=BOOLEAN),
        input("retracted", "1", "KP: probe fully retracted", type=BOOLEAN),
        input("first_contact", "1", "DK1: head touches the receiving cone", type=BOOLEAN),
        input("socket_bottom", "1", "DK2: head touches the bottom of the socket", type=BOOLEAN),
        input("capture", "1", "DSG: four latches in their slots", type=BOOLEAN),
    ),
    Group(
        "docking",
        input("plane_gap", "m", "distance between the docking planes", 1.0),
        input("position", "m", "frame 0 relative to PU, PU axes; optional", shape=3),
        input("angles", "rad", "yaw, pitch and roll of the active unit relative to the passive one; optional", shape=3),
        input("velocity", "m/s", "of frame 0 relative to PU, PU axes; optional", shape=3),
        input("angular_velocity", "rad/s", "of frame 0 relative to PU, PU axes; optional", shape=3),
    ),
    Group(
        "operator",
        input("start", "1", "manual: continue a sequence that has stopped because a time limit passed", type=BOOLEAN),
        input("abort", "1", "manual: retreat before capture, everything off after it", type=BOOLEAN),
        input("undock", "1", "manual: once docked begin to undock", type=BOOLEAN),
        input("push", "1", "manual: thrust along the axis before the first contact, and while the sequence waits",
              type=INTEGER, minimum=-1, maximum=1),
    ),
    Group(
        "command",
        output("motor_voltage", "V", "of both motors, positive retracts", shape=2, discrete=True),
        output("lateral_brakes", "1", "switchable magnetic brakes of the lateral damper", type=BOOLEAN),
        output("latches_armed", "1", "latches released to their initial position", 1.0, type=BOOLEAN),
        output("limiter_release", "1", "movable limiter follows the head", 1.0, type=BOOLEAN),
        output("push", "1", "thrust along the axis: -1 retreat, 0 off, +1 push", type=INTEGER),
        output("attitude_hold", "1", "attitude control of the active and of the passive craft", shape=2, type=BOOLEAN),
    ),
    output("phase", "1", "of the sequence", 1.0, type=PHASE),
    output("finished", "1", "the sequence has ended", type=BOOLEAN),
    output("outcome", "1", "of the sequence", 1.0, type=OUTCOME),
    output("overdue", "1", "a time limit has passed: the sequence waits for the operator", type=BOOLEAN),
    *ports.events(
        first_contact="the first contact: the first of DK1, DK2, DSG",
        capture="capture, DSG",
        start="the start of docking, DSG and DK2 for the first time",
        release="the start of undocking",
        separation="the moment at which no latch holds any longer",
        end="the end of the sequence",
    ),
    separation.relative_motion(),
    Group(
        "parameters",
        parameter("initial_phase", "1", "phase in which the sequence begins: PREPARE or MATED", PHASE.codes["PREPARE"],
                  type=PHASE),
        parameter("voltage", "V", "supply of the motors", 27.0, minimum=0.0),
        parameter("push_limit", "s", "longest time from first contact to capture, and of pushing", 10.0, minimum=0.0),
        parameter("retreat_time", "s", "duration of the retreat until the sequence ends", 10.0, minimum=0.0),
        parameter("contact_limit", "s", "longest time of waiting for the first contact", 300.0, minimum=0.0),
        parameter("frame_radius", "m", "a head that touches the passive unit farther from the axis is on the docking "
                  "frame: DK2 of the frame, thrust is reversed at once; 0: no such sensor", 0.0, minimum=0.0),
        parameter("head_distance", "m", "of the head from frame 0, probe extended; for frame_radius", 0.8954,
                  minimum=0.0),
        parameter("bottom_limit", "s", "longest time from capture to the socket's bottom", 60.0, minimum=0.0),
        parameter("brakes_delay", "s", "from the start of docking to lateral brakes on", 2.0, minimum=0.0),
        parameter("brakes_time", "s", "lateral brakes on; 0 without switchable brakes", 30.0, minimum=0.0),
        parameter("drive_delay", "s", "from the start of docking to drive on", 35.0, minimum=0.0),
        parameter("end_gap", "m", "plane gap at which docking is complete", 0.01),
        parameter("docked_gap", "m", "largest plane gap at which a fully retracted probe counts as docked", 0.03),
        parameter("docked_roll", "rad", "largest roll that counts as docked: what the narrow parts of the slots leave",
                  radians(2.0), minimum=0.0),
        parameter("extension_limit", "s", "longest time of extending the probe with both motors; twice with one", 600.0,
                  minimum=0.0),
        parameter("retraction_limit", "s", "longest time of retraction with both motors; twice with one", 450.0,
                  minimum=0.0),
        parameter("limiter_held", "1", "the movable limiter is held until limiter_delay after capture; false: free "
                  "from the start", 0.0, type=BOOLEAN),
        parameter("limiter_delay", "s", "from capture to the release of a limiter that is held", 0.0, minimum=0.0),
        parameter("undocking_delay", "s", "time in MATED after which undocking begins; negative: only by the operator",
                  -1.0),
        parameter("release_limit", "s", "longest time of withdrawing the latches", 5.0, minimum=0.0),
        parameter("separation_limit", "s", "longest time from the release until the units are apart", 120.0,
                  minimum=0.0),
        parameter("separated_gap", "m", "plane gap at which the units are clear of each other: the retracted head is "
                  "out of the receiving cone", 0.85, minimum=0.0),
        parameter("attitude_control", "1", "the craft hold their attitude until capture", (1.0, 1.0), shape=2,
                  type=BOOLEAN),
        Group(
            "fault",
            parameter("motor", "1", "motor is dead", (0.0, 0.0), shape=2, type=BOOLEAN),
            parameter("lateral_brakes", "1", "switchable lateral brakes are dead", 0.0, type=BOOLEAN),
            parameter("push", "1", "thrusters do not push", 0.0, type=BOOLEAN),
            parameter("attitude_hold", "1", "attitude control stays on after capture", 0.0, type=BOOLEAN),
            parameter("latch_drive", "1", "the latches are not withdrawn when the units undock", 0.0, type=BOOLEAN),
            parameter("sensor", "1", "fault of DK1, of DK2, of DSG", (SENSOR_FAULT.codes["NONE"],) * SENSORS,
                      shape=SENSORS, type=SENSOR_FAULT),
            parameter("stuck_at", "1", "what each of them reads while it is stuck", (0.0,) * SENSORS, shape=SENSORS,
                      type=BOOLEAN),
            parameter("delay", "s", "by which each of them is late", (0.0,) * SENSORS, shape=SENSORS, minimum=0.0),
        ),
    ),
    ports.status(),
    Group(
        "work",
        private("entered", "s", "time at which the present phase began, or its time limit was renewed"),
        private("bottom_reached", "1", "the socket's bottom was touched: pushing is over"),
        private("captured", "1", "capture has been signalled"),
        Group(
            "reading",
            private("value", "1", "what the sequence reads"),
            private("pending", "1", "a late sensor has sensed something that it may not have told yet"),
            private("sensed", "s", "time at which it began to sense it"),
            count=SENSORS,
            description="DK1, DK2, DSG",
        ),
        private("aborted", "1", "the operator has ordered the retreat"),
        private("undocking", "1", "the latches have been told to let go"),
    ),
    ports.start_time(),
)  # fmt: skip
