"""The controller: frames of the operator's rates, singular poses, stops, Step and Insert, modes, refusals."""

from operator import attrgetter

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.core.parameters import read_parameter_set
from dockfmu.components.core.record import ParameterError
from dockfmu.components.manipulator import component, sensing, supervisor
from tests.components.manipulator.arms import REF, SETS, instance, run

MODE = {name: k for k, name in enumerate(("AUTO", "SEMI", "SUPV", "LIMP", "BRAKE", "HOLD", "SINGLE"), 1)}
IDLE, RUN, HOLD, ABORTED = supervisor.IDLE, supervisor.RUN, supervisor.HOLD, supervisor.ABORTED
KINEMATIC = {"parameters.variant": 3}


def pose(m):
    """Return position and rotation R -> PI as the encoders on the output shafts see them."""
    sensing.sense(m, 0.0)
    return np.array(m.sensed.position), np.array(m.sensed.interface)


@pytest.mark.parametrize("frame", [1, 2])
def test_rates_are_those_of_the_command_frame(frame):
    """PI moves with the commanded twist, in axes of a turned camera off PI, or of a turned target at PI."""
    camera, target = np.array([0.4, -0.3, 0.2]), np.array([0.1, 0.2, -0.5])
    offset = np.array([0.5, 0.2, -0.1])
    velocity, spin = np.array([0.01, -0.005, 0.004]), np.array([1e-3, 2e-3, -1e-3])
    arm = instance(
        **KINEMATIC,
        **{
            "command.mode": MODE["SEMI"],
            "parameters.control.command_frame": frame,
            "parameters.camera.angles": camera,
            "parameters.camera.position": offset,
            "parameters.target.angles": target,
            "command.velocity": velocity,
            "command.angular_velocity": spin,
            "parameters.control.singular_value": 0.0,
        },
    )
    from dockfmu.components.physics.mechanics import rotation

    run(arm, 8e-3)
    before, facing = pose(arm.m)
    run(arm, 8e-3, start=8e-3)
    after, _ = pose(arm.m)
    angles = camera if frame == 1 else target
    axes = np.array(rotation.from_angles(*angles)) @ (facing if frame == 1 else np.eye(3))
    expected = axes.T @ velocity
    if frame == 1:
        expected = expected - np.cross(axes.T @ spin, facing.T @ offset)
    np.testing.assert_allclose((after - before) / 8e-3, expected, atol=1e-4 * np.linalg.norm(expected))
    turned = np.array(arm.m.sensed.interface) @ facing.T
    rate = np.array([turned[1, 2], turned[2, 0], turned[0, 1]]) / 8e-3
    np.testing.assert_allclose(facing.T @ rate, axes.T @ spin, atol=1e-3 * np.linalg.norm(spin))


def test_rates_are_damped_at_a_singular_pose():
    """The stretched arm cannot go on along itself: rates stay finite and are flagged; without damping it is refused."""
    stretched = {"parameters.initial.angle": (0.0, 0.5, -0.6, 0.0, -1.0, -0.4, 0.3), "command.mode": MODE["SEMI"],
                 "command.velocity": (0.019, 0.0, 0.0)}  # fmt: skip
    arm = instance(**stretched, **KINEMATIC)
    run(arm, 0.2)
    assert arm.m.flag.singular == 1.0
    assert max(abs(j.rate) for j in arm.m.joint) <= 0.04 + 1e-12
    regular = instance(**{"command.mode": MODE["SEMI"], "command.velocity": (0.019, 0.0, 0.0)}, **KINEMATIC)
    run(regular, 0.2)
    assert regular.m.flag.singular == 0.0
    with pytest.raises(ComponentError, match=r"singular pose .*parameters.control.singular_value = 0 allows"):
        run(
            instance(
                **{
                    **stretched,
                    "parameters.control.singular_value": 0.0,
                    "parameters.joint.locked": (1, 1, 0, 0, 0, 0, 0),
                }
            ),
            0.1,
        )


