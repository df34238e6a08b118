"""The logger callback that FMUs call, and their messages.

fmi2CallbackLogger is variadic, which callbacks of ctypes cannot be, so those few lines are LLVM code. Formatting is
done in Python: a broken format string, common in FMUs, then yields a garbled word instead of a crash of the process.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

import llvmlite.binding as llvm

from dockfmu.base.fmi import STATUS_NAMES
from dockfmu.base.messages import storable

KEPT = 200

_VARIADIC = """
declare void @llvm.va_start.p0(ptr)
declare void @llvm.va_end.p0(ptr)
define void @logger(ptr %environment, ptr %name, i32 %status, ptr %category, ptr %format, ...) {{
  %list = alloca [32 x i8], align 16
  call void @llvm.va_start.p0(ptr %list)
  %handler = inttoptr i64 {handler} to ptr
  call void %handler(ptr %environment, ptr %name, i32 %status, ptr %category, ptr %format, ptr %list)
  call void @llvm.va_end.p0(ptr %list)
  ret void
}}
define i64 @next_integer(ptr %list) {{
  %value = va_arg ptr %list, i64
  ret i64 %value
}}
define double @next_real(ptr %list) {{
  %value = va_arg ptr %list, double
  ret double %value
}}
"""

_SPECIFICATION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d+)?)?"
    r"(?P<length>hh|h|ll|l|L|j|z|t|I64)?(?P<kind>[diouxXeEfFgGaAcspn%])"
)


@dataclass(frozen=True)
class LogMessage:
    """One message: name of its status, category, text."""

    status: str
    category: str
    text: str


class Log:
    """The last KEPT messages of one instance.

    `translate` replaces the placeholders of FMI for variables (`#r12#`) by names; `listener` is called with `last` and
    `last_warning` after each change.
    """

    def __init__(
        self, translate: Callable[[str], str] = str, listener: Callable[[str, str], None] | None = None
    ) -> None:
        self.messages: deque[LogMessage] = deque(maxlen=KEPT)
        self.translate = translate
        self.listener = listener
        self._warning: str | None = None

    def add(self, status: int, category: str, text: str) -> None:
        """Add a message."""
        known = STATUS_NAMES[status] if 0 <= status < len(STATUS_NAMES) else str(status)
        message = LogMessage(known, storable(category), self.translate(storable(text.rstrip())))
        self.messages.append(message)
        if known == "fmi2Warning":
            self._warning = message.text
        self._tell()

    def clear(self) -> None:
        """Forget all messages, before another run."""
        self.messages.clear()
        self._warning = None
        self._tell()

    def _tell(self) -> None:
        if self.listener is not None:
            self.listener(self.last, self.last_warning)

    @property
    def last_message(self) -> LogMessage:
        """The last message whose status is not fmi2OK, or the last message if there is none."""
        problems = [m for m in self.messages if m.status != "fmi2OK"]
        return (problems or list(self.messages) or [LogMessage("", "", "")])[-1]

    @property
    def last(self) -> str:
        """The text of `last_message`."""
        return self.last_message.text

    @property
    def last_warning(self) -> str:
        """The text of the last message whose status is a warning, whatever followed it; without one, `last`."""
        return self.last if self._warning is None else self._warning


_logs: dict[int, Log] = {}
_keys = count(1)


def register(log: Log) -> int:
    """Register `log`; return a number that is never reused, for fmi2CallbackFunctions.componentEnvironment."""
    key = next(_keys)
    _logs[key] = log
    return key


def forget(key: int) -> None:
    """Drop messages for this key from now on."""
    _logs.pop(key, None)


_Handler = ctypes.CFUNCTYPE(
    None, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_size_t
)


def _handle(environment: int, name: int, status: int, category: int, form: int, arguments: int) -> None:
    log = _logs.get(environment)
    if log is not None:
        log.add(status, _string(category) or "", _format(_string(form) or "", arguments))


_Plain = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t)


def _handle_plain(environment: int, status: int, category: int, text: int) -> None:
    log = _logs.get(environment)
    if log is not None:
        log.add(status, _string(category) or "", _string(text) or "")


_plain = _Plain(_handle_plain)


def plain_logger() -> int:
    """Return the address of the callback of FMI 3.0: (environment, status, category, text)."""
    return ctypes.cast(_plain, ctypes.c_void_p).value or 0


class _Machine:
    """The compiled variadic function; keeps its engine and its handler alive."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.handler = _Handler(_handle)
        address = ctypes.cast(self.handler, ctypes.c_void_p).value
        target = llvm.Target.from_default_triple().create_target_machine()
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_VARIADIC.format(handler=address)), target)
        self.engine.finalize_object()
        self.logger = self.engine.get_function_address("logger")
        get = self.engine.get_function_address
        self.next_integer = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_size_t)(get("next_integer"))
        self.next_real = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_size_t)(get("next_real"))


