"""The platform of the stand against closed forms: delay, lag, limits of rate, turns, emergency stop."""

from math import cos, exp, pi, sin, sqrt

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.fmus import catalogue

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
W, Z, DELAY = 2.0 * pi * 10.0, 0.7, 5e-3
LAG = 2.0 * Z / W


def product(p, q):
    a, b, c, d = p
    w, x, y, z = q
    return np.array(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ]
    )


def exponential(phi):
    angle = np.linalg.norm(phi)
    return np.array([cos(angle / 2), *(np.sinc(angle / 2 / pi) / 2 * np.asarray(phi))])


def matrix(q):
    """I -> frame, conventions section 2."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
            [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
            [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def platform(**values):
    return Instance(catalogue.component("StandPlatform"), **values)


def step_response(t, w=W, z=Z, k=0.0):
    """Return the step response of (2 z k w s + w^2)/(s^2 + 2 z w s + w^2), by partial fractions with complex poles."""
    root = np.sqrt(complex(z * z - 1.0))
    poles = w * (-z + root), w * (-z - root)
    terms = sum((2 * z * k * w * p + w * w) / (p * (p - other)) * np.exp(p * t) for p, other in (poles, poles[::-1]))
    return 1.0 + terms.real if t > 0 else 0.0


def track(stand, command, seconds, h=1e-3):
    """Positions and quaternions of the base at the start of each step; `command(t)` sets the inputs."""
    position, attitude, velocity = [], [], []
    for n in range(round(seconds / h)):
        command(stand.m, n * h)
        stand.step(n * h, h)
        position.append(stand.m.base.position.copy())
        attitude.append(stand.m.base.quaternion.copy())
        velocity.append(stand.m.base.velocity.copy())
    return np.array(position), np.array(attitude), np.array(velocity)


@pytest.mark.parametrize("damping", [0.3, 0.7, 1.0, 2.5])
def test_spec08_section_5_5_step_of_position_is_that_of_a_second_order_lag_after_the_delay(damping):
    stand = platform(**{"parameters.damping": damping, "parameters.velocity_limit": 10.0})
    size = np.array([0.002, -0.001, 0.0015])

    def command(m, t):
        m.active.position[:] = size

    found, _, _ = track(stand, command, 0.3)
    z = damping if damping != 1.0 else 1.0 + 1e-9  # equal poles have no partial fractions
    expected = [size * step_response(n * 1e-3 - DELAY, z=z) for n in range(len(found))]
    np.testing.assert_allclose(found, expected, atol=2e-11)


def test_ramp_arrives_late_by_delay_and_lag_and_feedforward_takes_the_lag_away():
    """In programme mode from the start: no transient."""
    for k, late in ((0.0, DELAY + LAG), (0.5, DELAY + 0.5 * LAG), (1.0, DELAY)):
        stand = platform(**{"active.velocity": (0.1, 0.02, 0.0), "parameters.feedforward": k})

        def command(m, t):
            m.active.position[:] = m.active.velocity * t

        found, _, velocity = track(stand, command, 0.1)
        rate = np.array([0.1, 0.02, 0.0])
        times = 1e-3 * np.arange(len(found))
        np.testing.assert_allclose(found, (times - late)[:, None] * rate, atol=1e-15)
        np.testing.assert_allclose(velocity, np.broadcast_to(rate, velocity.shape), atol=1e-14)


def test_ramp_that_begins_at_once():
    """From rest: the integral of the step response, with feedforward; frames of 3 ms and steps of 1 and 1.3 ms."""
    for h in (1e-3, 1.3e-3):
        stand = platform(**{"parameters.feedforward": 0.4, "parameters.frame_time": 3e-3})

        def command(m, t):
            m.active.position[0] = 0.05 * t
            m.active.velocity[0] = 0.05

        found, _, _ = track(stand, command, 0.2, h)
        for n in range(0, len(found), 20):
            s = n * h - DELAY
            grid = np.linspace(0.0, max(s, 0.0), 4001)
            values = [step_response(x, k=0.4) for x in grid]
            assert found[n, 0] == pytest.approx(0.05 * np.trapezoid(values, grid), abs=2e-8)


def test_acceleration_leads_the_mechanism_to_the_motion_of_the_next_step():
    stand = platform()
    for n in range(300):
        before = [
            np.array(x)
            for x in (
                stand.m.base.position,
                stand.m.base.velocity,
                stand.m.base.acceleration,
                stand.m.base.quaternion,
                stand.m.base.angular_velocity,
                stand.m.base.angular_acceleration,
            )
        ]
        stand.m.active.position[:] = 0.003 * np.sin(20.0 * n * 1e-3 + np.arange(3))
        stand.m.active.quaternion[:] = exponential(0.02 * np.sin(15.0 * n * 1e-3 + np.arange(3)))
        stand.step(n * 1e-3, 1e-3)
        if n > 1:
            x, v, a, q, w, e = before
            A = matrix(q).T
            h = 1e-3
            np.testing.assert_allclose(x + A @ (v * h + 0.5 * a * h * h), stand.m.base.position, atol=2e-7)
            np.testing.assert_allclose(
                A @ (v + a * h), matrix(stand.m.base.quaternion).T @ stand.m.base.velocity, atol=1e-15
            )
            np.testing.assert_allclose(w + e * h, stand.m.base.angular_velocity, atol=1e-15)
            turned = product(q, exponential(w * h + 0.5 * e * h * h))
            np.testing.assert_allclose(matrix(turned), matrix(stand.m.base.quaternion), atol=1e-6)


@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (0.4, -0.9, 2.0), (0.0, 3.1, 0.3)])
def test_a_turn_about_any_axis_from_any_attitude_is_the_scalar_step(start):
    """On the group of rotations: no axis and no attitude is special."""
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    first = exponential(start)
    stand = platform(**{"active.quaternion": first, "parameters.angular_velocity_limit": 10.0})
    angle = 0.03

    def command(m, t):
        m.active.quaternion[:] = product(first, exponential(angle * axis))

    _, found, _ = track(stand, command, 0.3)
    for n in range(len(found)):
        expected = product(first, exponential(angle * step_response(n * 1e-3 - DELAY) * axis))
        np.testing.assert_allclose(matrix(found[n]), matrix(expected), atol=1e-12)


def test_a_steady_turn_goes_round_more_than_once():
    """Late by delay and lag at every angle, through half a turn and beyond, sign of the quaternion kept."""
    rate = np.array([0.2, 0.1, -0.2])
    stand = platform(**{"active.angular_velocity": rate, "parameters.frame_time": 0.01})
    h, found = 0.01, []
    for n in range(2500):
        stand.m.active.quaternion[:] = product(IDENTITY, exponential(rate * n * h)) * (-1.0) ** n
        stand.step(n * h, h)
        found.append(stand.m.base.quaternion.copy())
        late = exponential(rate * (n * h - DELAY - LAG))
        np.testing.assert_allclose(matrix(found[-1]), matrix(late), atol=1e-12)
    assert np.linalg.norm(rate) * 25.0 > 2.0 * pi
    assert np.abs(np.diff(found, axis=0)).max() < 2e-3


def test_passive_unit_stands_still_and_the_base_moves_relative_to_it():
    """Both craft turn and move together: nothing moves in the hall."""
    turn, rate = exponential((0.3, -0.2, 0.5)), np.array([0.01, 0.02, -0.03])
    A = matrix(turn)
    place, velocity = np.array([5.0, 2.0, 1.0]), np.array([7.0, -3.0, 1.0])
    offset = np.array([-1.2, 0.01, 0.02])
    stand = platform(
        **{
            "passive.position": place,
            "passive.quaternion": turn,
            "passive.velocity": velocity,
            "passive.angular_velocity": rate,
            "active.position": place + A.T @ offset,
            "active.quaternion": turn,
            "active.velocity": velocity + np.cross(rate, offset),
            "active.angular_velocity": rate,
        }
    )
    np.testing.assert_allclose(stand.m.base.position, offset, atol=1e-14)
    np.testing.assert_allclose(stand.m.base.quaternion, IDENTITY, atol=1e-15)
    np.testing.assert_allclose(stand.m.base.velocity, 0.0, atol=1e-15)
    target = stand.m.target
    assert list(target.quaternion) == list(IDENTITY)
    for name in ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
        assert list(target[name]) == [0.0, 0.0, 0.0], name
    np.testing.assert_allclose(stand.m.error.position, 0.0, atol=1e-14)


def test_rate_is_cut_at_its_limit():
    stand = platform(**{"parameters.velocity_limit": 0.5, "parameters.angular_velocity_limit": 0.35})

    def command(m, t):
        m.active.position[:] = (0.6, 0.8, 0.0)
        m.active.quaternion[:] = exponential((0.0, 0.0, 1.0))

    found, attitude, velocity = track(stand, command, 3.5)
    speed = np.linalg.norm(velocity, axis=1)
    assert speed.max() == pytest.approx(0.5, rel=1e-12)
    along = np.linalg.norm(found, axis=1)
    middle = (along > 0.1) & (along < 0.9)
    np.testing.assert_allclose(np.diff(along)[middle[1:]], 0.5e-3, rtol=1e-9)
    np.testing.assert_allclose(found[-1], (0.6, 0.8, 0.0), atol=1e-6)
    turned = 2.0 * np.arctan2(attitude[:, 3], attitude[:, 0])
    assert np.diff(turned).max() == pytest.approx(0.35e-3, rel=1e-4)
    assert turned[-1] == pytest.approx(1.0, abs=1e-6)
    assert stand.m.limited == 0.0


def test_emergency_stop_brakes_and_holds():
    """Distance v^2 / 2a in v / a seconds, from the motion that the platform has; and it stays."""
    stand = platform(**{"active.velocity": (0.3, 0.0, 0.0), "active.angular_velocity": (0.0, 0.1, 0.0)})
    stand.m.emergency_stop = 1.0
    start = stand.m.base.position.copy()

    def command(m, t):
        m.active.position[:] = m.active.velocity * t
        m.emergency_stop = 1.0 if t < 0.01 else 0.0

    found, attitude, velocity = track(stand, command, 0.2)
    times = 1e-3 * np.arange(len(found))
    braking = np.minimum(times, 0.06)
    np.testing.assert_allclose(found[:, 0] - start[0], 0.3 * braking - 2.5 * braking**2, atol=1e-15)
    np.testing.assert_allclose(velocity[61:], 0.0)
    np.testing.assert_allclose(attitude[30:], np.broadcast_to(attitude[-1], attitude[30:].shape), atol=1e-16)


def test_bypass_passes_every_bit():
    rng = np.random.default_rng(7)
    stand = platform(**{"parameters.bypass": 1.0})
    names = ("position", "quaternion", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    for n in range(5):
        for port in (stand.m.active, stand.m.passive):
            for name in names:
                getattr(port, name)[:] = rng.normal(size=len(getattr(port, name)))
        stand.step(n * 1e-3, 1e-3)
        for given, got in ((stand.m.active, stand.m.base), (stand.m.passive, stand.m.target)):
            for name in names:
                assert getattr(given, name).tobytes() == getattr(got, name).tobytes()


def test_spec06_section_12_rods_are_the_inverse_kinematics():
    """Lengths by their definition, rates by differences."""
    stand = platform(**{"active.velocity": (0.1, 0.02, 0.0), "active.angular_velocity": (0.05, 0.1, -0.05)})
    floor, moving = stand.m.parameters.rod.floor, stand.m.parameters.rod.platform
    lengths, rates = [], []
    for n in range(50):
        stand.m.active.position[:] = stand.m.active.velocity * n * 1e-3
        stand.m.active.quaternion[:] = exponential(stand.m.active.angular_velocity * n * 1e-3)
        stand.step(n * 1e-3, 1e-3)
        A = matrix(stand.m.base.quaternion)
        places = stand.m.base.position + moving @ A - floor
        lengths.append([rod.length for rod in stand.m.rod])
        rates.append([rod.rate for rod in stand.m.rod])
        np.testing.assert_allclose(lengths[-1], np.linalg.norm(places, axis=1), rtol=1e-14)
    central = (np.array(lengths)[2:] - np.array(lengths)[:-2]) / 2e-3
    np.testing.assert_allclose(central, np.array(rates)[1:-1], atol=1e-6)


def test_a_copy_of_the_record_carries_the_delay_line():
    """Saved in the middle of what is under way, and restored after something else has gone through the line."""

    def command(m, t):
        m.active.position[:] = 1e-3 * np.sin(30.0 * t + np.arange(3))
        m.active.velocity[:] = 3e-2 * np.cos(30.0 * t + np.arange(3))
        m.active.quaternion[:] = exponential(0.01 * np.sin(25.0 * t + np.arange(3)))

    stand = platform(**{"parameters.delay": 0.04})
    track(stand, command, 0.1)
    state = stand.block.copy()

    def later(m, t):
        command(m, t + 0.1)

    first = track(stand, later, 0.2)
    stand.block[:] = state
    again = track(stand, later, 0.2)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, again, strict=True))
    stand.block[:] = state
    for k in range(len(stand.m.line)):
        stand.m.line[k].position[:] = 0.0
    assert track(stand, later, 0.2)[0].tobytes() != first[0].tobytes()


def test_a_delay_that_the_line_cannot_hold_is_refused():
    platform(**{"parameters.delay": 0.124})
    with pytest.raises(ComponentError, match=r"delay = 0.13 s must not exceed 0.124 s, 62 times .*frame_time = 0.002"):
        platform(**{"parameters.delay": 0.13})


def test_results_do_not_depend_on_the_communication_step():
    """But by the interpolation of commands: here the same command always."""
    ends = []
    for h in (1e-3, 5e-4, 7e-3):
        stand = platform(**{"parameters.velocity_limit": 10.0})
        stand.m.active.position[:] = (1e-3, 0.0, 0.0)
        stand.m.active.quaternion[:] = exponential((0.0, 0.01, 0.0))
        for n in range(round(0.07 / h)):
            stand.step(n * h, h)
        ends.append(np.append(stand.m.servo.position, stand.m.servo.quaternion))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-14)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-12)


def test_closed_form_of_these_tests():
    """The partial fractions are the textbook's response."""
    t = 0.02
    d = W * sqrt(1 - Z * Z)
    expected = 1.0 - exp(-Z * W * t) * (cos(d * t) + Z / sqrt(1 - Z * Z) * sin(d * t))
    assert step_response(t) == pytest.approx(expected, rel=1e-13)
