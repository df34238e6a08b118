"""Draw the docking rings to scale, from their kernels and sets: `python docs/theory/figures/rings.py`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = "1"
sys.path.insert(0, str(Path(__file__).parents[3]))

import matplotlib.pyplot as plt
import numpy as np
from drawing import ACTIVE, FORCE, INK, PALE, PASSIVE, arrow, save
from matplotlib.axes import Axes
from matplotlib.patches import Polygon, Wedge

from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import ring_pair
from dockfmu.components.physics.contact.ring_pair.geometry import AZIMUTHS, generatrix_end

RECORD = Record(ring_pair.unit())
FLIP = np.array([-1.0, 1.0, -1.0])
GAP = 0.045


def rings() -> Any:
    """Return an initialised pair of rings of the sets RefRing and CP-1R."""
    unit = RECORD.view(RECORD.start.copy()).ring_pair
    assert ring_pair.initialize(unit) == 0
    return unit


def outline(unit: Any, k: int) -> np.ndarray:
    """Return the outline of the outer face of a petal in its ring's frame: root, hyperbola, tip, hyperbola."""
    p = unit.parameters
    u = np.linspace(-p.petal.root_half_width, p.petal.root_half_width, 241)
    x = np.array([generatrix_end(p.ring, p.petal, float(abs(a))) for a in u])
    ends = np.array([x, (p.ring.radius - x) * np.cos(AZIMUTHS[k] + u), (p.ring.radius - x) * np.sin(AZIMUTHS[k] + u)])
    roots = np.array([0 * u, p.ring.radius * np.cos(AZIMUTHS[k] + u), p.ring.radius * np.sin(AZIMUTHS[k] + u)])
    return np.hstack([ends, roots[:, ::-1]]).T


def front_view(axes: Axes, unit: Any) -> None:
    """Draw both rings as seen along the axis, from the active craft: y to the right, z up."""
    p = unit.parameters
    axes.add_patch(
        Wedge(
            (0, 0),
            p.ring.outer_radius,
            0,
            360,
            width=p.ring.outer_radius - p.ring.radius,
            fc="#f3dcc0",
            ec=PASSIVE,
            lw=1,
        )
    )
    for k in range(3):
        own = outline(unit, k)
        other = own * FLIP
        axes.add_patch(Polygon(other[:, 1:], fc="#faf0e4", ec=PASSIVE, lw=1.2))
        axes.add_patch(Polygon(own[:, 1:], fc="#e8f0f8", ec=ACTIVE, lw=1.2, alpha=0.9))
        for s in range(2):
            for side, color in ((unit.geometry.petal[k].side[s], ACTIVE), (unit.geometry.passive[k].side[s], PASSIVE)):
                for edge, style in zip(side.edge, ("-", "--"), strict=True):
                    a, b = np.array(edge.root), np.array(edge.root) + np.array(edge.along)
                    axes.plot([a[1], b[1]], [a[2], b[2]], style, color=color, lw=0.9)
            root = np.array(unit.geometry.latch_root[2 * k + s])
            tip = root + p.latch.length * np.array(unit.geometry.latch_along[2 * k + s])
            axes.plot([root[1], tip[1]], [root[2], tip[2]], color=INK, lw=3, solid_capstyle="butt")
            point = unit.geometry.point[2 * k + s]
            axes.plot(point[1], point[2], ".", color=FORCE, ms=5)
        plunger = unit.geometry.plunger[k]
        axes.plot(plunger[1], plunger[2], "o", color=FORCE, mfc="white", ms=5)
        middle = 0.42 * np.array([np.cos(AZIMUTHS[k]), np.sin(AZIMUTHS[k])])
        axes.text(*middle, f"{k + 1}", color=ACTIVE, ha="center", va="center", fontsize=12)
        axes.text(middle[0], -middle[1], f"{k + 1}", color=PASSIVE, ha="center", va="center", fontsize=12)
    arrow(axes, (0, 0), (0.1, 0))
    arrow(axes, (0, 0), (0, 0.1))
    axes.text(0.11, 0, "$y$", va="center")
    axes.text(0, 0.115, "$z$", ha="center", va="bottom")
    axes.set(xlim=(-0.56, 0.56), ylim=(-0.56, 0.56), aspect="equal")
    axes.axis("off")
    axes.set_title("seen along $x$, seated", fontsize=10)


