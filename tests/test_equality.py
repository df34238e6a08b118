"""Every component gives the same bits in the interpreter, compiled in this process, and in both kinds of FMU."""

from math import sin
from pathlib import Path

import numpy as np
import pytest

from dockfmu.fmus import catalogue
from tests import equality
from tests.equality import Scenario, assert_equal_chain

pytestmark = pytest.mark.slow

PUSHES = tuple(
    {
        "port[1].force[1]": -100.0 * sin(0.2 * k),
        "port[2].torque[3]": 5.0 * k,
        "control.force[2]": 30.0,
        "command.push": 1.0,
    }
    for k in range(10)
)
BUTTONS = tuple(
    {
        "operator.start": float(k > 2),
        "sensor.extended": 1.0,
        "docking.plane_gap": 2.0 - 0.1 * k,
        "sensor.first_contact": float(k > 8),
        "sensor.socket_bottom": float(k > 12),
        "sensor.capture": float(k > 14),
    }
    for k in range(40)
)
# out of the dead bands of two axes, off for a while, and back
TUMBLE = tuple(
    {
        "body.quaternion[1]": 1.0,
        "body.quaternion[3]": 0.004 * sin(0.3 * k),
        "body.quaternion[4]": 1e-3 * k,
        "body.angular_velocity[1]": 2e-3 * sin(0.5 * k),
        "command.attitude_hold": float(k < 20 or k > 25),
    }
    for k in range(40)
)
# the head is driven onto the bottom of the socket, with motors on and brakes switched
IMPACT = tuple(
    {
        "command.motor_voltage[1]": 27.0,
        "command.motor_voltage[2]": 27.0,
        "command.lateral_brakes": float(k % 2),
        "base.acceleration[2]": 0.1 * k,
        "base.angular_velocity[3]": 0.02,
        "base.position[1]": -0.4685 + 1e-3 * k,
    }
    for k in range(4)
)
# the same with the shorter probe and the deeper cone
DEEPER_IMPACT = tuple({**inputs, "base.position[1]": inputs["base.position[1]"] + 0.3509} for inputs in IMPACT)
# the same with the hinge 0.10 m further back (V2)
HINGE_IN_BASE = tuple({**inputs, "base.position[1]": inputs["base.position[1]"] - 0.1} for inputs in DEEPER_IMPACT)
# the head goes down the cone and over the edge of the socket, rollers beside it, latches withdrawn at last
SLIDE = tuple(
    {
        "base.position[1]": -0.5 + 6.5e-3 * k,
        "base.position[2]": 0.006 - 1e-3 * k,
        "base.angular_velocity[2]": 0.03,
        "link[1].tip_slope[1]": 1e-3 * k,
        "roller[2].velocity[3]": 0.01 * k,
        "command.latches_armed": float(k < 5),
    }
    for k in range(6)
)
# the ring goes over rims, side edges and latches to the ring plane, which it meets tilted, and is pulled back
SEATING = tuple(
    {
        "base.position[1]": -0.455 + 1e-3 * (k if k < 25 else 50 - k) + 5e-4 * (k == 25),
        "base.position[2]": 0.015 - 6e-4 * min(k, 25),
        "base.position[3]": 0.020 - 8e-4 * min(k, 25),
        "base.angular_velocity[1]": 0.2 - 0.01 * k,
        "link[1].velocity[2]": 0.01 * k,
        "link[1].quaternion[3]": 5e-4 * sin(0.3 * k),
    }
    for k in range(32)
)
# the cone comes over the head, slides, pushes the latches in and is pulled back when they have fired
BERTH = tuple(
    {
        "target.position[1]": -0.262 + 1.2e-3 * (k if k < 24 else 48 - k),
        "target.position[2]": 0.003 - 1e-4 * k,
        "target.velocity[1]": 0.12 if k < 24 else -0.12,
        "target.quaternion[3]": 4e-3 * sin(0.3 * k),
    }
    for k in range(36)
)
# the plug slides over its cone, through the ball and on to the planes
PLUGGED = tuple(
    {
        "base.position[1]": -0.050 + 1.5e-3 * (k if k < 34 else 68 - k),
        "base.velocity[1]": 0.05,
        "base.position[2]": 2.5e-3 - 1e-4 * min(k, 25),
        "base.velocity[3]": 0.01 * sin(0.5 * k),
        "base.quaternion[4]": 1e-4 * sin(0.4 * k),
    }
    for k in range(40)
)
# the operator aligns and approaches, is captured, and lets go
VIEWS = tuple(
    {
        "relative.position[1]": -1.0 + 0.004 * k,
        "relative.position[2]": 0.05 * max(0.0, 1.0 - k / 60),
        "relative.quaternion[3]": 0.02 * max(0.0, 1.0 - k / 30),
        "tip.force[2]": 30.0 * sin(0.2 * k),
        "sensor.first_contact": float(k > 90),
        "sensor.capture": float(k > 105),
    }
    for k in range(130)
)
PUSHED_HEAD = tuple(
    {
        "link[1].force[1]": -50.0 * k,
        "link[1].torque[3]": 0.5,
        "link[2].force[2]": 3.0 * k,
        "roller[1].force[2]": -5.0,
        "target.contact_force[1]": 50.0 * k,
        "target.contact_torque[2]": 0.1,
        "base.angular_velocity[3]": 0.02,
    }
    for k in range(4)
)

