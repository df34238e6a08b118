"""A run that is shown as it goes: all its rows, to several viewers, to those that come late, and at what cost."""

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from dockfmu.declare.packages import bundle
from dockfmu.declare.plan import Plan
from dockfmu.master.observers.events import Event
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.system import Structure
from tests.dockfmu.view.browser import Shown, eventually, going, quickly_drawn

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def swing(oscillator, tmp_path_factory):
    """An oscillator of 1 s that nothing drives, for 400 s."""
    system = Structure("swing")
    system.add("mass", oscillator, {"parameters.initial_position": 1.0, "parameters.stiffness": 39.478417604357434})
    plan = Plan(step=0.001, stop=400.0, record_every=10, events={"below": Event("mass.position", "below", 0.0)})
    return bundle.write_bundle(system, plan, "a mass on a spring", tmp_path_factory.mktemp("swing") / "swing.ssp")


def rows_of(shown, name):
    """Times and values of a column in the page."""
    return [np.array(x) for x in shown("n => dockfmu.rows(n)", name)]


def hurry(shown):
    """Take the controls, and let the rest of the run go faster than real time."""
    shown("dockfmu.station.take()")
    eventually(lambda: shown("dockfmu.station.state().mine"))
    shown("dockfmu.station.speed(10)")


def test_the_page_gets_every_row_of_a_run_that_goes_on(swing, browser, tmp_path):
    arguments = (swing, "--realtime", "--stop", 20, "-o", tmp_path / "r", "--no-report")
    with going(*arguments) as run, quickly_drawn(browser) as context:
        shown = Shown(context, run.address)
        assert shown("dockfmu.live")
        assert shown("dockfmu.following")
        first = shown("dockfmu.time")
        eventually(lambda: shown("dockfmu.time") > first + 0.5)
        # its news may come after the rows around it
        eventually(lambda: shown("document.querySelectorAll('#marks i').length") == 1)
        # the event is marked where it was, while the rail grows
        (mark,), time_, (event,) = shown(
            """[[...document.querySelectorAll('#marks i')].map(mark => parseFloat(mark.style.left)),
            dockfmu.time, dockfmu.events]"""
        )
        assert mark == pytest.approx(100 * event["t"] / time_, abs=0.5)
        hurry(shown)
        assert run.end() == 0
        eventually(lambda: not shown("dockfmu.live"))
        with read_results(tmp_path / "r" / "results.h5") as results:
            # the last rows may come after the news of the end
            eventually(lambda: len(rows_of(shown, "mass.position")[0]) >= len(results.time))
            times, positions = rows_of(shown, "mass.position")
            assert np.array_equal(times, results.time)
            assert np.array_equal(positions.astype("f4"), results["mass.position"].astype("f4"))
        events = json.loads((tmp_path / "r" / "events.json").read_text())
        assert [e["t"] for e in shown("dockfmu.events")] == [e["t"] for e in events]
        assert shown("dockfmu.outcome") == "completed"
        assert shown.errors == []
        # what is drawn is the newest row
        shown("dockfmu.follow()")
        (curve,) = (c for c in shown("dockfmu.drawn().curves") if c["name"] == "mass.position")
        assert curve["value"] == pytest.approx(positions[-1], rel=1e-6)


def test_a_run_at_full_speed_is_shown_and_has_no_station(swing, browser, tmp_path):
    with going(swing, "-o", tmp_path / "r", "--no-report") as run, quickly_drawn(browser) as context:
        shown = Shown(context, run.address)
        assert shown.errors == []
        assert run.end() == 0
        eventually(lambda: not shown("dockfmu.live"))
        eventually(lambda: len(rows_of(shown, "mass.position")[0]) == 40_001)
        with read_results(tmp_path / "r" / "results.h5") as results:
            positions = rows_of(shown, "mass.position")[1]
            assert np.array_equal(positions.astype("f4"), results["mass.position"].astype("f4"))
        assert shown("dockfmu.station") is None
        assert shown.page.locator("#station").is_hidden()
        assert shown("dockfmu.outcome") == "completed"
        assert shown.errors == []


