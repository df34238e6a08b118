"""Cost of the manipulator: microseconds per micro-step of 0.5 ms and per macro step, by mode; real-time factor.

python -m benchmarks manipulator
"""

from __future__ import annotations

import time

from dockfmu.components.core.component import Instance
from dockfmu.components.core.kernel import kernel
from dockfmu.components.manipulator import component
from dockfmu.components.manipulator.kernel import step

MICRO_STEP = 5e-4
# what the arm does, its inputs, and the macro step
PHASES = {
    "HOLD, macro step 8 ms": ({"command.mode": 6}, 8e-3),
    "SEMI, macro step 8 ms": ({"command.mode": 2, "command.velocity": (0.019, 0.0, 0.0)}, 8e-3),
    "SEMI, macro step 1 ms": ({"command.mode": 2, "command.velocity": (0.019, 0.0, 0.0)}, 1e-3),
    "SEMI, macro step 0.5 ms": ({"command.mode": 2, "command.velocity": (0.019, 0.0, 0.0)}, 5e-4),
}


@kernel
def _run(m, h, count):
    code = 0
    for k in range(count):
        code = max(code, step(m, k * h, h))
    return code


def main() -> None:
    """Print the table."""
    arm = component()
    sets = {entry.name: entry for entry in arm.parameter_sets}
    print("| reference case, SSRMS with MIM-1 | us per macro step | us per micro-step | times real time |")
    print("|---|---|---|---|")
    for name, (values, h) in PHASES.items():
        instance = Instance(arm, sets["SSRMS"], sets["MIM-1"], sets["REF-SSRMS"], **values)
        _run(instance.m, h, 10)
        count = round(10.0 / h)
        best = 1e9
        for _ in range(7):
            start = time.process_time()
            assert _run(instance.m, h, count) == 0
            best = min(best, time.process_time() - start)
        each = best / count * 1e6
        print(f"| {name} | {each:.2f} | {each * MICRO_STEP / h:.2f} | {h * 1e6 / each:.0f} |")


if __name__ == "__main__":
    main()
