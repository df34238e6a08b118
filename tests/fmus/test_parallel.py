"""FMUs that are built side by side before they are wanted."""

import subprocess

import pytest

from dockfmu.fmus import build, catalogue
from dockfmu.fmus.package import is_built
from dockfmu.fmus.parallel import build_in_parallel

pytestmark = pytest.mark.slow

WANTED = [(name, {}, catalogue.component(name)) for name in ("Oscillator", "ProbeCyclogram")]


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_fmus_are_in_the_cache_afterwards(empty_cache):
    """Each in a process of its own, that tells what it does; building here makes nothing more. A module runs beside."""
    said = []
    build_in_parallel(WANTED, said.append, beside=["this"])
    assert "Beautiful is better than ugly." in said
    for name, *_ in WANTED:
        assert f"{name}: compiling the kernels" in said
        assert is_built(catalogue.component(name))
        build(catalogue.component(name), empty_cache, progress=lambda text: pytest.fail(text))


def test_no_process_is_started_for_a_single_fmu_or_for_none(empty_cache, monkeypatch):
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    build_in_parallel([WANTED[0], WANTED[0]], print)
    build_in_parallel([], print)


def test_what_cannot_be_built_there_is_left_to_build(empty_cache, monkeypatch):
    """The FMU that is in nobody's way is built, the other refused where its error is read."""
    monkeypatch.setattr("dockfmu.fmus.parallel.is_built", lambda component: False)
    build_in_parallel([WANTED[0], ("Nobody", {}, WANTED[1][2])], lambda text: None)
    monkeypatch.undo()
    monkeypatch.setenv("DOCKFMU_CACHE", str(empty_cache / "cache"))
    assert is_built(catalogue.component("Oscillator"))
