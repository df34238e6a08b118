"""The record of a manipulator with its payload: ports, outputs and state (conventions 5.7, manipulator).

Frames (manipulator 2.1): I inertial; B the base, equal to I if it is fixed; R the arm's root; 1..N the links; E the
gripper, axes of link N; PL the payload at its centre of mass; GF its grapple fixture; PI its mating interface; BI that
of the base.
"""

from __future__ import annotations

from dockfmu.components.core import ports
from dockfmu.components.core.field import (
    BOOLEAN,
    INPUT,
    INTEGER,
    OUTPUT,
    Field,
    Group,
    enumeration,
    input,
    local,
    output,
    private,
)
from dockfmu.components.core.record import Record
from dockfmu.components.manipulator.arm_data import JOINTS, parameters
from dockfmu.components.manipulator.flexible.ports import flexible_groups
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.mechanics.rotation import IDENTITY

MODE = enumeration(
    "ManipulatorMode",
    AUTO="joint angles follow the table parameters.trajectory",
    SEMI="the operator's rates of the command frame, resolved into joint rates",
    SUPV="Step and Insert along or about one axis of PI, the other five held",
    LIMP="drives without current, with friction only",
    BRAKE="drives without current, all brakes on",
    HOLD="servos at zero rate",
    SINGLE="one joint at command.rate, the others at zero rate",
)
STEP_TYPE = enumeration("ManipulatorStep", STEP="alignment along one axis", INSERT="axial approach")
STEP_STATE = enumeration(
    "ManipulatorStepState",
    IDLE="ready for a command",
    RUN="a command is being executed",
    HOLD="the pose of the command is reached, and held until command.step.trigger is false",
    ABORTED="stopped by command.abort or by a load guard; the next trigger starts again",
    NOT_REACHED="the pose was not reached within control.settle_time of the planned end: held until "
    "command.step.trigger is false; the next command starts from the sensed pose",
)


def _command(joints: int) -> Group:
    return Group(
        "command",
        input("mode", "1", "control mode of the arm", MODE.codes["HOLD"], type=MODE),
        input("velocity", "m/s", "SEMI: velocity of the origin of the command frame, its axes", shape=3, discrete=True),
        input("angular_velocity", "rad/s", "SEMI: angular velocity of the payload, axes of the command frame", shape=3,
              discrete=True),
        Group(
            "step",
            input("type", "1", "SUPV: type of the command, which selects the design speed", STEP_TYPE.codes["STEP"],
                  type=STEP_TYPE),
            input("axis", "1", "SUPV: axis of the command, 1..3 along x, y, z of PI, 4..6 about them", 1, type=INTEGER,
                  minimum=1, maximum=6),
            input("amplitude", "1", "SUPV: signed travel, m or rad", discrete=True),
            input("speed", "1", "SUPV: speed, m/s or rad/s; 0 for the design speed", discrete=True, minimum=0.0),
            input("trigger", "1", "SUPV: a rising edge starts the command", type=BOOLEAN),
        ),
        input("joint", "1", "SINGLE: number of the joint", 1, type=INTEGER, minimum=1, maximum=joints),
        input("rate", "rad/s", "SINGLE: rate of the joint", discrete=True),
        input("brake", "1", "brake of each joint on, its motor without current", shape=joints, type=BOOLEAN),
        input("abort", "1", "set all commanded rates to zero; SUPV: abort the command", type=BOOLEAN),
        input("stiffness_update", "1", "a rising edge recomputes the stiffness of the arm", type=BOOLEAN),
        output("state", "1", "state of the Step and Insert commands", STEP_STATE.codes["IDLE"], type=STEP_STATE),
    )  # fmt: skip


def _relative() -> Group:
    return Group(
        "relative",
        output("position", "m", "position of PI relative to BI, axes BI", shape=3),
        output("quaternion", "1", "attitude BI -> PI, scalar first", ports.IDENTITY_QUATERNION, shape=4),
        output("velocity", "m/s", "velocity of PI as seen in BI, axes BI", shape=3),
        output("angular_velocity", "rad/s", "angular velocity of PI relative to BI, axes BI", shape=3),
        output("angles", "rad", "yaw, pitch, roll of PI against BI", shape=3),
        description="mating interface of the payload relative to that of the base",
    )


