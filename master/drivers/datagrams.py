"""Inputs received over the network, such as from a hand controller or another simulator."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from typing import Any

from dockfmu.base.number_text import strict_json
from dockfmu.master.drivers.driver import ReceivingDriver
from dockfmu.master.errors import MasterError
from dockfmu.master.fmi.variables import Variable
from dockfmu.master.result import Result
from dockfmu.master.sockets import Allowance, listen
from dockfmu.master.system import check_value

LARGEST = 65536
"""Bytes of a datagram."""


class DatagramError(MasterError, ValueError):
    """A datagram is refused; the message says why."""


class Datagrams(ReceivingDriver):
    """Set inputs to values received by UDP, as JSON objects that map full names to numbers.

    Parameters
    ----------
    port : int
        UDP port; 0 for any free one, whose number is in `port` after `open`.
    inputs : sequence of str
        Full names of the inputs.
    every : int
        Macro steps between two looks at the port.
    host : str
        Address to listen on.

    Notes
    -----
    The newest value of each input counts; an input that is never received keeps its start value. No datagram ends a
    run: one that is not such an object, names another variable, or has a value that the variable does not accept is
    ignored, counted, and reported in result.warnings. Reading takes a tenth of the time of the run at most (see
    `Allowance`); later looks read what is left, and the operating system drops what it cannot keep.
    Fills `datagrams` and `datagrams_refused` of result.network.
    """

    def __init__(self, port: int, inputs: Sequence[str], *, every: int = 1, host: str = "127.0.0.1") -> None:
        super().__init__(inputs, every)
        self.host, self.port = host, port
        self.received = 0
        self._socket: socket.socket | None = None
        self._allowance = Allowance()

    def reset(self) -> None:
        super().reset()
        self.received = 0

    def open(self) -> None:
        """Listen, unless it already does; datagrams wait for the run. Raises MasterError for a port that is in use."""
        if self._socket is None:
            self._socket = listen(socket.SOCK_DGRAM, self.host, self.port, "inputs")
            self.port = self._socket.getsockname()[1]

    def values(self, time: float) -> Mapping[str, Any]:
        assert self._socket is not None
        found: dict[str, float] = {}
        self._allowance.begin()
        while self._allowance.lasts():
            try:
                data = self._socket.recv(LARGEST)
            except OSError:
                break
            self.received += 1
            try:
                found |= decode(data, self._variables)
            except DatagramError as reason:
                self._refuse(str(reason))
        return found

    def end(self, result: Result) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        result.network |= {"datagrams": self.received, "datagrams_refused": self.refused}
        self._report(result, f"inputs: {self.refused} of {self.received} datagrams")


def decode(data: bytes, variables: Mapping[str, Variable]) -> dict[str, float]:
    """Return the values that a datagram has for `variables`. Raises only DatagramError, whatever `data` is."""
    try:
        content = strict_json(data, parse_int=float)
    except (ValueError, RecursionError) as error:
        raise DatagramError(f"{data[:40]!r} is not JSON") from error
    if not isinstance(content, dict):
        raise DatagramError(f"{data[:40]!r} is not an object")
    for name, value in content.items():
        if name not in variables:
            raise DatagramError(f"{name[:80]!a} is not an input that can be set")
        reason = _problem(variables[name], value)
        if reason:
            raise DatagramError(f"{name}: {reason}")
    return {name: float(value) for name, value in content.items()}


def _problem(variable: Variable, value: Any) -> str:
    """Return why a variable does not accept a value, or an empty string if it does."""
    if variable.storage == "String":
        return "strings cannot be set by datagrams"
    if isinstance(value, bool) and variable.storage == "Boolean":
        return ""
    if isinstance(value, bool) or not isinstance(value, float):
        return "the value is not a number"
    problem = check_value(variable, value)
    return f"{value:g}: {problem}" if problem else ""
