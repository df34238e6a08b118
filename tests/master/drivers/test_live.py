"""Values streamed from a run while it steps, and inputs that it receives."""

import json
import socket
import threading
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dockfmu.master.drivers.datagrams import DatagramError, Datagrams, decode
from dockfmu.master.drivers.driver import Function
from dockfmu.master.errors import MasterError, StructureError
from dockfmu.master.fmi.variables import Variable
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.pacing import Pacing
from dockfmu.master.observers.stream import Stream, subscribe
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.sockets import BURST_S, SHARE, Allowance
from dockfmu.master.system import Structure


def test_a_subscriber_gets_the_description_all_rows_and_the_end(alone):
    stream = Stream(variables=["a.y[1]", "a.through"])
    stream.open()
    messages = []
    thread = threading.Thread(target=lambda: messages.extend(subscribe(stream.port)))
    thread.start()

    class WaitForIt(Observer):
        def begin(self, run):
            while not stream._subscribers:
                stream._accept_subscribers()

    result = CoSimulation(alone, Schedule(step=0.1, stop=2.0), observers=[stream, WaitForIt()]).run()
    thread.join(60.0)
    assert result.warnings == []
    about, *rows, end = messages
    assert about == {
        "system": "alone",
        "start": 0.0,
        "stop": 2.0,
        "names": ["a.y[1]", "a.through"],
        "units": ["m", "m"],
    }
    assert [row["t"] for row in rows] == pytest.approx([0.1 * k for k in range(21)])
    assert all(len(row["values"]) == 2 for row in rows)
    assert (end["status"], end["t_end"]) == ("completed", 2.0)


def test_a_subscriber_may_come_late_and_leave_early(alone):
    stream = Stream(variables=["a.y[1]"])
    with CoSimulation(alone, Schedule(step=0.1), observers=[stream]).open() as simulation:
        simulation.advance(1.0)
        late = socket.create_connection(("127.0.0.1", stream.port))
        simulation.advance(2.0)
        lines = late.makefile("rb")
        assert json.loads(lines.readline())["names"] == ["a.y[1]"]
        assert json.loads(lines.readline())["t"] > 1.0
        lines.close()
        late.close()
        simulation.advance(4.0)
        simulation.advance(6.0)
        assert stream._subscribers == []
    assert simulation.result.status == "completed"


def test_a_slow_subscriber_misses_rows_and_is_told_how_many(alone, monkeypatch):
    """A subscriber that reads only after the run loses the rows that neither the network nor LIMIT buffers."""
    monkeypatch.setattr("dockfmu.master.observers.stream.LIMIT", 1 << 14)
    stream = Stream(variables=["a.y[1]", "a.through"])
    found = []
    with CoSimulation(alone, Schedule(step=1e-3), observers=[stream]).open() as simulation, socket.socket() as idle:
        idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
        idle.connect(("127.0.0.1", stream.port))
        simulation.advance(0.001)
        subscriber = stream._subscribers[0]
        subscriber._connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 14)
        simulation.advance(10.0)
        reader = threading.Thread(target=lambda: found.extend(json.loads(line) for line in idle.makefile("rb")))
        reader.start()

        def drain():
            while subscriber._waiting:
                subscriber.send()

        # room again: rows get through, after the count of those that did not
        drain()
        simulation.advance(10.01)
        drain()
        subscriber._connection.shutdown(socket.SHUT_WR)
        reader.join(60.0)
    dropped = sum(message.get("dropped", 0) for message in found)
    rows = [message["t"] for message in found if "t" in message]
    assert dropped > 1000
    assert rows == sorted(rows)
    # all but the row at the start, which came before the subscriber
    assert len(rows) + dropped == 10_010
    assert f"{dropped} rows were dropped" in simulation.result.warnings[-1]


