"""Capture domains: runs that left the model are counted and drawn apart, never as missed (issue 35)."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.campaigns.capture_domain import OUTSIDE, Domain, table

NONE = np.nan
"""Time of a run without capture."""


@pytest.fixture
def domain():
    """Three members, two misses and one rate: at the second miss one is captured, one missed, one outside the model."""
    times = np.array([[[2.0], [3.0]], [[2.5], [NONE]], [[OUTSIDE], [OUTSIDE]]])
    return Domain("geared", False, np.array([0.0, 0.1]), np.array([0.0]), times)


def test_runs_outside_the_model_are_neither_captured_nor_missed(domain):
    """Shares count the members that stayed within it; where none did there is no share."""
    np.testing.assert_array_equal(domain.share(), [[1.0], [0.5]])
    assert domain.counts() == ([2, 1, 0], 2, 6)
    lost = Domain("geared", False, domain.misses, domain.rates, np.full((1, 2, 1), OUTSIDE))
    assert np.isnan(lost.share()).all()


def test_the_table_shows_the_spread_over_the_members_and_what_left_the_model(domain):
    cells = [cell.strip() for cell in table([domain])[-1].strip("| ").split("|")]
    assert cells == ["geared", "none", "2, 1, 0", "2", "2", "100 %", "50 %"]
