"""Memory that the master shares with the process of one FMU, and messages through it (master/fmi/native/remote.c).

The FMU can write anything there at any time: nothing that is read is trusted.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from typing import Any

if sys.platform == "linux":
    import fcntl

from dockfmu.master.errors import MasterError
from dockfmu.master.fmi.native import build
from dockfmu.master.fmi.remote.messages import MessageError, decode, encode

SIZE = 1 << 28
"""Size in bytes; the kernel allocates only the pages that are used."""
SAID = 2048
"""Bytes for each of the two last messages, as in `remote.c`."""


def create() -> int:
    """Create shared memory of SIZE bytes, which no process can resize; return its file descriptor."""
    descriptor = os.memfd_create("dockfmu", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, SIZE)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return descriptor


class SharedMemory:
    """Memory that both processes map, for one message at a time."""

    def __init__(self, descriptor: int) -> None:
        """Map `descriptor`, an open file of SIZE bytes in memory. Raises MasterError on systems other than Linux."""
        self.library = library()
        self._memory = mmap.mmap(descriptor, SIZE)
        self._anchor = ctypes.c_char.from_buffer(self._memory)
        self.address = ctypes.c_void_p(ctypes.addressof(self._anchor))
        self._body = self.library.remote_body(self.address)
        self._size = ctypes.c_uint64.from_address(self.library.remote_size(self.address))
        said = self.library.remote_said(self.address)
        self._last_messages = [(ctypes.c_char * SAID).from_address(said + k * SAID) for k in range(2)]
        self._capacity = self.library.remote_capacity(self.address, ctypes.c_size_t(SIZE))

    def write(self, message: Any) -> None:
        """Write a message. Raises MasterError for one that is too large."""
        data = encode(message)
        if len(data) > self._capacity:
            raise MasterError(f"{len(data)} bytes are too many for one call of another process")
        ctypes.memmove(self._body, data, len(data))
        self._size.value = len(data)

    def read(self) -> Any:
        """Read the message. Raises MessageError for other content."""
        size = self._size.value
        if size > self._capacity:
            raise MessageError(f"a message of {size} bytes does not fit")
        return decode(ctypes.string_at(self._body, size))

    def set_last_messages(self, last: str, warning: str) -> None:
        """Store the last message and the last warning of the FMU, readable even after its process has ended."""
        for place, text in zip(self._last_messages, (last, warning), strict=True):
            place.value = text.encode()[: SAID - 1]

    @property
    def last_messages(self) -> tuple[str, str]:
        """Return the last message and the last warning of the FMU."""
        last, warning = (place.value.decode("utf-8", "replace") for place in self._last_messages)
        return last, warning


def library() -> ctypes.CDLL:
    """Load the compiled functions of both sides. Raises MasterError on systems other than Linux."""
    if sys.platform != "linux":
        raise MasterError("FMUs run in processes of their own on Linux only")
    found = build.library("remote")
    found.remote_body.restype = found.remote_size.restype = found.remote_said.restype = ctypes.c_void_p
    found.remote_capacity.restype = ctypes.c_size_t
    found.remote_open.restype = ctypes.c_void_p
    found.remote_open.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_double)
    for name in ("remote_close", "remote_lost", "remote_ask"):
        getattr(found, name).argtypes = (ctypes.c_void_p,)
    found.remote_set_timeout.argtypes = (ctypes.c_void_p, ctypes.c_double)
    return found


def function_names(library: ctypes.CDLL) -> list[str]:
    """Return the FMI functions that pass without a message, in the order of the table of the worker."""
    names = []
    for name in (ctypes.c_char_p * 100).in_dll(library, "remote_function_names"):
        if name is None:
            break
        names.append(name.decode())
    return names
