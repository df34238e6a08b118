"""The attitude control against closed forms: impulse bits, delay, limit cycles, selection of thrusters."""

from math import cos, pi, sin

import numpy as np
import pytest
from scipy.optimize import nnls

from dockfmu.components.attitude_control import component
from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.spacecraft import component as spacecraft

MOMENTS = np.array([5e4, 1.9e5, 1.9e5])
LEAST_PULSE = 0.02
YAW_COUPLE = 2 * 220.0 * 4.0
BIT = LEAST_PULSE * YAW_COUPLE / MOMENTS[1]
"""Change of the yaw rate by one pair of shortest pulses, rad/s."""


def control(**values):
    """The control of set AC-20t, switched on."""
    made = Instance(component(), **{f"parameters.{name}": value for name, value in values.items()})
    made.m.command.attitude_hold = 1.0
    return made


def turned(axis, angle):
    """The quaternion of a turn about one axis."""
    q = [cos(angle / 2), 0.0, 0.0, 0.0]
    q[axis + 1] = sin(angle / 2)
    return q


class YawAxis:
    """A craft that turns about y alone, integrated here: angle and rate under a torque held over each step."""

    def __init__(self, rate, disturbance=0.0, angle=0.0, **values):
        self.control = control(**values)
        self.angle, self.rate, self.disturbance = angle, rate, disturbance
        self.t = 0.0

    def step(self, h):
        body = self.control.m.body
        body.quaternion[:] = turned(1, self.angle)
        body.angular_velocity[:] = [0.0, self.rate, 0.0]
        self.control.step(self.t, h)
        a = (self.control.m.control.torque[1] + self.disturbance) / MOMENTS[1]
        self.angle += h * self.rate + 0.5 * h * h * a
        self.rate += h * a
        self.t += h

    def run(self, until, h):
        """Times, angles and rates at the end of every step."""
        rows = []
        while self.t < until - 0.5 * h:
            self.step(h)
            rows.append((self.t, self.angle, self.rate))
        return np.array(rows).T


def test_start_values_are_those_of_set_AC_20t():
    chosen = next(entry for entry in component().parameter_sets if entry.name == "AC-20t")
    assert np.array_equal(Instance(component()).block, Instance(component(), chosen).block)


@pytest.mark.parametrize("h", [1e-3, 7e-3, 0.03, 0.1, 0.37])
def test_spec04_section_7_impulse_bit_is_exact_for_any_step(h):
    """One measurement beyond the band by little gives one shortest pulse of two nozzles, wherever steps end."""
    one = control(sample_time=10.0, delay=0.0123)
    one.step(0.0, h)
    assert one.m.impulse == 0.0
    one = control(sample_time=10.0, delay=0.0123, dead_band=0.0)
    one.m.body.angular_velocity[:] = [0.0, 1e-9, 0.0]
    angular = np.zeros(3)
    for k in range(int(2.0 / h)):
        one.step(k * h, h)
        angular += h * one.m.control.torque
        assert np.abs(one.m.control.force).max() < 1e-12
    assert angular == pytest.approx([0.0, -LEAST_PULSE * YAW_COUPLE, 0.0], abs=1e-11)
    assert one.m.impulse == pytest.approx(2 * 220.0 * LEAST_PULSE, rel=1e-12)
    assert sum(thruster.pulses for thruster in one.m.thruster) == 2


def test_pulses_do_not_depend_on_the_step():
    """Ten measurements of a craft out of its band: the same pulses in steps of 0.1 s and of 1 ms."""
    means = []
    for h in (0.1, 1e-3):
        one = control(delay=0.0432)
        one.step(0.0, h)
        one.m.body.quaternion[:] = turned(2, 0.012)
        one.m.body.angular_velocity[:] = [1e-3, 2e-4, -3e-4]
        total = np.zeros(12)
        for k in range(1, round(1.0 / h)):
            one.step(k * h, h)
            total += [h * thruster.thrust for thruster in one.m.thruster]
        means.append((total, [thruster.pulses for thruster in one.m.thruster]))
    assert means[0][0] == pytest.approx(means[1][0], abs=1e-9)
    assert means[0][1] == means[1][1]
    assert means[0][0].max() > 10.0


