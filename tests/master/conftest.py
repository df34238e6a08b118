"""FMUs that a third party might have written, for the tests of the master."""

import importlib.util
import sys
from pathlib import Path

import pytest


def _builder(file, name):
    """A module of `fmus` beside this file, under a name of its own: theirs are too common for an import path."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / "fmus" / file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="session")
def third_party():
    """The module that builds variants of `lag.c`."""
    return _builder("build.py", "third_party_fmus")


@pytest.fixture(scope="session")
def fmi3():
    """The module that describes `arrays3.c`, an FMU of FMI 3.0."""
    return _builder("arrays3.py", "third_party_fmi3")


@pytest.fixture(scope="session")
def arrays_library(tmp_path_factory, third_party):
    """The compiled `arrays3.c`."""
    return third_party.compiled(tmp_path_factory.mktemp("arrays"), "arrays3.c")


@pytest.fixture(scope="session")
def arrays(tmp_path_factory, fmi3, arrays_library):
    """An FMU of FMI 3.0 with arrays and all types; see `arrays3.c`."""
    return fmi3.build(tmp_path_factory.mktemp("arrays"), arrays_library)


@pytest.fixture(scope="session")
def lag(tmp_path_factory, third_party):
    """A first-order lag y' = gain (u - y), explicit Euler, with Integer, Boolean and String variables."""
    return third_party.build(tmp_path_factory.mktemp("lag"))


@pytest.fixture(scope="session")
def lag12(tmp_path_factory, third_party):
    """The same with twelve inputs and outputs."""
    return third_party.build(tmp_path_factory.mktemp("lag12"), "Lag12", channels=12)


@pytest.fixture(scope="session")
def linear():
    """The module that describes `linear.c`, a linear system with a square wave."""
    return _builder("linear.py", "third_party_linear")


@pytest.fixture(scope="session")
def linear_library(tmp_path_factory, third_party):
    """The compiled `linear.c`."""
    return third_party.compiled(tmp_path_factory.mktemp("linear"), "linear.c")
