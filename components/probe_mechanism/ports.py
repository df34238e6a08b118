"""The record of the probe mechanism: ports of spec/00 section 5.2, parameters of its devices, their states."""

from __future__ import annotations

from components.core.field import BOOLEAN, Group, output, parameter, private

AXIAL_PARAMETERS = Group(
    "axial",
    parameter("lead", "m", "lead of the ball screw", 0.02, minimum=1e-6),
    parameter("inertance", "kg", "inertia of nut, damper, gears and levers, reduced to the probe", 25.0, minimum=1e-6),
    parameter("screw_friction", "1", "friction coefficient of the ball screw", 0.1, minimum=0.0, maximum=0.99),
    parameter("train_stiffness", "N/m", "of the gear train, reduced to the probe", 1e6, minimum=1.0),
    parameter("train_damping", "N.s/m", "structural damping of the gear train", 2e3, minimum=0.0),
    parameter("spring_preload", "N", "force at which the spring mechanism starts to wind", 1.5e3, minimum=0.0),
    parameter("spring_end", "N", "force at the end of the spring's travel", 2.5e3, minimum=0.0),
    parameter("spring_stroke", "m", "travel of the spring mechanism", 0.04, minimum=1e-9),
    parameter("spring_return", "1", "force of unwinding over force of winding", 0.7, minimum=0.0, maximum=1.0),
    parameter("brake_compression", "N", "slip force of the friction brake, probe pushed in", 8.5e3, minimum=1.0),
    parameter("brake_extension", "N", "slip force of the friction brake, probe pulled out", 1.8e4, minimum=1.0),
    parameter("magnetic_rate", "m/s", "table of the axial magnetic brakes: rate of the probe, rising from 0",
              (0.0, 0.15, 0.3, 0.6), shape=4, minimum=0.0),
    parameter("magnetic_force", "N", "force of all axial magnetic brakes at the rates of the table, first 0",
              (0.0, 1e3, 2e3, 4e3), shape=4, minimum=0.0),
    description="axial damper, reduced to the probe: force against travel",
)  # fmt: skip

AXIAL = Group(
    "axial",
    output("torque", "N.m", "of spring, friction brake and gear train on the nut; positive resists compression"),
    output("brake_slip", "rad", "slip of the friction brake, reduced to the nut"),
    output("stroke", "m", "deflection of the spring mechanism, reduced to the probe"),
    private("travel", "m", "compression of the probe since the start"),
    private("rate", "m/s", "rate of compression"),
    private("slip", "m", "slip of the friction brake, reduced to the probe"),
    private("spring", "m", "deflection of the spring mechanism, reduced to the probe"),
    private("train_force", "N", "force of the gear train, its damping included, at the middle of the micro-step"),
    private("dissipated_train", "J", "by friction brake, spring friction and train damping"),
    private("dissipated_magnetic", "J", "by the axial magnetic brakes"),
    private("dissipated_screw", "J", "by the ball screw"),
)

DRIVE_PARAMETERS = Group(
    "drive",
    parameter("torque_constant", "N.m/V", "motor torque per volt, stalled", 0.08 / 27.0, minimum=0.0),
    parameter("speed_constant", "N.m.s", "motor torque lost to its own voltage per speed", 1.4e-4, minimum=0.0),
    parameter("motor_damping", "N.m.s", "viscous friction of the motor", 0.0921e-4, minimum=0.0),
    parameter("motor_friction", "N.m", "dry friction of the motor", 0.005, minimum=0.0),
    parameter("motor_ratio", "1", "motor speed over speed of its differential wheel", 10.0, minimum=1e-6),
    parameter("wheel_radius", "m", "radii of the differential's main wheels", (0.02, 0.02), shape=2, minimum=1e-6),
    parameter("wheel_inertia", "kg.m2", "main wheels with rotor, clutch and gears", (1.001e-3, 1.001e-3), shape=2,
              minimum=1e-12),
    parameter("carrier_radius", "m", "of the differential's carrier", 0.02, minimum=1e-6),
    parameter("carrier_inertia", "kg.m2", "of the differential's carrier with its planets' mass", 2e-5, minimum=0.0),
    parameter("planet_radius", "m", "of the differential's planets", 0.01, minimum=1e-6),
    parameter("planet_inertia", "kg.m2", "of one planet about its own axis", 2e-6, minimum=0.0),
    parameter("planet_count", "1", "planets of the differential and of each planetary stage", 3.0, minimum=0.0),
    parameter("stage_ratio", "1", "speed of a planetary stage's carrier over that of its sun", 0.25, minimum=1e-6),
    parameter("stage_planet_ratio", "1", "radius of a stage's sun over the diameter of its planets", 0.5, minimum=0.0),
    parameter("stage_sun_inertia", "kg.m2", "sun of one planetary stage", 0.0, minimum=0.0),
    parameter("stage_carrier_inertia", "kg.m2", "carrier of one planetary stage", 0.0, minimum=0.0),
    parameter("stage_planet_inertia", "kg.m2", "planet of one planetary stage", 0.0, minimum=0.0),
    parameter("nut_ratio", "1", "angle of the drive's output shaft over the nut's", 10.0, minimum=1e-6),
    parameter("efficiency", "1", "of the gears between output shaft and axial damper", 0.8, minimum=0.01, maximum=1.0),
    description="electric drive: two motors, differential, two planetary stages",
)  # fmt: skip