def test_rates_are_cut_alike_and_fall_to_zero_before_a_stop():
    """The direction of motion stays; in the last 5 deg before a stop rates fall in proportion, away from it not."""
    arm = instance(**{"command.mode": MODE["SINGLE"], "command.joint": 4, "command.rate": 0.2}, **KINEMATIC)
    run(arm, 0.02)
    assert arm.m.joint[3].rate == pytest.approx(0.04)
    near = {"parameters.joint.angle_limit": 1.6 + np.deg2rad(2.5), "command.mode": MODE["SINGLE"], "command.joint": 4}
    arm = instance(**near, **KINEMATIC, **{"command.rate": 0.02})
    run(arm, 8e-3)
    assert arm.m.joint[3].rate == pytest.approx(0.01, rel=1e-6)
    run(arm, 60.0, 8e-3)
    assert 1.6 + np.deg2rad(2.4) < arm.m.joint[3].angle < 1.6 + np.deg2rad(2.5)
    arm = instance(**near, **KINEMATIC, **{"command.rate": -0.02})
    run(arm, 8e-3)
    assert arm.m.joint[3].rate == pytest.approx(-0.02)
    fast = instance(**{"command.mode": MODE["SEMI"], "command.velocity": (0.0, 0.5, 0.2)}, **KINEMATIC)
    slow = instance(**{"command.mode": MODE["SEMI"], "command.velocity": (0.0, 5e-3, 2e-3)}, **KINEMATIC)
    for one in (fast, slow):
        run(one, 8e-3)
    rates = [np.array([j.rate for j in one.m.joint]) for one in (fast, slow)]
    assert np.abs(rates[0]).max() == pytest.approx(0.04)
    np.testing.assert_allclose(rates[0] / np.abs(rates[0]).max(), rates[1] / np.abs(rates[1]).max(), atol=1e-9)


def test_a_hard_stop_holds_what_comes_against_it():
    arm = instance(
        **{"command.mode": MODE["LIMP"], "parameters.joint.angle_limit[4]": 1.6, "parameters.joint.stop_damping": 2e4}
    )
    arm.m.payload.force[0] = -200.0
    seen = run(arm, 30.0, 4e-3, lambda m: [m.joint[3].angle, m.flag.limit[3]])
    assert seen[:, 1].max() == 1.0
    assert seen[:, 0].max() < 1.6 + 0.01
    assert arm.m.audit.dissipated_stops > 0.0


def step_command(axis, amplitude, speed=0.0, kind=1):
    return {"command.mode": MODE["SUPV"], "command.step.axis": axis, "command.step.amplitude": amplitude,
            "command.step.speed": speed, "command.step.type": kind}  # fmt: skip


@pytest.mark.parametrize("axis", range(1, 7))
def test_a_step_moves_one_coordinate_of_the_interface(axis):
    """20 mm or 0.5 deg in the axes that PI had; the other five coordinates stay, through drives and backlash."""
    amplitude, speed = (0.02, 2e-3) if axis < 4 else (np.deg2rad(0.5), np.deg2rad(0.05))
    arm = instance(
        "ERA", "Airlock", **{"parameters.initial.angle": (0.3, *REF[1:]), **step_command(axis, -amplitude, speed)}
    )
    run(arm, 0.1, 2e-3)
    place, turn = pose(arm.m)
    assert arm.m.command.state == IDLE
    arm.m.command.step.trigger = 1.0
    states = run(arm, 14.0, 2e-3, lambda m: m.command.state, 0.1)
    assert states[4] == RUN
    assert states[-1] == HOLD
    duration = amplitude / speed + 2.0
    assert np.argmax(states == HOLD) * 2e-3 == pytest.approx(duration, abs=0.03)
    arm.m.command.step.trigger = 0.0
    run(arm, 4.0, 2e-3, start=14.1)
    assert arm.m.command.state == IDLE
    after, facing = pose(arm.m)
    moved = turn @ (after - place)
    relative = facing @ turn.T
    turned = (
        np.array([relative[1, 2] - relative[2, 1], relative[2, 0] - relative[0, 2], relative[0, 1] - relative[1, 0]])
        / 2
    )
    expected = np.zeros(6)
    expected[axis - 1] = -amplitude
    np.testing.assert_allclose(moved, expected[:3], atol=2.5e-3)
    np.testing.assert_allclose(turned, expected[3:], atol=5e-4)


