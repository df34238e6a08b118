"""FMUs that the tests of the exporter share."""

import gadget
import pytest
from library import Library

import fmus
from components.oscillator import component as oscillator


@pytest.fixture(scope="session")
def oscillator_fmu(tmp_path_factory):
    return fmus.build(oscillator(), tmp_path_factory.mktemp("oscillator"))


@pytest.fixture(scope="session")
def gadget_fmu(tmp_path_factory):
    return fmus.build(gadget.component(), tmp_path_factory.mktemp("gadget"))


@pytest.fixture(scope="session")
def gadget_library(gadget_fmu, tmp_path_factory):
    return Library(gadget_fmu, tmp_path_factory.mktemp("gadget folder, 100% ä"))
