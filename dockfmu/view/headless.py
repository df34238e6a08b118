"""A headless Chromium of the system, driven over its debugging protocol: for pictures and films of the page."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from dockfmu.base.errors import FAILED
from dockfmu.base.processes import with_temporary_files_in
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.view.address import ViewError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
VARIABLE = "DOCKFMU_CHROMIUM"
START_S, ANSWER_S = 30.0, 120.0
LONGEST_PATH = 60
"""Bytes of the longest folder for temporary files of Chromium, which adds 46; names of sockets end at 103 to 107."""


class BrowserError(ViewError):
    """Chromium is missing, does not start, or a script in its page has failed."""

    exit_status = FAILED


def chromium() -> str:
    """Return the path of Chromium: that of the environment variable, or one on the PATH. Raises BrowserError."""
    named = os.environ.get(VARIABLE)
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        where = f"{VARIABLE}={named} cannot be run" if named else "there is no Chromium or Chrome on the PATH"
        raise BrowserError(f"{where}; install it (apt-get install chromium), or name it: {VARIABLE}=/path/to/chrome")
    return found


class Tab:
    """One page of the browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._number = socket, 0

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the protocol and return its result. Raises BrowserError."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        end = time.monotonic() + ANSWER_S
        while True:
            try:
                answer = json.loads(self._socket.recv(timeout=max(end - time.monotonic(), 0.0)))
            except (TimeoutError, OSError, EOFError) as error:
                raise BrowserError(f"Chromium does not answer {method}") from error
            if answer.get("id") != self._number:
                continue
            if "error" in answer:
                raise BrowserError(f"Chromium: {method}: {answer['error'].get('message')}")
            return dict(answer["result"])

    def evaluate(self, script: str) -> Any:
        """Return the value of a script, awaited. Raises BrowserError if it fails."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            text = details.get("exception", {}).get("description", details.get("text", ""))
            raise BrowserError(f"the page: {text.splitlines()[0] if text else 'a script has failed'}")
        return answer["result"].get("value")

    def open(self, address: str, width: int, height: int) -> None:
        """Open an address in a window of this size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=address)

    def wait(self, condition: str) -> None:
        """Wait until a script is true. Raises BrowserError after two minutes."""
        end = time.monotonic() + ANSWER_S
        while not self.evaluate(condition):
            if time.monotonic() > end:
                raise BrowserError("the page does not become ready")
            time.sleep(0.05)

    def close_browser(self) -> None:
        """Ask the browser to end."""
        with suppress(OSError, WebSocketException):
            self._socket.send(json.dumps({"id": 0, "method": "Browser.close"}))

    def picture(self) -> str:
        """Return what the window shows, as PNG in base64."""
        return str(self.call("Page.captureScreenshot", format="png")["data"])


@contextmanager
def tab() -> Iterator[Tab]:
    """Start Chromium, and yield its page. Raises BrowserError."""
    with TemporaryFolder("film") as profile:
        command = [
            chromium(), "--headless=new", "--remote-debugging-port=0", f"--user-data-dir={profile}", "--no-first-run",
            "--hide-scrollbars", "--enable-unsafe-swiftshader", "--disable-background-networking", "about:blank",
        ]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            # Chromium refuses to run as root with its sandbox
            command.insert(1, "--no-sandbox")
        quiet = subprocess.DEVNULL
        environment = with_temporary_files_in(profile) if len(os.fsencode(profile)) <= LONGEST_PATH else None
        process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, env=environment)
        try:
            with connect(_address(process, profile), max_size=None, compression=None) as socket:
                opened = Tab(socket)
                try:
                    yield opened
                finally:
                    # asked like this, it removes its temporary files, which it leaves when it is terminated
                    opened.close_browser()
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(10.0)
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(10.0)
            if process.poll() is None:
                process.kill()
                process.wait()


def _address(process: subprocess.Popen[bytes], profile: Path) -> str:
    """Return the address of the page's socket, once the browser has started."""
    end, file = time.monotonic() + START_S, profile / "DevToolsActivePort"
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError, ValueError, IndexError, StopIteration, KeyError):
            port = int(file.read_text(encoding="ascii").splitlines()[0])
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=5.0) as answer:
                targets = json.loads(answer.read())
            return next(str(t["webSocketDebuggerUrl"]) for t in targets if t["type"] == "page")
        time.sleep(0.05)
    raise BrowserError(f"{process.args[0] if isinstance(process.args, list) else 'Chromium'} does not start")
