"""FMUs that the tests of the exporter share."""

import pytest

from dockfmu import fmus
from dockfmu.components.oscillator import component as oscillator
from tests.fmus import gadget
from tests.fmus.library import Library


@pytest.fixture(scope="session")
def oscillator_fmu(tmp_path_factory):
    return fmus.build(oscillator(), tmp_path_factory.mktemp("oscillator"))


@pytest.fixture(scope="session")
def gadget_fmu(tmp_path_factory):
    return fmus.build(gadget.component(), tmp_path_factory.mktemp("gadget"))


@pytest.fixture(scope="session")
def gadget_library(gadget_fmu, tmp_path_factory):
    return Library(gadget_fmu, tmp_path_factory.mktemp("gadget folder, 100% ä"))