DRIVE = Group(
    "drive",
    output("angle", "rad", "output shaft, positive retracts the probe"),
    output("rate", "rad/s", "output shaft, positive retracts the probe"),
    private("wheel_angle", "rad", "main wheels of the differential", shape=2),
    private("wheel_rate", "rad/s", "main wheels of the differential", shape=2),
    private("direction", "1", "of the stop clutches: 0 locked, else the sense in which the wheel runs", shape=2),
    private("inertia", "kg.m2", "of the differential reduced to its wheels", shape=(2, 2)),
    private("gain", "1", "rate of the output shaft per rate of each wheel", shape=2),
    private("work", "J", "done by the motors"),
    private("dissipated", "J", "in motors, clutches and gears"),
)

LEVER_PARAMETERS = Group(
    "levers",
    parameter("travel", "m", "table of the cam: compression of the probe, rising",
              (0.0, 0.18, 0.3, 0.3114, 0.37, 0.38), shape=6),
    parameter("axial", "m", "centre of the leading lever's roller along x of M, at the travels of the table",
              (0.25, 0.25, 0.25, 0.25, 0.25, 0.25), shape=6),
    parameter("radial", "m", "distance of the roller's centre from x of M, at the travels of the table",
              (0.11, 0.11, 0.2293, 0.2095, 0.1604, 0.1604), shape=6, minimum=0.0),
    parameter("azimuth", "rad", "of the leading lever, from y to z of M", 0.0, display_unit="deg"),
    parameter("backdrive", "1", "the rollers' reactions act back on the nut", 0.0, type=BOOLEAN),
    description="alignment levers: path of the rollers in the housing frame M",
)  # fmt: skip

LEVERS = Group("levers", private("slope", "1", "derivative of a roller's centre by the travel, M", shape=(3, 3)))

ROLLERS = Group(
    "roller",
    output("position", "m", "centre of the roller, frame M", shape=3),
    output("velocity", "m/s", "velocity of the roller's centre relative to M, M axes", shape=3),
    count=3,
)

PUSHER_PARAMETERS = Group(
    "pushers",
    parameter("preload", "N", "force of one pusher when it is touched", 100.0, minimum=0.0),
    parameter("stiffness", "N/m", "of one pusher", 1e4, minimum=0.0),
    parameter("protrusion", "m", "of the free pusher over the docking plane", 0.025, minimum=0.0),
    parameter("radius", "m", "distance of the pushers from the docking axis", 0.45, minimum=0.0),
    parameter("azimuth", "rad", "of the first of four pushers, from y to z", 0.7853981633974483, display_unit="deg"),
    description="separation pushers on the active docking plane",
)

COVER_PARAMETERS = Group(
    "cover",
    parameter("present", "1", "the mechanism stands on a compliant hatch cover (ground tests)", 0.0, type=BOOLEAN),
    parameter("mass", "kg", "of the mechanism on the cover", 50.0, minimum=1e-3),
    parameter("stiffness", "N/m", "of the cover along its axis", 1e6, minimum=0.0),
    parameter("damping", "N.s/m", "of the cover along its axis", 2e3, minimum=0.0),
    description="hatch cover, axial compliance",
)

COVER = Group(
    "cover",
    output("travel", "m", "axial deflection of the hatch cover, along x of the base"),
    output("rate", "m/s", "rate of the deflection"),
    private("work", "J", "done by the mechanism on the cover"),
    private("dissipated", "J", "by the cover"),
)
