"""Make the pictures of the page in the browser: `python docs/images/pictures.py [NAME ...]`, all of them by default.

Replays need the results of their systems in build/results (`dockfmu run SYSTEM`). The pictures of the station are taken
while the system is flown in real time by the script interface of the page, so they differ each time. All need the
Chromium of the system.
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


VIEW = {
    "view": (("atv_probe_cone",), 1.98, ""),
    "view-3d": (("atv_probe_cone",), 1.98, "dockfmu.look('orbit')"),
    "view-two": (("atv_probe_cone", "central_impact_20t"), 2.0, ""),
    "view-ring": (("expert_peripheral_5t",), 4.7, ""),
    "view-berthing": (("mim1_ssrms_nrt74",), 50.45, "dockfmu.view('craft'); await dockfmu.look('overview')"),
}
"""Systems, time in s and script of each picture of a replay."""


@contextmanager
def shown(command: list[str], *, stderr: bool) -> Iterator[Any]:
    """Run a command of dockfmu that prints an address, and yield the page there."""
    pipe = "stderr" if stderr else "stdout"
    streams = {"stdout": subprocess.DEVNULL, pipe: subprocess.PIPE}
    with (
        subprocess.Popen([sys.executable, "-m", "dockfmu", *command, "--no-browser"], text=True, **streams) as process,
        sync_playwright() as play,
    ):
        try:
            lines = getattr(process, pipe)
            address = next(found[0] for line in lines if (found := re.search(r"http://127\S+", line)))
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), headless=True)
            page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
            # with smooth edges, as a graphics card draws it
            page.goto(f"{address}#page")
            page.wait_for_selector("html[data-settled]", state="attached", timeout=120_000)
            yield page
            browser.close()
        finally:
            process.terminate()


def replay(name: str) -> None:
    """Take the picture of a replay."""
    systems, t, script = VIEW[name]
    with shown(["view", *(f"build/results/{system}" for system in systems)], stderr=False) as page:
        if script:
            page.evaluate(f"async () => {{ await {script} }}")
        page.evaluate("t => dockfmu.seek(t)", t)
        page.wait_for_timeout(1000)
        page.screenshot(path=FOLDER / f"{name}.png")


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
    with tempfile.TemporaryDirectory() as folder:
        command = ["run", *arguments, "-o", folder, "--no-report", "--view", "--realtime"]
        with shown(command, stderr=True) as page:
            page.click("#take")
            wait(page, lambda: page.evaluate("dockfmu.station.state().mine"))
            yield page


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
        # the payload swings on the arm
        page.evaluate("dockfmu.station.speed(20)")
        go_on(30.0)
        page.evaluate("dockfmu.station.speed(1)")
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
        page.evaluate("document.activeElement.blur()")
        page.screenshot(path=FOLDER / "station-arm.png")


STATION = {"station": approach, "station-arm": berthing}

if __name__ == "__main__":
    for name in sys.argv[1:] or (*VIEW, *STATION):
        STATION[name]() if name in STATION else replay(name)