def test_a_page_whose_server_is_killed_says_so_and_shows_what_it_has(swing, browser, tmp_path):
    with (
        going(swing, "--realtime", "-o", tmp_path / "r", "--no-report") as run,
        quickly_drawn(browser) as context,
    ):
        shown = Shown(context, run.address)
        shown.page.click("#take")
        eventually(lambda: shown("dockfmu.time") > 0.5)
        (server,) = servers_at(run.address)
        os.kill(server, signal.SIGKILL)
        eventually(lambda: shown.page.inner_text("#outcome") == "connection lost")
        assert "without an operator" in shown.page.inner_text("#who")
        assert shown("dockfmu.seek(0.25)") == 0.25
        assert shown("dockfmu.value('mass.position')") == pytest.approx(0.0, abs=1e-3)
        # a variable that is not here cannot be had any more, which is said
        name = shown("dockfmu.variables().find(name => !dockfmu.rows(name)[1].length)")
        shown("name => dockfmu.curve(name)", name)
        assert name not in shown("dockfmu.curves")
        assert shown.page.inner_text("#trouble").startswith(f"{name}: the server of the page has ended")
        assert "has ended" in shown.page.get_attribute("#outcome", "title")
        assert shown.errors == []
        assert run.process.poll() is None
        run.stop()
    with read_results(tmp_path / "r" / "results.h5") as results:
        assert results.time[-1] > 0.5


def test_a_late_viewer_gets_the_past_and_several_see_the_same(swing, browser, tmp_path):
    with (
        going(swing, "--realtime", "--stop", 25, "-o", tmp_path / "r", "--no-report") as run,
        quickly_drawn(browser) as context,
    ):
        early = Shown(context, run.address)
        early.goes_on(1.0)
        late = Shown(context, run.address)
        assert late("dockfmu.start") == 0.0
        late("dockfmu.seek(0.25)")
        assert late("dockfmu.value('mass.position')") == pytest.approx(0.0, abs=1e-3)
        assert not late("dockfmu.following")
        # a variable that no pane shows comes with its past too
        late("dockfmu.curve('mass.velocity')")
        hurry(early)
        assert run.end() == 0
        for page in (early, late):
            eventually(lambda page=page: len(rows_of(page, "mass.position")[0]) >= 2501)
        for name in ("mass.position", "mass.velocity"):
            late("n => dockfmu.load(n)", name)
            early("n => dockfmu.load(n)", name)
            assert np.array_equal(rows_of(early, name), rows_of(late, name))
        times, velocities = rows_of(late, "mass.velocity")
        assert len(times) == 2501
        assert np.allclose(velocities, -2 * np.pi * np.sin(2 * np.pi * times), atol=0.05)


def test_a_run_does_not_wait_for_a_viewer_that_does_not_read(swing, tmp_path):
    """Not even for a server that is stopped: the run goes on at its speed."""
    with going(swing, "--stop", 400, "-o", tmp_path / "r", "--no-report") as run:
        (server,) = servers_at(run.address)
        os.kill(server, signal.SIGSTOP)
        try:
            assert run.end() == 0
        finally:
            os.kill(server, signal.SIGCONT)
            os.kill(server, signal.SIGTERM)
    with read_results(tmp_path / "r" / "results.h5") as results:
        assert results.time[-1] == 400.0


def servers_at(address: str) -> list[int]:
    """Return the processes that listen at an address."""
    found = subprocess.run(["pgrep", "-f", "dockfmu.view.live"], capture_output=True, text=True, check=False)
    return [int(number) for number in found.stdout.split() if _listens(int(number), urlsplit(address).port)]


def _listens(process: int, port: int) -> bool:
    """Return whether a process has the socket that listens at a port."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    sockets = {f"socket:[{line.split()[9]}]" for line in lines if int(line.split()[1].partition(":")[2], 16) == port}
    links = [os_link.readlink() for os_link in Path(f"/proc/{process}/fd").iterdir() if os_link.is_symlink()]
    return any(str(link) in sockets for link in links)


def test_the_server_ends_with_the_run_and_its_last_viewer(swing, browser, tmp_path):
    with going(swing, "--realtime", 4, "--stop", 4, "-o", tmp_path / "r", "--no-report") as run:
        with quickly_drawn(browser) as context:
            Shown(context, run.address)
            assert run.end() == 0
        base, late = run.address.partition("?")[0], time.monotonic() + 60.0
        while answers(base):
            assert time.monotonic() < late
            time.sleep(0.3)


def answers(base):
    """Return whether a server answers, if only that it wants a token."""
    try:
        urllib.request.urlopen(base, timeout=60.0)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True
