"""Temporary files of whole commands: gone at their end, however that comes, and after a kill by the next command."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from dockfmu.view.headless import LONGEST_PATH
from tests.dockfmu.view.browser import CHROMIUM

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")]


TWO = """
name = "two"
[elements.mass]
component = "oscillator"
sets = ["soft"]
[elements.sequence]
component = "probe_cyclogram"
[run]
step = 0.01
stop = 1.0
"""


@pytest.fixture
def place():
    """Make a folder with a short name: Chromium does not start where its socket has a long one."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def started(place, *arguments, **environment):
    """Start `dockfmu ARGUMENTS` with its temporary files in `place`."""
    return subprocess.Popen(
        [sys.executable, "-m", "dockfmu", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(place), **environment},
        # those of a shell's background jobs are ignored
        preexec_fn=lambda: [signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM)],
    )


def waited_for(what, process):
    end = time.monotonic() + 120.0
    while not what():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_nothing(place, tmp_path, number):
    """Its FMUs are compiled side by side, by processes with compilers of their own."""
    file = tmp_path / "two.toml"
    file.write_text(TWO, encoding="utf-8")
    with started(place, "run", file, "-o", tmp_path / "r", DOCKFMU_CACHE=str(tmp_path / "cache")) as process:
        waited_for(lambda: any("dockfmu-zig" in name for _, names, _ in os.walk(place) for name in names), process)
        process.send_signal(number)
        assert process.wait(60.0) == 128 + number, process.stderr.read()
    assert not list(place.iterdir())


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
@pytest.mark.parametrize("deeper", [0, LONGEST_PATH - 40])
def test_a_picture_leaves_nothing_of_the_browser(place, pair, tmp_path, deeper):
    """The browser has its temporary files in ours, or, where the name would be too long, removes them itself."""
    place = place / ("d" * deeper)
    place.mkdir(exist_ok=True)
    with started(place, "view", pair, "--picture", tmp_path / "p.png", "--size", "320x180") as process:
        assert process.wait(120.0) == 0, process.stderr.read()
    assert (tmp_path / "p.png").is_file()
    assert not list(place.iterdir())


def test_the_next_command_removes_what_a_killed_run_has_left(place, pair, tmp_path):
    with started(place, "run", pair, "--process", "second", "--realtime", "1", "-o", tmp_path / "r") as process:
        waited_for((tmp_path / "r" / "results.h5").exists, process)
        process.kill()
    assert list(place.iterdir())
    with started(place, "validate", pair) as process:
        assert process.wait(60.0) == 0, process.stderr.read()
    assert not list(place.iterdir())
