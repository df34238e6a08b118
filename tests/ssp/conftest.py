"""The FMUs of the master's tests."""

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def third_party():
    """The module that builds variants of `tests/master/fmus/lag.c`."""
    name = "third_party_fmus"
    if name not in sys.modules:
        file = Path(__file__).parents[1] / "master" / "fmus" / "build.py"
        spec = importlib.util.spec_from_file_location(name, file)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture(scope="session")
def lag(tmp_path_factory, third_party):
    return third_party.build(tmp_path_factory.mktemp("lag"))
