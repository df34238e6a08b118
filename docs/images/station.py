"""Make the pictures of the station, station.png and station-arm.png: `python docs/images/station.py`.

Each flies a system in real time in a headless Chromium of the system, by the script interface of the page. The pictures
depend on the moment at which they are taken.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parent
APPROACH = (
    "atv_probe_cone",
    *("--set", "initial_conditions.start_gap=0.25"),
    *("--set", "initial_conditions.velocity=0.01,0,0"),
)
BERTHING = ("airlock_era", "--set", "sequence.parameters.script=LIVE")


def wait(page: Any, condition: Callable[[], object], timeout: float = 120.0) -> None:
    """Wait until a condition holds. Raises TimeoutError."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(page.evaluate("dockfmu.station.state()"))
        page.wait_for_timeout(50)


@contextmanager
def flown(*arguments: str) -> Iterator[Any]:
    """Run a system in real time and yield its page, which has the controls."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        command = [sys.executable, "-m", "dockfmu", "run", *arguments, "-o", folder, "--no-report"]
        command += ["--view", "--realtime", "--no-browser"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
            try:
                assert run.stderr is not None
                address = next(found[0] for line in run.stderr if (found := re.search(r"http://127\S+", line)))
                browser = play.chromium.launch(executable_path=shutil.which("chromium"), headless=True)
                page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
                page.goto(address)
                page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
                page.click("#take")
                wait(page, lambda: page.evaluate("dockfmu.station.state().mine"))
                yield page
                browser.close()
            finally:
                run.terminate()


def approach() -> None:
    """Fly the probe into the cone by hand, until shortly after the first contact."""
    with flown(*APPROACH) as page:

        def value(name: str) -> float:
            return float(page.evaluate("n => dockfmu.value(n)", f"mechanism.{name}"))

        def deflect(axis: str, demand: float) -> None:
            page.evaluate("([a, v]) => dockfmu.station.deflect(a, v)", [axis, max(-1.0, min(1.0, demand))])

        end = time.monotonic() + 180.0
        while time.monotonic() < end and value("sensor.first_contact") <= 0.0:
            deflect("x", 40.0 * (0.08 - value("docking.velocity[1]")))
            for axis, k in (("y", 2), ("z", 3)):
                deflect(axis, -12.0 * value(f"docking.position[{k}]") - 60.0 * value(f"docking.velocity[{k}]"))
            page.wait_for_timeout(100)
        page.screenshot(path=FOLDER / "station.png")


def berthing() -> None:
    """Remove the offset along z by hand, and take the picture during a Step along y."""
    with flown(*BERTHING) as page:

        def field(name: str) -> Any:
            return page.locator(f'.manual [title="sequence.operator.{name}"]')

        def go_on(seconds: float) -> None:
            until = page.evaluate("dockfmu.time") + seconds
            wait(page, lambda: page.evaluate("dockfmu.time") >= until)

        page.evaluate("dockfmu.load(['sequence.phase', 'manipulator.command.state'])")
        page.evaluate("dockfmu.station.deflect('z', 1)")
        go_on(2.0)
        page.evaluate("dockfmu.station.deflect('z', 0)")
        go_on(8.0)
        field("mode").select_option(label="SUPV")
        field("step.type").select_option(label="STEP")
        field("step.axis").select_option("2")
        field("step.amplitude").fill("-0.02")
        field("step.amplitude").press("Tab")
        go_on(0.5)
        field("step.trigger").dispatch_event("pointerdown")
        wait(page, lambda: page.evaluate("dockfmu.rows('manipulator.command.state')[1].at(-1)") == 2)
        field("step.trigger").dispatch_event("pointerup")
        go_on(3.0)
        page.screenshot(path=FOLDER / "station-arm.png")


if __name__ == "__main__":
    approach()
    berthing()