# beyond the limits of rate, an emergency stop at last
WOBBLE = tuple(
    {
        "active.position[1]": -1.0 + 0.1 * sin(0.5 * k),
        "active.velocity[2]": 0.3 * sin(k),
        "active.quaternion[3]": 0.05 * sin(0.4 * k),
        "passive.angular_velocity[1]": 0.02,
        "passive.position[3]": 0.01 * k,
        "emergency_stop": float(k > 30),
    }
    for k in range(40)
)
HITS = tuple(
    {
        "target.force[1]": 900.0 * sin(0.3 * k),
        "target.torque[2]": 100.0 * k,
        "base.force[3]": 5.0,
        "active.position[1]": -1.0 - 0.01 * k,
        "active.quaternion[4]": 0.01 * k,
    }
    for k in range(40)
)

RING_IMPACT = tuple(
    {
        "base.position[1]": -0.4415 + 1e-4 * k,
        "base.position[2]": 2e-3,
        "base.quaternion[3]": 0.002,
        "base.angular_velocity[1]": 0.01,
        "command.recoil_lock[2]": float(k % 20 < 10),
        "command.motor_voltage[1]": 27.0 * (k > 10),
    }
    for k in range(40)
)
# a base that turns and is accelerated, the rings in contact
RING_PUSH = tuple(
    {
        "base.quaternion[3]": 0.002 + 1e-4 * k,
        "base.angular_velocity[2]": 0.02,
        "base.acceleration[2]": 0.01 * k,
        "base.position[3]": 1e-4 * k,
        "target.velocity[1]": 1e-3 * k,
    }
    for k in range(30)
)
PUSHED_RING = tuple(
    {
        "link[1].force[1]": -300.0 * k,
        "link[1].force[2]": 40.0 * sin(0.5 * k),
        "link[1].torque[3]": 30.0,
        "base.angular_velocity[2]": 0.02,
        "command.recoil_lock[4]": float(k < 25),
        "command.motor_voltage[2]": -27.0,
    }
    for k in range(40)
)
SWITCHES = tuple(
    {
        "operator.extend": float(k == 1),
        "sensor.initial_position[1]": float(k > 3),
        "flag.contact": float(k > 60),
        "sensor.drive_limit": float(k > 50),
        "sensor.initial_position_lost": float(k > 70),
        "sensor.capture": float(k > 80),
        "docking.plane_gap": 0.5 - 0.004 * k,
        "sensor.retracted": float(k > 115),
        **{f"sensor.initial_position[{j}]": float(k > 10 * j) for j in range(2, 5)},
        "sensor.initial_position[5]": float(k > 5),
        "sensor.initial_position[6]": float(k > 45),
    }
    for k in range(130)
)

