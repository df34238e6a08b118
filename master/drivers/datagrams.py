"""Inputs that come over the network: a hand controller, another simulator."""

from __future__ import annotations

import json
import math
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from master.drivers.driver import Driver
from master.errors import MasterError
from master.result import Result

LARGEST = 65536


class Datagrams(Driver):
    """Listens on UDP `port` of `host` (0: any that is free; `port` tells which) for objects of JSON that map full
    names of `inputs` to numbers. The newest value of each counts; what never came keeps its start value.

    Datagrams that are no such objects, and names that are no inputs, are counted and told in result.warnings.
    """

    def __init__(self, port: int, inputs: Sequence[str], *, every: int = 1, host: str = "127.0.0.1") -> None:
        """Raises MasterError for a port that cannot be had."""
        self.inputs, self.every = tuple(inputs), every
        self.received = self.refused = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((host, port))
        except OSError as error:
            self._socket.close()
            raise MasterError(f"inputs: port {port} of {host} cannot be had ({error.strerror})") from error
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]

    def values(self, time: float) -> Mapping[str, Any]:
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
        self._socket.close()
        if self.refused:
            result.warnings.append(f"inputs: {self.refused} of {self.received + self.refused} datagrams were refused")
