"""Draw the schematic figures: `python docs/theory/figures/schematics.py`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from drawing import ACTIVE, FORCE, INK, PALE, PASSIVE, arrow, save, sketch, triad
from matplotlib.patches import Circle, FancyBboxPatch, Polygon, Rectangle


def frames() -> None:
    figure, axes = sketch(10.0, 3.95, (-6.3, 6.3), (-2.6, 2.37))
    axes.add_patch(FancyBboxPatch((-5.9, -1.3), 3.1, 2.6, boxstyle="round,pad=0.1", fc="#e8f0f8", ec=ACTIVE))
    axes.add_patch(FancyBboxPatch((2.2, -1.6), 3.7, 3.2, boxstyle="round,pad=0.1", fc="#faf0e4", ec=PASSIVE))
    axes.add_patch(
        Polygon([(1.0, 1.5), (2.1, 1.5), (2.1, -1.5), (1.0, -1.5), (2.0, -0.3), (2.0, 0.3)], fc="#f3dcc0", ec=PASSIVE)
    )
    axes.plot([-2.7, -0.6], [0, 0], color=ACTIVE, lw=4, solid_capstyle="butt")
    axes.add_patch(Circle((-0.45, 0), 0.16, fc=ACTIVE, ec=ACTIVE))
    triad(axes, (-5.0, 0.0), 0.8, "C,1", ACTIVE)
    triad(axes, (-2.7, 0.0), 0.8, "0", ACTIVE, below=True)
    triad(axes, (1.0, 0.0), 0.7, "PU", PASSIVE, below=True)
    triad(axes, (4.3, 0.0), 0.8, "C,2", PASSIVE)
    axes.plot([1.0, 1.0], [-2.0, 2.0], "--", color=PASSIVE, lw=1)
    axes.text(1.0, 2.05, "docking plane", color=PASSIVE, ha="center", va="bottom")
    axes.text(-0.45, 0.3, "head H", color=ACTIVE, ha="center")
    axes.text(-4.3, 1.5, "active craft, 1", color=ACTIVE, ha="center", va="bottom")
    axes.text(4.0, 1.8, "passive craft, 2", color=PASSIVE, ha="center", va="bottom")
    arrow(axes, (-5.0, -0.75), (-2.7, -0.75), INK)
    axes.text(-3.85, -0.68, r"$\mathbf{r}_{CD,1}$", ha="center", va="bottom")
    arrow(axes, (4.3, -0.75), (1.0, -0.75), INK)
    axes.text(2.75, -0.68, r"$\mathbf{r}_{CD,2}$", ha="center", va="bottom")
    arrow(axes, (1.0, -1.7), (-2.7, -1.7), FORCE)
    axes.text(-0.9, -1.63, r"$\mathbf{r}_{PA}$ (from $O_{PU}$ to $O_0$, in PU)", color=FORCE, ha="center", va="bottom")
    axes.plot([-2.7, -2.7], [-1.8, -0.1], ":", color=PALE, lw=1)
    arrow(axes, (-2.0, -2.1), (0.4, -2.1), INK, 2.2)
    axes.text(-0.8, -2.25, "approach: $+x$ of 0 and of PU", ha="center", va="top", fontsize=9)
    save(figure, "frames")


def macro_step() -> None:
    figure, axes = sketch(10.0, 3.9, (-2.1, 10.5), (-0.75, 4.25))
    rows = {"cyclogram": 3.45, "contact (if apart)": 2.6, "mechanism": 1.55, "both craft": 0.4}
    for name, y in rows.items():
        axes.text(-0.2, y, name, ha="right", va="center")
    for x, label in ((0, "$t$"), (4.5, "$t+H/2$"), (9, "$t+H$")):
        axes.plot([x, x], [-0.1, 3.85], color=PALE, lw=0.8, ls="-" if x != 4.5 else ":")
        axes.text(x, -0.2, label, ha="center", va="top")
    axes.add_patch(Rectangle((0, 3.3), 9, 0.3, fc="#dde7f1", ec=INK, lw=0.8))
    axes.text(4.5, 3.45, "1  commands of the sensors at $t$, held", ha="center", va="center", fontsize=9)
    axes.add_patch(Rectangle((0, 2.45), 9, 0.3, fc="#f6e3e8", ec=INK, lw=0.8))
    axes.plot(4.5, 2.6, "D", color=FORCE, ms=6)
    axes.text(4.35, 2.6, "2  wrenches of the midpoint, held", ha="right", va="center", fontsize=9)
    edges = np.array([0, 1.3, 2.6, 3.2, 3.5, 3.8, 4.1, 4.7, 5.9, 7.4, 9.0])
    for a, b in pairwise(edges):
        axes.add_patch(Rectangle((a, 1.4), b - a, 0.3, fc="#e2efe0", ec=INK, lw=0.8))
        axes.plot(0.5 * (a + b), 1.55, ".", color=FORCE, ms=4)
    axes.text(9.1, 1.55, "3  micro-steps", va="center", fontsize=9)
    axes.text(3.65, 1.82, "impact: short micro-steps", ha="center", va="bottom", fontsize=8.5)
    axes.text(4.5, 1.3, "ports move with twist and acceleration of $t$", ha="center", va="top", fontsize=8.5)
    axes.add_patch(Rectangle((0, 0.25), 9, 0.3, fc="#faf0e4", ec=INK, lw=0.8))
    axes.text(4.5, 0.4, "4  mean wrenches of the same step, in port axes", ha="center", va="center", fontsize=9)
    axes.text(9.1, 0.4, "5  audit, record,\n    events", va="center", fontsize=9)
    arrow(axes, (9.0, 1.4), (9.0, 0.6), FORCE)
    arrow(axes, (0.0, 0.55), (0.0, 1.4), ACTIVE)
    axes.text(0.1, 0.93, "motion of $t$", color=ACTIVE, fontsize=8.5, va="center")
    axes.text(8.9, 0.93, "mean wrench", color=FORCE, fontsize=8.5, va="center", ha="right")
    save(figure, "macro_step")


def _spring(axes, start, end, color=INK, turns=6, size=0.12):
    start, end = np.array(start, float), np.array(end, float)
    along = end - start
    across = np.array([-along[1], along[0]]) / np.hypot(*along) * size
    t = np.linspace(0.15, 0.85, 2 * turns + 1)
    points = [start, start + 0.15 * along]
    points += [start + s * along + (across if k % 2 else -across) for k, s in enumerate(t[1:-1])]
    points += [start + 0.85 * along, end]
    axes.plot(*np.transpose(points), color=color, lw=1.3)


def probe_mechanism() -> None:
    figure, axes = sketch(10.0, 4.9, (-3.4, 6.8), (-2.6, 2.4))
    axes.add_patch(Rectangle((-3.2, -1.9), 0.35, 3.8, fc="#e8f0f8", ec=ACTIVE))
    axes.text(-3.25, 2.0, "base, frame 0", color=ACTIVE, ha="left", va="bottom")
    axes.add_patch(
        Polygon(
            [
                (-2.2, 0.42),
                (0.9, 0.42),
                (1.5, 1.05),
                (1.72, 0.93),
                (1.25, 0.28),
                (1.25, -0.28),
                (1.72, -0.93),
                (1.5, -1.05),
                (0.9, -0.42),
                (-2.2, -0.42),
            ],
            fc="#dde7f1",
            ec=INK,
        )
    )
    axes.plot([-2.85, -2.2], [0, 0], color=ACTIVE, lw=3)
    axes.plot(-2.2, 0, "o", ms=11, mfc="white", mec=INK, mew=1.5)
    axes.text(-2.2, 0.3, "universal joint\n$O_0$: $q_1,q_2$", ha="right", va="bottom", fontsize=9, color=FORCE)
    axes.text(0.0, 0.13, "swinging housing M (node)", ha="center", va="center", fontsize=9)
    axes.text(0.0, -0.2, "nut, train, brakes, drive", ha="center", va="center", fontsize=8.5, color=PALE)
    axes.plot([1.25, 4.5], [0, 0], color=INK, lw=5, solid_capstyle="butt")
    axes.plot(1.25, 0, "o", ms=9, mfc="white", mec=FORCE, mew=1.5)
    axes.annotate(
        "exit bearing: bending $q_3,q_4$,\ntorsion $q_5$",
        (1.27, -0.06),
        (1.25, -1.45),
        fontsize=9,
        ha="center",
        va="top",
        arrowprops={"arrowstyle": "-", "color": FORCE},
    )
    axes.add_patch(Circle((4.6, 0), 0.24, fc="white", ec=INK, lw=1.6))
    axes.text(4.6, -0.4, "head H", ha="center", va="top", fontsize=9)
    for s in (1, -1):
        axes.plot([4.62, 4.5, 4.43], [0.16 * s, 0.4 * s, 0.24 * s], color=PASSIVE, lw=1.6)
    axes.text(4.5, 0.5, "latches", color=PASSIVE, ha="center", fontsize=9)
    axes.add_patch(
        Polygon(
            [
                (2.4, 2.1),
                (5.35, 0.55),
                (6.25, 0.55),
                (6.25, -0.55),
                (5.35, -0.55),
                (2.4, -2.1),
                (6.6, -2.1),
                (6.6, 2.1),
            ],
            fc="#faf0e4",
            ec=PASSIVE,
        )
    )
    axes.text(5.9, 1.55, "receiving cone\n(PU)", color=PASSIVE, ha="center", fontsize=9)
    axes.text(1.85, 1.18, "limiter pads", fontsize=9, ha="left")
    _spring(axes, (-2.85, 1.3), (-1.1, 0.42))
    axes.text(-1.75, 1.25, "spring mechanism (2)\nU P S", fontsize=9, ha="left", va="center")
    axes.plot([-2.85, -2.35, -1.1], [-1.5, -1.05, -0.42], color=INK, lw=1.5)
    axes.plot([-2.85, -2.35, -1.1], [-1.5, -1.05, -0.42], "o", color=INK, ms=4, mfc="white")
    axes.add_patch(Circle((-2.85, -1.5), 0.2, fc="none", ec=FORCE, lw=1.3))
    axes.text(-2.5, -1.65, "magnetic brake (2), R U S", fontsize=9, ha="left", va="center")
    axes.plot([0.55, 1.3], [0.42, 1.7], color=INK, lw=1.5)
    axes.add_patch(Circle((1.3, 1.8), 0.12, fc="white", ec=INK))
    axes.text(1.15, 2.0, "lever with roller (3)", fontsize=9, ha="right", va="center")
    arrow(axes, (1.25, -2.35), (-2.2, -2.35), INK, 1.0, "<|-|>")
    axes.text(-0.5, -2.3, "$L_M$", ha="center", va="bottom")
    arrow(axes, (4.6, -2.35), (1.25, -2.35), INK, 1.0, "<|-|>")
    axes.text(3.0, -2.3, "$L_H=L_H(0)-x$", ha="center", va="bottom")
    for x, y in ((-2.2, -0.2), (1.25, -2.1), (4.6, -0.65)):
        axes.plot([x, x], [y, -2.45], ":", color=PALE, lw=1)
    save(figure, "probe_mechanism")


def slot() -> None:
    figure, axes = sketch(7.0, 3.7, (-7, 31), (-11.5, 10.5))
    n, w1, w2, d1, d2 = 0.0, 1.6, 8.0, 6.0, 12.4
    outline = [(n, w1), (d1, w1), (d2, w2), (24, w2)]
    for s in (1, -1):
        wall = [(x, s * y) for x, y in outline]
        axes.add_patch(Polygon([*wall, (24, 10 * s), (-5, 10 * s), (-5, w1 * s), (n, w1 * s)], fc="#faf0e4", ec="none"))
        axes.plot(*np.transpose(wall), color=PASSIVE)
    axes.add_patch(Rectangle((-5, -w1), 5, 2 * w1, fc="#faf0e4", ec="none"))
    axes.plot([n, n], [-w1, w1], color=PASSIVE)
    axes.plot([n, n, d1, d1], [-11, -w1, -w1, -11], ":", color=PALE, lw=1)
    axes.plot([d2, d2], [-w2, -11], ":", color=PALE, lw=1)
    axes.text(-2.6, 4.2, "stop", color=PASSIVE, ha="center")
    axes.text(18, 8.5, "wide part", color=PASSIVE, ha="center", va="center")
    axes.text(12.6, 4.6, r"inclined wall, $\beta$", color=PASSIVE, ha="left")
    arrow(axes, (n, -10.2), (d1, -10.2), INK, 1.0, "<|-|>")
    axes.text(0.5 * d1, -9.9, "$d_{LX1}$", ha="center", va="bottom")
    arrow(axes, (n, -11.2), (d2, -11.2), INK, 1.0, "<|-|>")
    axes.text(9.3, -10.9, "$d_{LX2}$", ha="center", va="bottom")
    arrow(axes, (22, 0), (22, w2), INK, 1.0, "<|-|>")
    axes.text(22.4, 4, "$d_{LL2}$", va="center")
    arrow(axes, (3.5, 0), (3.5, w1), INK, 1.0, "<|-|>")
    axes.annotate("$d_{LL1}$", (3.5, 0.9), (4.4, 4.6), ha="center", arrowprops={"arrowstyle": "-", "color": PALE})
    axes.plot([-0.6, 26], [0, 0], color=PALE, lw=0.8, ls="-.")
    arrow(axes, (26, 0), (29, 0), INK)
    axes.text(29.2, 0, "$d_1$ ($x_{PU}$)", va="center")
    arrow(axes, (26, 0), (26, 3), INK)
    axes.text(26, 3.2, r"$d_2$ ($\mathbf{e}_t$)", ha="center", va="bottom")
    axes.plot(9.5, -1.5, "s", color=ACTIVE, ms=7)
    axes.text(10.1, -1.7, "rear edge of the latch", color=ACTIVE, va="center", fontsize=9)
    arrow(axes, (0, -0.6), (-3.6, -0.6), FORCE, 1.6)
    axes.text(-5.2, -0.6, r"$\mathbf{n}_R$", color=FORCE, va="center", ha="center")
    save(figure, "slot")


def elastic_port() -> None:
    figure, axes = sketch(8.5, 3.3, (-1.0, 9.3), (-1.5, 2.5))
    x = np.linspace(0, 6.2, 60)
    bend = 0.03 * x**2
    axes.fill_between(x, -0.35, 0.35, color="#eef2f6", ec=PALE, lw=1, ls="--")
    axes.fill_between(x, bend - 0.35, bend + 0.35, color="#dde7f1", ec=ACTIVE, alpha=0.8)
    triad(axes, (0.0, 0.0), 0.75, "C", INK)
    tip = np.array([6.2, 0.03 * 6.2**2])
    angle = np.arctan(0.06 * 6.2)
    axes.plot(6.2, 0, "o", color=PALE, ms=6)
    for k, (name, turn) in enumerate((("x_D", angle), ("y_D", angle + np.pi / 2))):
        end = tip + 1.1 * np.array([np.cos(turn), np.sin(turn)])
        arrow(axes, tuple(tip), tuple(end), ACTIVE)
        axes.text(
            *(tip + 1.3 * np.array([np.cos(turn), np.sin(turn)])), f"${name}$", color=ACTIVE, ha="center", va="center"
        )
        plain = np.array([6.2, 0.0]) + 1.1 * np.array([1.0 - k, float(k)])
        arrow(axes, (6.2, 0.0), tuple(plain), PALE, 1.0)
    arrow(axes, (0.0, -0.75), (6.2, -0.75), PALE)
    axes.text(3.1, -0.8, r"$\mathbf{l}_{CD}$ undeformed", ha="center", va="top", color="#616e7c")
    arrow(axes, (0.05, 0.02), tuple(tip), INK)
    axes.text(2.6, 0.72, r"$\mathbf{r}_{CD}=\mathbf{l}_{CD}+\mathbf{G}_{SC}\,\mathbf{u}$", ha="center", va="bottom")
    arrow(axes, (6.2, 0.0), (float(tip[0]), float(tip[1])), FORCE, 1.8)
    axes.text(6.05, 0.45, r"$\mathbf{u}$", color=FORCE, ha="right")
    arc = np.linspace(0, angle, 20)
    axes.plot(tip[0] + 1.5 * np.cos(arc), tip[1] + 1.5 * np.sin(arc), color=FORCE, lw=1.2)
    axes.plot([tip[0], tip[0] + 1.7], [tip[1], tip[1]], ":", color=PALE)
    axes.text(tip[0] + 1.72, tip[1] + 0.3, r"$\theta$", color=FORCE)
    save(figure, "elastic_port")


if __name__ == "__main__":
    frames()
    macro_step()
    probe_mechanism()
    slot()
    elastic_port()
