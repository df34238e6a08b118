"""The direct method on craft of closed form: a wrench that is told, layouts that cannot tell, and modes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

from dockfmu.base.units import parse_unit
from dockfmu.declare.toml.tables import Table
from dockfmu.reconstruct.assembly import (
    InputPrior,
    UnknownWrench,
    assemble,
    input_rows,
    lay_out,
    noise_slopes,
    with_prior,
)
from dockfmu.reconstruct.craft import ACCELERATION, RATE, CraftMode, CraftModel, linear_reading
from dockfmu.reconstruct.kalman import filtered, smoothed
from dockfmu.reconstruct.known_loads import KnownInput
from dockfmu.reconstruct.observability import check_told
from dockfmu.reconstruct.peaks import band_of, between
from dockfmu.reconstruct.regularity import fit_prior
from dockfmu.reconstruct.settings import DirectSettings, direct_settings
from dockfmu.reconstruct.telemetry import SignalReadings, Telemetry
from dockfmu.reconstruct.unbiased import UnobservableError
from dockfmu.telemetry.sensors import Clock, Frame, PortPoint, Sensor

pytestmark = pytest.mark.quick

NO_MODES = CraftMode(np.empty(0), np.empty(0), np.empty((1, 6, 0)), np.empty((6, 0)))
QUARTER = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
CRAFT = CraftModel(
    "craft", 2000.0, np.diag([800.0, 3000.0, 2500.0]), np.array([[2.0, 0.5, -0.3]]), QUARTER[None], np.zeros(3), 0.0,
    NO_MODES,
)  # fmt: skip


def sensors(places=((0.0, 0.0, 0.0), (-3.0, 1.0, 0.5)), gyros=True):
    made = [
        Sensor(f"a{p}{k}", PortPoint("craft.port[1]", np.array(place), np.eye(3)[k], "acceleration"),
               parse_unit("m/s2"), noise=1e-4)
        for p, place in enumerate(places) for k in range(3)
    ]  # fmt: skip
    if gyros:
        made += [
            Sensor(f"w{k}", {f"craft.body.angular_velocity[{k + 1}]": 1.0}, parse_unit("rad/s"), noise=1e-6)
            for k in range(3)
        ]
    return made


def telemetry(chosen, time, values):
    """All sensors read at the same times."""
    n = len(time)
    clock = Clock(100.0)
    signals = tuple(SignalReadings("f", one, clock, time, slice(n * k, n * k + n)) for k, one in enumerate(chosen))
    return Telemetry(
        "", {}, signals, (Frame("f", clock, tuple(chosen), {}),), np.tile(time, len(chosen)),
        np.concatenate(values), np.repeat([one.noise for one in chosen], n), np.ones(n * len(chosen), bool), (), (),
        Table({}, "file.toml"),
    )  # fmt: skip


def motion(craft, time, wrench):
    """Return states over time under a wrench that is linear between times, by matrix exponentials of the pair."""
    A, B = craft.dynamics()
    load = wrench @ craft.load(0).T
    n, m, h = len(A), B.shape[1], time[1] - time[0]
    block = np.zeros((n + 2 * m, n + 2 * m))
    block[:n, :n], block[:n, n : n + m], block[n : n + m, n + m :] = A, B, np.eye(m) / h
    step = expm(block * h)
    states = np.zeros((len(time), n))
    for k in range(len(time) - 1):
        states[k + 1] = (step @ np.concatenate([states[k], load[k], load[k + 1] - load[k]]))[:n]
    return states, load


def twin(craft, chosen, seed=1, count=200):
    random = np.random.default_rng(seed)
    time = np.arange(count) / 100.0
    bump = np.exp(-(((time - 0.9) / 0.15) ** 2))
    wrench = bump[:, None] * np.array([900.0, -200.0, 100.0, 20.0, 60.0, -80.0])
    states, load = motion(craft, time, wrench)
    crafts = {"craft": craft}
    used, values = {}, []
    for one in chosen:
        reading = linear_reading(one, crafts, "file.toml")
        used[f"f.{one.column}"] = reading
        total = np.full(count, reading.bias)
        for _, factor, what, port, offset, axis in reading.parts:
            by_state, by_load = craft.row(what, port, offset, axis)
            total += reading.scale * factor * (states @ by_state + load @ by_load)
        values.append(total + one.noise * random.standard_normal(count))
    told = telemetry(chosen, time, values)
    unknown = [UnknownWrench("craft", 0, np.eye(6))]
    return wrench, lay_out(
        told, crafts, unknown, used, lambda _, at: np.zeros((len(at), 6 + craft.modes.frequency.size))
    )


def test_a_rigid_reading_is_that_of_its_point():
    """Acceleration of a point of a rigid body by Newton and Euler, written out once more."""
    wrench = np.array([3.0, -5.0, 2.0, 1.0, 4.0, -2.0])
    force, torque = QUARTER.T @ wrench[:3], QUARTER.T @ wrench[3:] + np.cross(CRAFT.arm[0], QUARTER.T @ wrench[:3])
    place, axis = np.array([0.3, -0.7, 1.1]), np.array([0.6, 0.0, 0.8])
    turning = np.linalg.solve(CRAFT.inertia, torque)
    felt = force / CRAFT.mass + np.cross(turning, CRAFT.arm[0] + QUARTER.T @ place)
    by_state, by_load = CRAFT.row(ACCELERATION, 0, place, axis)
    assert by_load @ CRAFT.load(0) @ wrench == pytest.approx(axis @ QUARTER @ felt, rel=1e-12)
    assert not by_state.any()
    rate = np.array([[0.02, -0.01, 0.03]])
    arm = CRAFT.arm[0] + QUARTER.T @ place
    inwards = np.cross(rate[0], np.cross(rate[0], arm))
    assert CRAFT.centripetal(0, place, axis, rate)[0] == pytest.approx(axis @ QUARTER @ inwards)
    assert CRAFT.row(RATE, 0, place, axis)[0] @ rate[0] == pytest.approx(axis @ QUARTER @ rate[0])
    assert CRAFT.gyroscopic(rate)[0] == pytest.approx(-np.cross(rate[0], CRAFT.inertia @ rate[0]))


def test_a_wrench_on_a_rigid_craft_is_told():
    """Below a normalised mean square error of 0.1 % in each component, with 90 % bands that hold 80 to 97 %."""
    wrench, layout = twin(CRAFT, sensors())
    settings = DirectSettings()
    check_told(layout, ["craft.port[1]"], settings)
    prior = fit_prior(layout, settings, lambda _: None)

    mean, covariance = smoothed(filtered(assemble(layout, prior)), input_rows(layout, prior.order))
    error = ((mean - wrench) ** 2).mean(0) / wrench.var(0)
    assert np.all(error < 1e-3)
    inside = np.abs(mean - wrench) < 1.645 * np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    assert 0.80 < inside.mean() < 0.97


def test_slopes_by_what_is_assumed_are_differences_of_the_likelihood():
    _, layout = twin(CRAFT, sensors(), count=30)
    random = np.random.default_rng(1)
    prior = InputPrior(np.exp(random.normal(5.0, 1.0, 6)), 1.0, 2, np.exp(random.normal(size=(29, 6))))
    model, h = assemble(layout, prior), 1e-4
    by_sigma, by_level = noise_slopes(layout, prior, filtered(model))

    def likelihood(sigma, level):
        return filtered(with_prior(model, layout, replace(prior, sigma=sigma, level=level))).log_likelihood

    for k in range(6):
        one, step = np.exp(h * np.eye(6)[k]), np.ones((29, 6))
        step[4 * k, k] = np.exp(h)
        at_start = likelihood(prior.sigma * one, prior.level / one) - likelihood(prior.sigma / one, prior.level * one)
        in_step = likelihood(prior.sigma, prior.level * step) - likelihood(prior.sigma, prior.level / step)
        assert at_start / (2.0 * h) == pytest.approx(by_sigma[k], rel=1e-3, abs=1e-4)
        assert in_step / (2.0 * h) == pytest.approx(by_level[4 * k, k], rel=1e-3, abs=1e-4)


def test_a_known_load_is_in_doubt_between_the_samples_of_its_change():
    """On from the sample at 0.04 s, off before it: in between half of it, plus or minus half."""
    told = KnownInput("craft", "command.push", np.array([0.0, 0.02, 0.04, 0.06]), np.array([0.0, 0.0, 1.0, 1.0]), True)
    at = np.array([0.01, 0.02, 0.03, 0.04, 0.05, 0.2])
    assert told.at(at).tolist() == [0.0, 0.0, 0.5, 1.0, 1.0, 1.0]
    assert told.doubt(at).tolist() == [0.0, 0.0, 0.5, 0.0, 0.0, 0.0]
    given = replace(told, sampled=False)
    assert given.at(at).tolist() == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    assert not given.doubt(at).any()
    first = replace(told, values=np.ones(4))
    assert first.at(np.array([-0.1, 0.0, 0.01])).tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize("corner", [False, True], ids=["smooth", "with a corner"])
def test_the_largest_value_between_samples_is_in_the_band(corner):
    """Humps of 60 ms at random times, or ones that break off behind their crest, sampled each 10 ms: 300 of them."""
    random = np.random.default_rng(3)
    time, inside = np.arange(40) * 0.01, 0
    for _ in range(300):
        middle = 0.2 + 0.01 * random.random()
        load = np.exp(-(((time - middle) / 0.03) ** 2))
        if corner:
            load = np.where(time > middle + 0.003, 0.3 * load, load)
        noise = 1e-3
        mean = load + noise * random.standard_normal(len(time))
        paths = mean + noise * random.standard_normal((200, len(time)))
        within = between(paths[:, :, None], mean[:, None], time, random)[:, :, 0]
        low, _, high = band_of(np.maximum(paths.max(1), within.max(1)))
        inside += low <= 1.0 <= high
    assert inside >= 0.8 * 300


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        (sensors(places=()), r"craft.port\[1\]: the readings tell 3 of 6 components.*Add accelerometers or gyros"),
        (sensors(places=((0.0, 0.0, 0.0),), gyros=False), r"tell 3 of 6 components"),
        (sensors(places=((-2.0, 0.0, 0.3),))[:1] + sensors()[6:], r"tell 4 of 6 components"),
    ],
)
def test_a_layout_that_cannot_tell_is_refused_with_what_it_can(chosen, says):
    _, layout = twin(CRAFT, chosen, count=60)
    with pytest.raises(UnobservableError, match=says):
        check_told(layout, ["craft.port[1]"], DirectSettings())


def test_components_that_are_known_to_be_zero_make_a_layout_sufficient():
    """One accelerometer along the axis of the port tells the axial force of a central load."""
    settings = DirectSettings(components=("force[1]",))
    _, layout = twin(CRAFT, sensors()[:1], count=60)
    layout = replace(layout, wrenches=(UnknownWrench("craft", 0, np.eye(6)[:, :1]),), inputs=1)
    check_told(layout, ["craft.port[1]"], settings)


def test_modes_are_needed_where_they_ring():
    """A mode of 3 Hz moves the accelerometer: a rigid model errs by more than 10 %, the modal one by less than 1 %."""
    shape = np.zeros((1, 6, 1))
    shape[0, :3, 0] = [0.03, 0.01, 0.0]
    modes = CraftMode(np.array([6.0 * np.pi]), np.array([0.2]), shape, np.zeros((6, 1)))
    elastic = replace(CRAFT, modes=modes)
    chosen = sensors()
    wrench, layout = twin(elastic, chosen)

    errors = []
    for craft in (elastic.with_modes(0), elastic):
        n = len(craft.modes.frequency)
        own = replace(
            layout, crafts={"craft": craft}, parts={"craft": slice(0, craft.states)}, kept={},
            known=lambda _, at, n=n: np.zeros((len(at), 6 + n)),
        )  # fmt: skip
        prior = fit_prior(own, DirectSettings(), lambda _: None)
        mean, _ = smoothed(filtered(assemble(own, prior)), input_rows(own, prior.order))
        errors.append(((mean[:, 0] - wrench[:, 0]) ** 2).mean() / wrench[:, 0].var())
    assert errors[0] > 0.1
    assert errors[1] < 0.01


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ({"components": ["force[4]"]}, r"there is no 'force\[4\]'"),
        ({"components": []}, "components names none"),
        ({"input": "wild"}, "rough or smooth"),
        ({"force": "3 kN"}, "give both `force` and `torque`"),
        ({"length": "-1 s"}, "must be a positive number"),
        ({"known": [{"input": "x", "times": [1.0], "values": []}]}, "of the same length"),
        ({"modus": 3}, "no entry 'modus'"),
        ({"mass_error": -1.0}, "must not be negative"),
    ],
)
def test_settings_that_are_wrong_are_named(entries, says):
    with pytest.raises(Exception, match=says):
        direct_settings(Table({"direct": entries}, "file.toml"))
