"""Runs that an operator controls: the log of the commands, runs that replay it, and the feed of rows."""

import contextlib
import json
import socket
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dockfmu.master.drivers.datagrams import DatagramError
from dockfmu.master.drivers.driver import Function
from dockfmu.master.drivers.operator import LoggedInputs, Operator
from dockfmu.master.errors import MasterError
from dockfmu.master.fmi.variables import Variable
from dockfmu.master.observers.events import Event
from dockfmu.master.observers.feed import Feed
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.pacing import Pacing
from dockfmu.master.observers.series import Series
from dockfmu.master.requests import Pace
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import Retry
from dockfmu.master.system import Structure
from tests.master.observers.clock import Clock


@pytest.fixture
def line():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def say(connection, **command):
    connection.sendall(json.dumps(command).encode() + b"\n")


class At(Observer):
    """Observer that sends commands at given times of the run."""

    chunk = 1

    def __init__(self, connection, **commands):
        self.connection, self.commands = connection, sorted(commands.items())

    def progress(self, time, wall):
        while self.commands and time >= float(self.commands[0][0][1:].replace("_", ".")) - 1e-9:
            say(self.connection, **self.commands.pop(0)[1])


def test_inputs_act_from_the_next_look_on_and_are_logged(alone, line, tmp_path):
    ours, theirs = line
    log, series = tmp_path / "inputs.jsonl", Series(["a.y[1]"])
    operator = Operator(ours, ["a.u[1]"], pace=Pace(), log=log, every=2)
    at = At(theirs, t0_3={"set": {"a.u[1]": 2.0}}, t0_9={"set": {"a.u[1]": -1.0}})
    result = CoSimulation(alone, Schedule(step=0.1, stop=2.0), drivers=[operator], observers=[at, series]).run()
    assert result.warnings == []
    head, *entries = map(json.loads, log.read_text().splitlines())
    assert head == {"inputs": 1, "system": "alone", "start": 0.0, "every": 2}
    assert [(pytest.approx(e["t"]), e["set"]) for e in entries] == [(0.4, {"a.u[1]": 2.0}), (1.0, {"a.u[1]": -1.0})]
    again = Series(["a.y[1]"])
    CoSimulation(alone, Schedule(step=0.1, stop=2.0), drivers=[LoggedInputs(log)], observers=[again]).run()
    assert np.array_equal(series.values, again.values)
    untouched = Series(["a.y[1]"])
    CoSimulation(alone, Schedule(step=0.1, stop=2.0), observers=[untouched]).run()
    assert not np.array_equal(untouched.values, again.values)


class Asked(LoggedInputs):
    """Logged inputs that count the calls; with `often`, they do not tell when the next value comes."""

    def __init__(self, file, often):
        super().__init__(file)
        self.often, self.times = often, []

    def values(self, time):
        self.times.append(time)
        return super().values(time)

    def next_change(self):
        return -np.inf if self.often else super().next_change()


