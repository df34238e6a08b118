"""Instances of FMUs in separate processes.

Whatever the FMU does to its process, such as a crash, an endless loop or `exit()`, reaches the master as a named
failure. The compiled loop calls such an instance like any other: its functions are those of master/fmi/native/remote.c.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dockfmu.base.processes import import_path, python_command
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.master.errors import FmuError, MasterError
from dockfmu.master.fmi import callbacks
from dockfmu.master.fmi.description import Description
from dockfmu.master.fmi.instance import FmuInstance
from dockfmu.master.fmi.libraries import UNPACKED
from dockfmu.master.fmi.log import Log
from dockfmu.master.fmi.remote.messages import MessageError
from dockfmu.master.fmi.remote.shared_memory import SIZE, SharedMemory, create, library

STARTING_S = 60.0
"""Time for the start of Python and the loading of the FMU on a busy machine, s."""
ENDING_S = 2.0
TIMED_OUT, BAD_STATUS = 2, 3
"""Results of `remote_lost` besides 0 (not lost) and 1 (the process ended)."""

_FIELDS = {"instance": str, "text": str, "function": str, "status": str, "time": float | None, "file": str,
           "message": str, "category": str}  # fmt: skip
"""The arguments of FmuError and their types."""
_KINDS = {"Real": float, "Integer": int, "Boolean": bool, "String": str}


def _nothing(found: Any) -> bool:
    return found is None


def _is_integer(found: Any) -> bool:
    return type(found) is int


def _is_list(found: Any, kinds: Sequence[type]) -> bool:
    """Return whether `found` is a list of values of these types."""
    return isinstance(found, list) and [type(value) for value in found] == list(kinds)


def _are_strings(found: Any, count: int) -> bool:
    """Return whether an answer is a status and `count` strings, or none after a failure."""
    return (
        isinstance(found, list)
        and len(found) == 2
        and _is_integer(found[0])
        and (_is_list(found[1], [str] * count) or found[1] == [])
    )


def _is_failure(found: Any) -> bool:
    """Return whether an answer has the fields of an FmuError."""
    return (
        isinstance(found, dict)
        and found.keys() == _FIELDS.keys()
        and all(isinstance(found[name], kind) for name, kind in _FIELDS.items())
    )


class _RemoteLog(Log):
    """The last messages of an FMU in another process, available even after that process has ended."""

    def __init__(self, memory: SharedMemory) -> None:
        super().__init__()
        self._shared = memory

    @property
    def last(self) -> str:
        return self._shared.last_messages[0]

    @property
    def last_warning(self) -> str:
        return self._shared.last_messages[1]


class RemoteInstance(FmuInstance):
    """An instance whose FMU runs in another process; `timeout` is the longest duration of a call, in seconds.

    If it is `fresh`, `renew` replaces the process: nothing that the library keeps for its process reaches another run.
    """

    process: subprocess.Popen[bytes]
    """The process of the instance, in a process group of its own."""

    def __init__(
        self,
        file: Path,
        description: Description,
        name: str,
        *,
        structure: Mapping[str, int] | None = None,
        timeout: float = 60.0,
        fresh: bool = False,
    ) -> None:
        """Start the process and create the instance.

        Raises FmuError with the FMU's message, and MasterError on platforms other than Linux.
        """
        library()
        self.name, self._file, self._description = name, file, description
        self._structure, self._limit_s, self._fresh = dict(structure or {}), timeout, fresh
        self._entries: dict[str, Any] = {}
        self._begin()

    def _begin(self) -> None:
        """Start a process, and create the instance in it."""
        self._dead, self._timeout = False, max(self._limit_s, STARTING_S)
        self._request_number = 0
        self._link: int | None = None
        self._folder = TemporaryFolder(UNPACKED)
        descriptor = create()
        try:
            self._shared = SharedMemory(descriptor)
            self.process = self._start(descriptor)
        except BaseException:
            self._folder.remove()
            raise
        finally:
            os.close(descriptor)
        self.log = _RemoteLog(self._shared)
        self._link = self._shared.library.remote_open(self._shared.address, SIZE, self.process.pid, self._timeout)
        self.component = self._link
        try:
            self._request("start", str(self.file.absolute()), self.name, self._structure)
        except BaseException:
            self.free()
            raise
        self._limit(self._limit_s)

    def _limit(self, timeout: float) -> None:
        """Set the longest duration of a call, in s."""
        self._timeout = timeout
        self._shared.library.remote_set_timeout(self._link, timeout)

    def _start(self, descriptor: int) -> subprocess.Popen[bytes]:
        # the worker finds this package where this process does, and leaves its temporary files in our folder
        path = os.pathsep.join([str(import_path()), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        return subprocess.Popen(
            python_command("-m", "dockfmu.master.fmi.remote.worker", str(descriptor)),
            stdin=subprocess.PIPE,
            # Ctrl-C is for the master, and the FMU may handle it in its own way
            process_group=0,
            pass_fds=[descriptor],
            env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(self._folder.path)},
        )

    @property
    def description(self) -> Description:
        return self._description

    @property
    def file(self) -> Path:
        return self._file

    @property
    def dead(self) -> bool:
        return self._dead

    def _request(self, method: str, *arguments: Any, gives: Callable[[Any], bool] = _nothing) -> Any:
        """Call a method of the instance in the worker; return its result or raise its error.

        `gives` returns whether an answer is one that the method can give: the FMU may have written it.
        """
        if self.dead or self._link is None:
            raise FmuError(self.name, f"{method} cannot be called: the FMU has ended")
        self._request_number += 1
        self._shared.write((self._request_number, method, arguments))
        self._shared.library.remote_ask(self._link)
        lost = self._lost()
        if lost:
            raise self._lost_error(method, lost)
        kind, content = self._answer(method, gives)
        if kind == "failure":
            raise self._failure(content)
        if kind == "error":
            raise MasterError(content)
        return content

    def _answer(self, method: str, gives: Callable[[Any], bool]) -> tuple[str, Any]:
        """Return the kind and content of the answer. Raises FmuError for an answer that the method cannot give."""
        try:
            answer = self._shared.read()
        except MessageError as error:
            raise self._corrupted(method, str(error)) from error
        if not (isinstance(answer, list) and len(answer) == 3 and answer[0] == self._request_number):
            raise self._corrupted(method, "the answer is to another call")
        kind, content = answer[1:]
        forms: dict[str, Callable[[Any], bool]] = {
            "value": gives,
            "failure": _is_failure,
            "error": lambda found: isinstance(found, str),
        }
        if not (isinstance(kind, str) and kind in forms and forms[kind](content)):
            raise self._corrupted(method, "the answer has another form")
        return kind, content

    def _corrupted(self, function: str, reason: str) -> FmuError:
        """Kill a process whose memory the FMU has overwritten; return the error."""
        self._dead = True
        self.process.kill()
        return FmuError(
            self.name,
            f"{function} got an answer that cannot be read ({reason}): the FMU writes into memory that is not its "
            "own; its process was ended",
            function=function,
            status="crash",
            file=self.file.name,
            message=self.log.last,
        )

    def _lost(self) -> int:
        return int(self._shared.library.remote_lost(self._link))

    def _failure(self, fields: dict[str, Any]) -> FmuError:
        self._dead = self._dead or fields["status"].endswith("Fatal")
        return FmuError(**fields)

    def _lost_error(self, function: str, lost: int, time: float | None = None) -> FmuError:
        """Return the error of a process that has ended, or of one that does not answer, which is killed."""
        if lost == BAD_STATUS:
            return self._corrupted(function, "a status that FMI does not have")
        self._dead = True
        if lost == TIMED_OUT:
            self.process.kill()
            text, status = f"has not returned after {self._timeout:g} s; its process was ended", "timeout"
        else:
            text, status = f"did not return: {_ending(self.process.wait())}", "crash"
        return FmuError(
            self.name,
            f"{function} {text}",
            function=function,
            status=status,
            time=time,
            file=self.file.name,
            message=self.log.last,
        )

    def failure(self, function: str, status: int, time: float | None = None, detail: str = "") -> FmuError:
        lost = self._lost()
        if lost:
            return self._lost_error(function, lost, time)
        return self._failure(self._request("failure", function, status, time, detail, gives=_is_failure))

    def entry(self, function: str) -> int:
        if function not in self._entries:
            self._entries[function] = callbacks.callback(self, function) or getattr(self._shared.library, function)
        address = ctypes.cast(self._entries[function], ctypes.c_void_p).value
        assert address is not None
        return address

    def call(self, function: str, *arguments: Any) -> None:
        raise NotImplementedError(f"{function} of another process: use the method for it")

    def enter_initialization(
        self, start: float = 0.0, stop: float | None = None, tolerance: float | None = None
    ) -> None:
        self._request("enter_initialization", start, stop, tolerance)

    def exit_initialization(self) -> None:
        self._request("exit_initialization")

    def step(self, t: float, h: float) -> None:
        self._request("step", t, h)

    def last_successful_time(self) -> float | None:
        return self._request("last_successful_time", gives=lambda found: isinstance(found, float | None))

    def set(self, values: Mapping[str, Any]) -> None:
        self._request("set", dict(values))

    def get(self, names: Sequence[str]) -> list[Any]:
        variables = self.description.variables
        # the worker refuses names that do not exist
        kinds = [_KINDS[variables[name].storage] for name in names if name in variables]
        return self._request("get", tuple(names), gives=lambda found: _is_list(found, kinds))

    def read_strings(self, references: Sequence[int]) -> tuple[int, list[str]]:
        found = self._request(
            "read_strings", list(references), gives=lambda found: _are_strings(found, len(references))
        )
        return found[0], found[1]

    def write_strings(self, references: Sequence[int], values: Sequence[str]) -> int:
        return self._request("write_strings", list(references), list(values), gives=_is_integer)

    def get_state(self) -> int:
        return self._request("get_state", gives=_is_integer)

    def set_state(self, state: int) -> None:
        self._request("set_state", state)

    def free_state(self, state: int) -> None:
        if not self.dead:
            self._request("free_state", state)

    def serialize(self, state: int) -> bytes:
        return self._request("serialize", state, gives=lambda found: isinstance(found, bytes))

    def deserialize(self, data: bytes) -> int:
        return self._request("deserialize", data, gives=_is_integer)

    def renew(self) -> None:
        if not self._fresh:
            self._request("renew")
            return
        self.free()
        self._begin()

    @property
    def remote(self) -> bool:
        return True

    @property
    def renewable(self) -> bool:
        return True

    def terminate(self) -> None:
        if not self.dead:
            self._request("terminate")

    def free(self) -> None:
        """Let the FMU free itself, and kill its process if that takes too long."""
        if self._link is None:
            return
        if not self.dead:
            self._limit(ENDING_S)
            try:
                self._request("free")
            except MasterError:
                self.process.kill()
        assert self.process.stdin is not None
        self.process.stdin.close()  # the worker ends with this pipe
        try:
            self.process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._shared.library.remote_close(self._link)
        self.component = self._link = None
        self._folder.remove()


def _ending(returned: int) -> str:
    """Describe the end of a process."""
    if returned >= 0:
        return f"its process ended with exit status {returned}"
    try:
        name = signal.Signals(-returned).name
    except ValueError:
        name = f"signal {-returned}"
    return f"its process was ended by {name}"
