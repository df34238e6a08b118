"""What a shared library needs and gives, and the lists of what it must and may."""

from __future__ import annotations

from dataclasses import dataclass

from base.errors import FAILED, DockfmuError

_FMI = """
    GetTypesPlatform GetVersion SetDebugLogging Instantiate FreeInstance SetupExperiment EnterInitializationMode
    ExitInitializationMode Terminate Reset GetReal GetInteger GetBoolean GetString SetReal SetInteger SetBoolean
    SetString GetFMUstate SetFMUstate FreeFMUstate SerializedFMUstateSize SerializeFMUstate DeSerializeFMUstate
    GetDirectionalDerivative SetRealInputDerivatives GetRealOutputDerivatives DoStep CancelStep GetStatus
    GetRealStatus GetIntegerStatus GetBooleanStatus GetStringStatus
"""
_MATHS = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor fma fmax fmin
    fmod frexp hypot ldexp lgamma log log10 log1p log2 nearbyint pow remainder rint round sin sincos sinh sqrt tan tanh
    tgamma trunc
"""
_C = """
    bsearch calloc fclose fgetc fopen fread free getc malloc memcmp memcpy memmove memset snprintf stpcpy strcat strcmp
    strcpy strlen strncmp strncpy strstr vsnprintf
"""
_LOADER = "__cxa_finalize __gmon_start__ _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable"
_MACOS = "bzero __bzero __sincos_stret dyld_stub_binder"

FUNCTIONS = frozenset(f"fmi2{name}" for name in _FMI.split())
"""All functions of FMI 2.0 for co-simulation."""

MATHS = frozenset(_MATHS.split())
"""Functions of libm."""

ALLOWED = frozenset((f"{_MATHS} {_C} {_LOADER} {_MACOS}").split())
"""Symbols that a library may take from libm, libc and the loader."""


class LibraryError(DockfmuError, ValueError):
    """A shared library that is damaged, or needs or lacks what it must not."""

    exit_status = FAILED


@dataclass(frozen=True)
class Library:
    """Needed libraries, and functions that are needed from them and offered."""

    needed: tuple[str, ...]
    undefined: frozenset[str]
    defined: frozenset[str]
    text_relocations: bool
