"""Draw the figures that the kernels and parameter sets give: `python docs/theory/figures/laws.py`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"
sys.path.insert(0, str(Path(__file__).parents[3]))

import matplotlib.pyplot as plt
import numpy as np
from drawing import ACTIVE, FORCE, INK, PALE, PASSIVE, arrow, save
from matplotlib.patches import Circle

from dockfmu.components import probe_mechanism
from dockfmu.components.core.record import Record
from dockfmu.components.physics import hysteresis
from dockfmu.components.probe_mechanism.axial import axial_train
from dockfmu.components.probe_mechanism.lateral import lateral_damper

MECHANISM = probe_mechanism.component()
NEW_SETS = [chosen for chosen in MECHANISM.parameter_sets if chosen.name in ("PR-2", "RefCone25")]


def legs(*corners: float, step: float) -> np.ndarray:
    """Return a path through `corners` in steps of at most `step`."""
    parts = [np.linspace(a, b, int(abs(b - a) / step) + 2)[1:] for a, b in pairwise(corners)]
    return np.concatenate([[corners[0]], *parts])


def follow(law, memory, path: Sequence[float]) -> np.ndarray:
    """Return the reactions of a hysteresis law along a path."""
    found, last = [], path[0]
    for q in path:
        hysteresis.update(law, memory, q, float(np.sign(q - last)), 1.0)
        found.append(memory.reaction)
        last = q
    return np.array(found)


def axial_train_force() -> None:
    m = MECHANISM.record.view(MECHANISM.start())
    p, gears = m.parameters.axial, m.axial.gears
    axial_train.initialize(p, m.axial, 0.0)
    path = legs(0.0, 0.075, 0.012, 0.0, step=5e-5)
    slip = spring = last = 0.0
    force = []

    def drive_to(u: float) -> None:
        nonlocal slip, spring, last
        f, slip, spring = axial_train.train(p, gears.memory, slip, spring, u)
        hysteresis.update(gears.law, gears.memory, u - slip - spring, float(np.sign(u - last)), 1.0)
        force.append(f)
        last = u

    for u in path:
        drive_to(u)
    path = np.concatenate([path, legs(0.0, -0.012, 0.03, step=5e-5)])
    for u in path[len(force) :]:
        drive_to(u)
    figure, axes = plt.subplots(figsize=(7.6, 3.9), layout="constrained")
    axes.axhline(0, color=PALE, lw=0.8)
    axes.axvline(0, color=PALE, lw=0.8)
    axes.plot(1e3 * path, 1e-3 * np.array(force), color=ACTIVE)
    for x, y, text in (
        (17, 2.6, "spring winds, 1.5 to 2.5 kN"),
        (60, 6.9, "brake slips, $F_{SP}$"),
        (54, -1.7, r"recoil: the spring gives back $\beta$ of its force"),
        (0, -16.8, "brake slips, $F_{SN}$"),
        (37, 4.9, "train, spring\non its stop"),
    ):
        axes.text(x, y, text, ha="center", va="bottom" if y > 0 else "center", fontsize=9)
    axes.set(xlabel="twist $u$, mm", ylabel="force $F_{tr}$, kN")
    save(figure, "axial_train")


def lateral_spring() -> None:
    m = MECHANISM.record.view(MECHANISM.start())
    law, memory = m.damper.element[0].law, m.damper.element[0].memory
    lateral_damper.two_stage_spring(m.parameters.lateral.spring, 0, law)
    hysteresis.reset(law, memory)
    path = legs(0.0, 0.0104, 0.004, 0.0085, -0.0102, 0.0, step=5e-6)
    figure, axes = plt.subplots(figsize=(7.6, 3.9), layout="constrained")
    axes.axhline(0, color=PALE, lw=0.8)
    axes.axvline(0, color=PALE, lw=0.8)
    axes.plot(1e3 * path, 1e-3 * follow(law, memory, path), color=ACTIVE, lw=1.3)
    for x, y, text in (
        (2.6, 5.2, "soft spring"),
        (6.9, 12.6, "stiff spring"),
        (8.8, 19.5, "stop"),
        (0.35, -1.9, "preload"),
    ):
        axes.text(x, y, text, fontsize=9, ha="left" if x < 1 else "center")
    axes.set(xlabel="stroke $p$, mm", ylabel="force, kN")
    save(figure, "lateral_spring")


def hysteresis_law() -> None:
    record = Record(hysteresis.law("law", "1", "1", causality="constant"), hysteresis.memory("memory", "1", "1"))
    m = record.view(record.start.copy())
    forward = ([0.002, 0.004, 0.020, 0.040, 0.060], [0, 2, 60, 100, 160])
    backward = ([0.002, 0.004, 0.022, 0.050, 0.060], [0, 2, 30, 80, 160])
    for side in range(2):
        m.law.points[side] = 5
        m.law.transition_stiffness[side] = 8000.0
        m.law.forward_deformation[side, :5], m.law.forward_reaction[side, :5] = forward
        m.law.backward_deformation[side, :5], m.law.backward_reaction[side, :5] = backward
    assert hysteresis.validate(m.law) == 0
    hysteresis.reset(m.law, m.memory)
    path = legs(0.0, 0.048, 0.0425, 0.048, 0.014, 0.030, 0.008, 0.0, step=2e-5)
    figure, axes = plt.subplots(figsize=(7.2, 3.9), layout="constrained")
    axes.plot(*forward, "o--", color=PASSIVE, ms=4, lw=1, label="forward branch F")
    axes.plot(*backward, "s--", color=FORCE, ms=4, lw=1, label="backward branch B")
    axes.plot(path, follow(m.law, m.memory, path), color=ACTIVE, label="path with reversals")
    axes.annotate(
        "transition, slope $k_3$",
        (0.0448, 96),
        (0.0505, 60),
        fontsize=9,
        va="center",
        arrowprops={"arrowstyle": "-", "color": INK},
    )
    axes.annotate(
        "common segment",
        (0.003, 1),
        (0.0095, -14),
        fontsize=9,
        va="center",
        arrowprops={"arrowstyle": "-", "color": INK},
    )
    axes.set(xlabel="deformation $q$", ylabel="reaction $Q$", ylim=(-22, 170))
    axes.legend(loc="upper left")
    save(figure, "hysteresis")


def cone() -> None:
    p = MECHANISM.record.view(MECHANISM.start(*NEW_SETS)).parameters
    unit = MECHANISM.record.view(MECHANISM.start(*NEW_SETS)).probe_cone.parameters
    n = int(unit.cone.vertices)
    x, r = np.array(unit.cone.x[:n]), np.array(unit.cone.r[:n])
    figure, axes = plt.subplots(figsize=(8.6, 5.0), layout="constrained")
    axes.fill([*x, 0.72, 0.72, 0.0], [*r, 0.0, 0.5, 0.5], fc="#faf0e4", ec="none")
    axes.plot(x, r, color=PASSIVE, lw=2)
    axes.axhline(0, color=PALE, ls="-.", lw=0.8)
    head = float(unit.cone.x[n - 1]) - unit.head.radius
    axes.add_patch(Circle((head, 0), unit.head.radius, fc="#dde7f1", ec=ACTIVE, lw=1.6))
    hinge = head - p.probe.bearing_distance - p.probe.free_length
    axes.plot([hinge, head - unit.head.radius], [0, 0], color=ACTIVE, lw=2.5)
    axes.plot(hinge, 0, "o", ms=8, mfc="white", mec=ACTIVE)
    axes.plot(hinge + p.probe.bearing_distance, 0, "o", ms=6, mfc="white", mec=FORCE)
    rear = np.array([unit.latch.rear_root, unit.latch.rear_tip])
    axes.plot(head + rear[:, 0], rear[:, 1], color=INK, lw=3)
    axes.plot([unit.slot.x] * 2, [unit.slot.distance - 0.012, unit.slot.distance + 0.012], color=PASSIVE, lw=3)
    pads_x, pads_r = hinge + np.array(unit.limiter.x), np.array(unit.limiter.r)
    axes.plot(pads_x, pads_r, color=INK, lw=4, solid_capstyle="butt")
    middle = np.array([pads_x.mean(), pads_r.mean()])
    axes.plot([hinge, 1.28 * middle[0] - 0.28 * hinge], [0, 1.28 * middle[1]], ":", color=FORCE)
    notes = (
        ((0.0, 0.40), (-0.07, 0.46), "docking plane"), ((0.27, 0.178), (0.31, 0.27), "frustum, 25°"),
        ((0.6, 0.047), (0.66, 0.14), "socket wall"), ((0.64, 0.02), (0.70, 0.055), "bottom"),
        ((head, 0.03), (0.50, -0.06), "head"), ((unit.slot.x, 0.063), (0.47, 0.2), "stop of a slot"),
        ((head - 0.012, 0.055), (0.61, 0.24), "rear edge of a latch"), ((pads_x[0], pads_r[0]), (0.09, 0.29), "pad"),
        ((hinge, 0.0), (-0.12, -0.06), "hinge $O_0$"),
        ((hinge + p.probe.bearing_distance, 0.0), (0.22, -0.06), "exit bearing"),
        ((0.5 * (hinge + middle[0]), 0.5 * middle[1]), (0.1, 0.1), "normal of the pad\nthrough the hinge"),
    )  # fmt: skip
    for at, text_at, text in notes:
        axes.annotate(
            text,
            at,
            text_at,
            fontsize=9,
            ha="center",
            va="center",
            arrowprops={"arrowstyle": "-", "color": PALE, "lw": 0.9},
        )
    arrow(axes, (unit.slot.x, -0.035), (head - 0.012, -0.035), INK, 1.0, "<|-|>")
    axes.annotate(
        "play 25 mm",
        (0.57, -0.037),
        (0.62, -0.075),
        fontsize=9,
        ha="center",
        va="center",
        arrowprops={"arrowstyle": "-", "color": PALE, "lw": 0.9},
    )
    axes.set(xlabel="$x$ of PU, m", ylabel="radius, m", xlim=(-0.2, 0.74), ylim=(-0.09, 0.52), aspect="equal")
    save(figure, "cone")


def _radius(matrix: np.ndarray) -> float:
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def _steps(kappa: float, gamma: float) -> dict[str, np.ndarray]:
    """Matrices of one step of a unit mass over H = 1 under the held force of each evaluation."""
    drift = np.array([[1.0, 1.0], [0.0, 1.0]])
    push = np.array([[0.5], [1.0]])
    start = np.array([[-kappa, -gamma]])
    middle = np.array([[-kappa, -gamma - 0.5 * kappa]])
    late = np.zeros((4, 4))
    late[:2, :2], late[:2, 2:], late[2:, :2] = drift, push @ start, np.eye(2)
    delayed = late.copy()
    delayed[:2, 2:] = push @ np.array([[-kappa, -gamma - 1.5 * kappa]])
    return {
        "start of the step": drift + push @ start, "start, one step late": late,
        "predicted midpoint": drift + push @ middle, "midpoint, one step late": delayed,
    }  # fmt: skip


def stability() -> None:
    kappa, gamma = np.meshgrid(np.linspace(1e-3, 4.2, 260), np.linspace(0.0, 2.2, 200))
    names = list(_steps(1.0, 1.0))
    radius = {name: np.empty(kappa.shape) for name in names}
    for index in np.ndindex(kappa.shape):
        for name, matrix in _steps(kappa[index], gamma[index]).items():
            radius[name][index] = _radius(matrix)
    figure, axes = plt.subplots(figsize=(7.2, 4.0), layout="constrained")
    colors = (PASSIVE, FORCE, ACTIVE, "#3f7d20")
    for name, color in zip(names, colors, strict=True):
        axes.contourf(kappa, gamma, radius[name], levels=[0.0, 1.0 + 1e-9], colors=[color], alpha=0.22)
        axes.contour(kappa, gamma, radius[name], levels=[1.0 + 1e-9], colors=[color], linewidths=1.4)
        axes.plot([], [], color=color, lw=6, alpha=0.5, label=name)
    axes.set(xlabel=r"$\kappa=kH^2/m$", ylabel=r"$\gamma=cH/m$", xlim=(0, 4.2), ylim=(0, 2.2))
    axes.legend(loc="upper right")
    save(figure, "stability")


if __name__ == "__main__":
    axial_train_force()
    lateral_spring()
    hysteresis_law()
    cone()
    stability()
