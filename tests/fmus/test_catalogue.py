"""Names of what can be exported."""

import pytest

from dockfmu.fmus import catalogue

pytestmark = pytest.mark.quick


def test_every_name_makes_a_component_of_that_name():
    assert "Oscillator" in catalogue.names()
    for name in catalogue.names():
        assert catalogue.component(name).name == name


def test_names_as_modules_and_as_fmus_are_the_same():
    assert catalogue.entry("oscillator") is catalogue.entry("Oscillator")


def test_options_reach_the_factory_and_stay_with_the_component():
    made = catalogue.component("spacecraft", ports=1, thrusters=2)
    assert "thruster[2].thrust" in made.record.index
    assert made.options == {"ports": 1, "thrusters": 2}


@pytest.mark.parametrize(("name", "text"), [("Oscilator", "did you mean Oscillator"), ("xyz", "there are Oscillator")])
def test_unknown_names(name, text):
    with pytest.raises(catalogue.CatalogueError, match=text):
        catalogue.component(name)
