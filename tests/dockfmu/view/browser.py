"""A headless Chromium of the system, and the command `dockfmu view` in a process of its own."""

import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

TEN_FRAMES_PER_SECOND = """
  window.requestAnimationFrame = draw => setTimeout(() => draw(performance.now()), 100);
  window.cancelAnimationFrame = clearTimeout;
"""


def eventually(condition, timeout=60.0):
    """Wait until something is so; a machine that other work loads takes longer."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "it never was so"
        time.sleep(0.05)


@contextmanager
def opened(browser, size=(1280, 720)):
    """A browser context with a window of this size."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, device_scale_factor=1)
    yield context
    context.close()


@contextmanager
def quickly_drawn(browser):
    """Open a small window that draws less often, for tests that look at no picture.

    Drawing 60 frames per second without a graphics card is most of what such a test costs.
    """
    with opened(browser, (640, 360)) as context:
        context.add_init_script(TEN_FRAMES_PER_SECOND)
        yield context


@contextmanager
def served(*arguments, said=None):
    """The address that `dockfmu view ARGUMENTS` prints, while it serves; what it tells as errors is added to `said`."""
    command = [sys.executable, "-m", "dockfmu", "view", *map(str, arguments), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        try:
            assert found, line + process.stderr.read()
            yield found[0]
        finally:
            process.terminate()
            if said is not None:
                said.append(process.stderr.read())


class Shown:
    """A page that shows a run, with what it asked for and what went wrong in it."""

    def __init__(self, context, address: str) -> None:
        self.page = context.new_page()
        self.requests, self.errors = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.goto(address)
        # when three dimensions have been loaded too
        self.page.wait_for_selector("html[data-settled], html[data-failed]", state="attached", timeout=60_000)

    def __call__(self, script: str, argument: object = None) -> object:
        """Evaluate a script of the interface `dockfmu`."""
        return self.page.evaluate(script, argument)

    def settle(self) -> None:
        """Wait until what has changed is laid out and drawn: two frames, and a pause for what they ask for."""
        self(
            "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))"
        )

    def goes_on(self, seconds: float) -> None:
        """Wait until a run that is followed has gone on by this time of its own, s."""
        until = self("dockfmu.time") + seconds
        eventually(lambda: self("dockfmu.time") >= until, 90.0)

    def stands(self) -> float:
        """Wait until no rows have come for half a second; return the time of the last one, s."""

        def passed() -> float:
            before = self("dockfmu.time")
            time.sleep(0.5)
            return self("dockfmu.time") - before

        eventually(lambda: passed() == 0.0)
        return self("dockfmu.time")

    def catches_up(self) -> None:
        """Wait until the page goes on at real time, as a run does that was faster before: no rows of then are left."""

        def passed() -> float:
            before = self("dockfmu.time")
            time.sleep(0.3)
            return self("dockfmu.time") - before

        eventually(lambda: 0.1 < passed() < 1.0)

    def item(self, pane: str, label: str, element: str = "mechanism"):
        """Return what a pane shows of a shape or device with this label."""
        drawn = self("dockfmu.drawn()")
        items = drawn[pane] if isinstance(drawn[pane], list) else drawn[pane]["items"]
        (found,) = (item for item in items if item["label"] == label and item["element"] == element)
        return found

    def check_layout(self, size: tuple[int, int]) -> None:
        """Check that all parts of the page lie within a window of this size, and none over another."""
        boxes = self(
            """[...document.querySelectorAll('main > *, header, footer')].filter(e => e.checkVisibility()).map(e => {
            const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"""
        )
        for k, a in enumerate(boxes):
            assert 0 <= a[0] < a[2] <= size[0]
            assert 0 <= a[1] < a[3] <= size[1]
            for b in boxes[k + 1 :]:
                assert a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 1 or b[3] <= a[1] + 1


def exported(folder: Path, file: Path) -> Path:
    """`dockfmu view FOLDER --export FILE`."""
    command = [sys.executable, "-m", "dockfmu", "view", folder, "--export", file]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    return file


class Going:
    """`dockfmu run ARGUMENTS --view` in a process of its own: its address, and its end."""

    def __init__(self, *arguments: object) -> None:
        command = [sys.executable, "-m", "dockfmu", "run", *map(str, arguments), "--view", "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.said = ""
        for line in self.process.stderr:
            self.said += line
            found = re.search(r"http://127\S+", line)
            if found:
                self.address = found[0]
                return
        raise AssertionError(self.said)

    def end(self, timeout: float = 120.0) -> int:
        """Wait for the end of the run; return its exit status. What it said is in `said`, then."""
        out, said = self.process.communicate(timeout=timeout)
        self.said += said + out
        return self.process.returncode

    def stop(self) -> None:
        """End it, if it still goes on."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.end()


@contextmanager
def going(*arguments):
    """A run that is shown as it goes."""
    run = Going(*arguments)
    try:
        yield run
    finally:
        run.stop()