def test_a_second_step_starts_from_the_reference_not_from_where_the_arm_is():
    """Two Steps of 20 mm are 40 mm, whatever the arm was late at the end of the first."""
    arm = instance("ERA", "Airlock", **{"parameters.initial.angle": REF, **step_command(2, 0.02, 4e-3)})
    run(arm, 0.1, 2e-3)
    place, turn = pose(arm.m)
    for k in range(2):
        arm.m.command.step.trigger = 1.0
        run(arm, 8.0, 2e-3, start=0.1 + 9.0 * k)
        arm.m.command.step.trigger = 0.0
        run(arm, 1.0, 2e-3, start=8.1 + 9.0 * k)
    np.testing.assert_allclose(turn @ (np.array(arm.m.supervisor.position) - place), (0.0, 0.04, 0.0), atol=1e-12)
    np.testing.assert_allclose(turn @ (pose(arm.m)[0] - place), (0.0, 0.04, 0.0), atol=4e-3)


def test_design_speeds_apply_where_none_is_commanded():
    for kind, axis, speed in ((1, 1, 5e-4), (1, 4, np.deg2rad(0.0125)), (2, 1, 1e-3)):
        arm = instance(
            "ERA", "Airlock", **{"parameters.initial.angle": REF, **step_command(axis, 40.0 * speed, kind=kind)}
        )
        arm.m.command.step.trigger = 1.0
        run(arm, 0.016)
        arm.m.command.step.trigger = 0.0
        run(arm, 8e-3)
        arm.m.command.step.trigger = 1.0
        run(arm, 8e-3)
        assert arm.m.supervisor.duration == pytest.approx(42.0, rel=1e-6)


def test_travel_of_a_step_is_continuous_and_ends_at_its_amplitude():
    t = np.linspace(0.0, 12.0, 12001)
    rows = np.array([supervisor.travel(x, 12.0, 2.0, -0.02) for x in t])
    assert rows[-1, 0] == pytest.approx(-0.02, rel=1e-12)
    assert rows[0, 0] == rows[0, 1] == 0.0
    np.testing.assert_allclose(np.gradient(rows[:, 0], t)[1:-1], rows[1:-1, 1], atol=1e-6)
    assert np.abs(np.diff(rows[:, 1])).max() < 2e-6
    assert supervisor.travel(1.0, 0.0, 0.0, 0.5) == (0.5, 0.0)


def stopped_insert(**values):
    """An Insert of 100 mm against a wall at 30 mm; loads and states."""
    arm = instance("ERA", "Airlock", **{"parameters.initial.angle": REF, **step_command(1, 0.1, 5e-3, 2), **values})
    run(arm, 0.1)
    arm.m.command.step.trigger = 1.0
    wall, rows = arm.m.interface.position[0] + 0.03, []
    for k in range(20000):
        depth = arm.m.interface.position[0] + 5e-4 * arm.m.interface.velocity[0] - wall
        arm.m.interface.force[0] = -max(0.0, 1e5 * depth + 2e3 * arm.m.interface.velocity[0]) if depth > 0.0 else 0.0
        arm.step(0.1 + k * 1e-3, 1e-3)
        rows.append([-arm.m.interface.force[0], arm.m.command.state, arm.m.flag.guard])
    return np.array(rows)


@pytest.mark.slow
def test_an_obstacle_does_not_stop_an_insert_but_a_load_guard_does():
    """The reaction grows until the stroke ends, or until the guard freezes the command."""
    free = stopped_insert(**{"parameters.control.guarded": 0})
    assert free[-1, 1] != ABORTED
    assert free[15000:, 0].mean() > 1.5 * free[8000:9000, 0].mean()
    guarded = stopped_insert(**{"parameters.control.force_limit": 40.0})
    assert guarded[-1, 1] == ABORTED
    assert guarded[-1, 2] == 1.0
    assert guarded[:, 0].max() < 0.6 * free[:, 0].max()