def section(axes: Axes, unit: Any) -> None:
    """Draw the meridian through the middle of an active petal at the gap; a passive petal is turned into it, dashed."""
    p = unit.parameters
    top, out, low, h = p.ring.radius, p.ring.outer_radius, p.petal.lower_radius, p.petal.height
    tip = top - h * np.tan(p.petal.cone_angle)
    petal = np.array([[0, top], [h, tip], [0, low], [-0.03, low], [-0.03, out], [0, out]])
    axes.add_patch(Polygon(petal[:3] * np.array([-1.0, 1.0]), fc="none", ec=PASSIVE, ls="--", lw=1))
    axes.add_patch(Polygon(petal - np.array([GAP, 0.0]), fc="#e8f0f8", ec=ACTIVE))
    edge = p.stop.outer_radius - p.stop.inner_radius
    body = [[0, out], [0, p.stop.outer_radius], [edge, p.stop.inner_radius], [edge + 0.04, p.stop.outer_radius],
            [edge + 0.04, out]]  # fmt: skip
    axes.add_patch(Polygon(body, fc="#f3dcc0", ec=PASSIVE))
    axes.plot([0, 0], [top, out], color=PASSIVE, lw=3)
    axes.plot(0, top, "o", color=PASSIVE, ms=5)
    line = {"arrowstyle": "-", "color": PALE}
    root = np.array([p.latch.height - GAP, top - p.latch.height])
    roller = root + p.latch.length * np.sqrt(0.5)
    axes.plot([root[0], roller[0]], [root[1], roller[1]], color=INK, lw=3)
    axes.plot(*roller, "o", color=INK, ms=7, mfc="white")
    axes.annotate("latch", roller, (-0.03, 0.545), ha="right", arrowprops=line)
    axes.annotate("stop", (edge, p.stop.inner_radius + 0.01), (0.1, 0.46), color=PASSIVE, va="center", arrowprops=line)
    plunger = (p.sensor.protrusion - GAP, p.sensor.radius)
    axes.plot(*plunger, "o", color=FORCE, mfc="white", ms=5)
    axes.annotate("mating\nsensor", plunger, (-0.1, 0.535), color=FORCE, ha="right", va="center", arrowprops=line)
    axes.annotate("rim", (0, top), (0.03, 0.545), color=PASSIVE, va="center", arrowprops=line)
    foot = np.array([-GAP / 2, top - GAP / 2])
    arrow(axes, (float(foot[0]), float(foot[1])), (0.0, top), FORCE, 1.4)
    axes.text(-0.014, 0.495, r"$\mathbf{n}_R$", color=FORCE, ha="right", va="bottom")
    for x, r, name, color in ((-GAP, low, "AR", ACTIVE), (0.0, top, "PU", PASSIVE)):
        axes.plot([x, x], [0.285, r], ":", color=color, lw=1)
        axes.text(x, 0.28, name, color=color, ha="center", va="top", fontsize=9)
    arrow(axes, (-GAP, 0.375), (0, 0.375), INK, 1.0, "<|-|>")
    axes.text(-GAP / 2, 0.37, "$d$", ha="center", va="top")
    axes.plot([h - GAP, h - GAP], [0.295, tip], ":", color=PALE, lw=1)
    arrow(axes, (-GAP, 0.3), (h - GAP, 0.3), INK, 1.0, "<|-|>")
    axes.text(h / 2 - GAP, 0.303, "$h$", ha="center", va="bottom")
    axes.text(0.075, 0.395, "active petal", color=ACTIVE, fontsize=9)
    axes.text(-0.205, 0.44, "passive petal\n(60° away)", color=PASSIVE, fontsize=9, ha="left", va="top")
    arrow(axes, (0.15, 0.28), (0.19, 0.28))
    axes.text(0.195, 0.28, "$x$", va="center")
    axes.set(xlim=(-0.21, 0.21), ylim=(0.26, 0.56), aspect="equal")
    axes.axis("off")
    axes.set_title(f"section through a petal, gap {1000 * GAP:.0f} mm", fontsize=10)


def main() -> None:
    """Draw the figure."""
    unit = rings()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 5.2), width_ratios=(1.0, 1.2))
    front_view(left, unit)
    section(right, unit)
    figure.subplots_adjust(0.01, 0.01, 0.99, 0.94, 0.02)
    save(figure, "rings")


if __name__ == "__main__":
    main()
