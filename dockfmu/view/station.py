"""The run's side of a live view: rows go to the server of the page, and an operator's commands come back."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dockfmu.base.errors import FAILED
from dockfmu.base.processes import python_command
from dockfmu.declare.plan import Plan
from dockfmu.master.drivers.driver import Driver
from dockfmu.master.drivers.operator import LOOK_S, Operator
from dockfmu.master.observers.feed import Feed
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.pacing import Pacing
from dockfmu.master.requests import Pace
from dockfmu.master.result import Result
from dockfmu.master.system import Structure
from dockfmu.report.files import INPUTS
from dockfmu.view.address import ViewError, address, close_opening, listen, new_token, open_in_browser
from dockfmu.view.commands import CENTRED
from dockfmu.view.scenes import Scenes, operated_inputs
from dockfmu.watch.live import Live


class ViewServerError(ViewError):
    """The server of the page cannot be started."""

    exit_status = FAILED


class LiveView(Feed):
    """A feed to the server of the page, which is started in a separate process.

    Parameters
    ----------
    folder, file : Path
        Folder of results, and the recording in it.
    live : Live
        Port of the page, whether to open it, and speed of the run.
    attributes, more
        As for `Feed`.
    plan : Plan
        Gives the events and the recording interval of the feed.
    announce : callable
        Called with the address of the page.
    """

    def __init__(
        self,
        folder: Path,
        file: Path,
        live: Live,
        attributes: Mapping[str, str],
        plan: Plan,
        more: Sequence[str],
        announce: Callable[[str], None],
    ) -> None:
        self.link, self._theirs = socket.socketpair()
        super().__init__(self.link, attributes, more=more, every=plan.record_every, events=plan.events)
        self._about = {
            "token": new_token(),
            "folder": str(folder.absolute()),
            "file": str(file.absolute()),
            "station": live.realtime is not None,
            "speed": live.realtime or 0.0,
        }
        self._port = live.view or 0
        self._server: subprocess.Popen[bytes] | None = None
        self._announce, self._browser = announce, live.browser
        self._opening: Path | None = None

    def open(self) -> None:
        """Listen, start the server, and announce its address; a browser that comes early waits for it."""
        with listen(self._port) as listening, self._theirs:
            passed = (self._theirs.fileno(), listening.fileno())
            command = python_command("-m", "dockfmu.view.live", *map(str, passed))
            self.link.sendall(json.dumps(self._about).encode() + b"\n")
            try:
                # a separate session, because Ctrl-C is for the run; no streams of the run, which would stay open
                self._server = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=passed,
                    start_new_session=True,
                )
            except OSError as error:
                raise ViewServerError(f"the server of the page cannot be started ({error})") from error
            page = address(listening.getsockname()[1], str(self._about["token"]))
            self._announce(page)
            if self._browser:
                self._opening = open_in_browser(page)
                # the server lives longer than the run, and knows when the browser has come
                self.link.sendall(json.dumps({"opening": str(self._opening)}).encode() + b"\n")

    def end(self, result: Result) -> None:
        """Complete the result, with a warning if the server has ended."""
        super().end(result)
        if self._server is not None and self._server.poll() is not None:
            result.warnings.append(f"view: the server of the page has ended with status {self._server.returncode}")
            close_opening(self._opening)
        self._theirs.close()
        self.link.close()


def watchers(
    view: LiveView, live: Live, structure: Structure, plan: Plan, scenes: Scenes, folder: Path
) -> tuple[list[Driver], list[Observer]]:
    """Return the drivers and observers of a run that is watched, and operated if it is paced to real time."""
    if live.realtime is None:
        return [], [view]
    every = max(1, round(LOOK_S / plan.step))
    pace = Pace(live.realtime)
    controls = [control for scene in scenes.elements.values() for control in scene["controls"]]
    operator = Operator(
        view.link,
        operated_inputs(structure),
        centred=[control["variable"] for control in controls if control["control"] in CENTRED],
        buttons=[control["variable"] for control in controls if control["control"] == "button"],
        pace=pace,
        log=folder / INPUTS,
        every=every,
        answer=view.put,
    )
    # the pacing sees a step last: the work of the others then counts as part of the step
    return [operator], [view, Pacing(policy=live.late, chunk=every, pace=pace)]
