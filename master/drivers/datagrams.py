"""Inputs that come over the network: a hand controller, another simulator."""

from __future__ import annotations

import json
import math
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from master.drivers.driver import Driver
from master.listening import listen
from master.result import Result

LARGEST = 65536


class Datagrams(Driver):
    """Listens on UDP `port` of `host` (0: any that is free; from `open` on `port` tells which) for objects of JSON that
    map full names of `inputs` to numbers. The newest value of each counts; what never came keeps its start value.

    Datagrams that are no such objects, and names that are no inputs, are counted and told in result.warnings.
    """

    def __init__(self, port: int, inputs: Sequence[str], *, every: int = 1, host: str = "127.0.0.1") -> None:
        self.inputs, self.every = tuple(inputs), every
        self.host, self.port = host, port
        self.received = self.refused = 0
        self._socket: socket.socket | None = None

    def open(self) -> None:
        """Listen, if it does not yet: datagrams wait for the run. Raises MasterError for a port that is taken."""
        if self._socket is None:
            self._socket = listen(socket.SOCK_DGRAM, self.host, self.port, "inputs")
            self.port = self._socket.getsockname()[1]

    def values(self, time: float) -> Mapping[str, Any]:
        assert self._socket is not None
        found: dict[str, float] = {}
        while True:
            try:
                data = self._socket.recv(LARGEST)
            except OSError:
                return found
            values = self._read(data)
            if values is None:
                self.refused += 1
            else:
                self.received += 1
                found |= values

    def _read(self, data: bytes) -> dict[str, float] | None:
        try:
            content = json.loads(data)
            values = {str(name): float(value) for name, value in content.items()}
        except (ValueError, TypeError, AttributeError):
            return None
        known = all(name in self.inputs for name in values)
        return values if known and all(map(math.isfinite, values.values())) else None

    def end(self, result: Result) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self.refused:
            result.warnings.append(f"inputs: {self.refused} of {self.received + self.refused} datagrams were refused")