def _outputs(joints: int) -> tuple[Group, ...]:
    return (
        _relative(),
        Group(
            "joint",
            output("angle", "rad", "angle of the output shaft"),
            output("rate", "rad/s", "rate of the output shaft"),
            output("motor_rate", "rad/s", "rate of the motor shaft"),
            output("motor_torque", "N.m", "electromagnetic torque of the motor"),
            output("gear_torque", "N.m", "torque of the gearbox at its input shaft"),
            output("windup", "rad", "motor shaft angle minus gearbox input shaft angle, backlash included"),
            output("commanded_rate", "rad/s", "commanded rate of the output shaft"),
            output("saturated", "1", "motor torque or voltage at its limit", type=BOOLEAN),
            count=joints,
        ),
        Group(
            "tip",
            output("force", "N", "force on the gripper by the spring to the payload, or the payload on it, axes E",
                   shape=3),
            output("torque", "N.m", "likewise, torque about the grapple fixture", shape=3),
            output("deflection", "m", "deflection of the grapple fixture from E of rigid links, axes E", shape=3),
            output("rotation", "rad", "rotation vector of the grapple fixture against E, axes E", shape=3),
        ),
        Group(
            "flag",
            output("limit", "1", "the joint touches its stop", shape=joints, type=BOOLEAN),
            output("singular", "1", "the arm is near a singular pose: joint rates are damped", type=BOOLEAN),
            output("guard", "1", "a load guard has aborted a Step or Insert", type=BOOLEAN),
            output("rate_limited", "1", "commanded rates were scaled down at the limit of a rate or before a stop",
                   type=BOOLEAN),
            output("arrived", "1", "the pose of the last Step or Insert, or the last row of AUTO, is reached",
                   type=BOOLEAN),
            output("stiffness_outdated", "1", "a joint has turned by more than parameters.compliance.angle_change "
                   "since the stiffness was computed", type=BOOLEAN),
        ),
        Group(
            "notice",
            output("not_reached", "1", "Steps, Inserts and tables of AUTO that did not reach their pose in time",
                   type=INTEGER),
            output("rate_limited", "1", "ticks of the controller with rates scaled down at a limit", type=INTEGER),
            output("singular", "1", "ticks of the controller with rates damped near a singular pose", type=INTEGER),
            output("joint_limit", "1", "steps that ended with a joint on its stop", type=INTEGER),
            description="what the arm could not do as commanded; counts",
        ),
        Group(
            "validity",
            output("stiffness_outdated", "1", "steps with a stiffness of another pose, not recomputed", type=INTEGER),
            output("pose_gain", "1", "ticks of a pose loop with a gain above its limit in loop, which pumps the "
                   "swing of the payload", type=INTEGER),
            description="steps and ticks outside the domain of the formulas",
        ),
        Group(
            "compliance",
            output("updates", "1", "number of times the stiffness was recomputed", type=INTEGER),
            local("stiffness", "1", "K_M of the arm at E, axes E: forces, torques over translations, rotations, SI",
                  shape=(6, 6)),
            local("damping", "1", "C_M of the arm at E, axes E, SI", shape=(6, 6)),
            local("frequency", "Hz", "natural frequencies of the payload on K_M, ascending; with flexible links the "
                  "lowest of links and payload, joints held", shape=6),
        ),
    )  # fmt: skip


def _loop(joints: int) -> Group:
    return Group(
        "loop",
        local("gain_limit", "1/s", "largest stable gain of a pose loop on the output shafts: damping of the gears over "
              "the inertia that they carry, c_g i^2 / J, in the pose of the last stiffness"),
        local("motor_gain_limit", "1/s", "largest stable gain of a pose loop on the motor angles, at most 10"),
        private("inertia", "1", "inertia of links and payload at the joints, rows and columns over the square root of "
                "the damping, then its eigenvalues", shape=(joints, joints)),
    )  # fmt: skip


def _motion() -> tuple[Field, ...]:
    return (*ports.pose(OUTPUT), *ports.twist(OUTPUT))


