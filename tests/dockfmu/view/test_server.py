"""The server of the page: who is answered, what is refused, and what the command says."""

import http.client
import json
import resource
import socket
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection as Client
from urllib.parse import urlsplit

import numpy as np
import pytest

from dockfmu.view.export import MODULES, PAGE, kept_rows
from dockfmu.view.recording import pack_column
from tests.dockfmu.command_line import dockfmu, status_of
from tests.dockfmu.view.browser import served


@pytest.fixture(scope="module")
def folder(pair, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    assert status_of("run", pair, "--stop", 2, "-o", folder) == 0
    return folder


@pytest.fixture(scope="module")
def address(folder):
    with served(folder) as found:
        yield urlsplit(found)


@pytest.fixture
def ask(address):
    """A function that asks the server; with the token in a cookie unless another is given."""

    def answer(path, body=None, method=None, cookie=None, host=None):
        token = address.query.removeprefix("token=")
        headers = {
            "Cookie": f"dockfmu_{address.port}={token}" if cookie is None else cookie,
            "Host": host or address.netloc,
        }
        connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=60)
        connection.request(method or ("GET" if body is None else "POST"), path, body, headers)
        response = connection.getresponse()
        return response.status, response.read(), response.headers

    return answer


PATHS = ("/", "/description", "/time", "/columns", "/report.html", "/three.js", "/page/main.js", "/page/style.css")


@pytest.mark.parametrize("path", PATHS)
def test_every_route_asks_for_the_token(ask, path):
    assert ask(path, cookie="")[0] == 403
    assert ask(path, cookie="dockfmu_1=x")[0] == 403
    assert ask(f"{path}?token=wrong", cookie="")[0] == 403
    assert ask(path, host="evil.example")[0] == 400
    status, _, headers = ask(path)
    assert status == (405 if path == "/columns" else 200)
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src" in headers["Content-Security-Policy"]


def test_the_token_goes_from_the_address_to_a_cookie(ask, address):
    status, _, headers = ask(f"/?{address.query}", cookie="")
    assert (status, headers["Location"]) == (303, "/")
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=strict" in headers["Set-Cookie"]


def test_columns_are_those_of_the_recording(ask, folder):
    from dockfmu.master.observers.recording.results import read_results

    description = json.loads(ask("/description")[1])
    with read_results(folder / "results.h5") as results:
        assert np.array_equal(np.frombuffer(ask("/time")[1], "<f8"), results.time)
        names = [variable["name"] for variable in description["variables"]]
        assert names == results.variables
        answer, place = ask("/columns", json.dumps(names))[1], 0
        for name, variable in zip(names, description["variables"], strict=True):
            column, used = unpacked(answer[place:], variable["size"], len(results.time))
            assert np.array_equal(column, results[name].astype(column.dtype), equal_nan=True)
            place += used
        assert place == len(answer)


