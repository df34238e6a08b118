"""A stiff spring before a friction brake: how far the force at first contact is above what the brake holds.

Book, page 239: well chosen, the spring keeps the dynamic part within a tenth of the brake's force. The device that has
one is the axial damper of V2, set AX-2, in `central_impact_20t_v2`: the train between nut and first brake, 1e6 N/m.
What the brake holds is the mean force while it slips, with the friction of the screw and the damping of the train.
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


def main() -> None:
    """Print the dynamic part over inertance and spring."""
    print("| inertance | spring | dynamic part |\n|---|---|---|")
    for inertance, stiffness in ROWS:
        share = dynamic_part(of(inertance, stiffness))
        print(f"| {inertance:.0f} kg | {stiffness:.0e} N/m | {100.0 * share:.0f} % |", flush=True)
