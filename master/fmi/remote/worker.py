"""The process of one FMU: `python -m dockfmu.master.fmi.remote.worker DESCRIPTOR`; `process.py` beside it starts it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from dockfmu.base.fmi import ERROR, OK
from dockfmu.master.errors import FmuError, MasterError
from dockfmu.master.fmi.instance import Fmu, FmuInstance
from dockfmu.master.fmi.remote.shared_memory import SharedMemory, function_names

METHODS = (
    "failure", "enter_initialization", "exit_initialization", "step", "last_successful_time",
    "set", "get", "read_strings", "write_strings", "get_state", "set_state", "free_state", "serialize", "deserialize",
    "renew", "terminate", "free",
)  # fmt: skip
"""Methods of an instance that messages may name."""


class Worker:
    """Calls the methods that messages name: `start`, and those of the instance."""

    def __init__(self, memory: SharedMemory) -> None:
        self.memory = memory
        self.instance: FmuInstance | None = None
        self.names = function_names(memory.library)
        self.table = (ctypes.c_void_p * len(self.names))()

    def start(self, file: str, name: str, structure: dict[str, int]) -> None:
        """Load the FMU and create the instance."""
        fmu = Fmu(Path(file), structure)
        self.instance = instance = fmu.instantiate(name, listener=self.memory.set_last_messages)
        for k, function in enumerate(self.names):
            if function in fmu.library.functions:
                self.table[k] = instance.entry(function)

    def serve(self) -> None:
        """Answer messages until the process ends."""
        serve, own = self.memory.library.remote_serve, os.getpid()
        while True:
            component = self.instance.component if self.instance else None
            serve(self.memory.address, self.table, ctypes.c_void_p(component))
            number, method, arguments = self.memory.read()
            try:
                answer = self.answer(method, arguments)
                if os.getpid() != own:
                    os._exit(0)  # a copy that the FMU has made by fork() must not answer too
                self.memory.write((number, "value", answer))
                status = OK
            except FmuError as error:
                self.memory.write((number, "failure", error.fields()))
                status = ERROR
            except MasterError as error:
                self.memory.write((number, "error", str(error)))
                status = ERROR
            self.memory.library.remote_answer(self.memory.address, status)

    def answer(self, method: str, arguments: list[Any]) -> Any:
        """Call a method, and return what it returns."""
        if method == "start":
            return self.start(*arguments)
        if self.instance is None or method not in METHODS:
            raise MasterError(f"the worker has no method {method!r}")
        found = getattr(self.instance, method)(*arguments)
        return found.fields() if isinstance(found, FmuError) else found


def _pipe_from_the_master() -> int:
    """Return standard input, a pipe from the master, at another descriptor; an FMU that reads finds the end at once."""
    pipe = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return pipe


def _end_with_the_master(pipe: int) -> None:
    """End this process when the master has ended: the pipe from it closes then."""
    os.read(pipe, 1)
    os._exit(0)


def main() -> None:
    """Serve until the end of the master."""
    # requests to end are for the master; it then informs this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_master, args=(_pipe_from_the_master(),), daemon=True).start()
    Worker(SharedMemory(int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