def test_values_that_json_has_no_words_for_are_null(lag):
    system = Structure("bad")
    system.add("a", lag, {"nan_time": 0.5})
    stream = Stream(variables=["a.y[1]"])
    stream.open()
    connection = socket.create_connection(("127.0.0.1", stream.port))
    CoSimulation(system, Schedule(step=0.1, stop=1.0), observers=[stream]).run()
    with connection, connection.makefile("rb") as lines:
        messages = [json.loads(line) for line in lines]
    assert [message["values"] for message in messages if "t" in message][-1] == [None]


def test_ports_are_held_while_a_run_lasts_and_those_that_cannot_be_had_are_named(alone):
    """If one port is refused, the others are released, before any FMU is loaded."""
    first, driver, late = Stream(), Datagrams(0, ["a.u[1]"]), Stream()
    with CoSimulation(alone, Schedule(step=0.1), observers=[first], drivers=[driver]).open() as simulation:
        first.open()
        simulation.advance(0.1)
        for watchers, named in (
            ({"observers": [late, Stream(first.port)]}, f"stream: port {first.port}"),
            ({"observers": [late], "drivers": [Datagrams(driver.port, [])]}, f"inputs: port {driver.port}"),
        ):
            for begin in (CoSimulation.run, CoSimulation.open):
                other = CoSimulation(alone, Schedule(step=0.1, stop=1.0), **watchers)
                with pytest.raises(MasterError, match=f"{named} of 127.0.0.1 is not available"):
                    begin(other)
                with pytest.raises(MasterError, match="nothing streams on port"):
                    next(subscribe(late.port))
    CoSimulation(
        alone, Schedule(step=0.1, stop=0.2), observers=[Stream(first.port)], drivers=[Datagrams(driver.port, [])]
    ).run()


def test_inputs_come_as_datagrams(alone):
    driver = Datagrams(0, ["a.u[1]"])
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sender, CoSimulation(alone, Schedule(step=0.1), drivers=[driver]).open() as simulation:
        simulation.advance(0.1)
        for data in (b'{"a.u[1]": 7}', b'{"a.u[1]": 2.5}', b"nonsense", b'{"a.y[1]": 1.0}', b'{"a.u[1]": NaN}', b"[1]"):
            sender.sendto(data, ("127.0.0.1", driver.port))
        simulation.advance(0.2)
        assert simulation.get(["a.u[1]"]) == [2.5]
        # explicit Euler of y' = u - y
        assert simulation.get(["a.y[1]"]) == [pytest.approx(0.25, rel=1e-15)]
        simulation.advance(0.3)
        assert simulation.get(["a.u[1]"]) == [2.5]
    assert simulation.result.warnings == ["inputs: 4 of 6 datagrams were refused; the first: b'nonsense' is not JSON"]


def test_functions_are_asked_every_so_many_steps_whoever_looks_on(alone, tmp_path):
    """Other drivers and observers do not change how often; a resumed run keeps the same steps."""
    asked = []

    def function(t):
        asked.append(round(t, 9))
        return {}

    class Often(Observer):
        chunk = 3

    def options():
        drivers = [Function([], function, every=4), Function(["a.u[1]"], lambda t: {"a.u[1]": t})]
        return {"drivers": drivers, "observers": [Often()]}

    with CoSimulation(alone, Schedule(step=0.1), **options()).open() as simulation:
        simulation.advance(0.6)
        checkpoint = simulation.save()
        simulation.advance(1.3)
    assert asked == [0.0, 0.4, 0.8, 1.2]
    asked.clear()
    with CoSimulation(alone, Schedule(step=0.1), resume=Resumption(checkpoint), **options()).open() as simulation:
        simulation.advance(1.3)
    assert asked == [0.8, 1.2]


@pytest.mark.parametrize("of", ["drivers", "observers"])
def test_every_zero_steps_is_refused(alone, of):
    watcher = Function([], dict, every=0) if of == "drivers" else Stream(every=0)
    with pytest.raises(StructureError, match="every = 0: must be at least 1 macro step"):
        CoSimulation(alone, Schedule(step=0.1), **{of: [watcher]}).open()