@pytest.mark.parametrize("control", [None, Retry(1e-3)])
@pytest.mark.parametrize("every", [1, 2, 7])
def test_logged_inputs_are_asked_only_when_there_is_something_to_set(alone, tmp_path, every, control):
    """Times between two steps, on a step, a rounding error beside one, twice in one step, and after the end."""
    log = tmp_path / "inputs.jsonl"
    times = [0.0, 0.05, 1.7, 1.7, 1.75, np.nextafter(2.1, 3.0), 4.9, 4.95, 5.0, 7.0]
    lines = [{"inputs": 1, "system": "alone", "start": 0.0, "every": every}]
    lines += [{"t": time, "set": {"a.u[1]": 1.0 + k}} for k, time in enumerate(times)]
    log.write_text("\n".join(map(json.dumps, lines)))
    found, asked = [], []
    for often in (True, False):
        series, driver = Series(["a.u[1]", "a.y[1]"]), Asked(log, often)
        CoSimulation(alone, Schedule(step=0.1, stop=6.0, control=control), drivers=[driver], observers=[series]).run()
        found.append(series.values)
        asked.append(driver.times)
    assert np.array_equal(*found)
    assert len(asked[0]) == -(-60 // every)
    assert len(asked[1]) < len(asked[0])
    assert set(asked[1]) <= set(asked[0])


def test_a_run_is_held_goes_on_changes_its_speed_and_is_ended(alone, line):
    ours, theirs = line
    pace = Pace(100.0)
    asked = []

    class Waits(Operator):
        def holds(self):
            held = super().holds()
            if held:
                asked.append(len(asked))
                if len(asked) == 5:
                    say(theirs, speed=50)
                    say(theirs, hold=False)
            return held

    operator = Waits(ours, [], pace=pace)
    at = At(theirs, t0_5={"hold": True}, t3_0={"end": True})
    result = CoSimulation(
        alone, Schedule(step=0.1, stop=1e4), drivers=[operator], observers=[at, Pacing(pace=pace)]
    ).run()
    assert len(asked) >= 5
    assert pace.factor == 50.0
    assert (result.status, result.message) == ("stopped", "ended by the operator")
    assert 3.0 <= result.t_end < 4.0


def test_a_fast_run_is_looked_at_as_often_as_one_at_real_time_and_a_press_is_as_short(
    alone, line, monkeypatch, tmp_path
):
    Clock(monkeypatch)
    ours, theirs = line
    log, looks = tmp_path / "inputs.jsonl", []

    class Counted(Operator):
        def values(self, time):
            looks.append(time)
            return super().values(time)

    pace = Pace(50.0)
    operator = Counted(ours, ["a.u[1]"], buttons=["a.u[1]"], pace=pace, every=10, log=log)
    at = At(theirs, t7_3={"set": {"a.u[1]": 1.0}}, t7_30={"set": {"a.u[1]": 0.0}})
    at.chunk = None
    series = Series(["a.u[1]", "a.y[1]"])
    CoSimulation(
        alone, Schedule(step=0.001, stop=20.0), drivers=[operator], observers=[at, series, Pacing(pace=pace, chunk=10)]
    ).run()
    # 0.4 s on the clock; chunks double until they last 10 ms
    assert 40 <= len(looks) < 60
    press, release = (json.loads(entry)["t"] for entry in log.read_text().splitlines()[1:])
    assert press >= 7.3
    assert release - press == pytest.approx(0.01)
    again = Series(["a.u[1]", "a.y[1]"])
    CoSimulation(alone, Schedule(step=0.001, stop=20.0), drivers=[LoggedInputs(log)], observers=[again]).run()
    assert np.array_equal(series.values, again.values)


@pytest.mark.parametrize("command", [{"speed": 0.5}, {"end": True}])
def test_a_fast_run_obeys_before_it_takes_another_long_chunk(alone, line, monkeypatch, command):
    Clock(monkeypatch)
    ours, theirs = line
    looks = []

    class Looks(At):
        chunk = None

        def progress(self, time, wall):
            super().progress(time, wall)
            looks.append(time)

    pace = Pace(100.0)
    operator = Operator(ours, [], pace=pace, every=10)
    CoSimulation(
        alone,
        Schedule(step=0.001, stop=8.0),
        drivers=[operator],
        observers=[Looks(theirs, t5_0=command), Pacing(pace=pace, chunk=10)],
    ).run()
    sent, *after = [time for time in looks if time >= 5.0]
    assert max(b - a for a, b in pairwise([sent, *after])) < 0.0101
    assert (sent == looks[-2]) == ("end" in command)


def test_a_driver_is_called_once_for_each_step_however_the_run_is_divided(alone):
    times = []
    driver = Function(["a.u[1]"], lambda time: times.append(time) or {})
    with CoSimulation(alone, Schedule(step=0.1), drivers=[driver]).open() as simulation:
        for until in (0.5, 0.5 + 1e-9, 0.5 + 2e-9, 1.0):
            simulation.advance(until)
    assert times == pytest.approx(np.arange(10) / 10)


def test_without_its_operator_a_run_goes_on_with_sticks_in_the_middle(alone, line, tmp_path):
    ours, theirs = line
    log = tmp_path / "inputs.jsonl"
    operator = Operator(ours, ["a.u[1]"], centred=["a.u[1]"], pace=Pace(held=False), log=log)
    say(theirs, set={"a.u[1]": 3.0})

    class Hangs(Observer):
        chunk = 1

        def progress(self, time, wall):
            if time > 0.35:
                theirs.close()

    CoSimulation(alone, Schedule(step=0.1, stop=1.0), drivers=[operator], observers=[Hangs()]).run()
    entries = [json.loads(line)["set"] for line in log.read_text().splitlines()[1:]]
    assert entries == [{"a.u[1]": 3.0}, {"a.u[1]": 0.0}]


def test_wrong_commands_are_counted_and_named(alone, line):
    ours, theirs = line
    operator = Operator(ours, ["a.u[1]"], pace=Pace())
    theirs.sendall(b'{"set": {"a.y[1]": 1}}\nnonsense\n{"speed": 0}\n{"hold": 1}\n{"end": false}\n')
    result = CoSimulation(alone, Schedule(step=0.1, stop=1.0), drivers=[operator]).run()
    assert result.status == "completed"
    assert result.warnings == ["operator: 5 commands were refused; the first: 'a.y[1]' is not an input that can be set"]


VARIABLES = {
    "x": Variable("x", 1, "Real", minimum=-1.0, maximum=1.0),
    "b": Variable("b", 2, "Boolean"),
    "n": Variable("n", 3, "Integer"),
}


def operator_of(answers=None, **options):
    """Return an operator of `VARIABLES` whose connection sends nothing."""
    found = Operator(socket.socketpair()[0], list(VARIABLES), pace=Pace(), answer=answers, **options)
    found._variables = VARIABLES
    return found


@pytest.mark.parametrize("button", ["b", "n"])
def test_a_button_that_is_pressed_and_let_go_between_two_looks_acts_for_one(button):
    """This holds for inputs of any type; for a stick the newest value counts."""
    operator = operator_of(buttons=[button])
    for value, deflection in ((1, 0.5), (0, 0.25)):
        operator.command(json.dumps({"set": {button: value, "x": deflection}}).encode())
    assert operator.values(0.0) == {button: 1.0, "x": 0.25}
    assert operator.values(0.1) == {button: 0.0}
    assert operator.values(0.2) == {}
    # pressed again before it was seen to be up
    for value in (1, 0, 1):
        operator.command(json.dumps({"set": {button: value}}).encode())
    assert operator.values(0.3) == {button: 1.0}
    assert operator.values(0.4) == {}


def test_what_is_taken_and_what_is_refused_is_answered(alone, line):
    ours, theirs = line
    answers = []
    operator = operator_of(answers.append, centred=["b"])
    operator.command(b'{"set": {"x": 0.5, "b": 1}}')
    operator.command(b'{"set": {"b": 0}}')
    # nobody has to be told of a stick or a button, which is moved many times a second
    assert answers == [{"taken": {"x": 0.5}}]
    # in the run, where a line of the connection is refused
    answers.clear()
    operator = Operator(ours, ["a.u[1]"], pace=Pace(), answer=answers.append)
    theirs.sendall(b'{"set": {"a.y[1]": 1}}\n{"set": {"a.u[1]": 2}}\n')
    CoSimulation(alone, Schedule(step=0.1, stop=1.0), drivers=[operator]).run()
    assert answers == [{"refused": "'a.y[1]' is not an input that can be set"}, {"taken": {"a.u[1]": 2.0}}]


def test_a_value_that_the_fmu_discards_is_refused_each_time_and_the_session_is_repeated(lag, line, tmp_path):
    ours, theirs = line
    system = Structure("alone")
    # fmi2SetReal gives fmi2Discard after 0.25 s
    system.add("a", lag, {"gain": 1.0, "fail.function": 3, "fail.status": 2, "fail.time": 0.25})
    log, answers, series = tmp_path / "inputs.jsonl", [], Series(["a.y[1]"])
    operator = Operator(ours, ["a.u[1]"], pace=Pace(), log=log, answer=answers.append)
    taken, discarded = {"set": {"a.u[1]": 2.0}}, {"set": {"a.u[1]": 3.0}}
    at = At(theirs, t0_1=taken, t0_4=discarded, t0_6=discarded, t0_8=taken)
    result = CoSimulation(system, Schedule(step=0.1, stop=1.0), drivers=[operator], observers=[at, series]).run()
    assert result.status == "completed"
    assert [next(iter(answer)) for answer in answers] == ["taken", *3 * ["taken", "refused"]]
    assert {answer["name"] for answer in answers if "refused" in answer} == {"a.u[1]"}
    again = Series(["a.y[1]"])
    repeated = CoSimulation(system, Schedule(step=0.1, stop=1.0), drivers=[LoggedInputs(log)], observers=[again]).run()
    assert repeated.status == "completed"
    assert np.array_equal(series.values, again.values)
    (warning,) = repeated.warnings
    assert warning.startswith(f"{log}: 3 values were refused; the first: ")


@given(st.binary() | st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["set", "speed", "hold", "end", "x", "b"]), inner),
).map(lambda content: json.dumps(content).encode()))  # fmt: skip
@example(b"[" * 10_000)
@example(b'{"speed":1e999}')
@example(b'{"speed":NaN}')
@example(b'{"set":{"x":1e999}}')
@example(b'{"speed":1' + b"0" * 400 + b"}")
def test_no_line_does_more_than_a_command(data):
    pace = Pace()
    operator = Operator(socket.socketpair()[0], list(VARIABLES), pace=pace)
    operator._variables = VARIABLES
    with contextlib.suppress(DatagramError):
        operator.command(data)
    assert 0.01 <= pace.factor <= 100.0
    assert set(operator._pending) <= set(VARIABLES)
    assert abs(operator._pending.get("x", 0.0)) <= 1.0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not a log of an operator's inputs"),
        ("{}", "is not a log of an operator's inputs"),
        ("no", "line 1: is not JSON"),
        ('{"inputs":1,"every":0}', "is not a log of an operator's inputs"),
        ('{"inputs":1,"every":2.5}', "is not a log of an operator's inputs"),
        ('{"inputs":1,"every":1}\n{"t":5,"set":{}}\n{"t":1,"set":{}}', "line 3: t = 1 s lies before"),
        ('{"inputs":1,"every":1}\n{"t":"x","set":{}}', "line 2: needs a time"),
        ('{"inputs":1,"every":1}\n{"t":0,"set":{"a.u[1]":null}}', "line 2: needs a time `t` and numbers"),
    ],
)  # fmt: skip
def test_a_log_that_is_none_is_refused_with_its_line(tmp_path, text, says):
    file = tmp_path / "inputs.jsonl"
    file.write_text(text)
    with pytest.raises(MasterError, match=says):
        LoggedInputs(file)


