"""Inputs at run time keep the declared minimum and maximum: from the network, an operator, a log, a function."""

import json
import socket

import pytest

from dockfmu.master.drivers.datagrams import DatagramError, Datagrams, decode
from dockfmu.master.drivers.driver import Function
from dockfmu.master.drivers.operator import LoggedInputs, Operator
from dockfmu.master.errors import MasterError
from dockfmu.master.requests import Pace
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

BEYOND = [
    ("a.command", -1.5, "less than its minimum -1 N"),
    ("a.command", 1.0000001, "more than its maximum 1 N"),
    ("a.count", 0, "less than its minimum 1"),
    ("a.count", 4, "more than its maximum 3"),
    ("a.count", 1.5, "takes integers"),
    ("a.mode", 4, "not one of"),
    ("a.switch", 2, "must be a Boolean"),
]
SOUND = {"a.command": 1.0, "a.count": 3.0, "a.mode": 1.0, "a.switch": 1.0}


@pytest.fixture
def system(gadget_fmu):
    made = Structure("ranges")
    made.add("a", gadget_fmu)
    return made


@pytest.mark.parametrize(("name", "value", "reason"), BEYOND)
def test_values_beyond_are_refused_by_every_source(system, tmp_path, name, value, reason):
    variables = {known: system.resolve(known)[1] for known in SOUND}
    with pytest.raises(DatagramError, match=f"{name}: .*{reason}"):
        decode(json.dumps({**SOUND, name: value}).encode(), variables)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        operator = Operator(ours, list(SOUND), pace=Pace(1.0))
        operator.prepare(system)
        with pytest.raises(DatagramError, match=reason):
            operator.command(json.dumps({"set": {name: value}}).encode())
        assert operator._pending == {}
    log = tmp_path / "inputs.jsonl"
    head = {"inputs": 1, "system": "ranges", "start": 0.0, "every": 1}
    log.write_text(f"{json.dumps(head)}\n{json.dumps({'t': 0.0, 'set': {name: value}})}\n")
    with pytest.raises(MasterError, match=rf"inputs\.jsonl, line 2: {name}: .*{reason}"):
        CoSimulation(system, Schedule(step=0.1, stop=0.2), drivers=[LoggedInputs(log)]).open()
    driven = CoSimulation(
        system, Schedule(step=0.1, stop=0.2), drivers=[Function([name], lambda t: {name: value})]
    ).run()
    assert driven.status == "failed"
    assert f"{name} = " in driven.message
    assert reason in driven.message
    with (
        CoSimulation(system, Schedule(step=0.1, stop=0.2)).open() as simulation,
        pytest.raises(MasterError, match=reason),
    ):
        simulation.set({name: value})


def test_values_at_their_bounds_are_taken(system):
    variables = {name: system.resolve(name)[1] for name in SOUND}
    assert decode(json.dumps(SOUND).encode(), variables) == SOUND
    driver = Datagrams(0, list(SOUND))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        with CoSimulation(system, Schedule(step=0.1), drivers=[driver]).open() as simulation:
            simulation.advance(0.1)
            sender.sendto(json.dumps(SOUND).encode(), ("127.0.0.1", driver.port))
            sender.sendto(json.dumps({"a.command": 2.0}).encode(), ("127.0.0.1", driver.port))
            simulation.advance(0.2)
            assert simulation.get(list(SOUND)) == list(SOUND.values())
        assert simulation.result.network == {"datagrams": 2, "datagrams_refused": 1}