@pytest.mark.parametrize("delay", [0.0, 0.0543, 0.1, 1.2345])
def test_spec04_section_7_a_pulse_begins_one_delay_after_its_measurement(delay):
    one = control(sample_time=10.0, dead_band=0.0, delay=delay)
    one.m.body.angular_velocity[:] = [0.0, 1e-9, 0.0]
    h = 0.01
    open_for = []
    for k in range(200):
        one.step(k * h, h)
        open_for.append(h * max(thruster.thrust for thruster in one.m.thruster) / 220.0)
    ends = h * np.arange(1, 201)
    expected = np.minimum(ends, delay + LEAST_PULSE) - np.maximum(ends - h, delay)
    assert open_for == pytest.approx(np.maximum(expected, 0.0), abs=1e-12)


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_spec04_section_7_limit_cycle_of_a_free_craft(share):
    """Rates w and w - d in turn; crossings of the edges are found late by one sample at most."""
    band, weight, w = 2e-3, 5.0, share * BIT
    craft = YawAxis(w, dead_band=band, rate_gain=weight, sample_time=0.02, delay=0.0)
    t, angle, rate = craft.run(200.0, 0.02)
    rates = np.unique(np.round(rate / BIT, 9))
    coasting = [value for value in rates if np.mean(np.isclose(rate / BIT, value)) > 0.05]
    assert coasting == pytest.approx([share - 1.0, share], abs=1e-9)
    pulls = np.flatnonzero((rate[1:] < 0.0) & (rate[:-1] > 0.0))
    period = np.diff(t[pulls]).mean()
    travel = 2 * band - weight * BIT
    late = 0.02 + LEAST_PULSE
    shortest = travel / w + travel / (BIT - w)
    # what is found late by u on either side lengthens the way by w u and (d - w) u
    longest = (travel + BIT * late) / w + (travel + BIT * late) / (BIT - w)
    assert shortest < period < longest
    assert longest < 1.01 * shortest
    assert np.abs(angle).max() < band


def test_spec04_section_7_limit_cycle_under_a_constant_torque():
    """The craft leans on one edge: parabolas of height d^2 I / (8 M), a pulse every d I / M."""
    torque = 0.05 * YAW_COUPLE * LEAST_PULSE
    craft = YawAxis(0.0, torque, dead_band=1e-3, rate_gain=5.0, sample_time=0.02, delay=0.0)
    t, angle, _ = craft.run(300.0, 0.02)
    settled = t > 150.0
    pulses = max(thruster.pulses for thruster in craft.control.m.thruster)
    craft.run(800.0, 0.02)
    more = max(thruster.pulses for thruster in craft.control.m.thruster) - pulses
    assert 500.0 / more == pytest.approx(BIT * MOMENTS[1] / torque, rel=0.02)
    height = BIT * BIT * MOMENTS[1] / (8.0 * torque)
    assert np.ptp(angle[settled]) == pytest.approx(height, rel=0.05)


@pytest.mark.parametrize("samples", [1, 2, 3, 5])
@pytest.mark.parametrize("part", [0.97, 1.03])
def test_spec04_section_7_gain_that_a_delay_allows(samples, part):
    """x' = x - g x(n samples before): it decays below g = 2 cos(n pi / (2 n + 1)) and grows above."""
    gain = part * 2.0 * cos(samples * pi / (2 * samples + 1))
    if gain > 1.0:
        pytest.skip("more than the largest gain")
    weight, rate = 1e6, 1e-6
    craft = YawAxis(
        rate, dead_band=0.0, least_pulse=0.0, rate_gain=weight, gain=gain, sample_time=0.1, delay=0.1 * samples
    )
    count = 400
    _, _, rates = craft.run(0.1 * count, 0.1)
    expected = [rate] * (samples + 1)
    while len(expected) <= count:
        expected.append(expected[-1] - gain * expected[-1 - samples])
    assert rates == pytest.approx(expected[1:], abs=2e-3 * max(map(abs, expected)))
    late = np.abs(rates[-50:]).max()
    assert late < 0.5 * rate if part < 1.0 else late > 2.0 * rate


def test_spec04_section_7_a_delay_of_n_samples_answers_one_crossing_with_n_plus_one_pulses():
    for samples in (0, 1, 3):
        craft = YawAxis(0.3 * BIT, dead_band=2e-3, rate_gain=5.0, sample_time=0.1, delay=0.1 * samples)
        _, _, rate = craft.run(60.0, 0.1)
        first = np.flatnonzero(rate < 0.0)[0]
        assert rate[first + samples] / BIT == pytest.approx(0.3 - (samples + 1), abs=1e-6), samples


