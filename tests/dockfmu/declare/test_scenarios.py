"""The named scenarios have the values of conventions section 8.1."""

from __future__ import annotations

import numpy as np
import pytest

from dockfmu.declare import declaration
from dockfmu.declare.packages.assembly import start_values
from dockfmu.fmus import catalogue

pytestmark = pytest.mark.quick

MECHANISM = 43.0
"""Mass of the modelled mechanism V1: the craft gets the total less this (R3)."""

# total mass kg, miss m, angles deg, velocity m/s, rates deg/s, push N
# (test_craft_with_mechanism.py has centre and inertia of the craft with its mechanism)
SCENARIOS = {
    "atv_probe_cone": (
        20e3, (0.05, -0.05), (1, -1, 1.5), (0.07, 0.01, -0.01), (0.05, 0.05, -0.05),
        900,
    ),
    "soyuz_probe_cone": (
        7e3, (0.10, -0.08), (2, -2, 3), (0.20, 0.02, -0.02), (0.2, 0.2, -0.2),
        500,
    ),
    "central_impact_20t": (
        20e3, (0, 0), (0, 0, 0), (0.15, 0, 0), (0, 0, 0),
        0,
    ),
}  # fmt: skip


def parameters(declared, element):
    entry = declared.elements[element]
    component = catalogue.component(entry.component, **entry.options)
    return component.record.view(component.start(**start_values(component, entry))).parameters


@pytest.mark.parametrize("name", SCENARIOS)
def test_spec00_section_8_1_craft_and_initial_conditions(name):
    mass, miss, angles, velocity, rates, push = SCENARIOS[name]
    declared = declaration.read(name)
    chaser, station = parameters(declared, "chaser"), parameters(declared, "station")
    assert chaser.mass == pytest.approx(mass - MECHANISM)
    assert chaser.push_thrust == push
    assert station.mass == pytest.approx(400e3)
    assert np.diag(station.inertia) == pytest.approx((1.2e8, 1.0e8, 2.0e8))
    assert station.port[0].position - station.center_of_mass == pytest.approx((-20.0, 0.0, 0.0))
    given = declared.initial_conditions
    assert given.miss == pytest.approx(miss)
    assert given.angles == pytest.approx(np.radians(angles))
    assert given.velocity == pytest.approx(velocity)
    assert given.angular_velocity == pytest.approx(np.radians(rates))


@pytest.mark.parametrize("name", SCENARIOS)
def test_spec00_r17_attitude_hold_is_off(name):
    assert not parameters(declaration.read(name), "cyclogram").attitude_control.any()
