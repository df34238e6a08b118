"""Soak: an hour in real time with everything attached to a run that can be, from outside, as a user would.

`python -m tests.soak.station --minutes 60 -o build/soak` starts `dockfmu run` with the page, the stream and the port
for inputs. One program flies the craft over the page's socket ten times a second and draws what it gets, one reads the
stream, one sends datagrams, of which a few are malformed; the memory of the run and of its server is read every ten
seconds. At the end it prints what was late, lost, refused, and how the memory went. It is no test: it takes the time of
the clock.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psutil
from websockets.sync.client import connect

from dockfmu.master.observers.stream import subscribe

SYSTEM = (
    "atv_probe_cone",
    *("--set", "initial_conditions.start_gap=1"),
    *("--set", "initial_conditions.velocity=0,0,0"),
    *("--step", "10ms"),
)
"""A craft of 20 t that stands a metre in front of the port, and that a pilot holds there against disturbances."""
FORCES = [f"station.control.force[{k}]" for k in (1, 2, 3)]
"""Inputs of the datagrams; the audit counts their work."""
PACKETS_PER_S, MALFORMED = 50, 100
"""Datagrams a second, and of how many one is malformed."""
STICKS_S, MEMORY_S = 0.1, 10.0
DISTURBANCE_N, PERIOD_S = 400.0, 40.0


class Session:
    """The run and what is attached to it."""

    def __init__(self, folder: Path, stop: float) -> None:
        self.folder, self.stop = folder, stop
        self.over = threading.Event()
        self.faults: list[str] = []
        self.column: dict[str, int] = {}
        self.row: list[float] = []
        self.lags: list[float] = []
        self.sent_by_then = 0
        """Datagrams that had been sent when the newest row came."""
        self.rows = self.rows_dropped = self.sent = self.bad = self.commands = self.drawn = self.restarts = 0
        self.refusals: list[str] = []
        self.memory: list[tuple[float, int, int]] = []

    def vector(self, name: str) -> np.ndarray:
        """Return a vector in the newest row of the stream."""
        return np.array([self.row[self.column[f"{name}[{k}]"]] for k in (1, 2, 3)])

    # --- the three neighbours ---------------------------------------------------------------------------------------

    def read_stream(self, port: int) -> None:
        """Count the rows of the stream, and note by how much each comes later than the earliest did."""
        for message in subscribe(port):
            if "names" in message:
                self.column = {name: k for k, name in enumerate(message["names"])}
            elif "values" in message:
                self.row = message["values"]
                self.rows += 1
                self.sent_by_then = self.sent
                self.lags.append(time.monotonic() - message["t"])
            elif "dropped" in message:
                self.rows_dropped += message["dropped"]
            elif "status" in message:
                self.over.set()

    def send_inputs(self, port: int) -> None:
        """Send a slow disturbing force as datagrams."""
        began = time.monotonic()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            while not self.over.wait(max(0.0, began + self.sent / PACKETS_PER_S - time.monotonic())):
                phase = 2.0 * np.pi * self.sent / PACKETS_PER_S / PERIOD_S
                values = DISTURBANCE_N * np.sin(phase + np.arange(3.0))
                data = json.dumps(dict(zip(FORCES, values.tolist(), strict=True))).encode()
                if self.sent % MALFORMED == MALFORMED - 1:
                    data = data[: len(data) // 2]
                    self.bad += 1
                sender.sendto(data, ("127.0.0.1", port))
                self.sent += 1

    def fly(self, address: str) -> None:
        """Hold the craft where it is, over the socket of the page."""
        place = urlsplit(address)
        cookie = f"dockfmu_{place.port}={place.query.removeprefix('token=')}"
        asking = http.client.HTTPConnection("127.0.0.1", place.port or 0, timeout=60)
        asking.request("GET", "/description", headers={"Cookie": cookie})
        controls = json.loads(asking.getresponse().read())["controls"]
        place_of = {control["variable"]: k for k, control in enumerate(controls) if control["control"] == "stick"}
        sticks = [place_of[f"chaser.control.{kind}[{k}]"] for kind in ("force", "torque") for k in (1, 2, 3)]
        url = f"ws://127.0.0.1:{place.port}/live"
        headers = {"Cookie": cookie}
        with connect(url, additional_headers=headers, origin=f"http://{place.netloc}", max_size=None) as page:  # type: ignore[arg-type]
            page.send(json.dumps({"names": [f"mechanism.docking.position[{k}]" for k in (1, 2, 3)]}))
            page.send(json.dumps({"take": True}))
            start, turned, due = None, np.zeros(3), time.monotonic()
            while not self.over.is_set():
                due += STICKS_S
                while (left := due - time.monotonic()) > 0.0:
                    try:
                        self._draw(page, page.recv(timeout=left))
                    except TimeoutError:
                        break
                if not self.row:
                    continue
                at, speed = self.vector("mechanism.docking.position"), self.vector("mechanism.docking.velocity")
                turning = self.vector("chaser.body.angular_velocity")
                start, turned = at if start is None else start, turned + STICKS_S * turning
                demand = np.concatenate([-4.0 * (at - start) - 14.0 * speed, -0.2 * turned - 9.0 * turning])
                deflections = np.clip(demand, -1.0, 1.0).tolist()
                page.send(json.dumps({"set": [list(pair) for pair in zip(sticks, deflections, strict=True)]}))
                self.commands += 1

    def _draw(self, page: Any, message: str | bytes) -> None:
        """Confirm a block of rows as drawn; note what was refused."""
        if isinstance(message, str):
            news = json.loads(message)
            self.restarts += "restart" in news
            if "refused" in news:
                self.refusals.append(news["refused"])
            return
        head = json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
        if "block" in head:
            self.drawn += head["rows"]
            page.send(json.dumps({"drawn": head["block"]}))

    def watch_memory(self, run: psutil.Process) -> None:
        """Note the memory of the run and of the server of its page."""
        began = time.monotonic()
        while not self.over.wait(MEMORY_S):
            try:
                children = sum(child.memory_info().rss for child in run.children())
                self.memory.append((time.monotonic() - began, run.memory_info().rss, children))
            except psutil.NoSuchProcess:
                return

    def guarded(self, work: Any, *arguments: Any) -> threading.Thread:
        """Start a neighbour in a thread; what it raises before the run is over is a fault of the session."""

        def go() -> None:
            try:
                work(*arguments)
            except Exception as error:
                if not self.over.is_set():
                    self.faults.append(f"{work.__name__}: {type(error).__name__}: {error}")

        thread = threading.Thread(target=go, daemon=True)
        thread.start()
        return thread

    def last(self) -> float:
        """Make the run with all its neighbours, and return its exit status."""
        stream, receive = _free_port(socket.SOCK_STREAM), _free_port(socket.SOCK_DGRAM)
        command = [sys.executable, "-m", "dockfmu", "run", *SYSTEM, "--stop", str(self.stop), "--no-report"]
        # a late step does not move the clock: what is late is late by it
        command += [
            "--realtime",
            "--late",
            "skip",
            "--view",
            "--no-browser",
            "--stream",
            str(stream),
            "--receive",
            str(receive),
        ]
        command += ["-o", str(self.folder)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            said: list[str] = []
            address = ""
            for line in process.stderr:
                said.append(line)
                if found := re.search(r"http://127\S+", line):
                    address = found[0]
                if " running to " in line:
                    break
            if not address:
                raise SystemExit("".join(said))
            self.guarded(process.stderr.read)
            self.guarded(self.read_stream, stream)
            self.guarded(self.send_inputs, receive)
            self.guarded(self.fly, address)
            self.guarded(self.watch_memory, psutil.Process(process.pid))
            # the end of the stream is the end of the run: what is sent afterwards is not lost by it
            status = process.wait()
            self.over.set()
        return status

    def report(self, status: int) -> dict[str, Any]:
        """Return the figures of the session."""
        summary = json.loads((self.folder / "summary.json").read_text())
        lag = np.array(self.lags) - min(self.lags, default=0.0)
        memory = np.array(self.memory or [(0.0, 0, 0)])
        # the run frees what it has when it ends, which the last samples may see
        memory = memory[memory[:, 0] < 0.99 * memory[-1, 0]] if len(memory) > 2 else memory
        quarters = [memory[int(share * (len(memory) - 1))] for share in (0.25, 0.5, 0.75, 1.0)]
        found: dict[str, Any] = {
            "status": status,
            "outcome": summary["outcome"],
            "model s": summary["t_end"],
            "load of the machine": os.getloadavg(),
            "late steps": f"{summary['realtime']['overruns']} of {summary['realtime']['steps']}",
            "latest step, ms": 1e3 * summary["realtime"]["late_max_s"],
            "work of a step, ms, mean / 99 % / worst": _triple(summary["realtime"], "step"),
            "late end of a wait, ms, mean / 99 % / worst": _triple(summary["realtime"], "jitter"),
            "stream: rows, and of these dropped": f"{self.rows}, {self.rows_dropped}",
            "stream: lag of a row, ms, median / 99 % / worst": _quantiles(lag),
            "datagrams sent by the last row / in all / read": f"{self.sent_by_then} / {self.sent} / "
            f"{summary['network']['datagrams']}",
            "malformed / refused": f"{self.bad} / {summary['network']['datagrams_refused']}",
            "commands of the pilot / refused": f"{self.commands} / {len(self.refusals)}",
            "rows drawn by the page / dropped": f"{self.drawn} / {summary['network']['view_rows_dropped']}",
            "memory of the run, MB, at each quarter": " / ".join(f"{found[1] / 1e6:.1f}" for found in quarters),
            "memory of the page's server, MB": " / ".join(f"{found[2] / 1e6:.1f}" for found in quarters),
            "recording, MB": (self.folder / "results.h5").stat().st_size / 1e6,
            "warnings": summary["warnings"],
            "faults": self.faults,
        }
        return found


def _free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _triple(realtime: dict[str, float], name: str) -> str:
    return " / ".join(f"{1e3 * realtime.get(f'{name}_{part}_s', 0.0):.3g}" for part in ("mean", "99", "max"))


def _quantiles(values: np.ndarray) -> str:
    return " / ".join(f"{1e3 * value:.3g}" for value in np.quantile(values, [0.5, 0.99, 1.0])) if len(values) else ""


def main() -> int:
    """Make the soak and print its figures; exit with 1 if anything but lateness went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="duration; default: 60")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/soak"), help="default: build/soak")
    chosen = parser.parse_args()
    session = Session(chosen.output, 60.0 * chosen.minutes)
    began = time.monotonic()
    found = session.report(int(session.last()))
    found["clock, s"] = time.monotonic() - began
    (chosen.output / "soak.json").write_text(json.dumps({**found, "memory": session.memory}, indent=1))
    for name, value in found.items():
        print(f"{name}: {value}")
    return 1 if session.faults or session.rows_dropped or session.refusals else 0


if __name__ == "__main__":
    sys.exit(main())