# every mode of the arm, a push at its interface, brakes, a Step that runs, a new stiffness
BERTHING = tuple(
    {
        "command.mode": float((2, 3, 7, 1, 6, 4, 5, 3)[k // 12]),
        "command.velocity[1]": 0.019,
        "command.angular_velocity[2]": 1e-3,
        "interface.force[1]": -200.0 * sin(0.3 * k),
        "interface.torque[2]": 50.0,
        "payload.force[3]": 20.0,
        "command.step.trigger": float(k % 12 > 3),
        "command.step.axis": float(1 + k % 6),
        "command.step.amplitude": 0.02,
        "command.step.speed": 0.01,
        "command.joint": 4.0,
        "command.rate": 0.02,
        "command.brake[5]": float(30 < k < 40),
        "command.stiffness_update": float(k > 50),
    }
    for k in range(96)
)
# the root of the arm moves with its station
CARRIED = tuple(
    {
        **inputs,
        "base.position[1]": 1e-5 * k * k,
        "base.velocity[1]": 2e-3 * k,
        "base.acceleration[1]": 0.2,
        "base.quaternion[3]": 1e-4 * k,
        "base.angular_velocity[2]": 0.02,
    }
    for k, inputs in enumerate(BERTHING[:24])
)

MIXED, RING = (str(Path(__file__).parent / "components" / "multibody" / f"{name}.toml") for name in ("mixed", "ring"))
PROBE, ARRAY, ELASTIC = (
    str(Path(__file__).parents[1] / "components" / "multibody" / "models" / f"{name}.toml")
    for name in ("small_probe", "solar_array", "elastic_array")
)
# the interpreter takes most of the time: steps are no longer than it takes to execute the same lines of the kernels
SCENARIOS = [
    Scenario(
        "Oscillator",
        tuple({"force": sin(0.3 * k)} for k in range(50)),
        step=0.05,
        values={"parameters.initial_position": 1.0, "parameters.damping": 0.3, "parameters.stiffness": 2.0},
    ),
    Scenario("Spacecraft", PUSHES, step=0.01, sets=("ATV-20t",)),
    Scenario("Spacecraft", PUSHES, step=0.01, sets=("Station-400t",), options={"modes": "station_beam"}),
    Scenario(
        "Spacecraft",
        PUSHES,
        step=0.05,
        sets=("Soyuz-7t",),
        # appendages, sections, and modes above and below the limit of the exact step
        options={"modes": "transport_wings", "coupling": "two_way"},
    ),
    Scenario("ProbeCyclogram", BUTTONS, step=0.1, sets=("V1",)),
    Scenario("AttitudeControl", TUMBLE, step=0.04, sets=("AC-20t",), values={"parameters.delay": 0.07}),
    Scenario(
        "ProbeMechanism",
        IMPACT,
        sets=("AX-1", "DR-1", "LD-1", "LV-1", "PR-1", "PU-1", "CP-1", "RefCone"),
        values={"target.position": 0.0, "base.position": (-0.4685, 0.002, -0.001), "base.velocity[1]": 0.1},
    ),
    Scenario(
        "ProbeMechanism",
        DEEPER_IMPACT,
        sets=("AX-1", "LD-1", "LV-1", "PR-1", "PU-1", "CP-1", "PR-2", "LV-2", "DR-2", "RefCone25"),
        values={
            "target.position": 0.0,
            "base.position": (-0.1176, 0.002, -0.001),
            "base.velocity[1]": 0.1,
            "parameters.base_motion": 3,
        },
    ),
    Scenario(
        "ProbeMechanismTwoBrakes",
        HINGE_IN_BASE,
        sets=("AX-2", "PU-1", "CP-1", "PR-2", "LV-2", "DR-2", "RefCone25", "LD-2", "HB-2", "HB-2-pads"),
        values={
            "target.position": 0.0,
            "base.position": (-0.2176, 0.002, -0.001),
            "base.velocity[1]": 0.1,
        },
    ),
    Scenario(
        "ProbeMechanismMovableLimiter",
        HINGE_IN_BASE,
        sets=("AX-2", "PU-1", "CP-1", "PR-2", "DR-2", "ShortCone25", "LD-2", "LD-3", "HB-3", "ML-2", "ML-1-pads"),
        values={
            "target.position": 0.0,
            "base.position": (-0.2176, 0.002, -0.001),
            "base.velocity[1]": 0.1,
        },
    ),
    Scenario(
        "ProbeMechanismExternal",
        PUSHED_HEAD,
        sets=("AX-1", "DR-1", "LD-1", "LV-1", "PR-1", "PU-1"),
        values={"base.velocity[1]": 0.1},
    ),
    Scenario(
        "PeripheralMechanism",
        RING_IMPACT,
        sets=("PM-1", "RefRing", "CP-1R"),
        values={"target.position": 0.0, "base.position": (-0.4415, 0.002, 0.0), "base.velocity[1]": 0.1},
    ),
    Scenario("PeripheralMechanismExternal", PUSHED_RING, sets=("PM-1",), values={"parameters.base_motion": 3}),
    *(
        Scenario(
            name,
            RING_PUSH,
            sets=(own, "RefRing", "CP-1R"),
            values={"target.position": 0.0, "base.position": (-start, 0.002, 0.0), "base.velocity[1]": 0.1, **drawn_in},
        )
        for name, own, start, drawn_in in (
            ("HydraulicRingMechanism", "HR-1", 0.5609, {"command.motor_voltage[2]": 27.0}),
            ("ElectricRingMechanism", "ER-1", 0.4415, {"command.retract": 1.0}),
            ("GearedRingMechanism", "GR-1", 0.5022, {"command.motor_voltage[2]": 27.0}),
            ("HuntRingMechanism", "CR-1", 0.5309, {"command.motor_voltage[2]": 27.0}),
        )
    ),
    Scenario("PeripheralCyclogram", SWITCHES, step=0.2, sets=("PC-1",), values={"parameters.initial_phase": 1}),
    Scenario(
        "Manipulator",
        BERTHING,
        step=2e-3,
        sets=("SSRMS", "MIM-1", "REF-SSRMS"),
        values={
            "parameters.trajectory.points": 2,
            "parameters.trajectory.angle[2,4]": 1.7,
            "parameters.servo.tachometer_quantum": 1e-3,
        },
    ),
    Scenario(
        "Manipulator",
        CARRIED,
        step=7e-4,
        sets=("ERA", "Airlock"),
        values={
            "parameters.base_fixed": 0,
            "parameters.base_motion": 3,
            "parameters.initial.angle": (0.1, 0.5, -0.6, 1.6, -1.0, -0.4, 0.3),
        },
    ),
    Scenario(
        "FlexibleManipulator",
        CARRIED,
        step=7e-4,
        sets=("ERA", "Airlock"),
        values={
            "parameters.base_fixed": 0,
            "parameters.base_motion": 3,
            "parameters.initial.angle": (0.1, 0.5, -0.6, 1.6, -1.0, -0.4, 0.3),
        },
    ),
    Scenario(
        "Multibody",
        tuple(
            {"joint.root.angle.drive": 0.2 * k, "tip.force[3]": 0.1 * k, "lock.hinge3.close": float(k > 3)}
            for k in range(6)
        ),
        step=1e-3,
        options={"model": ELASTIC},
    ),
    Scenario(
        "Multibody",
        tuple({"joint.one.angle.drive": 0.3 * k, "lock.stop.open": float(k > 5)} for k in range(9)),
        step=2e-3,
        options={"model": RING},
    ),
    Scenario(
        "Multibody",
        tuple(
            {
                "tip.force[1]": 2.0 * k,
                "tip.torque[2]": sin(0.7 * k),
                "joint.lift.displacement.drive": 1.0,
                "drive.shoulder.command": 0.5 + 0.1 * k,
                "drive.shoulder.powered": float(k < 7),
                "drive.spindle.brake": float(k > 4),
            }
            for k in range(10)
        ),
        step=0.01,
        options={"model": MIXED},
    ),
    Scenario(
        "Multibody",
        tuple(
            {"target.position[1]": 0.22 - 0.002 * k, "target.velocity[1]": -0.2, "base.velocity[2]": 0.01 * (k > 9)}
            for k in range(25)
        ),
        step=2e-3,
        options={"model": PROBE},
        values={"target.position": (0.22, 0.004, 0.002), "target.velocity[1]": -0.2},
    ),
    Scenario(
        "Multibody",
        tuple(
            {"base.velocity[2]": 0.01 * k, "base.acceleration[2]": 0.5, "base.quaternion[3]": 1e-4 * k}
            for k in range(9)
        ),
        step=0.01,
        options={"model": PROBE},
        values={"parameters.base_motion": 3},
    ),
    Scenario(
        "Multibody",
        tuple({"dock.force[1]": 3.0 * k, "dock.torque[2]": -1.0, "joint.root.angle.drive": 0.2 * k} for k in range(9)),
        step=0.02,
        options={"model": ARRAY},
        values={"parameters.joint.root.angle.start": 0.02, "parameters.joint.root.angle.start_rate": -0.5},
    ),
    Scenario("StandPlatform", WOBBLE, step=3e-3, sets=("SP-1",)),
    Scenario("StandBalance", HITS, step=3e-3, sets=("SB-1",), values={"parameters.noise": 20.0}),
    Scenario(
        "ContactProbeCone",
        SLIDE,
        step=1e-4,
        sets=("CP-1", "RefCone"),
        values={"target.position": 0.0, "base.position": (-0.5, 0.006, 0.0), "link[1].position": (0.8, 0.0, 0.0)},
    ),
    Scenario("BerthingSequence", VIEWS, step=0.2, sets=("MIM1-RT",), values={"parameters.operator.seed": 3}),
    Scenario(
        "ContactAirlock",
        BERTH,
        sets=("RefB1", "CP-B1", "SH-1"),
        values={"base.position": 0.0, "target.position": (-0.262, 0.003, 0.0)},
    ),
    Scenario(
        "ContactRadiator",
        PLUGGED,
        sets=("RefB2", "CP-B2"),
        values={"target.position": 0.0, "base.position": (-0.050, 0.0025, 0.0)},
    ),
    Scenario(
        "ContactRing",
        SEATING,
        step=1e-3,
        sets=("CP-1R", "RefRing", "HF-R"),
        values={"target.position": 0.0, "base.position": (-0.455, 0.015, 0.02), "link[1].position": (0.43, 0.0, 0.0)},
    ),
]


@pytest.fixture(scope="module")
def links():
    found = equality.Links()
    yield found
    found.close()


@pytest.mark.parametrize(
    "scenario",
    SCENARIOS,
    ids=lambda scenario: "-".join([scenario.name, *(Path(option).stem for option in scenario.options.values())]),
)
def test_interpreter_process_native_and_pythonfmu_are_equal(scenario, links):
    assert_equal_chain(scenario, links)


def test_every_component_has_a_scenario():
    assert {scenario.name for scenario in SCENARIOS} == set(catalogue.names())


def test_the_chain_notices_one_bit(monkeypatch, links):
    scenario = SCENARIOS[0]
    trace = equality.run_directly(scenario)
    wrong = trace.copy()
    wrong[3, 1] = np.nextafter(wrong[3, 1], 2.0)
    monkeypatch.setattr(equality, "chain", lambda *_: {"this process": trace, "native FMU": wrong})
    with pytest.raises(
        AssertionError, match="native FMU differs from this process in 1 values, first position after step 3"
    ):
        assert_equal_chain(scenario, links)
