"""A docking standard that systems refer to: its limits of initial conditions and loads, in one place."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dockfmu.declare import declaration
from dockfmu.declare.conditions.limits import severity
from dockfmu.declare.declaration import DeclarationError
from dockfmu.declare.toml.files import STANDARDS, read_tables

pytestmark = pytest.mark.quick

SYSTEMS = ("idss_electric_20t", "idss_hydraulic_20t", "idss_adaptive_20t")
DEGREE = np.pi / 180.0
DRAWS = 400
ALIKE = 1e-4
"""Probability with which a test of a distribution fails by chance; the seeds are fixed."""


@pytest.mark.parametrize("system", SYSTEMS)
def test_limits_of_the_standard_hold_in_every_system_that_refers_to_it(system):
    declared = declaration.read(system)
    conditions = declared.initial_conditions
    expected = {
        "miss": (0.1, 0.1), "angles": (4.0 * DEGREE,) * 3, "velocity": (0.1, 0.04, 0.04),
        "angular_velocity": (0.2 * DEGREE,) * 3,
    }  # fmt: skip
    assert conditions.limits.keys() == expected.keys()
    for name, limits in expected.items():
        assert conditions.limits[name] == pytest.approx(limits)
    assert set(conditions.vector_sums) == {"miss", "angles", "velocity", "angular_velocity"}
    assert conditions.slowest == 0.05
    loads = declared.plan.loads
    assert loads.element == "mechanism"
    static = {name: limit.static for name, limit in loads.limits.items()}
    assert static == {"compression": 3500.0, "tension": 3900.0, "shear": 3200.0, "torsion": 1500.0, "bending": 2800.0}
    assert (loads.limits["compression"].short, loads.limits["compression"].short_time) == (6500.0, 0.1)
    assert all("IDSS" in limit.source for limit in loads.limits.values())


def test_the_named_system_itself_lies_within_the_limits():
    for system in SYSTEMS:
        assert severity(declaration.read(system).initial_conditions).worst[1] < 1.0


def drawn():
    """The conditions of the first draws, as rows of miss, angles, velocity and angular velocity."""
    declared = declaration.read("idss_electric_20t")
    rows = []
    for seed in range(DRAWS):
        c = declared.with_conditions({"seed": seed}).initial_conditions
        rows.append([*c.miss, *c.angles, *c.velocity, *c.angular_velocity])
    return np.array(rows)


def test_draws_keep_the_vector_sums_of_the_standard_and_fill_them():
    """Miss, lateral rate, pitch with yaw, their rates: within the disc of their limit, uniform over its area.

    The square of the distance over that of the limit is uniform in 0 to 1, the azimuth uniform all round, by tests of
    Kolmogorov and Smirnov. Closing speed, roll and its rate stay within their ranges.
    """
    rows = drawn()
    discs = {(0, 1): 0.1, (2, 3): 4.0 * DEGREE, (6, 7): 0.04, (9, 10): 0.2 * DEGREE}
    for (first, second), limit in discs.items():
        share = np.hypot(rows[:, first], rows[:, second]) / limit
        assert share.max() <= 1.0
        assert share.max() > 0.99, "the limit is reached"
        assert stats.kstest(share**2, "uniform").pvalue > ALIKE
        azimuth = np.arctan2(rows[:, second], rows[:, first])
        assert stats.kstest(azimuth / (2.0 * np.pi) + 0.5, "uniform").pvalue > ALIKE
    assert 0.05 <= rows[:, 5].min() < rows[:, 5].max() <= 0.1
    assert np.abs(rows[:, 4]).max() <= 4.0 * DEGREE
    assert np.abs(rows[:, 8]).max() <= 0.2 * DEGREE
    assert rows[:, 5].mean() == pytest.approx(0.075, abs=1e-3)


def test_a_file_overrides_single_limits_of_its_standard(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'extends = "idss_electric_20t"\nname = "mine"\n'
        '[initial_conditions.limits]\nslowest = "0.03 m/s"\n'
        '[loads.limits]\nshear = { static = "5 kN", source = "assumed" }\n'
    )
    declared = declaration.read(str(file))
    assert declared.initial_conditions.slowest == 0.03
    assert declared.initial_conditions.limits["miss"] == (0.1, 0.1)
    assert declared.plan.loads.limits["shear"].static == 5e3
    assert declared.plan.loads.limits["tension"].static == 3900.0


def test_a_standard_comes_over_what_a_file_extends(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('extends = "geared_ring_5t"\nstandard = "IDSS"\nname = "mine"\n[loads]\nelement = "mechanism"\n')
    assert declaration.read(str(file)).initial_conditions.slowest == 0.05


def test_an_unknown_standard_is_refused_with_those_there_are(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('extends = "geared_ring_5t"\nstandard = "IDS"\nname = "mine"\n')
    with pytest.raises(DeclarationError, match=r"standard = 'IDS': there is IDSS; did you mean IDSS\?"):
        read_tables(file)
    assert (STANDARDS / "IDSS.toml").is_file()
