"""FMUs that a third party might have written, for the tests of the master."""

import importlib.util
import sys
from pathlib import Path

import pytest


def _builder():
    """`fmus/build.py` beside this file, under a name of its own: `build` is too common for an import path."""
    name = "third_party_fmus"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / "fmus" / "build.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="session")
def third_party():
    """The module that builds variants of `lag.c`."""
    return _builder()


@pytest.fixture(scope="session")
def lag(tmp_path_factory, third_party):
    """A first-order lag y' = gain (u - y), explicit Euler, with Integer, Boolean and String variables."""
    return third_party.build(tmp_path_factory.mktemp("lag"))


@pytest.fixture(scope="session")
def lag12(tmp_path_factory, third_party):
    """The same with twelve inputs and outputs."""
    return third_party.build(tmp_path_factory.mktemp("lag12"), "Lag12", channels=12)
