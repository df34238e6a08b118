"""The record of the cyclogram: sensors in, commands out, conventions section 5.5."""

from dockfmu.components.core import ports
from dockfmu.components.core.field import BOOLEAN, INTEGER, Group, enumeration, input, output, parameter, private
from dockfmu.components.core.record import Record
from dockfmu.components.physics.devices import separation

LEGS = 6

PERIPHERAL_PHASE = enumeration(
    "PeripheralPhase",
    STOWED="S0: ring at its retracted position",
    EXTEND="S1: the drive pays out, springs push the ring to its initial position",
    SLACK="S2: the drive pays out the slack of the cables",
    READY="S3: ring at its initial position, waiting for the passive ring",
    ADAPT="S4: initial position lost, springs push the ring to the passive one",
    ABSORB="S5: captured, springs take the closing energy",
    RETRACT="S6: the drive pulls the units together and aligns them",
    MATED="S7: docking planes meet",
    DEPART="A1: no capture: thrusters reversed",
    FAULT="A2: a time limit has passed: drive off, waiting for the operator",
    END="the sequence has ended: departed or aborted; drive and thrusters off",
    RECOVER="after A1: the drive draws the free ring back to its retracted position",
    RELEASE="U1: undocking: the latches are drawn in",
    SEPARATE="U2: no latch holds: the pushers drive the units apart",
)

PERIPHERAL_OUTCOME = enumeration(
    "PeripheralOutcome",
    NONE="not decided yet",
    DOCKED="retracted until the docking planes meet",
    RETREATED="no capture in time: departed, and the units are apart",
    TIMED_OUT="a time limit has passed: the sequence waits for the operator",
    ABORTED="ended by the operator, or because the ring was retracted without the passive craft",
    SEPARATED="undocked: the units are apart and clear of each other",
    LATCHED="no capture, but latches hold: the units hang together, no thrust against them",
)


