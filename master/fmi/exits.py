"""Calls of exit() by FMUs in this process, which otherwise end it with whatever status, and without a word.

The functions of `atexit` in C run then. Ours must not run Python, in which nothing works by then: it is LLVM code.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from functools import cache

import llvmlite.binding as llvm

_SAID = (
    b"dockfmu: an FMU, or a library that it uses, has ended this process by exit(): its results are incomplete; "
    b"--process ELEMENT keeps an FMU apart, and names it\n"
)
_CODE = """
declare i32 @getpid()
declare i64 @write(i32, ptr, i64)
declare void @_exit(i32)
@said = private constant [{size} x i8] c"{said}"
define void @ended(ptr %guarded) {{
  %own = call i32 @getpid()
  %process = load i32, ptr %guarded
  %same = icmp eq i32 %own, %process
  br i1 %same, label %here, label %elsewhere
here:
  %written = call i64 @write(i32 2, ptr @said, i64 {size})
  call void @_exit(i32 1)
  unreachable
elsewhere:
  ret void
}}
"""


class _ExitGuard:
    """The registered function; its code lives as long as this object."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        said = "".join(f"\\{byte:02X}" for byte in _SAID)
        target = llvm.Target.from_default_triple().create_target_machine()
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_CODE.format(size=len(_SAID), said=said)), target)
        self.engine.finalize_object()
        self.process = ctypes.c_int(os.getpid())
        """The process that is guarded; forked ones are not, and 0 is none."""
        library, function = ctypes.CDLL(None), ctypes.c_void_p(self.engine.get_function_address("ended"))
        # the address of the function also stands for the library that has registered it
        library["__cxa_atexit"](function, ctypes.byref(self.process), function)
        self._forget = lambda: library["__cxa_finalize"](function)

    def remove(self) -> None:
        """Unregister the function, because Python ends this process in order."""
        self.process.value = 0
        self._forget()


@cache
def guard() -> None:
    """Let calls of exit() in C be told, and give exit status 1, from now on until Python itself ends."""
    if sys.platform != "win32":
        atexit.register(_ExitGuard().remove)