@cache
def _machine() -> _Machine:
    return _Machine()


def logger() -> int:
    """Return the address of the callback of FMI 2.0."""
    return _machine().logger


def _format(form: str, arguments: int) -> str:
    """Format as printf in C, with the arguments of a va_list; conversions that cannot be read are left unchanged."""

    def integer() -> int:
        return _machine().next_integer(arguments)

    def replace(match: re.Match[str]) -> str:
        kind, flags, length = match["kind"], match["flags"], match["length"] or ""
        if kind == "%":
            return "%"
        width = str(_signed(integer(), 32)) if match["width"] == "*" else match["width"] or ""
        precision = match["precision"]
        if precision == "*":
            precision = str(_signed(integer(), 32))
        python = f"%{flags}{width}" + ("" if precision is None else f".{precision}")
        if kind == "n" or length == "L":
            integer()
            return match[0]
        if kind in "eEfFgG":
            return (python + kind) % _machine().next_real(arguments)
        if kind in "aA":
            return _machine().next_real(arguments).hex()
        if kind == "s":
            text = _string(integer())
            return match[0] if text is None else (python + "s") % text
        if kind == "c":
            return (python + "c") % chr(integer() & 0xFF)
        if kind == "p":
            return hex(integer() & (2**64 - 1))
        wide = length in ("ll", "j", "z", "t", "I64") or (length == "l" and sys.platform != "win32")
        bits = 64 if wide else {"hh": 8, "h": 16}.get(length, 32)
        value = integer()
        if kind in "di":
            return (python + "d") % _signed(value, bits)
        return (python + kind.replace("u", "d")) % (value & (2**bits - 1))

    return _SPECIFICATION.sub(replace, form)


def _signed(value: int, bits: int) -> int:
    value &= 2**bits - 1
    return value - 2**bits if value >> (bits - 1) else value


_reading = threading.Lock()
"""Lets one string at a time through the pipe, because FMUs may log from their own threads."""


@cache
def _pipe(process: int) -> tuple[int, int, Any]:
    """Return the pipe of a process, so that after a fork the child does not read what the parent writes."""
    return (*os.pipe(), ctypes.CDLL(None).write)


def _string(address: int, limit: int = 16384) -> str | None:
    """Return the C string at `address`, None if the memory is not readable.

    On POSIX the bytes go through a pipe: the kernel refuses a bad address, whereas a load would crash the process.
    """
    if address & (2**64 - 1) < 4096:
        return None
    if sys.platform == "win32":
        return ctypes.string_at(address, -1).decode("utf-8", "replace")
    source, sink, write = _pipe(os.getpid())
    found = b""
    while len(found) < limit:
        size = 4096 - (address + len(found)) % 4096
        with _reading:
            if write(sink, ctypes.c_void_p(address + len(found)), ctypes.c_size_t(size)) != size:
                return None
            piece = os.read(source, size)
        end = piece.find(b"\0")
        if end >= 0:
            return (found + piece[:end]).decode("utf-8", "replace")
        found += piece
    return found.decode("utf-8", "replace")
