"""An operator who drives a run over a connection: inputs, pause, speed and end, with a log to replay the inputs."""

from __future__ import annotations

import json
import math
import socket
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from dockfmu.base.files import open_in_place
from dockfmu.base.given_files import read_text
from dockfmu.base.number_text import strict_json
from dockfmu.master.drivers.datagrams import DatagramError, decode
from dockfmu.master.drivers.driver import ReceivingDriver
from dockfmu.master.errors import FmuError, MasterError
from dockfmu.master.requests import Pace
from dockfmu.master.result import Result
from dockfmu.master.sockets import Allowance
from dockfmu.master.system import Structure

LOG_VERSION = 1
LARGEST_LOG = 1 << 30
"""Bytes of the largest log that is read."""

SLOWEST, FASTEST = 0.01, 100.0
"""Limits of the speed that an operator may choose, relative to real time."""

LOOK_S = 0.01
"""Time between two looks at the connection, s: of the clock in a run that is faster than real time."""

LONGEST_LINE = 1 << 16
"""Bytes of a command; a connection that sends longer lines is closed."""


class Operator(ReceivingDriver):
    """Set inputs and speed, and pause and end a run, as an operator commands over a connection.

    Parameters
    ----------
    connection : socket
        Connected stream. Each line is a JSON object with one of the keys `set` (full names of inputs to numbers),
        `hold` (whether the run waits), `speed` (simulated time per wall time) and `end` (true: end the run).
    inputs : sequence of str
        Full names of the inputs that may be set.
    centred : sequence of str
        Inputs that become zero if the connection breaks: deflections of hand controllers, and buttons. The sender knows
        their values, so that accepted values are not acknowledged.
    buttons : sequence of str
        Inputs whose presses are never lost: see the notes.
    pace : Pace
        Speed, pause and end of the run, which commands change.
    log : Path, optional
        File to which each value is written with the time of the step at which it was set; see `LoggedInputs`.
    every : int
        Macro steps between two looks at the connection. In a run that is faster than real time there are about LOOK_S
        between two looks, and a multiple of these steps.
    answer : callable, optional
        Called for each accepted `set` with `{"taken": values}` of the inputs that are not `centred`, which act from the
        next look on. Called for each refusal with `{"refused": reason}`, and with `name` if an FMU discarded the value
        of that input.

    Notes
    -----
    If several values of an input arrive between two looks, the newest counts; but a button that is pressed and released
    between two looks is pressed for one of them.

    No line ends a run: a line that is not such a command is ignored, counted, and reported in result.warnings.
    """

    def __init__(
        self,
        connection: socket.socket,
        inputs: Sequence[str],
        *,
        centred: Sequence[str] = (),
        buttons: Sequence[str] = (),
        pace: Pace,
        log: Path | None = None,
        every: int = 1,
        answer: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:
        super().__init__(inputs, every)
        self.centred, self.buttons, self.pace, self.log = frozenset(centred), frozenset(buttons), pace, log
        self._answer = answer
        self._connection: socket.socket | None = connection
        self._allowance = Allowance()
        self._waiting = bytearray()
        self._pending: dict[str, float] = {}
        self._later: dict[str, float] = {}
        """Values for the look after the next one."""
        self._set: dict[str, float] = {}
        self._looked = -math.inf
        self._out: IO[str] | None = None
        self._name = ""

    def reset(self) -> None:
        raise MasterError("Operator takes part in one run only: create another simulation")

    def prepare(self, system: Structure) -> None:
        super().prepare(system)
        self._name = system.name

    def begin(self, start: float) -> None:
        if self.log is None:
            return
        try:
            self._out = open_in_place(self.log, "w", encoding="utf-8")
        except OSError as error:
            raise MasterError(f"{self.log}: cannot be written ({error.strerror})") from error
        self._write({"inputs": LOG_VERSION, "system": self._name, "start": start, "every": self.every})

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._out is not None:
            self._out.write(json.dumps(line) + "\n")
            self._out.flush()

    def holds(self) -> bool:
        self._receive()
        return self.pace.held

    def values(self, time: float) -> Mapping[str, Any]:
        self._looked = time
        found = {name: value for name, value in self._pending.items() if self._set.get(name) != value}
        self._pending, self._later = self._later, {}
        if found:
            self._set |= found
            self._write({"t": time, "set": found})
        return found

    def next_change(self) -> float:
        fast = self.pace.stride > 1 and not self._pending
        return self._looked + LOOK_S * self.pace.stride if fast else -math.inf

    def _receive(self) -> None:
        """Take what has arrived on the connection, or as much of it as one look has time for."""
        self._allowance.begin()
        while self._connection is not None and self._allowance.lasts():
            try:
                data = self._connection.recv(LONGEST_LINE, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._leave()
                return
            self._waiting += data
            *lines, rest = bytes(self._waiting).split(b"\n")
            self._waiting = bytearray(rest)
            for line in lines:
                try:
                    self.command(line)
                except DatagramError as reason:
                    self._refuse(str(reason))
            if len(rest) > LONGEST_LINE:
                self._refuse(f"a line of more than {LONGEST_LINE} bytes")
                self._leave()

    def _leave(self) -> None:
        """Go on without an operator, with centred hand controllers."""
        self._connection = None
        self._schedule(dict.fromkeys(self.centred, 0.0))
        self._hold(False)

    def _schedule(self, values: Mapping[str, float]) -> None:
        """Schedule values for the next look; the release of a button waits if its press is still scheduled."""
        for name, value in values.items():
            pressed = name in self.buttons and self._pending.get(name, 0.0) != 0.0
            self._later.pop(name, None)
            (self._later if pressed and value == 0.0 else self._pending)[name] = value

    def _refuse(self, reason: str, **more: str) -> None:
        super()._refuse(reason)
        if self._answer is not None:
            self._answer({"refused": reason, **more})

    def discarded(self, name: str, error: FmuError) -> None:
        # the same value again is a new command
        self._set.pop(name, None)
        self._refuse(str(error), name=name)

    def command(self, line: bytes) -> None:
        """Execute one command. Raises only DatagramError, whatever `line` is."""
        try:
            content = strict_json(line, parse_int=float)
        except (ValueError, RecursionError) as error:
            raise DatagramError(f"{line[:40]!r} is not JSON") from error
        if not isinstance(content, dict) or len(content) != 1:
            raise DatagramError(f"{line[:40]!r} is not a command")
        ((word, value),) = content.items()
        if word == "set":
            taken = decode(json.dumps(value).encode(), self._variables)
            self._schedule(taken)
            staying = {name: number for name, number in taken.items() if name not in self.centred}
            if staying and self._answer is not None:
                self._answer({"taken": staying})
        elif word == "hold" and isinstance(value, bool):
            self._hold(value)
        elif word == "speed" and _is_number(value) and SLOWEST <= value <= FASTEST:
            self.pace.factor = float(value)
            self.pace.change()
        elif word == "end" and value is True:
            self.pace.end = "ended by the operator"
            self._hold(False)
        else:
            raise DatagramError(f"{line[:60]!r} is not a command")

    def _hold(self, held: bool) -> None:
        self.pace.held = held
        self.pace.change()

    def end(self, result: Result) -> None:
        if self._out is not None:
            self._out.close()
        self._report(result, f"operator: {self.refused} commands")


def _is_number(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


class LoggedInputs(ReceivingDriver):
    """Set inputs as an operator did, from the log of that session; the run is bitwise equal to the session.

    Values that an FMU discarded are in the log, too; the FMU discards them again, and the run warns of them.

    Parameters
    ----------
    file : Path
        Log of an `Operator`.

    Raises
    ------
    MasterError
        for a file that is not such a log, with the line
    """

    def __init__(self, file: Path) -> None:
        self.file = Path(file)
        try:
            lines = read_text(self.file, LARGEST_LOG).splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise MasterError(f"{file}: cannot be read ({error})") from error
        head = self._parsed(1, lines[0]) if lines else {}
        every = head.get("every")
        known = head.get("inputs") == LOG_VERSION and _is_number(head.get("start", 0.0))
        if not known or not isinstance(every, float) or not 1.0 <= every < 1e9 or every % 1.0 != 0.0:
            raise MasterError(f"{file}: is not a log of an operator's inputs")
        self._entries = [self._entry(number, line) for number, line in enumerate(lines[1:], start=2)]
        for number, ((before, _), (time, _)) in enumerate(pairwise(self._entries), start=3):
            if time < before:
                raise MasterError(
                    f"{file}, line {number}: t = {time:g} s lies before t = {before:g} s of the line above"
                )
        self._recorded, self._start = str(head.get("system", "")), head.get("start", 0.0)
        self._warnings: list[str] = []
        self._next = 0
        super().__init__(tuple(dict.fromkeys(name for _, values in self._entries for name in values)), int(every))

    def _parsed(self, number: int, line: str) -> dict[str, Any]:
        try:
            content = strict_json(line, parse_int=float)
        except (ValueError, RecursionError) as error:
            raise MasterError(f"{self.file}, line {number}: is not JSON") from error
        if not isinstance(content, dict):
            raise MasterError(f"{self.file}, line {number}: is not an object")
        return content

    def _entry(self, number: int, line: str) -> tuple[float, dict[str, float]]:
        content = self._parsed(number, line)
        time: Any = content.get("t")
        values: Any = content.get("set")
        numbers = isinstance(values, dict) and all(map(_is_number, values.values()))
        if not isinstance(time, float) or not math.isfinite(time) or not numbers:
            raise MasterError(f"{self.file}, line {number}: needs a time `t` and numbers to `set`")
        return time, dict(values)

    def prepare(self, system: Structure) -> None:
        super().prepare(system)
        if self._recorded not in ("", system.name):
            self._warnings.append(f"{self.file}: is from a session with {self._recorded}, not with {system.name}")
        for number, (_, values) in enumerate(self._entries, start=2):
            try:
                decode(json.dumps(values).encode(), self._variables)
            except DatagramError as reason:
                raise MasterError(f"{self.file}, line {number}: {reason}") from reason

    def reset(self) -> None:
        super().reset()
        self._next = 0

    def begin(self, start: float) -> None:
        if start != self._start:
            self._warnings.append(f"{self.file}: its session began at t = {self._start:g} s, this run at {start:g} s")

    def values(self, time: float) -> Mapping[str, Any]:
        found: dict[str, float] = {}
        while self._next < len(self._entries) and self._entries[self._next][0] <= time + 1e-9:
            found |= self._entries[self._next][1]
            self._next += 1
        return found

    def next_change(self) -> float:
        return self._entries[self._next][0] if self._next < len(self._entries) else math.inf

    def end(self, result: Result) -> None:
        result.warnings += self._warnings
        self._report(result, f"{self.file}: {self.refused} values")