def test_a_log_of_another_system_is_warned_of(alone, tmp_path):
    log = tmp_path / "inputs.jsonl"
    log.write_text('{"inputs": 1, "system": "other", "start": 0.0, "every": 1}\n')
    result = CoSimulation(alone, Schedule(step=0.1, stop=0.2), drivers=[LoggedInputs(log)]).run()
    assert any("a session with other, not with" in warning for warning in result.warnings)


def received(connection):
    """Return the messages and rows that a feed has sent."""
    connection.settimeout(60.0)
    stream, messages, times, values = connection.makefile("rb"), [], [], []
    while line := stream.readline():
        message = json.loads(line)
        if "rows" in message:
            width = len(messages[0]["variables"])
            numbers = np.frombuffer(stream.read(8 * message["rows"] * (1 + width)))
            times.append(numbers[: message["rows"]])
            values.append(numbers[message["rows"] :].reshape(message["rows"], width))
        else:
            messages.append(message)
        if "status" in message:
            break
    return messages, np.concatenate(times), np.concatenate(values)


def test_a_feed_has_all_rows_bitwise_events_and_the_end(lag, line):
    ours, theirs = line
    series = Series(["a.y[1]"], every=5)
    feed = Feed(ours, {"more": "x"}, every=5, events={"up": Event("a.y[1]", "above", 0.01)})
    system = Structure("alone")
    system.add("a", lag, {"gain": 1.0, "u[1]": 1.0})
    CoSimulation(system, Schedule(step=0.01, stop=3.0), observers=[feed, series]).run()
    messages, times, values = received(theirs)
    about, *events, end = messages
    assert about["attributes"] == {"more": "x"}
    assert about["variables"]["a.y[1]"]["unit"] == "m"
    assert about["parameters"]["a"]
    assert [event["event"] for event in events] == ["up"]
    assert (end["status"], end["t_end"]) == ("completed", 3.0)
    assert np.array_equal(times, series.time)
    assert np.array_equal(values[:, list(about["variables"]).index("a.y[1]")], series.values[:, 0])


