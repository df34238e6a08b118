"""Translate kernels to C: optimised LLVM assembly becomes C that computes bitwise equal results.

Each instruction becomes a statement, each block a label. The result is not meant to be read, but it is plain C11 for
any compiler with 64-bit pointers. Only what kernels consist of (numbers, loops and a record) is translated; anything
else is refused.
"""

from __future__ import annotations

import re
import struct

import llvmlite.binding as llvm

from dockfmu.fmus.native.sources.assembly import SIGNED, TranslationError, definitions, layout, plain, split, typed
from dockfmu.fmus.native.sources.expressions import number
from dockfmu.fmus.native.sources.functions import FunctionWriter

PRELUDE = """\
/* Written by the exporter from the kernels of the component. Compile without contraction of a * b + c to one operation
   (-ffp-contract=off), or results differ in the last bits. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline double get_double(const char *p) { double v; memcpy(&v, p, sizeof v); return v; }
static inline void put_double(char *p, double v) { memcpy(p, &v, sizeof v); }
static inline uint64_t get_i64(const char *p) { uint64_t v; memcpy(&v, p, sizeof v); return v; }
static inline void put_i64(char *p, uint64_t v) { memcpy(p, &v, sizeof v); }
static inline uint32_t get_i32(const char *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }
static inline void put_i32(char *p, uint32_t v) { memcpy(p, &v, sizeof v); }
static inline uint8_t get_i8(const char *p) { return (uint8_t)*p; }
static inline void put_i8(char *p, uint8_t v) { *p = (char)v; }
static inline char *get_ptr(const char *p) { char *v; memcpy(&v, p, sizeof v); return v; }
static inline void put_ptr(char *p, const char *v) { memcpy(p, &v, sizeof v); }
"""


def translate(module: llvm.ModuleRef, exported: tuple[str, ...]) -> str:
    """Return C code of all functions in `module`; those of `exported` keep their names. Raises TranslationError."""
    functions = [function for function in module.functions if not function.is_declaration]
    names = {f.name: f.name if f.name in exported else f"part_{i}" for i, f in enumerate(functions)}
    tables = []
    for k, variable in enumerate(module.global_variables):
        if variable.is_declaration or variable.name.startswith("llvm."):
            continue
        if ".const.pickle" in variable.name:
            # the content of a Python exception; the status alone shows that there was one
            names[variable.name] = "(char *)0"
            continue
        names[variable.name] = f"(char *)table_{k}"
        match = re.search(r"\b(?:constant|global) (.*)", plain(str(variable)))
        assert match is not None
        data = _constant(*typed(split(match[1])[0]))
        numbers = ", ".join(str(byte) for byte in data)
        tables.append(f"_Alignas(16) static const unsigned char table_{k}[{max(len(data), 1)}] = {{{numbers or 0}}};")
    aggregates: set[str] = set()
    made: list[tuple[str, str]] = []
    for function in functions:
        try:
            text = FunctionWriter(function, names, aggregates).text()
        except KeyError as error:  # a type or name without a counterpart
            raise TranslationError(f"{function.name}: {error}") from error
        head, _, body = text.partition("\n")
        made.append((head.removeprefix("static ") if function.name in exported else head, body))
    heads = [f"{head};" for head, _ in made]
    bodies = [f"{head}\n{body}\n" for head, body in made]
    return "\n".join([PRELUDE, *definitions(aggregates), *tables, "", *heads, "", *bodies])


def _constant(kind: str, text: str) -> bytes:
    """Return the bytes of a constant."""
    if text == "zeroinitializer":
        return bytes(layout(kind)[0])
    if text.startswith("c"):
        return re.sub(rb"\\([0-9A-F]{2})", lambda m: bytes.fromhex(m[1].decode()), text[2:-1].encode("latin-1"))
    if text.startswith("["):
        return b"".join(_constant(*typed(part)) for part in split(text[1:-1]))
    if kind == "double":
        return struct.pack("<d", number(text))
    if kind in SIGNED:
        size = layout(kind)[0]
        value = int({"true": "1", "false": "0"}.get(text, text)) % 2 ** (8 * size)
        return int(value).to_bytes(size, "little")
    raise TranslationError(f"constant {kind} {text[:60]}")
