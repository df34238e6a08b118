"""Faults of the machine on which a run is made: no room for files, no folder for them, no memory.

They are no results of a run. A run that fails is therefore believed only if its machine is sound.
"""

from __future__ import annotations

import errno
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dockfmu.base.errors import FAILED, DockfmuError

FILE_BYTES, MEMORY_BYTES = 1 << 20, 32 << 20
"""What a sound machine has room for."""

FAULTS = frozenset(
    getattr(errno, name)
    for name in (
        "ENOSPC",
        "EDQUOT",
        "EROFS",
        "EIO",
        "ENXIO",
        "ENODEV",
        "ESTALE",
        "ENOENT",
        "ENOTDIR",
        "EACCES",
        "EPERM",
        "EMFILE",
        "ENFILE",
        "ENOMEM",
        "EAGAIN",
    )
    if hasattr(errno, name)
)
"""Codes of operating systems for what a run, all files of which have been read before, cannot have caused."""


class MachineFaultError(DockfmuError):
    """A machine cannot make runs; `what` says why, `worker` is the address of its worker, if it is one."""

    exit_status = FAILED

    def __init__(self, machine: str, what: str, worker: str = "") -> None:
        self.machine, self.what, self.worker = machine, what, worker
        super().__init__(
            f"{machine}: {what}. This is no result: the rows made so far are kept. Put it right and give the command "
            "again; the campaign continues"
        )

    def __reduce__(self) -> tuple[type[MachineFaultError], tuple[str, str, str]]:
        return type(self), (self.machine, self.what, self.worker)


def check_machine(error: BaseException | None) -> None:
    """Raise MachineFaultError if a run failed because of its machine: by the cause of its error, or by a trial."""
    what = fault_of(error) or fault_here()
    if what:
        raise MachineFaultError(socket.gethostname(), what) from error


def fault_of(error: BaseException | None) -> str:
    """Return the fault of the machine that caused an error, empty if none did."""
    for cause in _causes(error):
        if isinstance(cause, MemoryError):
            return "it has no memory left"
        if isinstance(cause, OSError) and cause.errno in FAULTS and not isinstance(cause, DockfmuError):
            where = f" for {cause.filename}" if cause.filename is not None else ""
            return f"its operating system says {cause.strerror!r}{where}"
    return ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def fault_here() -> str:
    """Return what this machine lacks to make runs, empty if nothing: an FMU only says that it failed."""
    try:
        folder = tempfile.gettempdir()
    except OSError as error:
        return f"it has no folder for temporary files ({error.strerror})"
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(FILE_BYTES))
    except OSError as error:
        return f"its folder for temporary files, {folder}, cannot be written ({error.strerror})"
    try:
        bytearray(MEMORY_BYTES)
    except MemoryError:
        return "it has no memory left"
    return ""


def killed_for_memory() -> int:
    """Return how many processes of this machine its kernel has ended for lack of memory; 0 where it is not known."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
    except (OSError, StopIteration, ValueError, IndexError):
        return 0
