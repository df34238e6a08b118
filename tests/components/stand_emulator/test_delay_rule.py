"""The damping that a delayed force needs: rule, eigenvalues and the kernels of the stand (stand 5.4)."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.coupling import delayed_berth
from benchmarks.coupling.delayed_contact import MASS, Stand, eigenvalue, growth, least_damping, rule, simulate
from dockfmu.components import spacecraft
from dockfmu.components.core.component import Instance

STAND, K = Stand(), 1e6
UNIT = K * STAND.total_delay
PERIOD = 2.0 * np.pi / np.sqrt(K / MASS)


def test_total_delay_is_the_slope_of_the_phase():
    for stand in (STAND, replace(STAND, feedforward=0.6, delay=0.02)):
        s = 1e-4j
        assert -np.angle(stand.response(s)) / 1e-4 == pytest.approx(stand.total_delay, rel=1e-6)


@pytest.mark.parametrize("share", [0.0, 1.0, 2.0])
def test_spec08_section_5_4_growth_of_a_run_is_the_eigenvalue(share):
    """The 1 ms of the mechanism's and the craft's steps is another 0.05 ms of delay: 1.4e-3 1/s."""
    found = growth(simulate(STAND, K, share * UNIT, 6.0), PERIOD)
    expected = eigenvalue(STAND, K, share * UNIT)
    assert found.real == pytest.approx(expected.real, abs=3e-3)
    assert found.imag == pytest.approx(expected.imag, rel=1e-3)
    assert found.real == pytest.approx(rule(STAND, K, share * UNIT), abs=0.03)


def test_spec08_section_5_4_undamped_contact_grows_and_a_damper_over_the_rule_calms_it():
    undamped, damped = (simulate(STAND, K, c, 4.0) for c in (0.0, 1.2 * UNIT))
    assert np.abs(undamped[-1000:]).max() > 5.0 * np.abs(undamped[:1000]).max()
    assert np.abs(damped[-1000:]).max() < 0.7 * np.abs(damped[:1000]).max()


def test_the_rule_is_of_first_order_in_the_delay():
    """The least damper over k tau comes to 1 with the square of omega tau."""
    excess = [least_damping(STAND, MASS * w**2) / (MASS * w**2 * STAND.total_delay) - 1.0 for w in (0.5, 1.0, 2.0)]
    assert excess[0] < 2e-4
    np.testing.assert_allclose(np.diff(np.log2(excess)), 2.0, atol=0.02)


def test_feedforward_of_the_commanded_rate_needs_less_damping():
    quick = replace(STAND, feedforward=1.0)
    assert quick.total_delay < 0.3 * STAND.total_delay
    c = 0.5 * UNIT
    assert growth(simulate(STAND, K, c, 4.0), PERIOD).real > 0.0 > growth(simulate(quick, K, c, 4.0), PERIOD).real


BERTH = 3.5e5
"""N/m: effective axial stiffness of the contact of MIM-1 (manipulator 10)."""


def exchange(k, c, h, lag):
    """Return the matrix by which a craft of 8 t on a force held over h goes from one exchange to the next.

    Its state is (position, velocity), and the force at the last exchange where that is what it gets (`lag`).
    """
    columns = []
    for start in np.eye(3 if lag else 2):
        craft = Instance(
            spacecraft.component(ports=1),
            **{
                "parameters.mass": 8e3,
                "parameters.inertia": 1e5 * np.eye(3),
                "parameters.initial.position": (start[0], 0.0, 0.0),
                "parameters.initial.velocity": (start[1], 0.0, 0.0),
            },
        )
        port = craft.m.port[0]
        force = -k * port.position[0] - c * port.velocity[0]
        port.force[0] = start[2] if lag else force
        craft.step(0.0, h)
        columns.append([port.position[0], port.velocity[0], force][: len(start)])
    return np.array(columns).T


@pytest.mark.parametrize("h", [1e-3, 20e-3])
def test_spec08_oracle_O29_held_force(h):
    """|z|^2 = 1 + H^2 k / 2m - H c / m, exactly; one more lag of an exchange wants three times the damper."""
    k, m = BERTH, 8e3
    for share in (0.0, 0.3, 0.99, 1.01, 2.0):
        c = 0.5 * share * k * h
        sizes = np.abs(np.linalg.eigvals(exchange(k, c, h, lag=False)))
        np.testing.assert_allclose(sizes**2, 1.0 + h * h * k / (2.0 * m) - h * c / m, rtol=1e-9)
        assert np.all(sizes > 1.0) if share < 1.0 else np.all(sizes < 1.0)
    lagging = [np.abs(np.linalg.eigvals(exchange(k, c * k * h, h, lag=True))).max() for c in (1.48, 1.53)]
    assert lagging[0] > 1.0 > lagging[1]


QUICK = Stand(1e-9, 1e6, 0.7, 0.0, 1e6, 1e-9)
"""As good as no stand"""


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.74])
def test_spec08_section_5_4_growth_of_a_payload_on_its_arm_is_the_eigenvalue(share):
    """MIM-1 on SSRMS, six degrees of freedom: of its modes that of the contact is the fastest, at 6.6 rad/s.

    As with a free craft, macro steps of 1 ms are another 0.05 ms of delay, k / 2m times that of growth, 1.1e-3 1/s.
    It is of second order: a quarter with half the step, but for the rates of the other modes, which the fit holds.
    """
    c = share * BERTH * STAND.total_delay
    modes = delayed_berth.eigenvalues(STAND, BERTH, c)
    expected = modes[modes.real.argmax()]
    usual, fine = (
        delayed_berth.growth(delayed_berth.simulate(STAND, BERTH, c, 16.0, h), modes, h) - expected
        for h in (1e-3, 5e-4)
    )
    assert 0.0 < usual.real < 0.05e-3 * 0.5 * BERTH / delayed_berth.PAYLOAD
    assert abs(fine.real) < 0.4 * usual.real
    assert abs(usual.imag) < 1e-4 * expected.imag


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.74])
def test_spec08_section_5_4_modes_of_a_payload_on_its_arm_share_the_growth_of_the_rule(share):
    """The stand adds k tau / 2m to the growth of all modes together, whatever the damper."""
    c = share * BERTH * STAND.total_delay
    alone, delayed = (delayed_berth.eigenvalues(stand, BERTH, c) for stand in (QUICK, STAND))
    grown = (delayed.real - alone.real).sum()
    assert grown == pytest.approx(rule(STAND, BERTH, 0.0, delayed_berth.PAYLOAD), rel=0.03)


def test_spec08_section_5_4_the_arm_lends_its_damping_to_the_contact():
    """The arm damps the mode of the contact, so that a smaller damper than that of the rule, k tau, calms it."""
    modes = delayed_berth.eigenvalues(QUICK, BERTH, 0.0)
    assert modes[np.abs(modes.imag - 6.6).argmin()].real < -0.09
    growth = [
        delayed_berth.eigenvalues(STAND, BERTH, share * BERTH * STAND.total_delay).real.max() for share in (0.72, 0.76)
    ]
    assert growth[0] > 0.0 > growth[1]