def selected(position, direction, thrust):
    values = {"position": position, "direction": direction, "thrust": thrust}
    made = Instance(component(len(thrust)), **{f"parameters.thruster.{k}": v for k, v in values.items()})
    return np.cross(position, np.asarray(thrust)[:, None] * direction), np.array(made.m.selection.on_time)


@pytest.mark.parametrize("seed", range(6))
def test_selection_is_the_least_squares_of_another_solver(seed):
    """Nozzles at random, against an active-set method."""
    rng = np.random.default_rng(seed)
    count = 14
    position = rng.normal(size=(count, 3)) * [4.0, 2.0, 2.0]
    direction = rng.normal(size=(count, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    thrust = rng.uniform(5.0, 20.0, count)
    torque, on_times = selected(position, direction, thrust)
    for sense, on_time in enumerate(on_times):
        wanted = np.zeros(3)
        wanted[sense // 2] = 1.0 if sense % 2 == 0 else -1.0
        assert (on_time >= 0.0).all()
        assert torque.T @ on_time == pytest.approx(wanted, abs=1e-8)
        # the constraint as rows of a large weight
        found, _ = nnls(np.vstack([1e4 * torque.T, np.eye(count)]), np.concatenate([1e4 * wanted, np.zeros(count)]))
        assert on_time == pytest.approx(found, abs=1e-6 * found.max())


def test_symmetric_nozzles_fire_in_pairs_without_a_force():
    m = Instance(component()).m
    force, on_time = np.array(m.selection.force), np.array(m.selection.on_time)
    assert on_time @ force == pytest.approx(np.zeros((6, 3)), abs=1e-12)
    for sense in range(6):
        used = on_time[sense][on_time[sense] > 1e-12]
        assert len(used) == 2
        assert used[0] == pytest.approx(used[1], rel=1e-9)


def test_nozzles_without_thrust_are_left_out():
    """Two of the four roll nozzles, one for each sense, make no couple but roll all the same."""
    thrust = np.full(12, 220.0)
    thrust[[8, 9]] = 0.0
    made = Instance(component(), **{"parameters.thruster.thrust": thrust})
    on_time = np.array(made.m.selection.on_time)
    assert not on_time[:, [8, 9]].any()
    assert (on_time.sum(axis=1) > 0.0).all()


def test_more_than_the_thrusters_can_give_keeps_its_axis():
    """Yaw and pitch far out of their bands: both shorten alike, the longest to the whole sample."""
    one = control()
    one.step(0.0, 0.1)
    one.m.body.angular_velocity[:] = [0.0, 0.04, -0.02]
    one.step(0.1, 0.1)
    one.step(0.2, 0.1)
    band = 0.0087266463 / 10.0
    torque = one.m.control.torque
    assert max(thruster.thrust for thruster in one.m.thruster) == pytest.approx(220.0, rel=1e-12)
    assert torque[2] / torque[1] == pytest.approx(-(0.02 - band) / (0.04 - band), rel=1e-9)


@pytest.mark.slow
def test_it_holds_the_attitude_of_a_craft_in_space():
    """Three axes at once with gyroscopic coupling; by control wrench and by thrusters of the craft, the same motion."""
    inertia = np.diag(MOMENTS)
    start = {
        "parameters.inertia": inertia,
        "parameters.mass": 2e4,
        "parameters.initial.angular_velocity": [0.02, -0.01, 0.015],
    }
    nozzles = Instance(component()).m.parameters.thruster
    places = {
        f"parameters.thruster[{e + 1}].{name}": np.array(getattr(nozzles, name)[e])
        for e in range(12)
        for name in ("position", "direction")
    }
    by_wrench, by_thrusters = Instance(spacecraft(), **start), Instance(spacecraft(thrusters=12), **start, **places)
    for craft, of_craft in ((by_wrench, False), (by_thrusters, True)):
        one = control()
        h = 0.05
        for k in range(4000):
            one.m.body.quaternion[:] = craft.m.body.quaternion
            one.m.body.angular_velocity[:] = craft.m.body.angular_velocity
            one.step(k * h, h)
            if of_craft:
                for e in range(12):
                    craft.m.thruster[e].thrust = one.m.thruster[e].thrust
            else:
                craft.m.control.force[:] = one.m.control.force
                craft.m.control.torque[:] = one.m.control.torque
            craft.step(k * h, h)
        state = 2.0 * np.array(craft.m.body.quaternion[1:]) + 10.0 * np.array(craft.m.body.angular_velocity)
        assert np.abs(state).max() < 1.1 * 0.0087266463
        assert np.abs(craft.m.body.angular_velocity).max() < 4 * BIT * MOMENTS[1] / MOMENTS[0]
        assert np.linalg.norm(craft.m.audit.momentum) < 1e-6
    assert np.array(by_thrusters.m.body.quaternion) == pytest.approx(by_wrench.m.body.quaternion, abs=1e-9)


def test_the_attitude_to_hold_turns_with_the_orbit():
    """A craft that turns with the orbit is on its attitude; one that stands still leaves it at the orbital rate."""
    orbital = np.array([0.0, 1.1e-3, 2e-4])
    start = np.array([0.8, 0.2, -0.4, 0.4])
    start /= np.linalg.norm(start)
    craft = Instance(
        spacecraft(),
        **{
            "parameters.initial.quaternion": start,
            "parameters.inertia": np.eye(3),
            "parameters.initial.angular_velocity": rotation(start) @ orbital,
        },
    )
    one, still = control(orbital_rate=orbital), control(orbital_rate=orbital, dead_band=1.0)
    still.m.body.quaternion[:] = start
    for k in range(1000):
        one.m.body.quaternion[:] = craft.m.body.quaternion
        one.m.body.angular_velocity[:] = craft.m.body.angular_velocity
        for each in (one, craft, still):
            each.step(0.1 * k, 0.1)
    assert one.m.impulse == 0.0
    assert np.abs(one.m.error).max() < 1e-12
    # the craft against the attitude that has turned on by 99.9 s
    assert still.m.error == pytest.approx(-99.9 * rotation(start) @ orbital, abs=1e-6)


def rotation(q):
    """A of conventions section 2: components in I to components in C."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
            [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
            [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_off_closes_all_valves_at_once_and_on_takes_the_attitude_of_that_moment():
    one = control(delay=0.25)
    one.step(0.0, 0.1)
    one.m.body.angular_velocity[:] = [0.0, 0.05, 0.0]
    for k in range(1, 5):
        one.step(0.1 * k, 0.1)
    assert np.abs(one.m.control.torque).max() > 0.0
    one.m.command.attitude_hold = 0.0
    given = one.m.impulse
    one.step(0.5, 0.1)
    assert not np.any(one.m.control.torque)
    assert not any(thruster.thrust for thruster in one.m.thruster)
    one.m.command.attitude_hold = 1.0
    one.m.body.quaternion[:] = turned(0, 1.0)
    one.m.body.angular_velocity[:] = 0.0
    for k in range(6, 20):
        one.step(0.1 * k, 0.1)
    assert one.m.impulse == given
    assert not np.any(one.m.error)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"thruster.direction": np.ones((12, 3))}, r"thruster.direction: row 1 has length 1.73205"),
        ({"thruster.thrust": [220.0] * 8 + [0.0] * 4}, r"cannot turn the craft in sense 1 of \+x"),
        ({"thruster.thrust": 0.0}, r"cannot turn the craft in sense 1"),
        ({"least_pulse": 0.2}, r"least_pulse = 0.2 s must not exceed .*sample_time = 0.1 s"),
        ({"delay": 2.0}, r"delay = 2 s must not exceed 1.4 s"),
    ],
)
def test_data_that_do_not_fit_are_refused_by_name(values, words):
    with pytest.raises(ComponentError, match=words):
        control(**values)


def test_what_is_no_measurement_is_refused():
    one = control()
    one.m.body.quaternion[:] = 0.0
    with pytest.raises(ComponentError, match=r"body\.quaternion has norm 0"):
        one.step(0.0, 0.1)
    one = control()
    one.m.body.angular_velocity[1] = np.nan
    with pytest.raises(ComponentError, match="not finite"):
        one.step(0.0, 0.1)


def test_a_control_has_thrusters():
    with pytest.raises(ValueError, match="thrusters must be at least 1, not 0"):
        component(0)
    assert component(8).parameter_sets == ()
