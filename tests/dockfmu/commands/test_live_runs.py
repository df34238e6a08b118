"""`dockfmu run` in real time: streaming, inputs, and dense recording around events."""

import json
import re
import socket
import stat
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from dockfmu.declare.packages import bundle
from dockfmu.declare.plan import Plan
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.observers.stream import subscribe
from dockfmu.master.system import Structure
from dockfmu.watch.live import free_inputs
from tests.dockfmu.command_line import status_of
from tests.dockfmu.small_systems import PLAN, pair_system


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def single(oscillator, tmp_path_factory):
    """Return an oscillator whose force is not connected."""
    system = Structure("single")
    system.add("mass", oscillator)
    return bundle.write_bundle(system, Plan(step=0.01, stop=1.0), "", tmp_path_factory.mktemp("single") / "single.ssp")


def test_a_run_held_to_the_clock_reports_how_well(pair, tmp_path, capsys):
    began = time.perf_counter()
    assert status_of("run", pair, "--realtime", 4, "--late", "skip", "-o", tmp_path / "r") == 0
    assert time.perf_counter() - began > 2.0 / 4
    real = json.loads((tmp_path / "r" / "summary.json").read_text())["realtime"]
    assert (real["factor"], real["policy"], real["steps"]) == (4.0, "skip", 199)
    assert real["step_max_s"] >= real["step_99_s"] >= 0.0
    said = capsys.readouterr().out
    assert f"{real['overruns']} of 199 steps late, by " in said
    assert f"work of a step           {1e3 * real['step_mean_s']:.2g} ms, 99 % within " in said
    assert f"worst {1e3 * real['jitter_max_s']:.2g} ms" in said
    page = (tmp_path / "r" / "report.html").read_text()
    assert "real time, late steps skip" in page


def test_all_steps_are_recorded_around_events_and_few_elsewhere(pair, tmp_path):
    arguments = ("--every", 20, "--around", "0.05,0.1", "-o", tmp_path / "r", "--no-report")
    assert status_of("run", pair, *arguments) == 0
    summary = json.loads((tmp_path / "r" / "summary.json").read_text())
    event = next(e["t"] for e in summary["events"] if e["name"] == "pushed_far")
    with read_results(tmp_path / "r" / "results.h5") as results:
        steps = np.diff(results.time)
        near = (results.time[1:] > event - 0.045) & (results.time[1:] < event + 0.105)
    assert near.sum() == 15
    assert np.allclose(steps[near], 0.01)
    assert steps.max() == pytest.approx(0.2)


@pytest.mark.parametrize(
    "wrong", [("--every", "0"), ("--around", "1"), ("--around", "-1,2"), ("--stream", "70000"), ("--realtime", "0")]
)
def test_wrong_settings_are_refused(pair, wrong, capsys):
    assert status_of("run", pair, *wrong) == 2
    assert f"argument {wrong[0]}" in capsys.readouterr().err


def test_a_port_that_is_taken_is_refused(pair, tmp_path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert status_of("run", pair, "--stream", port, "-o", tmp_path / "r") == 2
    assert f"port {port}" in capsys.readouterr().err


def test_a_run_streams_and_takes_inputs(single, tmp_path):
    out, into = free_port(socket.SOCK_STREAM), free_port(socket.SOCK_DGRAM)
    messages = []

    def outside():
        """Connect as soon as the run listens, and send a force."""
        for _ in range(20_000):
            try:
                source = subscribe(out)
                messages.append(next(source))
                break
            except MasterError:
                time.sleep(0.005)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as push:
            for message in source:
                messages.append(message)
                push.sendto(b'{"mass.force": 5.0}', ("127.0.0.1", into))

    other = threading.Thread(target=outside)
    other.start()
    arguments = ("--realtime", "--stream", out, "--receive", into, "-o", tmp_path / "r", "--no-report")
    assert status_of("run", single, *arguments) == 0
    other.join(120.0)
    names = messages[0]["names"]
    assert "mass.position" in names
    assert messages[-1]["status"] == "completed"
    positions = [m["values"][names.index("mass.position")] for m in messages[1:-1]]
    # at rest without the force
    assert max(positions) > 0.0


def test_free_inputs_are_those_that_no_connection_sets(oscillator):
    system = pair_system(oscillator)
    assert free_inputs(system) == []
    del system.connections[0]
    assert free_inputs(system) == ["second.force"]
    assert PLAN.order == tuple(system.elements)


@pytest.mark.parametrize("asked", [True, False])
def test_the_page_of_a_live_run_opens_in_the_browser_if_asked(pair, tmp_path, capsys, monkeypatch, asked):
    """The browser gets a file of this user alone: arguments of processes are visible to all users."""
    opened = []

    def browse(address):
        file = Path(address.removeprefix("file://"))
        assert [stat.S_IMODE(path.stat().st_mode) & 0o077 for path in (file.parent,)] == [0]
        opened.append(re.search('url=(http[^"]+)', file.read_text())[1])

    monkeypatch.setattr("webbrowser.open", browse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    more = () if asked else ("--no-browser",)
    assert status_of("run", pair, "--stop", 0.1, "--view", "--no-report", "-o", tmp_path / "r", *more) == 0
    pages = [line.split()[-1] for line in capsys.readouterr().err.splitlines() if "watch it at" in line]
    assert len(pages) == 1
    assert opened == [page.replace("/?", "/open?") for page in pages] * asked
