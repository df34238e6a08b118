"""Fixtures: runs of whole systems through the command line, each made once per session; small systems; a browser."""

from pathlib import Path

import pytest
from pythonfmu.builder import FmuBuilder

from tests.dockfmu.command_line import Run, run_system
from tests.dockfmu.small_systems import write_pair
from tests.dockfmu.view.browser import CHROMIUM


@pytest.fixture(scope="session")
def atv(tmp_path_factory) -> Run:
    return run_system(tmp_path_factory.mktemp("atv"), "atv_probe_cone")


@pytest.fixture(scope="session")
def central_impact(tmp_path_factory) -> Run:
    return run_system(tmp_path_factory.mktemp("central"), "central_impact_20t")


@pytest.fixture(scope="session")
def pair(oscillator, tmp_path_factory) -> Path:
    """pair.ssp: two oscillators that push each other."""
    return write_pair(oscillator, tmp_path_factory.mktemp("pair"))


@pytest.fixture(scope="session")
def python_fmu(tmp_path_factory):
    """Return a function that builds a script of `fmus` with pythonfmu's own builder, each once."""
    folder = Path(__file__).parent / "fmus"
    built = {}

    def build(script: str) -> Path:
        if script not in built:
            built[script] = Path(
                FmuBuilder.build_FMU(
                    folder / f"{script}.py", tmp_path_factory.mktemp(script), [folder / "array_slave.py"]
                )
            )
        return built[script]

    return build


@pytest.fixture(scope="module")
def browser():
    """Start a headless Chromium of the system; tests are skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install dockfmu[test]")
    with sync_api.sync_playwright() as play:
        launched = play.chromium.launch(executable_path=CHROMIUM, headless=True)
        yield launched
        launched.close()