def _body() -> tuple[Field, ...]:
    """Return the fields of one link, including those that the generated kernels of its joint read and write."""
    return (
        private("axis", "1", "axis of the joint: 1 x, 2 y, 3 z"),
        private("reach", "m", "vector to the next joint, or to E from the last, link axes", shape=3),
        private("mass", "kg", "mass of the link"),
        private("moment", "kg.m", "mass times centre of mass, link axes", shape=3),
        private("inertia", "kg.m2", "about the joint, link axes", shape=(3, 3)),
        private("cosine", "1", "of the joint angle", 1.0),
        private("sine", "1", "of the joint angle"),
        private("rate", "rad/s", "of the joint"),
        private("rotation", "1", "R -> link", IDENTITY, shape=(3, 3)),
        private("position", "m", "of the joint from R, axes R", shape=3),
        private("velocity", "m/s", "absolute, of the joint, link axes", shape=3),
        private("angular_velocity", "rad/s", "absolute, link axes", shape=3),
        private("linear", "m/s2", "velocity terms of the joint's acceleration, link axes", shape=3),
        private("angular", "rad/s2", "velocity terms of the angular acceleration, link axes", shape=3),
        private("tt", "kg", "articulated inertia about the joint, upper triangle, link axes", shape=(3, 3)),
        private("tr", "kg.m", "articulated inertia: force per angular acceleration", shape=(3, 3)),
        private("rr", "kg.m2", "articulated inertia, upper triangle", shape=(3, 3)),
        private("force", "N", "force on this link and all beyond it, link axes", shape=3),
        private("torque", "N.m", "torque on this link and all beyond it, about the joint", shape=3),
        private("drive_torque", "N.m", "drive torque along the joint, without the part taken by the armature"),
        private("mobility", "1/(kg.m2)", "1 / (articulated inertia along the joint + armature); 0 if it is locked"),
        private("load", "N.m", "m_IA of (8.2.3): inertial and active load along the joint"),
        private("qdd", "rad/s2", "acceleration of the joint"),
        private("acceleration", "m/s2", "absolute, of the joint, link axes", shape=3),
        private("angular_acceleration", "rad/s2", "absolute, link axes", shape=3),
    )


def _drive(joints: int) -> Group:
    return Group(
        "drive",
        private("motor_angle", "rad", "angle of the motor shaft"),
        private("motor_rate", "rad/s", "rate of the motor shaft"),
        private("motor_torque", "N.m", "torque of the motor"),
        private("input_angle", "rad", "angle of the gearbox's input shaft: ratio times joint angle"),
        private("input_rate", "rad/s", "rate of the gearbox's input shaft"),
        private("gear_torque", "N.m", "T_g at the end of the last micro-step"),
        private("predicted", "N.m", "T_g of the coming micro-step for a joint that does not accelerate"),
        private("tangent", "N.m/rad", "stiffness of the gearbox at its present wind-up"),
        private("inertia", "kg.m2", "inertia at the input shaft, of the gearbox and the equivalent of massless links"),
        private("stiffness", "N.m/rad", "k_g beyond the backlash, at the input shaft"),
        private("play_torque", "N.m", "T_delta, at which the backlash is taken up"),
        private("damping", "N.m.s/rad", "c_g, at the input shaft"),
        private("added_damping", "N.m.s/rad", "part of c_g beyond the damping of the implicit method"),
        private("stop_damping", "N.m.s/rad", "damping of the stop while it is touched"),
        private("voltage", "V", "voltage of the motor until the next inner tick"),
        private("reference", "rad/s", "reference of the motor rate, from the outer loop"),
        private("integral", "rad/s", "integral term of the outer loop"),
        private("command", "rad/s", "commanded joint rate"),
        private("armature", "kg.m2", "inertia that drive and stop add along the joint"),
        private("saturated", "1", "torque or voltage at its limit in the last micro-step"),
        private("powered", "1", "the motor has current"),
        private("braked", "1", "the brake is on"),
        count=joints,
    )


