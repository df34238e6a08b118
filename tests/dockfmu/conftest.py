"""Runs of whole systems through the command line, each done once for the tests of a file, and small systems."""

import importlib.util
from pathlib import Path

import pytest
from command_line import Run, run_system
from pythonfmu.builder import FmuBuilder
from small_systems import write_pair

import fmus
from components.oscillator import component as oscillator_component


@pytest.fixture(scope="session")
def atv(tmp_path_factory) -> Run:
    return run_system(tmp_path_factory.mktemp("atv"), "atv_probe_cone")


@pytest.fixture(scope="session")
def central_impact(tmp_path_factory) -> Run:
    return run_system(tmp_path_factory.mktemp("central"), "central_impact_20t")


@pytest.fixture(scope="session")
def oscillator(tmp_path_factory) -> Path:
    """Oscillator.fmu"""
    return fmus.build(oscillator_component(), tmp_path_factory.mktemp("oscillator"))


@pytest.fixture(scope="session")
def pair(oscillator, tmp_path_factory) -> Path:
    """pair.ssp: two oscillators that push each other."""
    return write_pair(oscillator, tmp_path_factory.mktemp("pair"))


@pytest.fixture(scope="session")
def python_fmu(tmp_path_factory):
    """Builds one of the scripts beside this file with pythonfmu's own builder, once."""
    built = {}

    def build(script: str) -> Path:
        if script not in built:
            file = Path(__file__).parent / "fmus" / f"{script}.py"
            built[script] = Path(FmuBuilder.build_FMU(file, dest=tmp_path_factory.mktemp(script)))
        return built[script]

    return build


@pytest.fixture(scope="session")
def third_party():
    """The module of the tests of the master that builds FMUs as others might write them."""
    file = Path(__file__).parents[1] / "master" / "fmus" / "build.py"
    spec = importlib.util.spec_from_file_location("third_party_fmus", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def lag(tmp_path_factory, third_party) -> Path:
    """A first-order lag y' = gain (u - y), explicit Euler."""
    return third_party.build(tmp_path_factory.mktemp("lag"))


@pytest.fixture(scope="session")
def lag12(tmp_path_factory, third_party) -> Path:
    """The same with twelve inputs and outputs."""
    return third_party.build(tmp_path_factory.mktemp("lag12"), "Lag12", channels=12)
