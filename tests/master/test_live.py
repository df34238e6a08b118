"""A run and the world while it runs: values streamed out, inputs that come in."""

import json
import socket
import threading

import pytest

from master.drivers.datagrams import Datagrams
from master.drivers.function import Function
from master.errors import MasterError, StructureError
from master.observers.observer import Observer
from master.observers.stream import Stream, subscribe
from master.run import run
from master.simulation import Simulation
from master.system import System


def test_a_subscriber_gets_the_description_all_rows_and_the_end(alone):
    stream = Stream(variables=["a.y[1]", "a.through"])
    stream.open()
    messages = []
    thread = threading.Thread(target=lambda: messages.extend(subscribe(stream.port)))
    thread.start()

    class WaitForIt(Observer):
        def begin(self, run):
            while not stream._subscribers:
                stream._welcome()

    result = run(alone, step=0.1, stop=2.0, observers=[stream, WaitForIt()])
    thread.join(10.0)
    assert result.warnings == []
    about, *rows, end = messages
    assert about == {
        "system": "alone", "start": 0.0, "stop": 2.0, "names": ["a.y[1]", "a.through"], "units": ["m", "m"],
    }  # fmt: skip
    assert [row["t"] for row in rows] == pytest.approx([0.1 * k for k in range(21)])
    assert all(len(row["values"]) == 2 for row in rows)
    assert (end["status"], end["t_end"]) == ("completed", 2.0)


def test_a_subscriber_may_come_late_and_leave_early(alone):
    stream = Stream(variables=["a.y[1]"])
    with Simulation(alone, step=0.1, observers=[stream]) as simulation:
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
    """It does not read before the run is over: what the network and LIMIT do not hold is dropped."""
    monkeypatch.setattr("master.observers.stream.LIMIT", 1 << 14)
    stream = Stream(variables=["a.y[1]", "a.through"])
    found = []
    with Simulation(alone, step=1e-3, observers=[stream]) as simulation, socket.socket() as idle:
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
        reader.join(10.0)
    dropped = sum(message.get("dropped", 0) for message in found)
    rows = [message["t"] for message in found if "t" in message]
    assert dropped > 1000
    assert rows == sorted(rows)
    # all but the row at the start, which came before the subscriber
    assert len(rows) + dropped == 10_010
    assert f"{dropped} rows were dropped" in simulation.result.warnings[-1]


def test_values_that_json_has_no_words_for_are_null(lag):
    system = System("bad")
    system.add("a", lag, {"nan_time": 0.5})
    stream = Stream(variables=["a.y[1]"])
    stream.open()
    connection = socket.create_connection(("127.0.0.1", stream.port))
    run(system, step=0.1, stop=1.0, observers=[stream])
    with connection, connection.makefile("rb") as lines:
        messages = [json.loads(line) for line in lines]
    assert [message["values"] for message in messages if "t" in message][-1] == [None]


def test_ports_are_held_while_a_run_lasts_and_those_that_cannot_be_had_are_named(alone):
    """Whoever is refused one lets the others go, before any FMU is loaded."""
    first, driver, late = Stream(), Datagrams(0, ["a.u[1]"]), Stream()
    with Simulation(alone, step=0.1, observers=[first], drivers=[driver]) as simulation:
        first.open()
        simulation.advance(0.1)
        for watchers, named in (
            ({"observers": [late, Stream(first.port)]}, f"stream: port {first.port}"),
            ({"observers": [late], "drivers": [Datagrams(driver.port, [])]}, f"inputs: port {driver.port}"),
        ):
            for begin in (Simulation.run, Simulation.__enter__):
                other = Simulation(alone, step=0.1, stop=1.0, **watchers)
                with pytest.raises(MasterError, match=f"{named} of 127.0.0.1 cannot be had"):
                    begin(other)
                assert other.instances == {}
                with pytest.raises(MasterError, match="nothing streams on port"):
                    next(subscribe(late.port))
    run(alone, step=0.1, stop=0.2, observers=[Stream(first.port)], drivers=[Datagrams(driver.port, [])])


def test_inputs_come_as_datagrams(alone):
    driver = Datagrams(0, ["a.u[1]"])
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with sender, Simulation(alone, step=0.1, drivers=[driver]) as simulation:
        simulation.advance(0.1)
        for data in (b'{"a.u[1]": 7}', b'{"a.u[1]": 2.5}', b"nonsense", b'{"a.y[1]": 1.0}', b'{"a.u[1]": NaN}', b"[1]"):
            sender.sendto(data, ("127.0.0.1", driver.port))
        simulation.advance(0.2)
        assert simulation.get(["a.u[1]"]) == [2.5]
        # explicit Euler of y' = u - y
        assert simulation.get(["a.y[1]"]) == [pytest.approx(0.25, rel=1e-15)]
        simulation.advance(0.3)
        assert simulation.get(["a.u[1]"]) == [2.5]
    assert simulation.result.warnings == ["inputs: 4 of 6 datagrams were refused"]


def test_functions_are_asked_every_so_many_steps_whoever_looks_on(alone, tmp_path):
    """Not more often for other drivers and observers, and at the same steps in a run that goes on."""
    asked = []

    def function(t):
        asked.append(round(t, 9))
        return {}

    class Often(Observer):
        chunk = 3

    def options():
        drivers = [Function([], function, every=4), Function(["a.u[1]"], lambda t: {"a.u[1]": t})]
        return {"drivers": drivers, "observers": [Often()]}

    with Simulation(alone, step=0.1, **options()) as simulation:
        simulation.advance(0.6)
        checkpoint = simulation.save()
        simulation.advance(1.3)
    assert asked == [0.0, 0.4, 0.8, 1.2]
    asked.clear()
    with Simulation(alone, step=0.1, resume=checkpoint, **options()) as simulation:
        simulation.advance(1.3)
    assert asked == [0.8, 1.2]


@pytest.mark.parametrize("of", ["drivers", "observers"])
def test_every_zero_steps_is_refused(alone, of):
    watcher = Function([], dict, every=0) if of == "drivers" else Stream(every=0)
    with pytest.raises(StructureError, match="every = 0: a number of macro steps is wanted"):
        Simulation(alone, step=0.1, **{of: [watcher]})
