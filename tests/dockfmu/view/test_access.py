"""Access to the servers of the page: the token, the origin of requests, and the messages that the socket takes."""

import http.client
import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import psutil
import pytest

from dockfmu.view.commands import LONGEST
from tests.dockfmu.command_line import status_of
from tests.dockfmu.view.browser import Shown, eventually, going, quickly_drawn, served

pytestmark = pytest.mark.slow

PAGE = ("/", "/three.js", "/report.html", "/page/main.js", "/page/style.css")
REPLAY = (*PAGE, "/description", "/time", "/columns", "/other/description", "/other/time", "/other/columns")
LIVE = (*PAGE, "/description", "/time")


class Asker:
    """Client of one server, a program that knows its address."""

    def __init__(self, address: str) -> None:
        found = urlsplit(address)
        self.port, self.own = found.port, f"http://{found.netloc}"
        self.cookie = f"dockfmu_{found.port}={found.query.removeprefix('token=')}"

    def status(self, path: str, **headers: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        post = path.endswith("/columns")
        connection.request("POST" if post else "GET", path, b"[]" if post else None, headers)
        return connection.getresponse().status

    def socket(self, cookie: str | None = None, origin: str | None = None):
        """Open the socket of the page; the cookie and the origin are right unless others are given."""
        client = pytest.importorskip("websockets.sync.client")
        return client.connect(
            f"ws://127.0.0.1:{self.port}/live",
            additional_headers={"Cookie": self.cookie if cookie is None else cookie},
            origin=self.own if origin is None else origin,
            max_size=None,
        )


@pytest.fixture(scope="module")
def replayed(pair, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    assert status_of("run", pair, "--stop", 2, "-o", folder) == 0
    with served(folder, folder) as address:
        yield Asker(address)


@pytest.fixture(scope="module")
def operated(pair, tmp_path_factory):
    """Start a run that is paced to real time and takes commands; return its client."""
    folder = tmp_path_factory.mktemp("live")
    with going(pair, "--realtime", "--stop", 900, "-o", folder) as run:
        yield Asker(run.address)


@pytest.fixture(params=[*(("replayed", path) for path in REPLAY), *(("operated", path) for path in LIVE)], ids="-".join)
def route(request):
    server, path = request.param
    return request.getfixturevalue(server), path


def test_a_route_refuses_requests_without_the_token_and_of_a_foreign_origin(route):
    asker, path = route
    # the report of a run that goes on is still to be written
    good = (200, 204, 404) if path == "/report.html" else (200, 204)
    assert asker.status(path, Cookie=asker.cookie) in good
    assert asker.status(path, Cookie=asker.cookie, Origin=asker.own) in good
    name, _, token = asker.cookie.partition("=")
    for cookie in ("", f"{name}=", f"{name}={token[:-1]}", f"{name}={token}x", f"{name}=\u00e9", f"other={token}"):
        assert asker.status(path, Cookie=cookie) == 403
    assert asker.status(f"{path}?token=wrong") == 403
    assert asker.status(f"{path}?token=") == 403
    for origin in ("http://evil.example", "null", asker.own.replace("http", "https"), f"{asker.own}.evil.example"):
        assert asker.status(path, Cookie=asker.cookie, Origin=origin) == 403
    for host in ("evil.example", f"evil.example:{asker.port}", "0.0.0.0"):
        assert asker.status(path, Cookie=asker.cookie, Host=host) == 400


def test_the_socket_refuses_requests_without_the_token_and_of_a_foreign_origin(operated):
    exceptions = pytest.importorskip("websockets.exceptions")
    name, _, token = operated.cookie.partition("=")
    refused = [{"cookie": cookie} for cookie in ("", f"{name}=wrong", f"{name}={token}x", f"other={token}")]
    refused += [{"origin": origin} for origin in ("", "null", "http://evil.example", "https" + operated.own[4:])]
    for given in refused:
        with pytest.raises(exceptions.InvalidStatus) as error, operated.socket(**given):
            pass
        assert error.value.response.status_code == 403, given
    with operated.socket() as socket:
        assert "state" in json.loads(socket.recv(timeout=60))


def answer(socket, word: str, timeout: float = 60.0):
    """Return the next message of a socket that has this word."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        received = socket.recv(timeout=timeout)
        if isinstance(received, str) and word in (content := json.loads(received)):
            return content[word]
    raise AssertionError(f"no {word}")


WRONG = {
    "": "not JSON",
    "{": "not JSON",
    "[" * 60_000: "not JSON",
    "x" * (LONGEST + 1): "more than",
    '{"set":[]}': "take the controls first",
    '{"hold":true}': "take the controls first",
    '{"hold":true,"end":true}': "one word",
    '{"names":["nowhere"]}': "no numeric variable",
    '{"drawn":1e400}': "not a non-negative integer",
    '{"token":"x"}': "no message",
}


def ask(socket, text: str) -> None:
    """Send a text and wait for an answer that never comes."""
    socket.send(text)
    answer(socket, "never")


def test_the_socket_refuses_what_is_no_message_and_goes_on(operated):
    exceptions = pytest.importorskip("websockets.exceptions")
    with operated.socket() as good, operated.socket() as bad:
        for text, says in WRONG.items():
            bad.send(text)
            assert says in answer(bad, "refused"), text[:40]
        bad.send(b"\xff\x00" * 100)
        assert "not JSON" in answer(bad, "refused")
        # beyond any message: the connection is closed, maybe while it is sent; that of others is not
        with pytest.raises(exceptions.ConnectionClosed):
            ask(bad, "x" * (2 << 20))
        good.send('{"take":true}')
        while answer(good, "state")["operator"] != "you":
            pass
        for message, says in (
            ({"speed": 1e9}, "between"),
            ({"set": [[0, 0]]}, "not a list of controls"),
            ({"end": 1}, "not true"),
        ):
            good.send(json.dumps(message))
            assert says in answer(good, "refused"), message
        good.send('{"take":false}')
        assert answer(good, "state")["operator"] == ""
    assert operated.status("/description", Cookie=operated.cookie) == 200


BROWSER = """#!{python}
import pathlib, sys
pathlib.Path({said!r}).write_text(" ".join(sys.argv))
"""


@pytest.mark.parametrize("live", [False, True])
def test_no_argument_of_a_process_has_the_token_and_the_file_leads_a_browser_to_the_page(
    pair, browser, tmp_path, monkeypatch, live
):
    """Regression: the address with its token was an argument of the browser, which all users of a machine can read."""
    program, said, temporary = tmp_path / "browse", tmp_path / "said", tmp_path / "temporary"
    program.write_text(BROWSER.format(python=sys.executable, said=str(said)))
    program.chmod(0o755)
    temporary.mkdir()
    folder = tmp_path / "r"
    assert status_of("run", pair, "--stop", 0.1, "-o", folder, "--no-report") == 0
    what = ["run", pair, "--stop", "600", "--realtime", "--view", "-o", folder] if live else ["view", folder]
    environment = {**os.environ, "BROWSER": str(program), "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "dockfmu", *map(str, what)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        try:
            line = next(line for line in process.stdout if "token=" in line)
            threading.Thread(target=process.stdout.read, daemon=True).start()
            token = re.search(r"token=([\w-]+)", line)[1]
            eventually(lambda: said.exists() and said.read_text())
            # the program that stands for a browser ends after it has said its arguments
            eventually(lambda: len(psutil.Process(process.pid).children(recursive=True)) == live)
            running = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
            arguments = [*said.read_text().split(), *(word for one in running for word in one.cmdline())]
            assert not any(token in word for word in arguments)
            (opener,) = temporary.glob("dockfmu-page-*/content/dockfmu.html")
            assert stat.S_IMODE(opener.parents[1].stat().st_mode) == 0o700
            with quickly_drawn(browser) as context:
                Shown(context, opener.as_uri())
            # a server of a live run has seen the browser; the other one removes it at its end
            eventually(lambda: not live or not opener.exists())
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60.0)
    eventually(lambda: not list(temporary.glob("dockfmu-page-*")))
