"""What reaches the page of an operated run: bytes, requests and messages at random, of strangers and of operators.

    python -m tests.fuzz.station FIRST COUNT

starts one run that is paced to the clock, tries the seeds from FIRST on against it, and prints a line for each after
which an operator cannot fly, or a request has no answer. At the end nothing may have been said that is a traceback, and
the session is repeated from its log, bitwise.
"""

from __future__ import annotations

import base64
import http.client
import io
import json
import logging
import os
import random
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from dockfmu.declare.packages import bundle
from dockfmu.declare.plan import Plan
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.system import Structure
from tests.dockfmu.command_line import status_of
from tests.dockfmu.view.browser import going
from tests.fuzz.seeds import try_seeds

NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 0.5, 2, 1e308, 1e400, -1e400, 10**400, 2**53, 2**64, -0.0, 5e-324, True, None, "1", "", [], {}, [1], [[]],
    [[0, 1]], [[0, 0.5], [0, 2]], [[99, 1]], [[-1, 1]], [[0, 1, 2]], [["0", 1]], [[0.0, 1]], [[True, 1]], [[0, None]],
)  # fmt: skip
WORDS = ("drawn", "names", "take", "hold", "speed", "set", "", "__proto__", "end ", "x" * 5000, "\x1b[2J", "\ud800")
NAMES = ("craft.body.position[1]", "craft.control.force[1]", "nowhere", "", "\x00", "\ud800", "craft", "a" * 70_000)
TEXTS = (
    "", "{", "}", "null", "[]", "[" * 60_000, '{"a":' * 9000, "NaN", '{"speed":NaN}', '{"speed":Infinity}', "\ufeff{}",
    '{"hold":true,"hold":false}', '{"take":true}{"take":true}', "x" * 65_537, "\x00", '"\\ud800"', "1_0",
)  # fmt: skip
PATHS = (
    "/", "/live", "/description", "/time", "/columns", "//", "/%00", "/%ff", "/page/../../etc/passwd",
    "/page/%2e%2e/x", "/page/" + "a" * 5000, "/open", "/?token=%ff", "/?token=" + "x" * 5000, "/?token=x&token=y", "*", "http://evil/",
    "/\x7f",
)  # fmt: skip
HEADERS = (
    ("Host", "evil.example"), ("Host", ""), ("Host", "127.0.0.1:["), ("Host", "[::1"), ("Host", "localhost:99999999"),
    ("Origin", "null"), ("Origin", "http://[::"), ("Cookie", "a" * 20_000), ("Cookie", "=;=;\x7f"),
    ("Cookie", "\xff\xfe"),
    ("Content-Length", "-1"), ("Content-Length", "9" * 30), ("Transfer-Encoding", "chunked"), ("Range", "bytes=9-1"),
    ("Upgrade", "websocket"), ("Sec-WebSocket-Key", "x"), ("Sec-WebSocket-Version", "99"), ("If-Modified-Since", "x"),
    ("X" * 9000, "y"), ("Expect", "100-continue"), ("Connection", "Upgrade"),
)  # fmt: skip


def write_craft(folder: Path) -> Path:
    """Write a system of one rigid craft of 1000 kg in space, which an operator flies."""
    import dockfmu

    system = Structure("craft")
    inertia = {f"parameters.inertia[{k},{k}]": 1000.0 for k in (1, 2, 3)}
    system.add(
        "craft", dockfmu.build("Spacecraft"), {"parameters.mass": 1000.0, "parameters.push_thrust": 500.0, **inertia}
    )
    return bundle.write_bundle(system, Plan(step=0.01, stop=3600.0, record_every=1), "a craft", folder / "craft.ssp")