RECORD = Record(
    Group(
        "sensor",
        input("initial_position", "1", "IP switch of each leg is closed", shape=LEGS, type=BOOLEAN),
        input("initial_position_lost", "1", "a leg is shorter than at IP", type=BOOLEAN),
        input("mated", "1", "MATE: each mating sensor is pressed in", shape=3, type=BOOLEAN),
        input("capture", "1", "CAPTURE: all three mating sensors are pressed in", type=BOOLEAN),
        input("latched", "1", "each latch is behind its stop; two of each petal", shape=LEGS, type=BOOLEAN),
        input("retracted", "1", "RP: all legs retracted", type=BOOLEAN),
        input("drive_limit", "1", "all the slack of the cables is paid out", type=BOOLEAN),
    ),
    Group("flag", input("contact", "1", "the rings touch", type=BOOLEAN)),
    Group(
        "docking",
        input("plane_gap", "m", "distance between the docking planes", 1.0),
        input("velocity", "m/s", "of frame 0 relative to PU, PU axes", shape=3),
        input("angular_velocity", "rad/s", "of frame 0 relative to PU, PU axes", shape=3),
    ),
    Group(
        "operator",
        input("extend", "1", "manual: extend the stowed ring to its initial position, also after a recovery; continue "
              "after a time limit", type=BOOLEAN),
        input("abort", "1", "manual: before capture depart, after it switch everything off", type=BOOLEAN),
        input("undock", "1", "manual: in MATED begin to undock", type=BOOLEAN),
    ),
    Group(
        "command",
        output("recoil_lock", "1", "clutch of each leg: recoil locked", 1.0, shape=LEGS, type=BOOLEAN),
        output("motor_voltage", "V", "voltage of both motors, positive retracts", shape=2, discrete=True),
        output("retract", "1", "retract the ring and hold it: for mechanisms with their own controllers",
               type=BOOLEAN),
        output("release", "1", "draw this latch in, so that it holds no longer", shape=LEGS, type=BOOLEAN),
        output("push", "1", "thrust along the axis: -1 retreat, 0 off, +1 push", type=INTEGER),
        output("attitude_hold", "1", "attitude control of the active and of the passive craft", shape=2, type=BOOLEAN),
    ),
    Group(
        "stray",
        output("thrust", "N", "of a thruster of the passive craft that fires though nothing commands it"),
        description="fault: unplanned thrust; connect it to the thruster's port",
    ),
    output("phase", "1", "phase of the sequence", 4.0, type=PERIPHERAL_PHASE),
    output("finished", "1", "the sequence has ended", type=BOOLEAN),
    output("outcome", "1", "outcome of the sequence", 1.0, type=PERIPHERAL_OUTCOME),
    output("captured", "1", "capture has been signalled in this sequence", type=BOOLEAN),
    output("unlatched", "1", "fault: captured by the sensors, but a petal has no latch behind its stop", type=BOOLEAN),
    *ports.events(
        first_contact="the first contact of the rings",
        initial_position_lost="the loss of the initial position before capture",
        capture="capture by the mating sensors",
        drive_on="the start of retraction",
        release="the start of undocking",
        separation="the moment at which no latch holds any longer",
        end="the end of the sequence",
    ),
    separation.relative_motion(),
    Group(
        "parameters",
        parameter("initial_phase", "1", "phase in which the sequence begins: STOWED, READY or MATED",
                  PERIPHERAL_PHASE.codes["READY"], type=PERIPHERAL_PHASE),
        parameter("voltage", "V", "supply voltage of the motors", 27.0, minimum=0.0),
        parameter("extension_limit", "s", "longest time of EXTEND", 400.0, minimum=0.0),
        parameter("slack_limit", "s", "longest time of SLACK", 300.0, minimum=0.0),
        parameter("contact_limit", "s", "longest time from first contact to capture", 60.0, minimum=0.0),
        parameter("adaptation_limit", "s", "longest time of ADAPT", 15.0, minimum=0.0),
        parameter("absorption_time", "s", "time from capture to switching the drive on", 10.0, minimum=0.0),
        parameter("retraction_limit", "s", "longest time of RETRACT", 900.0, minimum=0.0),
        parameter("retreat_time", "s", "shortest duration of DEPART", 10.0, minimum=0.0),
        parameter("retreat_limit", "s", "longest duration of DEPART: time until the units are apart", 60.0,
                  minimum=0.0),
        parameter("apart_gap", "m", "plane gap from which on the units are apart, all parts of the rings clear", 0.8),
        parameter("recovery", "1", "after a departure without capture, retract the ring for another attempt",
                  0.0, type=BOOLEAN),
        parameter("docked_gap", "m", "largest plane gap with which the craft are docked when the ring is retracted",
                  5e-3),
        parameter("undocking_delay", "s", "time in MATED after which undocking begins; negative: only by the operator",
                  -1.0),
        parameter("release_limit", "s", "longest time of RELEASE", 5.0, minimum=0.0),
        parameter("separation_limit", "s", "longest time of SEPARATE", 60.0, minimum=0.0),
        parameter("separated_gap", "m", "plane gap at which the units are clear of each other: twice the height of the "
                  "petals and more", 0.5, minimum=0.0),
        parameter("push", "1", "thrusters push from first contact to capture", 0.0, type=BOOLEAN),
        parameter("push_delay", "s", "from first contact to the thrust of push", 0.0, minimum=0.0),
        parameter("attitude_control", "1", "the craft hold their attitude until capture", (1.0, 1.0), shape=2,
                  type=BOOLEAN),
        Group(
            "fault",
            parameter("motor", "1", "motor is dead", (0.0, 0.0), shape=2, type=BOOLEAN),
            parameter("clutch", "1", "clutch of this leg stays locked", (0.0,) * LEGS, shape=LEGS, type=BOOLEAN),
            parameter("attitude_hold", "1", "attitude control stays on after capture", 0.0, type=BOOLEAN),
            parameter("stray_thrust", "N", "unplanned thrust on the passive craft in each of two firings", (0.0, 0.0),
                      shape=2),
            parameter("stray_start", "s", "from capture to each firing", (0.0, 0.0), shape=2, minimum=0.0),
            parameter("stray_time", "s", "duration of each firing", (0.0, 0.0), shape=2, minimum=0.0),
            parameter("latch", "1", "latch is not drawn in when the units undock", (0.0,) * LEGS, shape=LEGS,
                      type=BOOLEAN),
        ),
    ),
    ports.status(),
    Group(
        "work",
        private("entered", "s", "time at which the current phase began, or its time limit was restarted"),
        private("interrupted", "1", "phase whose time limit has passed"),
        private("at_initial_position", "1", "this leg has reached IP", shape=LEGS),
        private("aborted", "1", "the operator has ordered the departure"),
        private("undocking", "1", "the latches have been told to let go in this sequence"),
    ),
    ports.start_time(),
)  # fmt: skip
