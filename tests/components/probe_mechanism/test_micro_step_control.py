"""Length of the micro-steps: the controller alone, and in a docking."""

from math import sqrt

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.probe_mechanism import component, micro_step_control
from tests.components.probe_mechanism.rig import Docking

TOLERANCE = 2e-6


def started(**parameters):
    """The record of a mechanism at rest, with inertias of 1 kg m2 about all joints."""
    m = Instance(component(), **{f"parameters.{name}": value for name, value in parameters.items()}).m
    m.tree.qdd[:], m.tree.pivot[:] = 0.0, 1.0
    micro_step_control.initialize(m.parameters, m.stepping, m.tree)
    return m


def controlled(acceleration, steps, **parameters):
    """Lengths of `steps` micro-steps; the probe's acceleration in m/s2 is a function of the time in their middle."""
    m = started(**parameters)
    t, lengths = 0.0, []
    for _ in range(steps):
        h = float(m.stepping.micro_step)
        micro_step_control.set_next(m.parameters, m.stepping, m.tree, acceleration(t + 0.5 * h), h)
        t += h
        lengths.append(h)
    return np.array(lengths)


@pytest.mark.parametrize("jerk", [0.5, 5.0])
def test_a_steady_jerk_gives_the_step_that_keeps_the_tolerance(jerk):
    """h * jerk * h = 0.81 tolerance, the caution of the controller squared."""
    lengths = controlled(lambda t: jerk * t, 60, micro_step=1e-5, longest_micro_step=1.0)
    assert lengths[-1] == pytest.approx(0.9 * sqrt(TOLERANCE / jerk), rel=1e-3)


def test_steps_double_when_nothing_changes_and_stop_at_the_longest():
    np.testing.assert_allclose(
        controlled(lambda t: 0.0, 6, micro_step=1e-4, longest_micro_step=1e-3),
        [1e-4, 2e-4, 4e-4, 8e-4, 1e-3, 1e-3],
        rtol=1e-12,
    )


def test_a_jump_brings_the_short_step_back():
    lengths = controlled(lambda t: 1.0 if t > 0.01 else 0.0, 40, micro_step=1e-4, longest_micro_step=1e-3)
    after = int(np.searchsorted(np.cumsum(lengths), 0.01)) + 1
    assert lengths[after - 2] == 1e-3
    assert lengths[after] == 1e-4


def test_a_joint_that_accelerates_steadily_has_no_jerk():
    """Only the jump at the start shortens the steps; after it they grow to the longest."""
    m = started(longest_micro_step=1e-3)
    m.tree.qdd[0] = -0.5
    for _ in range(2000):
        micro_step_control.set_next(m.parameters, m.stepping, m.tree, 0.0, float(m.stepping.micro_step))
    assert m.stepping.micro_step == 1e-3


def test_the_jerk_of_a_vibration_is_remembered_through_its_zeros():
    """Torsion of the probe, 600 rad/s: steps vary by 2.1, and by 5.5 where each jerk is forgotten at once."""
    bounds = {"micro_step": 1e-5, "longest_micro_step": 2e-2, "micro_tolerance": 5e-7}
    lengths = controlled(lambda t: np.sin(600.0 * t) / 60.0, 2000, **bounds)
    settled = lengths[200:]
    assert settled.max() < 2.5 * settled.min()
    assert settled.min() == pytest.approx(0.9 * sqrt(5e-7 / 10.0), rel=0.05)


def test_tolerance_zero_holds_the_micro_step():
    assert set(controlled(lambda t: 0.0, 10, micro_step=2e-4, micro_tolerance=0.0)) == {2e-4}


def test_torsion_counts_at_the_radius_of_gyration_and_the_housing_at_the_head():
    """Change of velocity in 0.1 ms by an angular acceleration of 1e-2 rad/s2: 1e-6 m/s times the radius in m."""
    probe = Instance(component()).m.parameters.probe
    lever = {0: probe.bearing_distance + probe.free_length, 3: probe.free_length,
             4: sqrt(probe.probe_inertia[0, 0] / probe.probe_mass)}  # fmt: skip
    for j, radius in lever.items():
        m = started()
        m.tree.qdd[j] = 1e-2
        micro_step_control.set_next(m.parameters, m.stepping, m.tree, 0.0, 1e-4)
        expected = 1e-4 * min(2.0, 0.9 * sqrt(TOLERANCE / (1e-6 * radius)))
        assert m.stepping.micro_step == pytest.approx(max(expected, 1e-4), rel=1e-12), j


def test_accelerations_that_dampers_of_contacts_take_back_count_less():
    """M / (M + h D) = 1 / 25 of the change: steps five times as long."""
    lengths = []
    for pivot in (1.0, 25.0):
        m = started(micro_step=1e-6)
        m.tree.qdd[0], m.tree.pivot[0] = 1.0, pivot
        micro_step_control.set_next(m.parameters, m.stepping, m.tree, 0.0, 1e-3)
        lengths.append(float(m.stepping.micro_step))
    assert lengths[1] == pytest.approx(5.0 * lengths[0], rel=1e-12)


def test_the_first_contact_is_met_with_the_short_step():
    """The approach to the cone runs with the longest micro-step; the one in which it is touched is repeated short."""
    docking = Docking(gap=0.2, miss=(0.05, 0.0))
    lengths, contacts = [], []
    for _ in range(600):
        docking.run(1e-3)
        lengths.append(float(docking.m.stepping.micro_step))
        contacts.append(float(docking.m.implicit_contact.closed))
    first = next(k for k, count in enumerate(contacts) if count)
    assert first > 20
    assert lengths[first // 2] == 2e-3
    assert lengths[first] == 1e-4


@pytest.mark.parametrize("late", np.arange(10) * 7e-5)
def test_an_impact_in_either_half_of_a_long_micro_step_is_that_of_short_ones(late):
    """The head meets the bottom at 0.35 m/s, at ten instants of a micro-step of 2 ms.

    One that closes after the middle, where contact is evaluated, would do so without a force: 23 % off.
    """
    rates = []
    for longest in (1e-4, 2e-3):
        parameters = {"parameters.longest_micro_step": longest}
        docking = Docking(gap=0.02 + late, velocity=(0.35, 0.0, 0.0), parameters=parameters)
        found = docking.run(0.066, h=2e-3, record=("axial.rate", "sensor.socket_bottom"))
        assert found["sensor.socket_bottom"].max() == 1.0
        rates.append(found["axial.rate"])
    assert np.abs(rates[1] - rates[0]).max() < 0.02 * np.abs(rates[0]).max()
