"""Drawings to scale of each mechanism on its passive unit, in the states of a centred docking.

    python -m docs.theory.figures.pairings

Meridian sections in axes of the passive unit PU, from the parameter sets.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import matplotlib.pyplot as plt
from drawing import ACTIVE, FORCE, INK, PALE, PASSIVE, save
from matplotlib.axes import Axes

from dockfmu.components.core.record import Memory
from dockfmu.components.probe_mechanism import component

LEVERS = ("PR-3", "LV-3", "DeepCone22")
MOVABLE = ("AX-2", "LD-2", "LD-3", "PR-3", "HB-4", "ML-3")
V2 = {"axial": "two_brakes"}
V3 = {"axial": "two_brakes", "limiter": "movable"}


@dataclass(frozen=True)
class Pairing:
    """A mechanism (build options and parameter sets) on a passive unit."""

    file: str
    title: str
    options: dict[str, str]
    sets: tuple[str, ...]


PAIRINGS = (
    Pairing("pairing_v1_refcone", "V1 on RefCone (PR-1, LV-1)", {}, ()),
    Pairing("pairing_v1", "V1 on DeepCone22 (PR-3, LV-3)", {}, LEVERS),
    Pairing(
        "pairing_v2", "V2 on DeepCone22 (PR-3, LV-4, HB-4)", V2, ("PR-3", "LV-4", "DeepCone22", "HB-4", "HB-4-pads")
    ),
    Pairing("pairing_v3", "V3 on ShortDeepCone22 (PR-3, HB-4, ML-3)", V3, (*MOVABLE, "ShortDeepCone22", "ML-3-pads")),
    Pairing("pairing_v3_deepcone22", "V3 on DeepCone22 (PR-3, HB-4, ML-3)", V3, (*MOVABLE, "DeepCone22", "ML-3-pads")),
)


@dataclass(frozen=True)
class State:
    """Place of the head's centre in PU and travel of the probe, m."""

    title: str
    head: float
    travel: float


def states(m: Memory) -> list[State]:
    """Return the four states of a centred docking."""
    unit, probe = m.probe_cone.parameters, m.parameters.probe
    cone = unit.cone
    entry, bottom = float(cone.x[int(cone.vertices) - 3]), float(cone.x[int(cone.vertices) - 1])
    latched = float(unit.slot.x - unit.latch.rear_root[0])
    stroke = float(probe.free_length - probe.shortest_length)
    return [
        State("extended, before the socket", entry - 0.1, 0.0),
        State("head at the bottom", bottom - float(unit.head.radius), 0.0),
        State("latches on their stops", latched, 0.0),
        State("retracted", latched, stroke),
    ]


def both(axes: Axes, x: object, r: object, **style: object) -> None:
    """Draw a line of the meridian and its mirror image."""
    for side in (1.0, -1.0):
        axes.plot(np.asarray(x), side * np.asarray(r), **style)


def passive(axes: Axes, m: Memory) -> None:
    """Draw cone, socket and slots, and the docking plane."""
    unit = m.probe_cone.parameters
    count = int(unit.cone.vertices)
    x, r = unit.cone.x[:count], unit.cone.r[:count]
    both(axes, x, r, color=PASSIVE, lw=1.6)
    axes.axvline(0.0, color=PASSIVE, lw=0.8, ls=":", label="docking plane of PU")
    both(axes, [unit.slot.x] * 2, [unit.slot.distance - 0.006, unit.slot.distance + 0.008], color=FORCE, lw=1.6)


def limiter_position(m: Memory, hinge: float, length: float) -> float:
    """Return x_LD of a movable limiter, m: forward, or where cone or head hold it back."""
    p, unit = m.parameters, m.probe_cone.parameters
    cone, pads = unit.cone, unit.limiter
    slope = (cone.r[1] - cone.r[2]) / (cone.x[2] - cone.x[1])
    touching = min(cone.x[1] + (cone.r[1] - r) / slope - x for x, r in zip(pads.x, pads.r, strict=True))
    head = p.probe.bearing_distance + length - p.limiter.head_distance
    return float(min(p.limiter.forward, touching - hinge, head))


