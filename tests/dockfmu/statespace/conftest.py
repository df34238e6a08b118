"""FMUs of the tests of state-space models."""

from pathlib import Path

import pytest

import dockfmu
from tests.master.fmus import linear as linear_fmus


@pytest.fixture(scope="session")
def foreign(tmp_path_factory, third_party):
    """Return a function that builds an FMU of somebody else, x' = A x + b u, y = O x, with or without its states."""
    folder = tmp_path_factory.mktemp("linear")
    library = third_party.compiled(folder, "linear.c")

    def build(states: bool = False) -> Path:
        return linear_fmus.build(folder, library, f"Linear{states}", states=states)

    return build


@pytest.fixture(scope="session")
def craft(tmp_path_factory) -> Path:
    return dockfmu.build("Spacecraft", tmp_path_factory.mktemp("craft"))
