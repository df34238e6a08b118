"""The damping that a delayed force needs: rule, eigenvalues and the kernels of the stand (spec/08 5.4)."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.coupling.delayed_contact import MASS, Stand, eigenvalue, growth, least_damping, rule, simulate

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