VARIABLES = {
    "real": Variable("real", 0, "Real", minimum=-5.0, maximum=1e6),
    "count": Variable("count", 1, "Integer"),
    "on": Variable("on", 2, "Boolean"),
    "label": Variable("label", 3, "String"),
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**400),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(list(VARIABLES)) | st.text(), inner),
)


@given(
    st.binary()
    | st.binary(min_size=1).map(lambda data: b'{"real": ' + data)
    | JSON.map(lambda content: json.dumps(content).encode())
)
@example(b"[" * 2000)
@example(b'{"real":' * 7000)
@example(b'{"real": ' + b"9" * 60_000 + b"}")
@example(b'{"real": 1e999}')
@example(b'{"\\ud800": 1}')
@example(b'{"real": "1"}')
@example(b'{"real": true}')
@example(b'{"count": 2147483648}')
@example(b'{"label": 1}')
@example(b"\xff\xfe[\x00")
def test_a_datagram_gives_sound_values_or_is_refused_whatever_it_holds(data):
    try:
        found = decode(data, VARIABLES)
    except DatagramError:
        return
    assert set(found) <= {"real", "count", "on"}
    assert -5.0 <= found.get("real", 0.0) <= 1e6
    assert float(found.get("count", 0.0)).is_integer()
    assert found.get("on", 0.0) in (0.0, 1.0)


@given(st.dictionaries(st.sampled_from(["real", "count"]), st.integers(-5, 1000)))
def test_good_datagrams_are_obeyed(content):
    assert decode(json.dumps(content).encode(), VARIABLES) == content


def test_nothing_that_is_received_ends_a_run(lag):
    """Regression: deep nesting, or a value that the FMU discards, ended the run."""
    system = Structure("alone")
    # fmi2SetReal gives fmi2Discard after a while
    system.add("a", lag, {"fail.function": 3, "fail.status": 2, "fail.time": 0.25})
    driver = Datagrams(0, ["a.u[1]"])
    hostile = (b"[" * 2000, b'{"a.u[1]": 1' + b"0" * 400 + b"}", b'{"a.u[1]": "1"}', b"\x00", b"", b'{"a.u[1]": 2.0}')
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        with CoSimulation(system, Schedule(step=0.1), drivers=[driver]).open() as simulation:
            for data in hostile:
                sender.sendto(data, ("127.0.0.1", driver.port))
            simulation.advance(0.2)
            sender.sendto(b'{"a.u[1]": 3.0}', ("127.0.0.1", driver.port))
            simulation.advance(0.3)
            assert simulation.get(["a.u[1]"]) == [3.0]
            sender.sendto(b'{"a.u[1]": 4.0}', ("127.0.0.1", driver.port))
            simulation.advance(0.5)
        assert simulation.result.status == "completed"
    assert simulation.result.warnings == [
        f"inputs: 6 of 8 datagrams were refused; the first: {hostile[0][:40]!r} is not JSON"
    ]


class Flood:
    """A source that never runs dry, as a reader sees it who is slower than the sender."""

    def __init__(self, data):
        self.data, self.read = data, 0

    def recv(self, size):
        self.read += 1
        return self.data

    def close(self):
        pass


LARGE = b'{"a.u[1]": 2.0, "b": [' + b"1," * 30_000 + b"1]}"
"""A datagram of the largest size, which takes about a millisecond to read and is refused."""