def _free_body() -> Group:
    return Group(
        "free_body",
        private("position", "m", "position of the payload's centre of mass, I", shape=3),
        private("velocity", "m/s", "velocity of the centre of mass, axes I", shape=3),
        private("quaternion", "1", "I -> PL", ports.IDENTITY_QUATERNION, shape=4),
        private("rotation", "1", "I -> PL", IDENTITY, shape=(3, 3)),
        private("angular_velocity", "rad/s", "axes PL", shape=3),
        private("inverse", "1/(kg.m2)", "inverse of the inertia", shape=(3, 3)),
        private("fixture", "1", "PL -> GF", IDENTITY, shape=(3, 3)),
        private("to_interface", "1", "PL -> PI", IDENTITY, shape=(3, 3)),
        private("to_gripper", "1", "PL -> E", IDENTITY, shape=(3, 3)),
        private("deflection", "1", "deflection of GF from E, axes E: translation (m), rotation vector (rad)", shape=6),
        private("deflection_rate", "1", "rate of the deflection, as seen in E", shape=6),
        private("wrench", "1", "wrench of the spring on the gripper, axes E: force (N), torque (N.m)", shape=6),
        private("spring_power", "W", "power dissipated by the damping C_M"),
        private("last_step", "s", "length of the last micro-step, 0 at the start"),
        private("interface_velocity", "m/s", "velocity of PI at the last output, axes I", shape=3),
        private("interface_spin", "rad/s", "angular velocity of PI at the last output, axes I", shape=3),
    )


def _control(joints: int) -> tuple[Group, ...]:
    return (
        Group(
            "clock",
            private("until_inner", "s", "time to the next tick of the inner servo loop"),
            private("inner_left", "1", "ticks of the inner loop until the next tick of the outer loop"),
            private("in_mode", "s", "time since the present mode began, counted in ticks of the outer loop"),
            private("mode", "1", "mode at the last tick of the outer loop; 0 before the first"),
            private("update_before", "1", "command.stiffness_update at the last step"),
            private("told", "1", "AUTO has been told as not arrived"),
        ),
        Group(
            "sensed",
            private("angle", "rad", "sensed joint angles", shape=joints),
            private(
                "point",
                "m",
                "end of each link from R, axes R: the next joint, or E for the last",
                shape=(joints + 1, 3),
            ),
            private("axis", "1", "axis of each joint, axes R", shape=(joints, 3)),
            private("gripper", "1", "R -> E", IDENTITY, shape=(3, 3)),
            private("interface", "1", "R -> PI, for rigid links", IDENTITY, shape=(3, 3)),
            private("position", "m", "position of PI from R for rigid links, axes R", shape=3),
            description="estimate of the controller: rigid links at the sensed angles",
        ),
        Group(
            "resolved",
            private("twist", "1", "demanded twist of E: velocity (m/s), angular velocity (rad/s), axes R", shape=6),
            private("jacobian", "1", "Jacobian of E, translations over the length scale, axes R", shape=(6, joints)),
            private("gram", "1", "J J^T, then its eigenvalues", shape=(6, 6)),
            private("vectors", "1", "eigenvectors of J J^T", shape=(6, 6)),
            private("least", "1", "smallest singular value of J"),
            description="resolved rates",
        ),
        Group(
            "supervisor",
            private("state", "1", "state of the executor", STEP_STATE.codes["IDLE"]),
            private("trigger_before", "1", "trigger at the last tick of the outer loop"),
            private("elapsed", "s", "time since the command began"),
            private("duration", "s", "duration of the command"),
            private("ramp", "s", "duration of acceleration, and of deceleration"),
            private("axis", "1", "axis of the command, 0..5"),
            private("amplitude", "1", "signed travel, m or rad"),
            private("start_position", "m", "position of PI when the command began, axes R", shape=3),
            private("start_rotation", "1", "R -> PI when the command began", IDENTITY, shape=(3, 3)),
            private("position", "m", "reference position of PI, axes R", shape=3),
            private("rotation", "1", "reference rotation R -> PI", IDENTITY, shape=(3, 3)),
            description="executor of Step and Insert",
        ),
    )


def _compliance_work(joints: int) -> Group:
    return Group(
        "flexure",
        private("angle", "rad", "joint angles for which the stiffness is valid", shape=joints),
        private("compliance", "1", "P_M at E, axes E", shape=(6, 6)),
        private("segment", "1", "Psi of one segment, its axes", shape=(6, 6)),
        private("transport", "1", "G of one segment", shape=(6, 6)),
        private("product", "1", "Psi G", shape=(6, 6)),
        private("mass", "1", "mass matrix of the payload at E, axes E, then its Cholesky factor", shape=(6, 6)),
        private("scaled", "1", "L^-1 K L^-T, then its eigenvalues", shape=(6, 6)),
        private("modes", "1", "eigenvectors of L^-1 K L^-T", shape=(6, 6)),
        private("pivot", "1", "pivots of the LU factors of P_M", shape=6),
        private("column", "1", "column of the stiffness, then the damping of each mode", shape=6),
    )


