"""The record of a manipulator with its payload: ports, outputs and state (spec/00 5.7, spec/08).

Frames (spec/08 2.1): I inertial; B the base, equal to I if it is fixed; R the arm's root; 1..N the links; E the
gripper, axes of link N; PL the payload at its centre of mass; GF its grapple fixture; PI its mating interface; BI that
of the base.
"""

from __future__ import annotations

from components.contact import kinematics
from components.core import ports
from components.core.field import (
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
from components.core.record import Record
from components.core.rotation import IDENTITY
from components.manipulator.arm_data import JOINTS, parameters

MODE = enumeration(
    "ManipulatorMode",
    AUTO="joint angles follow the table parameters.trajectory",
    SEMI="the operator's rates of the command frame, resolved into joint rates",
    SUPV="Step and Insert along one axis of PI, the other five held",
    LIMP="drives without current: friction only",
    BRAKE="drives without current, all brakes on",
    HOLD="servos at rate zero",
    SINGLE="one joint at command.rate, the others at rate zero",
)
STEP_TYPE = enumeration("ManipulatorStep", STEP="alignment along one axis", INSERT="axial approach")
STEP_STATE = enumeration(
    "ManipulatorStepState",
    IDLE="ready for a command",
    RUN="a command is carried out",
    HOLD="its end is reached and held until command.step.trigger is false",
    ABORTED="stopped by command.abort or by a load guard; the next trigger starts again",
)


def _command(joints: int) -> Group:
    return Group(
        "command",
        input("mode", "1", "who moves the arm, and how", MODE.codes["HOLD"], type=MODE),
        input("velocity", "m/s", "SEMI: of the origin of the command frame, its axes", shape=3, discrete=True),
        input("angular_velocity", "rad/s", "SEMI: of the payload, axes of the command frame", shape=3, discrete=True),
        Group(
            "step",
            input("type", "1", "SUPV: which design speed applies", STEP_TYPE.codes["STEP"], type=STEP_TYPE),
            input("axis", "1", "SUPV: 1..3 along x, y, z of PI, 4..6 about them", 1, type=INTEGER, minimum=1,
                  maximum=6),
            input("amplitude", "1", "SUPV: travel with its sign, m or rad", discrete=True),
            input("speed", "1", "SUPV: m/s or rad/s; 0 is the design speed", discrete=True, minimum=0.0),
            input("trigger", "1", "SUPV: a rising edge starts the command", type=BOOLEAN),
        ),
        input("joint", "1", "SINGLE: number of the joint", 1, type=INTEGER, minimum=1, maximum=joints),
        input("rate", "rad/s", "SINGLE: of the joint", discrete=True),
        input("brake", "1", "brake of each joint on, its motor without current", shape=joints, type=BOOLEAN),
        input("abort", "1", "all commanded rates zero; SUPV: the command is broken off", type=BOOLEAN),
        input("stiffness_update", "1", "a rising edge computes the stiffness of the arm anew", type=BOOLEAN),
        output("state", "1", "of the Step and Insert commands", STEP_STATE.codes["IDLE"], type=STEP_STATE),
    )  # fmt: skip


def _relative() -> Group:
    return Group(
        "relative",
        output("position", "m", "PI from BI, axes BI", shape=3),
        output("quaternion", "1", "BI -> PI, scalar first", ports.IDENTITY_QUATERNION, shape=4),
        output("velocity", "m/s", "of PI as seen in BI, axes BI", shape=3),
        output("angular_velocity", "rad/s", "of PI relative to BI, axes BI", shape=3, display_unit="deg/s"),
        output("angles", "rad", "yaw, pitch, roll of PI against BI", shape=3, display_unit="deg"),
        description="the payload's mating interface seen from that of the base",
    )


def _outputs(joints: int) -> tuple[Group, ...]:
    return (
        _relative(),
        Group(
            "joint",
            output("angle", "rad", "of the output shaft", display_unit="deg"),
            output("rate", "rad/s", "of the output shaft", display_unit="deg/s"),
            output("motor_rate", "rad/s", "of the motor shaft"),
            output("motor_torque", "N.m", "of the motor, electromagnetic"),
            output("gear_torque", "N.m", "of the gearbox at its input shaft"),
            output("windup", "rad", "motor shaft less input shaft of the gearbox, backlash included"),
            output("commanded_rate", "rad/s", "that the servo follows", display_unit="deg/s"),
            output("saturated", "1", "motor torque or voltage at its limit", type=BOOLEAN),
            count=joints,
        ),
        Group(
            "tip",
            output("force", "N", "of the arm's spring on the gripper, axes E", shape=3),
            output("torque", "N.m", "of the arm's spring on the gripper about the grapple fixture, axes E", shape=3),
            output("deflection", "m", "of the grapple fixture from E, axes E", shape=3),
            output("rotation", "rad", "rotation vector of the grapple fixture against E, axes E", shape=3,
                   display_unit="deg"),
        ),
        Group(
            "flag",
            output("limit", "1", "the joint touches its stop", shape=joints, type=BOOLEAN),
            output("singular", "1", "the arm is near a singular pose: joint rates are damped", type=BOOLEAN),
            output("guard", "1", "a load guard has broken a Step or Insert off", type=BOOLEAN),
            output("stiffness_outdated", "1", "a joint has turned by more than parameters.compliance.angle_change "
                   "since the stiffness was computed", type=BOOLEAN),
        ),
        Group(
            "compliance",
            local("stiffness", "1", "K_M of the arm at E, axes E: forces, torques over translations, rotations, SI",
                  shape=(6, 6)),
            local("damping", "1", "C_M, likewise", shape=(6, 6)),
            local("frequency", "Hz", "of the payload on K_M, rising", shape=6),
        ),
    )  # fmt: skip


def _motion() -> tuple[Field, ...]:
    return (*ports.pose(OUTPUT), *ports.twist(OUTPUT))


def _body() -> tuple[Field, ...]:
    """Return the group of one link, with what the generated kernels of its joint read and leave."""
    return (
        private("axis", "1", "of the joint: 1 x, 2 y, 3 z"),
        private("reach", "m", "to the next joint, to E from the last, link axes", shape=3),
        private("mass", "kg", "of the link"),
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
        private("tr", "kg.m", "articulated inertia: force of turning", shape=(3, 3)),
        private("rr", "kg.m2", "articulated inertia, upper triangle", shape=(3, 3)),
        private("force", "N", "on this link and all beyond it, link axes", shape=3),
        private("torque", "N.m", "likewise, about the joint", shape=3),
        private("drive_torque", "N.m", "along the joint, without what the armature takes"),
        private("mobility", "1/(kg.m2)", "1 / (articulated inertia along the joint + armature); 0 if it is locked"),
        private("load", "N.m", "m_IA of (8.2.3): inertial and active load along the joint"),
        private("qdd", "rad/s2", "of the joint"),
        private("acceleration", "m/s2", "absolute, of the joint, link axes", shape=3),
        private("angular_acceleration", "rad/s2", "absolute, link axes", shape=3),
    )


def _drive(joints: int) -> Group:
    return Group(
        "drive",
        private("motor_angle", "rad", "of the motor shaft"),
        private("motor_rate", "rad/s", "of the motor shaft"),
        private("motor_torque", "N.m", "of the motor"),
        private("input_angle", "rad", "of the gearbox's input shaft: ratio times joint angle"),
        private("input_rate", "rad/s", "of the gearbox's input shaft"),
        private("gear_torque", "N.m", "T_g at the end of the last micro-step"),
        private("predicted", "N.m", "T_g of the coming micro-step for a joint that does not accelerate"),
        private("tangent", "N.m/rad", "stiffness of the gearbox at its present wind-up"),
        private("inertia", "kg.m2", "at the input shaft, of the gearbox and of what stands for massless links"),
        private("stiffness", "N.m/rad", "k_g beyond the backlash, at the input shaft"),
        private("play_torque", "N.m", "T_delta, at which the backlash is taken up"),
        private("damping", "N.m.s/rad", "c_g, at the input shaft"),
        private("added_damping", "N.m.s/rad", "of c_g, what the method does not damp by itself"),
        private("stop_damping", "N.m.s/rad", "of the stop while it is touched"),
        private("voltage", "V", "of the motor until the next inner tick"),
        private("reference", "rad/s", "of the motor rate, from the outer loop"),
        private("integral", "rad/s", "of the outer loop"),
        private("command", "rad/s", "joint rate that is commanded"),
        private("armature", "kg.m2", "that drive and stop add along the joint"),
        private("saturated", "1", "at the last micro-step"),
        private("powered", "1", "the motor has current"),
        private("braked", "1", "the brake is on"),
        count=joints,
    )


def _free_body() -> Group:
    return Group(
        "free_body",
        private("position", "m", "of the payload's centre of mass, I", shape=3),
        private("velocity", "m/s", "of the centre of mass, axes I", shape=3),
        private("quaternion", "1", "I -> PL", ports.IDENTITY_QUATERNION, shape=4),
        private("rotation", "1", "I -> PL", IDENTITY, shape=(3, 3)),
        private("angular_velocity", "rad/s", "axes PL", shape=3),
        private("inverse", "1/(kg.m2)", "of the inertia", shape=(3, 3)),
        private("fixture", "1", "PL -> GF", IDENTITY, shape=(3, 3)),
        private("to_interface", "1", "PL -> PI", IDENTITY, shape=(3, 3)),
        private("to_gripper", "1", "PL -> E", IDENTITY, shape=(3, 3)),
        private("deflection", "1", "of GF from E, axes E: translation (m), rotation vector (rad)", shape=6),
        private("deflection_rate", "1", "its rate, as seen in E", shape=6),
        private("wrench", "1", "of the spring on the gripper, axes E: force (N), torque (N.m)", shape=6),
        private("spring_power", "W", "lost in the damping C_M"),
        private("last_step", "s", "length of the last micro-step, 0 at the start"),
        private("interface_velocity", "m/s", "of PI at the last output, axes I", shape=3),
        private("interface_spin", "rad/s", "of PI at the last output, axes I", shape=3),
    )


def _control(joints: int) -> tuple[Group, ...]:
    return (
        Group(
            "clock",
            private("until_inner", "s", "to the next tick of the inner servo loop"),
            private("inner_left", "1", "ticks of the inner loop to the next of the outer one"),
            private("in_mode", "s", "since the present mode began, counted in ticks of the outer loop"),
            private("mode", "1", "at the last tick of the outer loop; 0 before the first"),
            private("update_before", "1", "command.stiffness_update at the last step"),
        ),
        Group(
            "sensed",
            private("angle", "rad", "of the joints, by their sensors", shape=joints),
            private("point", "m", "joint of each link from R, axes R; the last is E", shape=(joints + 1, 3)),
            private("axis", "1", "of each joint, axes R", shape=(joints, 3)),
            private("gripper", "1", "R -> E", IDENTITY, shape=(3, 3)),
            private("interface", "1", "R -> PI, by rigid links", IDENTITY, shape=(3, 3)),
            private("position", "m", "of PI from R by rigid links, axes R", shape=3),
            description="what the controller believes: rigid links at the sensed angles",
        ),
        Group(
            "resolved",
            private("twist", "1", "wanted of E: velocity (m/s), angular velocity (rad/s), axes R", shape=6),
            private("jacobian", "1", "of E, translations over the length scale, axes R", shape=(6, joints)),
            private("gram", "1", "J J^T, then its eigenvalues", shape=(6, 6)),
            private("vectors", "1", "its eigenvectors", shape=(6, 6)),
            private("least", "1", "singular value of J"),
            private("rate", "rad/s", "of the joints", shape=joints),
            description="resolved rates",
        ),
        Group(
            "supervisor",
            private("state", "1", "of the executor", STEP_STATE.codes["IDLE"]),
            private("trigger_before", "1", "at the last tick of the outer loop"),
            private("elapsed", "s", "since the command began"),
            private("duration", "s", "of the command"),
            private("ramp", "s", "of speeding up, and of slowing down"),
            private("axis", "1", "0..5"),
            private("amplitude", "1", "m or rad"),
            private("start_position", "m", "of PI when the command began, axes R", shape=3),
            private("start_rotation", "1", "R -> PI when the command began", IDENTITY, shape=(3, 3)),
            private("position", "m", "reference of PI, axes R", shape=3),
            private("rotation", "1", "reference R -> PI", IDENTITY, shape=(3, 3)),
            description="executor of Step and Insert",
        ),
    )


def _compliance_work(joints: int) -> Group:
    return Group(
        "flexure",
        private("angle", "rad", "of the joints for which the stiffness holds", shape=joints),
        private("compliance", "1", "P_M at E, axes E", shape=(6, 6)),
        private("segment", "1", "Psi of one segment, its axes", shape=(6, 6)),
        private("transport", "1", "G of one segment", shape=(6, 6)),
        private("product", "1", "Psi G", shape=(6, 6)),
        private("mass", "1", "of the payload at E, axes E, then its Cholesky factor", shape=(6, 6)),
        private("scaled", "1", "L^-1 K L^-T, then its eigenvalues", shape=(6, 6)),
        private("modes", "1", "eigenvectors", shape=(6, 6)),
        private("pivot", "1", "of the factors of P_M", shape=6),
        private("column", "1", "of the stiffness, then the damping of each mode", shape=6),
    )


def _accounting() -> Group:
    return Group(
        "accounting",
        private("outer_impulse", "N.s", "of contact and thrust in this step, axes I", shape=3),
        private("outer_angular_impulse", "N.m.s", "about the origin of I", shape=3),
        private("momentum", "N.s", "of links and payload at the end of the last step, axes I", shape=3),
        private("angular_momentum", "N.m.s", "about the origin of I", shape=3),
        private("initial", "J", "kinetic energy at the start"),
        private("motors", "J", "work of the motors so far"),
        private("friction", "J", "lost in motor bearings and brakes so far"),
        private("gears", "J", "lost in gears so far"),
        private("stops", "J", "lost in stops so far"),
        private("spring", "J", "lost in the arm's links so far"),
        private("interface", "J", "work of the wrench at the interface so far"),
        private("thrust", "J", "work of the external wrench on the payload so far"),
        private("base", "J", "work of the station on the arm so far"),
        private("restiffened", "J", "stored by changes of the stiffness so far"),
    )


def record(joints: int = JOINTS) -> Record:
    """Return the record of a manipulator of `joints` revolute joints with its payload."""
    return Record(
        Group("interface", *ports.wrench_input(), *_motion(), *ports.acceleration(OUTPUT),
              description="mating interface PI of the payload, x out of the payload; receives the contact wrench"),
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
              output("affine_mass", "1", "-d(wrench)/d(acceleration), upper triangle by rows, SI, force first; 0 but "
                     "for AFFINE", shape=21),
              *ports.pose(INPUT), *ports.twist(INPUT), *ports.acceleration(INPUT), *ports.wrench_output(),
              description="root R of the arm on the station; its inputs are read unless parameters.base_fixed"),
        _command(joints),
        *_outputs(joints),
        parameters(joints),
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
        _compliance_work(joints),
        _accounting(),
    )  # fmt: skip
