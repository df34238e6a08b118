"""The template component against closed forms."""

from math import cos, exp, sin, sqrt

import pytest

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.oscillator import component

pytestmark = pytest.mark.quick


def test_free_decay_is_exact_for_any_step():
    """1000 steps against x = e^(-ct/2m) (cos wt + c/2mw sin wt); rounding grows like the number of steps."""
    oscillator = Instance(component(), *component().parameter_sets)
    for k in range(1000):
        oscillator.step(k * 1e-2, 1e-2)
    rate, t = 0.01, 10.0
    w = sqrt(1.0 - rate**2)
    exact = exp(-rate * t) * (cos(w * t) + rate / w * sin(w * t))
    assert oscillator.m.position == pytest.approx(exact, abs=1000 * 2.3e-16)


@pytest.mark.parametrize("stiffness", [0.0, 4.0])
@pytest.mark.parametrize("damping", [0.0, 4.0, 9.0])
def test_one_step_equals_two_halves_and_energy_closes(stiffness, damping):
    values = {"parameters.stiffness": stiffness, "parameters.damping": damping, "parameters.initial_velocity": 1.0}
    whole, halves = Instance(component(), **values), Instance(component(), **values)
    whole.m.force = halves.m.force = 0.7
    whole.step(0.0, 0.5)
    halves.step(0.0, 0.25)
    halves.step(0.25, 0.25)
    assert whole.m.position == pytest.approx(halves.m.position, abs=1e-14)
    assert whole.m.velocity == pytest.approx(halves.m.velocity, abs=1e-14)
    audit = whole.m.audit
    assert audit.kinetic_energy + audit.stored_energy + audit.dissipated_energy == pytest.approx(
        0.5 + audit.work_force, abs=1e-14
    )
    assert audit.dissipated_energy >= 0.0 if damping else abs(audit.dissipated_energy) < 1e-14


def test_exceeded_travel_names_value_and_bound():
    oscillator = Instance(component(), **{"parameters.initial_velocity": 10.0, "parameters.travel_limit": 0.5})
    with pytest.raises(ComponentError, match=r"t = 0 s.*0\.9983 m exceeds parameters.travel_limit = 0\.5 m"):
        oscillator.step(0.0, 0.1)