def unpacked(data, size, rows):
    """Return a column and the bytes that it takes."""
    runs = int.from_bytes(data[:4], "little")
    if not runs:
        return np.frombuffer(data, f"<f{size}", rows, 8), 8 + -(-size * rows // 8) * 8
    starts, place = np.frombuffer(data, "<u4", runs, 8), 8 + -(-4 * runs // 8) * 8
    values = np.frombuffer(data, f"<f{size}", runs, place)
    return np.repeat(values, np.diff([*starts, rows])), place + -(-size * runs // 8) * 8


@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
@pytest.mark.parametrize("values", [[1.0], [0.0] * 9, [0.0, -0.0] + [0.0] * 30, [np.nan] * 20, list(range(7))])
def test_columns_are_packed_without_loss(values, dtype):
    column = np.array(values, dtype)
    data = pack_column(column)
    found, used = unpacked(data, column.itemsize, len(column))
    assert found.tobytes() == column.tobytes()
    assert used == len(data)
    assert len(data) % 8 == 0


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('["nowhere"]', "no numeric variable 'nowhere'"), ("{", "not JSON"), ("3", "list of names"), ("[3]", "a list"),
        ("[" * 100_000, "not JSON"), ("x" * 2_000_000, "more than"),
    ],
)  # fmt: skip
def test_wrong_requests_are_refused(ask, body, says):
    status, text, _ = ask("/columns", body)
    assert status == 400
    assert says in text.decode()


@contextmanager
def few_files(count):
    """Let processes that are started within have this many open files at most."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_strangers_who_hold_connections_open_keep_nobody_out(folder):
    """Another user opens more connections than a process may have files, and requests that break off or are none."""
    said = []
    with ExitStack() as stack:
        with few_files(256):
            address = urlsplit(stack.enter_context(served(folder, said=said)))
        cookie = f"dockfmu_{address.port}={address.query.removeprefix('token=')}"

        def connection():
            return stack.enter_context(socket.create_connection(("127.0.0.1", address.port), timeout=60))

        def answered(client):
            client.request("GET", "/time", None, {"Cookie": cookie})
            answer = client.getresponse()
            answer.read()
            return answer.status == 200

        known, late = (stack.enter_context(closing(Client("127.0.0.1", address.port, timeout=60))) for _ in range(2))
        assert answered(known)
        place = known.sock.getsockname()
        half = f"POST /columns HTTP/1.1\r\nHost: {address.netloc}\r\nCookie: {cookie}\r\nContent-Length: 99\r\n\r\n["
        for text in (half, "no request\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", address.port), timeout=60) as broken:
                broken.sendall(text.encode())
        strangers = []
        for _ in range(400):
            strangers.append(connection())
            if len(strangers) % 25 == 0:
                # a connection that is not used for 5 s is closed
                assert answered(known)
        assert answered(late)
        assert answered(known)
        assert known.sock.getsockname() == place
        # the first of those who have shown no token has lost its place
        with suppress(ConnectionResetError):
            assert strangers[0].recv(1) == b""
    assert said == [""]


@pytest.mark.parametrize("path", ["/page/../recording.py", "/page/%2e%2e/server.py", "/etc/passwd", "/page/"])
def test_no_other_file_is_served(ask, path):
    assert ask(path)[0] == 404


def test_wrong_commands_say_what_is_wrong(folder, tmp_path):
    for arguments, says in (
        ((tmp_path / "nowhere",), "there is no such file"),
        ((folder, "--signals", "first"), "--signals goes with --export"),
        ((folder, "--export", tmp_path / "x.html", "--signals", "firts.*"), "holds no 'firts.*'"),
    ):
        done = dockfmu("view", *arguments)
        assert done.returncode == 2
        assert says in done.stderr


def test_a_package_is_shown_in_its_initial_state(pair):
    with served(pair) as address:
        found = urlsplit(address)
        cookie = f"dockfmu_{found.port}={found.query.removeprefix('token=')}"
        connection = http.client.HTTPConnection("127.0.0.1", found.port, timeout=60)
        connection.request("GET", "/description", headers={"Cookie": cookie})
        description = json.loads(connection.getresponse().read())
    assert set(description["scenes"]) == {"first", "second"}
    assert description["rows"] == 2


def test_rows_around_events_are_kept():
    time = np.arange(0.0, 10.0, 0.001)
    rows = kept_rows(time, [5.0])
    assert rows[0] == 0
    assert rows[-1] == len(time) - 1
    assert set(np.flatnonzero((time >= 4.0) & (time <= 7.0))) <= set(rows)
    assert np.diff(time[rows]).max() < 0.0501
    assert len(rows) < 3001 + 7 / 0.05 + 3


def test_modules_have_no_name_in_common():
    """They become one module in the exported file."""
    import re

    found = {}
    for module in MODULES:
        text = (PAGE / module).read_text()
        for name in re.findall(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", text, re.MULTILINE):
            assert name not in found, f"{name} in {module} and {found[name]}"
            found[name] = module
    assert {path.name for path in PAGE.glob("*.js")} == {*MODULES, "served.js", "live.js", "station.js", "film.js"}