def test_a_reader_that_does_not_read_costs_rows_and_never_the_run(alone, line, monkeypatch):
    ours, theirs = line
    monkeypatch.setattr("dockfmu.master.observers.feed.LIMIT", 1 << 12)
    monkeypatch.setattr("dockfmu.master.observers.feed.LAST_S", 0.1)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
    feed = Feed(ours, {})
    with CoSimulation(alone, Schedule(step=1e-3), observers=[feed]).open() as simulation:
        for k in range(1, 400):
            simulation.advance(0.1 * k)
    assert feed.dropped > 1000
    assert f"view: {feed.dropped} rows were dropped" in simulation.result.warnings[-1]


def test_a_log_of_another_start_is_warned_of(alone, tmp_path):
    log = tmp_path / "inputs.jsonl"
    log.write_text('{"inputs": 1, "system": "alone", "start": 3.0, "every": 1}\n')
    result = CoSimulation(alone, Schedule(step=0.1, stop=0.2), drivers=[LoggedInputs(log)]).run()
    assert f"{log}: its session began at t = 3 s, this run at 0 s" in result.warnings


def test_a_session_is_not_reset(alone, line):
    ours, _ = line
    for participants in ({"drivers": [Operator(ours, ["a.u[1]"], pace=Pace())]}, {"observers": [Feed(ours, {})]}):
        with CoSimulation(alone, Schedule(step=0.1, stop=0.2), **participants).open() as simulation:
            simulation.advance(0.1)
            with pytest.raises(MasterError, match="one run only: create another simulation"):
                simulation.reset()