def active(axes: Axes, m: Memory, state: State) -> None:
    """Draw housing, probe, head with latches, limiter, rollers and docking plane."""
    p, unit = m.parameters, m.probe_cone.parameters
    probe = p.probe
    length = float(probe.free_length) - state.travel
    bearing = state.head - length
    hinge = bearing - float(probe.bearing_distance)
    axes.plot([hinge, bearing], [0.0, 0.0], color=ACTIVE, lw=5.0, solid_capstyle="butt", alpha=0.5)
    axes.plot([bearing, state.head], [0.0, 0.0], color=ACTIVE, lw=2.2)
    axes.plot(hinge, 0.0, "o", color=ACTIVE, mfc="white", ms=5)
    axes.add_patch(plt.Circle((state.head, 0.0), float(unit.head.radius), fc="#dde7f1", ec=ACTIVE, lw=1.2))
    rear = np.array([unit.latch.rear_root, unit.latch.rear_tip])
    both(axes, state.head + rear[:, 0], rear[:, 1], color=FORCE, lw=1.2)
    plane = hinge + float(p.docking_plane_x)
    both(axes, [plane, plane], [0.30, 0.5], color=ACTIVE, lw=1.6)
    both(axes, [plane, plane + float(p.pushers.protrusion)], [float(p.pushers.radius)] * 2, color=ACTIVE, lw=2.5)
    carrier = hinge
    if "limiter" in p.dtype.fields:
        at = limiter_position(m, hinge, length)
        carrier += at
        both(
            axes,
            [carrier, carrier + float(p.limiter.head_distance) - float(unit.head.radius)],
            [0.03, 0.03],
            color=ACTIVE,
            lw=0.9,
        )
        both(axes, [carrier + unit.limiter.x.mean(), carrier], [unit.limiter.r.mean(), 0.03], color=PALE, lw=0.9)
    both(axes, carrier + unit.limiter.x, unit.limiter.r, color=INK, lw=2.6)
    if "levers" in p.dtype.fields:
        x, r = (float(np.interp(state.travel, p.levers.travel, path)) for path in (p.levers.axial, p.levers.radial))
        for side in (1.0, -1.0):
            axes.add_patch(plt.Circle((hinge + x, side * r), float(unit.roller.radius), fc="#f7e1e8", ec=FORCE, lw=1.0))


def draw(pairing: Pairing) -> None:
    """Draw one pairing in its four states into a file of its own."""
    made = component(**pairing.options)
    sets = {entry.name: entry for entry in made.parameter_sets}
    m = made.record.view(made.start(*(sets[name] for name in pairing.sets)))
    figure, grid = plt.subplots(2, 2, figsize=(10.5, 9.2))
    for axes, state in zip(grid.flat, states(m), strict=True):
        passive(axes, m)
        active(axes, m, state)
        hinge = state.head - float(m.parameters.probe.free_length) + state.travel
        gap = -(hinge - float(m.parameters.probe.bearing_distance) + float(m.parameters.docking_plane_x))
        axes.set_title(f"{state.title}; planes {abs(1e3 * gap):.0f} mm apart", fontsize=9)
        axes.set(xlim=(-0.85, 0.70), ylim=(-0.54, 0.54), aspect="equal")
        axes.tick_params(labelsize=7)
        axes.axhline(0.0, color=PALE, lw=0.5, ls="-.")
    for axes in grid[:, 0]:
        axes.set_ylabel("$r$, m", fontsize=8)
    for axes in grid[1]:
        axes.set_xlabel("$x_{PU}$, m", fontsize=8)
    figure.suptitle(pairing.title, fontsize=11)
    figure.tight_layout()
    save(figure, pairing.file)


if __name__ == "__main__":
    for pairing in PAIRINGS:
        draw(pairing)