def test_abort_freezes_a_step_and_the_next_trigger_starts_again():
    arm = instance("ERA", "Airlock", **{"parameters.initial.angle": REF, **step_command(1, 0.05, 5e-3)}, **KINEMATIC)
    run(arm, 0.1)
    arm.m.command.step.trigger = 1.0
    run(arm, 4.0, start=0.1)
    arm.m.command.abort = 1.0
    run(arm, 0.016, start=4.1)
    assert arm.m.command.state == ABORTED
    assert all(j.commanded_rate == 0.0 for j in arm.m.joint)
    place = pose(arm.m)[0]
    run(arm, 2.0, start=4.2)
    np.testing.assert_allclose(pose(arm.m)[0], place, atol=1e-12)
    arm.m.command.abort = arm.m.command.step.trigger = 0.0
    run(arm, 0.016, start=6.2)
    arm.m.command.step.trigger = 1.0
    run(arm, 0.016, start=6.3)
    assert arm.m.command.state == RUN


def test_abort_stops_the_arm_in_other_modes():
    arm = instance(
        **{"command.mode": MODE["SEMI"], "command.velocity": (0.019, 0.0, 0.0), "command.abort": 1}, **KINEMATIC
    )
    run(arm, 0.1)
    assert all(j.rate == 0.0 for j in arm.m.joint)


def test_auto_follows_its_table():
    """Ramps of angles within the limits of rate; the drives follow to a fraction of a degree."""
    angles = np.tile(REF, (8, 1))
    angles[1:, 3] += 0.3
    angles[2:, 2] -= 0.2
    arm = instance(
        "ERA",
        "Airlock",
        **{
            "command.mode": MODE["AUTO"],
            "parameters.initial.angle": REF,
            "parameters.trajectory.points": 3,
            "parameters.trajectory.time": (1.0, 21.0, 41.0, 42, 43, 44, 45, 46),
            "parameters.trajectory.angle": angles,
        },
    )
    run(arm, 21.0, 4e-3)
    assert arm.m.joint[3].angle == pytest.approx(1.9, abs=5e-3)
    # what the drives missed while they were saturated is made good at 0.018/s, a quarter of the limit of the loop
    run(arm, 129.0, 8e-3, start=21.0)
    np.testing.assert_allclose([j.angle for j in arm.m.joint], angles[2], atol=2e-3)


def test_the_digital_servo_ticks_on_internal_time():
    """Commands act at the next tick of 8 ms, whatever the macro step."""
    for h in (5e-4, 3e-3, 7e-3):
        arm = instance(**{"command.mode": MODE["SINGLE"], "command.joint": 4, "command.rate": 0.0})
        seen, k = [], 0
        while k * h < 0.042:
            arm.m.command.rate = 0.02 if k * h >= 0.021 - 1e-9 else 0.0
            arm.step(k * h, h)
            k += 1
            seen.append((k * h, arm.m.joint[3].commanded_rate))
        changed = next(t for t, rate in seen if rate > 0.0)
        assert changed > 0.024 - 1e-9
        assert changed <= 0.024 + h + 1e-9


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"parameters.servo.outer_period": 7.7e-3}, r"outer_period = 0.0077 s must be a multiple of .*inner_period"),
        ({"parameters.interface.base_motion": 3}, r"parameters.interface.base_motion must be .* not AFFINE"),
        ({"parameters.joint.angle_limit[4]": 1.5}, r"parameters.initial.angle\[4\] = 1.6 rad is beyond"),
        ({"parameters.payload.inertia": -np.eye(3)}, r"parameters.payload.inertia is not symmetric"),
        ({"parameters.trajectory.points": 3, "parameters.trajectory.time": 1.0}, r"trajectory.time\[2\] = 1 s: times"),
        ({"parameters.link.inertia": -np.ones((7, 3, 3))}, r"link.inertia of link 1 is not symmetric or physically"),
        ({"parameters.payload.inertia": np.diag([1.0, 2.0, 3.1])}, r"payload.inertia is .* physically impossible"),
    ],
)  # fmt: skip
def test_wrong_values_are_named(values, message):
    with pytest.raises(ComponentError, match=message):
        run(instance(**values), 8e-3)


