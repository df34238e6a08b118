"""A stiff spring before a friction brake: how far the force at first contact is above what the brake holds.

Book, page 239: well chosen, the spring keeps the dynamic part within a tenth of the brake's force. The device that has
one is the axial damper of V2, set AX-2, in `central_impact_20t_v2`: the train between nut and first brake, 1e6 N/m.
What the brake holds is the mean force while it slips, with the friction of the screw and the damping of the train.

The ring of APAS-75 has its brake on the first shaft of its gear tree, in `apas_75_impact_changed`. There the spring
divides the 170 kg of rotating parts into those before it and those behind it, at the brake, which holds 4 kN. By the
ratio that was changed (devices 1.6) 148 kg are before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.validation.docking import changed

AXIAL = "mechanism.parameters.axial."
SPEED = "initial_conditions.velocity"
FIRST, SLIPPING = 0.1, 0.3
"""The first force ends, and the mean of the slipping brake, s after the start, which is the first contact."""
RIGID = 1e8
"""Train in place of the spring, N/m: 100 times as stiff."""
ROWS = tuple((inertance, stiffness) for inertance in (25.0, 50.0, 100.0) for stiffness in (RIGID, 1e6, 2e5))


def dynamic_part(settings: Mapping[str, Any]) -> float:
    """Return by how much the largest force of the first 0.1 s exceeds that of the slipping brake, as a share."""
    run = changed("central_impact_20t_v2", settings).run(stop=0.6, every=1)
    force = np.array(run["mechanism.load.compression"])
    held = force[(run.time > FIRST) & (run.time < SLIPPING)].mean()
    return float(force[run.time < FIRST].max() / held - 1.0)


def of(inertance: float, stiffness: float) -> dict[str, Any]:
    """Return the settings of an inertance, kg, behind a spring, N/m."""
    return {AXIAL + "inertance": inertance, AXIAL + "train_stiffness": stiffness}


SHAFTS = "mechanism.parameters.shafts."
TURNED, NUTS, HELD = 263.7, 42.0, 4e3
"""Rotation of the first shaft (rad/m), its nuts in the travel of the ring (kg), and what its brake holds, N."""
RING_ROWS = (
    (170.0, 0.0, 0.0),
    *((148.0, 22.0, stiffness) for stiffness in (1e6, 2e5, 5e4)),
    *((100.0, 70.0, stiffness) for stiffness in (1e5, 5e4)),
)
"""Parts before and behind the spring, kg, and the spring, N/m; 0: none."""


def ring_dynamic_part(before: float, behind: float, stiffness: float) -> float:
    """Return by how much the largest force of APAS-75 exceeds that of its brake, as a share."""
    others = [0.0] * 5
    settings = {
        SHAFTS + "inertia": [(before - NUTS) / TURNED**2, *[4e-4] * 5],
        SHAFTS + "brake_inertia": [behind / TURNED**2, *others],
        SHAFTS + "brake_stiffness": [stiffness / TURNED**2, *others],
    }
    run = changed("apas_75_impact_changed", settings).run(stop=0.7, every=1)
    return float(np.array(run["mechanism.load.compression"]).max() / HELD - 1.0)


def main() -> None:
    """Print the dynamic part over inertance and spring, of V2 and of the ring of APAS-75."""
    print("| inertance | spring | dynamic part |\n|---|---|---|")
    for inertance, stiffness in ROWS:
        share = dynamic_part(of(inertance, stiffness))
        print(f"| {inertance:.0f} kg | {stiffness:.0e} N/m | {100.0 * share:.0f} % |", flush=True)
    print("\n| before the spring | behind it | spring | dynamic part |\n|---|---|---|---|")
    for before, behind, stiffness in RING_ROWS:
        share = ring_dynamic_part(before, behind, stiffness)
        print(f"| {before:.0f} kg | {behind:.0f} kg | {stiffness:.0e} N/m | {100.0 * share:.0f} % |", flush=True)