@pytest.mark.parametrize("data", [b'{"a.u[1]": 2.0}', LARGE])
def test_a_flood_of_datagrams_takes_a_tenth_of_the_time_of_a_paced_run(alone, monkeypatch, data):
    """Regression: 4096 datagrams before each step, of 64 KiB, took seconds of a step of a millisecond."""
    spent, flood = [0.0], Flood(data)
    driver = Datagrams(0, ["a.u[1]"])
    look = driver.values

    def values(at):
        began = time.thread_time()
        found = look(at)
        spent.append(time.thread_time() - began)
        return found

    driver.values = values
    with CoSimulation(alone, Schedule(step=1e-3), drivers=[driver], observers=[Pacing()]).open() as simulation:
        driver._socket.close()
        driver._socket = flood
        began = time.perf_counter()
        simulation.advance(0.4)
        taken = time.perf_counter() - began
    # the last datagram of a look may take longer than what is left: it is saved up for afterwards
    assert sum(spent) < SHARE * taken + 2.0 * BURST_S + max(spent)
    assert flood.read > 5
    assert simulation.result.network == {
        "datagrams": flood.read,
        "datagrams_refused": flood.read if data == LARGE else 0,
    }


def test_repeated_connections_take_a_tenth_of_the_time(alone):
    class Endless:
        accepted = 0

        def accept(self):
            self.accepted += 1
            ours, theirs = socket.socketpair()
            theirs.close()
            return ours, None

        def close(self):
            pass

    stream = Stream(variables=["a.y[1]"])
    with CoSimulation(alone, Schedule(step=1e-3), observers=[stream, Pacing()]).open() as simulation:
        stream._listener.close()
        stream._listener = Endless()
        began = time.perf_counter()
        simulation.advance(0.2)
        # no machine accepts a connection in less than a microsecond
        assert stream._listener.accepted < (SHARE * (time.perf_counter() - began) + 2.0 * BURST_S) / 1e-6
    assert simulation.result.status == "completed"


def test_time_for_a_port_is_saved_for_a_burst_and_made_up_for(monkeypatch):
    class Clock:
        now = spent = 0.0

        def perf_counter(self):
            return self.now

        def thread_time(self):
            return self.spent

    clock = Clock()
    monkeypatch.setattr("dockfmu.master.sockets.time", clock)
    allowance, looks = Allowance(), []
    for _ in range(100):
        clock.now += 1e-3
        allowance.begin()
        looks.append(0)
        while allowance.lasts():
            looks[-1] += 1
            clock.spent += 3e-4
    # 2 ms at first, then 0.1 ms each: one datagram of 0.3 ms in three looks
    assert looks[0] == 7
    assert sum(looks[1:]) == pytest.approx(99 / 3, abs=1.0)


def test_subscribers_beyond_a_limit_are_turned_away(alone, monkeypatch):
    monkeypatch.setattr("dockfmu.master.observers.stream.SUBSCRIBERS", 2)
    stream = Stream(variables=["a.y[1]"])
    stream.open()
    connections = [socket.create_connection(("127.0.0.1", stream.port)) for _ in range(5)]
    result = CoSimulation(alone, Schedule(step=0.1, stop=1.0), observers=[stream]).run()
    received = [len(connection.makefile("rb").read()) > 0 for connection in connections]
    for connection in connections:
        connection.close()
    assert received == [True, True, False, False, False]
    assert result.warnings == ["stream: 3 subscribers beyond 2 were turned away"]


def test_what_is_no_run_is_said_by_a_subscriber():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        source = subscribe(server.getsockname()[1])

        def answer():
            connection, _ = server.accept()
            connection.sendall(b"[" * 100_000 + b"\n")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(MasterError, match="does not stream a run"):
            next(source)
        thread.join()


def test_another_run_counts_its_own_datagrams(alone):
    driver = Datagrams(0, ["a.u[1]"])
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
        CoSimulation(alone, Schedule(step=0.1), drivers=[driver]).open() as simulation,
    ):
        simulation.advance(0.1)
        sender.sendto(b"nonsense", ("127.0.0.1", driver.port))
        simulation.advance(0.2)
        assert len(simulation.finish().warnings) == 1
        simulation.reset()
        simulation.advance(0.2)
        assert simulation.finish().warnings == []
