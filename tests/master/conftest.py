"""FMUs and systems for the tests of the master, written as a third party might write them."""

import pytest

from dockfmu.master.system import Structure
from tests.master.fmus import arrays3
from tests.master.fmus import linear as linear_fmus


@pytest.fixture(scope="session")
def fmi3():
    """The module that describes `arrays3.c`, an FMU of FMI 3.0."""
    return arrays3


@pytest.fixture(scope="session")
def arrays_library(tmp_path_factory, third_party):
    """The compiled `arrays3.c`."""
    return third_party.compiled(tmp_path_factory.mktemp("arrays"), "arrays3.c")


@pytest.fixture(scope="session")
def arrays(tmp_path_factory, fmi3, arrays_library):
    """An FMU of FMI 3.0 with arrays and all types; see `arrays3.c`."""
    return fmi3.build(tmp_path_factory.mktemp("arrays"), arrays_library)


@pytest.fixture(scope="session")
def linear():
    """The module that describes `linear.c`, a linear system with a square wave."""
    return linear_fmus


@pytest.fixture(scope="session")
def linear_library(tmp_path_factory, third_party):
    """The compiled `linear.c`."""
    return third_party.compiled(tmp_path_factory.mktemp("linear"), "linear.c")


@pytest.fixture
def alone(lag):
    """One lag whose input nothing sets."""
    system = Structure("alone")
    system.add("a", lag, {"gain": 1.0})
    return system


@pytest.fixture
def swing(lag):
    """Two lags that feed each other with opposite signs: a damped swing."""
    system = Structure("swing")
    system.add("a", lag, {"gain": 1.0})
    system.add("b", lag, {"gain": 1.0})
    system.connect("a", "y[1]", "b", "u[1]", factor=40.0)
    system.connect("b", "y[1]", "a", "u[1]", factor=-40.0, offset=40.0)
    return system