def test_commands_that_mean_nothing_are_named():
    """An importer may set them without regard to the declared range."""
    for name, value, message in (
        ("mode", 9, r"command.mode = 9 is not a mode"),
        ("joint", 12, r"command.joint = 12: there is no such joint"),
        ("axis", 7, r"command.step.axis = 7 is not 1 to 6"),
    ):
        arm = instance(**{"command.mode": MODE["SINGLE"]})
        setattr(arm.m.command.step if name == "axis" else arm.m.command, name, value)
        with pytest.raises(ComponentError, match=message):
            run(arm, 8e-3)


def test_a_step_out_of_reach_is_refused_by_name():
    arm = instance(**step_command(1, 8.0, 0.1))
    run(arm, 0.016)
    arm.m.command.step.trigger = 1.0
    with pytest.raises(
        ComponentError, match=r"command.step.amplitude = 8 along command.step.axis = 1 .* m from joint 1"
    ):
        run(arm, 0.016)


@pytest.mark.parametrize(
    ("group", "name", "said"),
    [
        ("command", "velocity", r"input 1 of command \(1 velocity, .*\) is not finite"),
        ("command", "angular_velocity", r"input 2 of command .* is not finite"),
        ("command", "rate", r"input 3 of command .* is not finite"),
        ("command.step", "amplitude", r"input 4 of command .* is not finite"),
        ("command.step", "speed", r"input 5 of command .* is not finite"),
        ("interface", "force", r"an input of port 2 \(1 base, 2 interface, 3 payload\) is not finite"),
        ("interface", "torque", r"an input of port 2 "),
        ("payload", "force", r"an input of port 3 "),
        ("payload", "torque", r"an input of port 3 "),
    ],
)
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_inputs_that_are_not_finite_are_refused(group, name, said, value):
    arm = instance(**{"command.mode": MODE["SEMI"]})
    holder = attrgetter(group)(arm.m)
    if np.ndim(getattr(holder, name)):
        getattr(holder, name)[1] = value
    else:
        setattr(holder, name, value)
    with pytest.raises(ComponentError, match=said):
        arm.step(0.0, 1e-3)


def test_a_payload_torn_off_is_said(tmp_path):
    arm = instance()
    arm.m.payload.torque[2] = 1e8
    with pytest.raises(ComponentError, match=r"rotated by .* rad against the gripper"):
        run(arm, 1.0)


PLANAR = """
name = "Planar"
description = "three parallel joints"
[parameters.link]
axis = { value = 3, unit = "1", source = "assumed" }
mass = { value = [12.0, 8.0, 3.0], unit = "kg", source = "assumed" }
center_of_mass = { value = [[0.5, 0.0, 0.0], [0.4, 0.0, 0.0], [0.1, 0.0, 0.0]], unit = "m", source = "assumed" }
inertia = { value = [[[0.1, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], [[0.1, 0.0, 0.0], [0.0, 0.5, 0.0],
  [0.0, 0.0, 0.5]], [[0.02, 0.0, 0.0], [0.0, 0.05, 0.0], [0.0, 0.0, 0.05]]], unit = "kg.m2", source = "assumed" }
[parameters.segment]
kind = { value = [[3, 1, 1], [3, 1, 1], [3, 1, 1], [3, 1, 1]], unit = "1", source = "assumed" }
length = { value = [[[0.2, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0],
  [0.0, 0.0, 0.0]], [[0.8, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [[0.2, 0.0, 0.0], [0.0, 0.0, 0.0],
  [0.0, 0.0, 0.0]]], unit = "m", source = "assumed" }
bending = { value = 2e4, unit = "N.m2", source = "assumed" }
torsion = { value = 1e4, unit = "N.m2", source = "assumed" }
extension = { value = 1e7, unit = "N", source = "assumed" }
[parameters.gear]
ratio = { value = 100.0, unit = "1", source = "assumed" }
stiffness = { value = 5e3, unit = "N.m/rad", source = "assumed" }
play = { value = 0.01, unit = "rad", source = "assumed" }
[parameters.joint]
rate_limit = { value = 0.2, unit = "rad/s", source = "assumed" }
[parameters.payload]
mass = { value = 50.0, unit = "kg", source = "assumed" }
inertia = { value = [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 5.0]], unit = "kg.m2", source = "assumed" }
[parameters.initial]
angle = { value = [0.3, 0.6, -0.4], unit = "rad", source = "assumed" }
"""


