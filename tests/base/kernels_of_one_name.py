"""Kernels of one name over records of different layout, and kernels made by one factory: what a cache could mix up.

As a program: `python kernels_of_one_name.py ORDER...` runs variants in this order and prints a line of JSON for each,
its number, the values that it computed and the digest of its machine code.
"""

import hashlib
import json
import sys

import numba

from dockfmu.base.object_code import compile_module
from dockfmu.components.core import field
from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.core.machine_code import emit
from dockfmu.components.core.record import Record
from dockfmu.fmus.toolchain.targets import HOST


@kernel
def _spring(m, x):
    return -m.stiffness * x


@kernel
def _damped(m, x):
    return -m.stiffness * x - m.damping * min(m.speed, 1.0)


_force = variant("damping", _damped, _spring)


@kernel
def advance(m):
    """Move each part by its force."""
    total = 0.0
    for k in range(len(m.part)):
        m.part[k].position[0] += 0.5 * _force(m.part[k], m.part[k].position[0])
        total += max(m.part[k].position[0], 0.0) * (k + 1)
    m.total = total
    return 0


def scaled(factor, power):
    """Make a kernel that its closure alone tells from its twins."""

    @kernel
    def scale(m):
        m.total = factor
        for _ in range(int(power)):
            m.total *= m.part[0].position[0]
        return 0

    return scale


def _record(parts: int, damped: bool, length: int) -> Record:
    damper = [field.parameter("damping", "N.s/m", "damper", 0.5), field.local("speed", "m/s", "speed", 2.0)]
    return Record(
        field.Group(
            "part",
            field.local("position", "m", "positions", 1.0, shape=length),
            field.parameter("stiffness", "N/m", "spring", 0.3),
            *(damper if damped else []),
            count=parts,
        ),
        field.local("total", "m", "sum"),
    )


VARIANTS = tuple(
    (function, _record(*layout))
    for function, layout in (
        *((advance, (parts, damped, length)) for parts in (1, 3) for damped in (False, True) for length in (1, 4)),
        (scaled(2.0, 1), (1, False, 1)),
        (scaled(3.0, 1), (1, False, 1)),
        (scaled(2.0, 2.0), (1, False, 1)),
    )
)


def run(number: int) -> dict[str, object]:
    """Run one variant compiled in this process, and compile it ahead of time."""
    function, record = VARIANTS[number]
    memory = record.start.copy()
    for _ in range(3):
        function(record.view(memory))
    assembly = compile_module("Variant", [("kernel_step", function, (numba.from_dtype(record.dtype),))], numba.int32)
    code = hashlib.sha256(emit(assembly, HOST.machine)).hexdigest()
    return {"number": number, "values": [float(x).hex() for x in memory], "code": code}


if __name__ == "__main__":
    for each in sys.argv[1:]:
        print(json.dumps(run(int(each))), flush=True)