class Station:
    """The server of one run, as a program that knows its address sees it."""

    def __init__(self, address: str) -> None:
        found = urlsplit(address)
        assert found.port is not None
        self.port, self.own = found.port, f"http://{found.netloc}"
        self.cookie = f"dockfmu_{found.port}={found.query.removeprefix('token=')}"

    def page(self) -> ClientConnection:
        """Open the socket of the page, with the right token."""
        place, cookie = f"ws://127.0.0.1:{self.port}/live", {"Cookie": self.cookie}
        return connect(place, additional_headers=cookie, origin=self.own, max_size=None, open_timeout=20)  # type: ignore[arg-type]

    def handshake(self, rng: random.Random, *, right: bool) -> bytes:
        """Return the request of a socket, with the right token or a wrong one."""
        cookie = self.cookie if right else rng.choice(["", "x", self.cookie + "x", self.cookie[:-1]])
        key = base64.b64encode(rng.randbytes(16)).decode()
        lines = (
            "GET /live HTTP/1.1", f"Host: 127.0.0.1:{self.port}", "Upgrade: websocket", "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", f"Origin: {self.own}", f"Cookie: {cookie}",
        )  # fmt: skip
        return "\r\n".join([*lines, "", ""]).encode()

    def check(self) -> Iterator[str]:
        """Yield what does not work for the owner of the run: to see it, to take the controls, and to fly."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", "/description", headers={"Cookie": self.cookie})
            if (status := connection.getresponse().status) != 200:
                yield f"the description has status {status}"
        except OSError as error:
            yield f"no description: {error}"
        finally:
            connection.close()
        try:
            with self.page() as page:
                page.send('{"take":true}')
                _await(page, lambda news: news.get("state", {}).get("operator") == "you")
                page.send('{"hold":false}')
                page.send('{"speed":1}')
                page.send('{"names":["craft.control.force[1]"]}')
                page.send('{"set":[[99,0]]}')
                _await(page, lambda news: "no control 99" in news.get("refused", ""))
                page.send('{"take":false}')
        except (OSError, TimeoutError, WebSocketException) as error:
            yield f"the operator cannot fly: {type(error).__name__}: {str(error)[:90]}"


def _await(page: ClientConnection, wanted: Any) -> None:
    while True:
        received = page.recv(timeout=20)
        if isinstance(received, str) and wanted(json.loads(received)):
            return


def _message(rng: random.Random) -> str | bytes:
    """Return a message of a page: right, nearly right, or none."""
    if rng.random() < 0.2:
        return rng.choice([*TEXTS, rng.randbytes(200)])
    if rng.random() < 0.3:
        names = rng.choices(NAMES, k=rng.choice([0, 1, 3, 5000]))
        return json.dumps({"names": names})
    content = {rng.choice(WORDS): rng.choice(NUMBERS) for _ in range(rng.choice([1, 1, 1, 2]))}
    return json.dumps(content)


def _operators(station: Station, rng: random.Random) -> str:
    """Send messages from one or two pages, in any order; leave them open, closed or reset."""
    with ExitStack() as opened:
        pages = [opened.enter_context(station.page()) for _ in range(rng.choice([1, 2]))]
        if rng.random() < 0.7:
            rng.choice(pages).send('{"take":true}')
        for _ in range(rng.choice([1, 10, 60])):
            # one that is told off for a message of a million characters has gone
            with suppress(OSError, WebSocketException):
                rng.choice(pages).send(_message(rng))
        if rng.random() < 0.3:
            with suppress(OSError, WebSocketException):
                pages[0].send("x" * (2 << 20))
        for page in pages:
            if rng.random() < 0.5:
                page.socket.close()
    return f"{len(pages)} operators"


def _frames(station: Station, rng: random.Random) -> str:
    """Send frames that no library writes."""
    right = rng.random() < 0.7
    frames = [
        b"\x81\x05hello", b"\x81\xfe", b"\x81\xff" + b"\xff" * 8, b"\x81\xff" + b"\x7f" + b"\xff" * 7 + b"\0" * 4,
        b"\x01\x81\0\0\0\0{", b"\x80\x81\0\0\0\0}", b"\x83\x80\0\0\0\0", b"\xf1\x80\0\0\0\0", b"\x89\xff" + b"\0" * 12,
        b"\x88\x82\0\0\0\0\x03\xe8", b"\x88\x81\0\0\0\0\x03", b"\x88\x82\0\0\0\0\0\0", b"\x81\x82\0\0\0\0\xff\xfe",
        b"\x8a\x80\0\0\0\0" * 200, b"\x89\x80\0\0\0\0" * 2000, b"\x01\x80\0\0\0\0" + b"\0\x80\0\0\0\0" * 2000,
        rng.randbytes(300),
    ]  # fmt: skip
    with socket.create_connection(("127.0.0.1", station.port), timeout=5) as stranger, suppress(OSError):
        stranger.sendall(station.handshake(rng, right=right))
        if rng.random() < 0.7:
            stranger.recv(4096)
        for _ in range(rng.choice([1, 3])):
            stranger.sendall(rng.choice(frames))
        if rng.random() < 0.5:
            stranger.settimeout(0.2)
            stranger.recv(1 << 16)
    return f"frames, {'right' if right else 'wrong'} token"


def _requests(station: Station, rng: random.Random) -> str:
    """Send a request that is wrong in some way, with or without the token."""
    path, method = (
        rng.choice(PATHS),
        rng.choice(["GET", "GET", "POST", "HEAD", "OPTIONS", "X" * 300, "PRI", "\x16\x03"]),
    )
    lines = [f"{method} {path} HTTP/{rng.choice(['1.1', '1.1', '1.0', '2.0', '9', ''])}"]
    given = dict([("Host", f"127.0.0.1:{station.port}"), *rng.sample(HEADERS, rng.choice([0, 1, 2, 4]))])
    if rng.random() < 0.5:
        given.setdefault("Cookie", station.cookie)
    lines += [f"{name}: {value}" for name, value in given.items()]
    data = "\r\n".join([*lines, "", ""]).encode("latin-1") + rng.choice(
        [b"", b"[]", rng.randbytes(500), b"ffffffff\r\n"]
    )
    with socket.create_connection(("127.0.0.1", station.port), timeout=5) as stranger, suppress(OSError):
        stranger.sendall(data[: rng.choice([len(data)] * 3 + [len(data) // 2])])
        if rng.random() < 0.7:
            stranger.settimeout(1.0)
            stranger.recv(1 << 16)
    return f"{method[:8]} {path[:30]} with {', '.join(f'{name[:20]}: {value[:20]}' for name, value in given.items())}"


def trial(station: Station, seed: int) -> tuple[list[str], str]:
    """Attack a station once; return what no longer works, and what was sent."""
    rng = random.Random(seed)
    attack = rng.choice([_operators, _frames, _requests, _requests])
    changed = attack(station, rng)
    return list(station.check()), changed


@contextmanager
def flown(folder: Path, failures: list[str]) -> Iterator[Station]:
    """Operate a craft, add to `failures` what is wrong when the session has ended, and repeat it from its log."""
    craft, first, again = write_craft(folder), folder / "first", folder / "again"
    with going(craft, "--realtime", "--no-report", "-o", first) as run:
        station = Station(run.address)
        yield station
        with station.page() as page:
            page.send('{"take":true}')
            page.send('{"end":true}')
            if run.end(60.0) != 1 or "ended by the operator" not in run.said:
                failures.append(f"the session ends with {run.process.returncode}: {run.said[-3000:]}")
    if "Traceback" in run.said or "\x1b" in run.said or "Exception" in run.said or len(run.said) > 20_000:
        failures.append(f"it said: {run.said[-3000:]}")
    with read_results(first / "results.h5") as one:
        command = ["run", craft, "--inputs", first / "inputs.jsonl", "--stop", repr(float(one.time[-1])), "--no-report"]
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            status = status_of(*command, "-o", again)
        if status not in (0, 3):
            failures.append("the log cannot be repeated")
            return
        with read_results(again / "results.h5") as two:
            if not np.array_equal(one.time, two.time):
                failures.append("the session is not repeated: other times")
                return
            differ = [n for n in one.variables if n in two and not np.array_equal(one[n], two[n], equal_nan=True)]
            if differ:
                failures.append(f"the session is not repeated: {differ[:3]} differ")


def run(first: int, count: int) -> int:
    """Try seeds; print what fails and a summary; return the number of seeds that failed."""
    # a socket that is closed below the library is a traceback in its log
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        with flown(Path(scratch), failures) as station:
            failed = try_seeds(first, count, Path(scratch) / "seeds", lambda _, seed: trial(station, seed))
        for failure in failures:
            print(failure)
    return failed + len(failures)


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]))))