def _accounting() -> Group:
    return Group(
        "accounting",
        private("outer_impulse", "N.s", "impulse of contact and thrust in this step, axes I", shape=3),
        private("outer_angular_impulse", "N.m.s", "their angular impulse about the moving root R, axes I", shape=3),
        private("received", "N.m.s", "their angular impulse about the origin of I", shape=3),
        private("momentum", "N.s", "of links and payload at the start, seen from axes moving with R, axes I", shape=3),
        private("angular_momentum", "N.m.s", "likewise, about R", shape=3),
        private("moment", "kg.m", "their static moment about R at the start of the step, axes I", shape=3),
        private("start_angular_momentum", "N.m.s", "absolute, at the start, about the origin of I", shape=3),
        private("apart", "N.m.s", "its change so far, less that by the wrenches that the station applies", shape=3),
        private("end_velocity", "m/s", "of R, extrapolated to the end of the last step, axes I", shape=3),
        private("initial", "J", "kinetic energy at the start"),
        private("motors", "J", "work of the motors so far"),
        private("friction", "J", "energy dissipated in motor bearings and brakes so far"),
        private("gears", "J", "energy dissipated in gears so far"),
        private("stops", "J", "energy dissipated in stops so far"),
        private("spring", "J", "energy dissipated in the arm's links so far"),
        private("interface", "J", "work of the wrench at the interface so far"),
        private("thrust", "J", "work of the external wrench on the payload so far"),
        private("base", "J", "work of the station on the arm so far"),
        private("restiffened", "J", "energy added by updates of the stiffness so far"),
    )


def record(joints: int = JOINTS, flexible: bool = False) -> Record:
    """Return the record of a manipulator of `joints` revolute joints with its payload; its links may be `flexible`."""
    return Record(
        Group("interface", *ports.wrench_input(), *_motion(), *ports.acceleration(OUTPUT),
              description="mating interface PI of the payload, x pointing out of it; receives the contact wrench"),
        Group(
            "payload",
            input("force", "N", "external thrust on the payload, axes PL, mean over the step", shape=3,
                  evaluated="mean"),
            input("torque", "N.m", "external torque about its centre of mass, axes PL, mean over the step", shape=3,
                  evaluated="mean"),
            *_motion(),
            description="payload, frame PL at its centre of mass",
        ),
        Group("base",
              output("affine_mass", "1", "-d(wrench)/d(acceleration), upper triangle by rows, SI, force first; 0 "
                     "except with AFFINE", shape=21),
              *ports.pose(INPUT), *ports.twist(INPUT), *ports.acceleration(INPUT), *ports.wrench_output(),
              description="root R of the arm on the station; its inputs are read unless parameters.base_fixed"),
        Group("target", *_motion(), *ports.acceleration(OUTPUT),
              description="mating interface BI of the base, to be connected to the unit there, so that its pose stands "
              "once"),
        _command(joints),
        *_outputs(joints),
        parameters(joints, flexible),
        ports.audit(("friction", "gears", "stops", "compliance"),
                    ("interface", "thrust", "base", "motors", "stiffness_update")),
        ports.status(),
        Group("arm", *_body(), count=joints + 1, description="the root, then the links"),
        _drive(joints),
        _free_body(),
        Group("root", private("position", "m", "of R, I", shape=3), private("rotation", "1", "I -> R", shape=(3, 3)),
              private("velocity", "m/s", "absolute, axes R", shape=3),
              private("angular_velocity", "rad/s", "absolute, axes R", shape=3),
              private("acceleration", "m/s2", "absolute, axes R", shape=3),
              private("angular_acceleration", "rad/s2", "absolute, axes R", shape=3)),
        kinematics.moving("middle", "R in the middle of the step"),
        *_control(joints),
        _loop(joints),
        _compliance_work(joints),
        _accounting(),
        *(flexible_groups(joints) if flexible else ()),
    )  # fmt: skip