def test_an_arm_of_ones_own_from_one_file(tmp_path):
    """Three parallel joints, elastic in all directions; the joints go where the table leads them."""
    file = tmp_path / "planar.toml"
    file.write_text(PLANAR)
    own = component(joints=3)
    chosen = read_parameter_set(file)
    chosen.check(own.record)
    goal = np.array([0.5, 0.4, -0.2])
    table = np.tile(goal, (8, 1))
    table[0] = (0.3, 0.6, -0.4)
    arm = Instance(
        own,
        chosen,
        **{
            "command.mode": MODE["AUTO"],
            "parameters.trajectory.points": 2,
            "parameters.trajectory.time": np.arange(8.0) * 6.0,
            "parameters.trajectory.angle": table,
        },
    )
    # what gears leave is made good at 0.05/s
    run(arm, 60.0, 2e-3)
    np.testing.assert_allclose([j.angle for j in arm.m.joint], goal, atol=1e-3)
    # the gripper by hand: sums of angles
    sums = np.cumsum([j.angle for j in arm.m.joint])
    lengths = np.array([1.0, 0.8, 0.2])
    expected = (0.2 + lengths @ np.cos(sums), lengths @ np.sin(sums), 0.0)
    sensing.sense(arm.m, 0.0)
    np.testing.assert_allclose(arm.m.sensed.point[3], expected, atol=1e-4)
    a = arm.m.audit
    assert abs(a.kinetic_energy + a.stored_energy + a.dissipated_energy - a.work_motors) < 0.01 * a.work_motors


def test_the_wrong_number_of_joints_is_named(tmp_path):
    file = tmp_path / "planar.toml"
    file.write_text(PLANAR)
    with pytest.raises(ParameterError, match=r"planar.toml: parameters.link.mass = .* does not fit its shape \(7,\)"):
        Instance(component(), read_parameter_set(file))
    with pytest.raises(ValueError, match="joints must be at least 1, not 0"):
        component(joints=0)


def test_sets_of_payloads_go_with_both_arms():
    for arm_name in ("SSRMS", "ERA"):
        for payload in ("MIM-1", "Airlock", "Radiator"):
            arm = instance(arm_name, payload, **{"parameters.initial.angle": REF})
            run(arm, 0.05)
            assert arm.m.status.code == 0.0
    assert set(SETS) == {"SSRMS", "ERA", "MIM-1", "Airlock", "Radiator", "REF-SSRMS"}


NOT_REACHED = supervisor.NOT_REACHED


def test_ruling_R58_a_step_that_its_rates_cannot_follow_is_told_as_not_reached():
    """0.5 m in 1 s, cut at 0.05 rad/s: at the planned end the arm is far away, which is no end."""
    limited = {"parameters.joint.rate_limit": 0.005, "parameters.control.settle_time": 2.0}
    arm = instance(
        "ERA", "Airlock", **{"parameters.initial.angle": REF, **step_command(2, 0.5, 0.5)}, **limited, **KINEMATIC
    )
    run(arm, 0.1)
    arm.m.command.step.trigger = 1.0
    states = run(arm, 8.0, 4e-3, lambda m: m.command.state, 0.1)
    assert HOLD not in states
    assert states[-1] == NOT_REACHED
    assert np.argmax(states == NOT_REACHED) * 4e-3 == pytest.approx(2.0 + 2.0, abs=0.03)
    assert arm.m.notice.not_reached == 1.0
    assert arm.m.notice.rate_limited > 100
    assert arm.m.flag.arrived == 0.0
    # the next command starts from where the arm is
    arm.m.command.step.trigger = 0.0
    run(arm, 0.1, 4e-3, start=8.1)
    assert arm.m.command.state == IDLE
    np.testing.assert_allclose(arm.m.supervisor.position, pose(arm.m)[0], atol=1e-3)


