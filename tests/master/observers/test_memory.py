"""A run of any length takes a bounded amount of memory, with all observers of a command and its network open."""

import io
import os
import socket
import threading
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from dockfmu.master.drivers.datagrams import Datagrams
from dockfmu.master.observers.audit import Audit
from dockfmu.master.observers.checkpoints import Checkpoints
from dockfmu.master.observers.endings import EndAfterEvents
from dockfmu.master.observers.events import Event, Events
from dockfmu.master.observers.feed import Feed
from dockfmu.master.observers.finals import Finals
from dockfmu.master.observers.loads import LoadLimit, LoadLimits, LoadRule
from dockfmu.master.observers.outcomes import OutcomeRule, Outcomes
from dockfmu.master.observers.pacing import Pacing
from dockfmu.master.observers.peaks import Peaks
from dockfmu.master.observers.progress import Progress
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.selection import Dense
from dockfmu.master.observers.resultants import Resultants
from dockfmu.master.observers.stream import Stream
from dockfmu.master.observers.validity import Validity
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs the memory of this process from /proc"),
]

STEP = 1e-3
WARM, STEPS = 5_000_000, 100_000_000
"""Macro steps after which the memory is compared: more than a day in real time between the two."""
GROWTH = 8e6
"""Growth allowed, bytes: 0.1 a macro step, which is less than one number of any observer in 80 steps."""


class _Nowhere(io.StringIO):
    def write(self, text):
        return len(text)


def resident():
    """Return the memory of this process, bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def drained(connection):
    """Read and forget what comes over a connection, in a thread."""

    def read():
        with suppress(OSError):
            while connection.recv(1 << 16):
                pass

    Thread(target=read, daemon=True).start()


@pytest.fixture
def feed():
    """A feed whose reader reads, and the connection."""
    ours, theirs = socket.socketpair()
    drained(theirs)
    with ours, theirs:
        yield Feed(ours, {}, every=10_000)


@pytest.fixture
def datagrams():
    """A port for an input, and a thread that sends to it a thousand times a second, every other time nonsense."""
    received, over = Datagrams(0, ["b.u[2]"], every=10_000), threading.Event()
    received.open()

    def send():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            while not over.wait(1e-3):
                for data in (b'{"b.u[2]": 0.5}', os.urandom(100)):
                    with suppress(OSError):
                        sender.sendto(data, ("127.0.0.1", received.port))

    sending = Thread(target=send)
    sending.start()
    yield received
    over.set()
    sending.join()


@pytest.fixture
def swing(oscillator, third_party, tmp_path):
    """An oscillator, and an interface whose force lags behind it: a vector, and a load that swings about its limit."""
    xml = third_party.description(4, unit="N").replace('name="y[4]"', 'name="load.compression"')
    system = Structure("swing")
    system.add("a", oscillator, {"parameters.initial_position": 1.0})
    system.add("b", third_party.build(tmp_path, channels=4, unit="N", xml=xml))
    for k in (1, 3, 4):
        system.connect("a", "position", "b", f"u[{k}]", convert_units=False)
    return system


def test_memory_stays_level_over_a_hundred_million_steps(swing, feed, datagrams, tmp_path):
    """With a subscriber that reads, one that never does, datagrams, and a clock that is looked at a thousand times."""
    energies = ["a.audit.kinetic_energy", "a.audit.stored_energy"]
    names = ["a.position", "a.velocity", "b.y[1]", "b.y[2]", "b.y[3]"]
    events = {"swing": Event("a.velocity", "above", 0.0, once=False), "far": Event("a.position", "above", 0.5)}
    observers = [
        Events(events),
        Peaks(names),
        Resultants(names),
        LoadLimits(LoadRule("b", {"compression": LoadLimit(0.1, short=0.2, short_time=1.0)})),
        Outcomes(OutcomeRule("b.count", ("0",))),
        EndAfterEvents({"never": Event("a.position", "above", 1e9)}, {"never": 1.0}),
        Validity(),
        Audit(
            stored=energies, dissipated=["a.audit.dissipated_energy"], momentum=["a.audit.momentum"],
            own_momentum=["a.audit.momentum"], supplied=["a.audit.work_force"],
        ),
        Progress(_Nowhere(), always=True),
        Recorder(tmp_path / "r.h5", names, every=100_000, dense=Dense((events["swing"],), before=0.01, after=0.01)),
        Checkpoints(tmp_path / "r.checkpoint", every=1.0),
        Finals({"last": "a.position"}),
        Pacing(1e9, "slip", chunk=100_000),
        stream := Stream(0, names, every=700),
        feed,
    ]  # fmt: skip
    stream.open()
    idle = socket.create_connection(("127.0.0.1", stream.port))
    reading = socket.create_connection(("127.0.0.1", stream.port))
    drained(reading)
    schedule = Schedule(step=STEP, stop=STEPS * STEP)
    with (
        idle,
        reading,
        CoSimulation(swing, schedule, observers=observers, drivers=[datagrams]).open() as simulation,
    ):
        simulation.advance(WARM * STEP)
        before = resident()
        simulation.advance(STEPS * STEP)
        assert resident() - before < GROWTH
        assert simulation.result.macro_steps == STEPS
    assert stream.dropped > 0
    assert simulation.result.network["datagrams"] > simulation.result.network["datagrams_refused"] > 0
    assert simulation.result.realtime["steps"] >= STEPS // 100_000
