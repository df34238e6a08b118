"""FMUs that show a wrong declaration of what their record holds.

Temporary slots hold NaN at each call of a kernel, which shows when it reads them before it writes them. A step that
changes a constant or a fixed parameter fails.
"""

import zipfile
from pathlib import Path
from unittest import mock

from dockfmu import fmus
from dockfmu.components.core.component import Component
from dockfmu.fmus.native import SHIM, build
from dockfmu.fmus.toolchain.targets import HOST
from dockfmu.fmus.toolchain.zig import compiler

_KERNELS = ("kernel_initialize", "kernel_step")
_POISON = """
#include "model.h"

#include <math.h>
#include <string.h>

enum { SLOTS = 65536, RAISED = 1 };

static void poison(double *memory)
{
    uint32_t slot = 0;
    for (uint32_t k = 0; k < model.saved_count; k++) {
        for (; slot < model.saved[k].first; slot++) memory[slot] = NAN;
        slot += model.saved[k].count;
    }
    for (; slot < model.state_size; slot++) memory[slot] = NAN;
}

/* Saved slots outside of the spans of those that change, one after the other; returns how many. */
static uint32_t constants(const double *memory, double *copy)
{
    uint32_t count = 0, slot = 0;
    for (uint32_t k = 0; k <= model.changing_count; k++) {
        uint32_t end = k < model.changing_count ? model.changing[k].first : model.state_size;
        for (; slot < end; slot++)
            for (uint32_t i = 0; i < model.saved_count; i++)
                if (slot - model.saved[i].first < model.saved[i].count) copy[count++] = memory[slot];
        if (k < model.changing_count) slot += model.changing[k].count;
    }
    return count;
}

int32_t poisoned_kernel_initialize(int32_t *result, void **exception, double *memory)
{
    poison(memory);
    return kernel_initialize(result, exception, memory);
}

int32_t poisoned_kernel_step(int32_t *result, void **exception, double *memory, double t, double h)
{
    static double before[SLOTS], after[SLOTS];
    uint32_t count = constants(memory, before);
    poison(memory);
    int32_t status = kernel_step(result, exception, memory, t, h);
    constants(memory, after);
    return memcmp(before, after, count * sizeof *before) ? RAISED : status;
}
"""


def poisoned(component: Component, folder: Path) -> Path:
    """Return the FMU of `component` for this platform, in `folder`, with a shim that poisons."""
    folder.mkdir(parents=True, exist_ok=True)
    with compiler(HOST) as zig:
        for source in SHIM.glob("*.c"):
            zig.run(
                *(f"-D{name}=poisoned_{name}" for name in _KERNELS),
                "-fPIC",
                "-O2",
                "-c",
                str(source),
                "-o",
                f"{source.stem}.o",
            )
        (zig.folder / "poison.c").write_text(_POISON, encoding="utf-8")
        zig.run("-fPIC", "-O2", "-fno-builtin", "-I", str(SHIM), "-c", "poison.c", "-o", "poison.o")
        objects = [zig.folder / f"{source.stem}.o" for source in SHIM.glob("*.c")] + [zig.folder / "poison.o"]
        with mock.patch.object(build, "shim_objects", return_value=objects):
            content = build.build_native(component, (HOST.folder,), lambda _line: None)
    clean = fmus.build(component, folder / "clean")
    library = f"binaries/{HOST.folder}/{component.name}{HOST.extension}"
    file = folder / clean.name
    with zipfile.ZipFile(clean) as before, zipfile.ZipFile(file, "w") as after:
        for name in before.namelist():
            after.writestr(name, content[library] if name == library else before.read(name))
    return file