def test_ruling_R58_a_braked_joint_leaves_the_jacobian():
    """With the brake of a joint on, the other six bring the interface to its pose, and the braked one stays."""
    command = step_command(2, 0.1, 0.01)
    arm = instance("ERA", "Airlock", **{"parameters.initial.angle": REF, **command}, **{"command.brake[1]": 1})
    run(arm, 0.1, 2e-3)
    place, turn = pose(arm.m)
    arm.m.command.step.trigger = 1.0
    states = run(arm, 20.0, 2e-3, lambda m: m.command.state, 0.1)
    assert states[-1] == HOLD
    assert arm.m.flag.arrived == 1.0
    np.testing.assert_allclose(turn @ (pose(arm.m)[0] - place), (0.0, 0.1, 0.0), atol=5e-3)
    assert arm.m.joint[0].angle == pytest.approx(0.0, abs=1e-3)
    assert arm.m.joint[0].commanded_rate == 0.0


def auto(**values):
    angles = np.tile(REF, (8, 1))
    angles[1:, 3] += 0.1
    return instance(
        "ERA",
        "Airlock",
        **{
            "command.mode": MODE["AUTO"],
            "parameters.initial.angle": REF,
            "parameters.trajectory.points": 2,
            "parameters.trajectory.angle": angles,
            "parameters.trajectory.time": (0.0, 10.0, 42, 43, 44, 45, 46, 47),
        },
        **values,
    )


def test_ruling_R58_the_clock_of_auto_stops_during_an_abort():
    """After 20 s of abort the table goes on where it stood: the elbow does not jump."""
    arm = auto(**KINEMATIC)
    run(arm, 4.0, 8e-3)
    arm.m.command.abort = 1.0
    run(arm, 20.0, 8e-3, start=4.0)
    stopped = arm.m.joint[3].angle
    assert stopped == pytest.approx(1.64, abs=1e-3)
    arm.m.command.abort = 0.0
    rates = run(arm, 5.0, 8e-3, lambda m: m.joint[3].rate, 24.0)
    assert rates.max() < 0.0105
    assert arm.m.joint[3].angle == pytest.approx(1.69, abs=1e-3)


def test_ruling_R58_arrival_of_auto_is_told():
    arm = auto(**KINEMATIC)
    seen = run(arm, 12.0, 8e-3, lambda m: m.flag.arrived)
    assert seen[: round(9.9 / 8e-3)].max() == 0.0
    assert seen[-1] == 1.0
    assert arm.m.notice.not_reached == 0.0
    held = auto(**KINEMATIC, **{"parameters.joint.rate_limit[4]": 0.004})
    run(held, 31.0, 8e-3)
    assert held.m.flag.arrived == 0.0
    assert held.m.notice.not_reached == 1.0
    assert held.m.notice.rate_limited > 0.0


def test_ruling_R58_a_stiffness_out_of_date_is_computed_anew_or_told():
    """The elbow turns by 0.1 rad: the stiffness follows; with `automatic` off each step with the old ones counts."""
    arm, old = auto(), auto(**{"parameters.compliance.automatic": 0})
    before = np.array(arm.m.compliance.stiffness)
    for one in (arm, old):
        run(one, 12.0, 8e-3)
    assert 2 <= arm.m.compliance.updates <= 6
    assert arm.m.validity.stiffness_outdated == 0.0
    assert old.m.compliance.updates == 0.0
    assert old.m.validity.stiffness_outdated > 500
    np.testing.assert_array_equal(old.m.compliance.stiffness, before)
    angles = [joint.angle for joint in arm.m.joint]
    fresh = np.array(instance("ERA", "Airlock", **{"parameters.initial.angle": angles}).m.compliance.stiffness)
    assert np.linalg.norm(np.array(arm.m.compliance.stiffness) - fresh) < 0.4 * np.linalg.norm(before - fresh)
