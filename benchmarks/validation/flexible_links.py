"""When does the condensed spring of an arm suffice? The same arm with it and with flexible links, over payloads.

    python -m benchmarks.validation.flexible_links             frequencies, a stop by the brakes, knocks on the payload
    python -m benchmarks.validation.flexible_links berthings   both named systems from twenty starts

SSRMS in the pose of the reference case grapples a cube of 300 kg/m3 in the middle of a face. Prints the tables of
docs/validation/flexible-links.md; `--write FOLDER` draws the figure.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dockfmu
from dockfmu.components.core.component import Component, Instance
from dockfmu.fmus import catalogue

SPRING, FLEXIBLE = "Manipulator", "FlexibleManipulator"
POSE = (0.0, 0.5, -0.6, 1.6, -1.0, -0.4, 0.3)
PAYLOADS = (20.0, 100.0, 300.0, 1000.0, 3000.0, 8000.0, 20e3, 100e3)
"""Masses, kg."""
DENSITY = 300.0
"""kg/m3, assumed: that of MIM-1."""
KNOCKS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Durations of half sines, s."""
IMPULSE = 10.0
"""N s: the speed of 1 t changes by a centimetre a second."""
BRAKE = 5
H = 1e-3


def arm(component: Component, mass: float, **values: Any) -> Instance:
    """Return SSRMS with a cube of this mass, kg."""
    side = (mass / DENSITY) ** (1.0 / 3.0)
    sets = [chosen for chosen in component.parameter_sets if chosen.name == "SSRMS"]
    given = {
        "parameters.initial.angle": POSE,
        "parameters.payload.mass": mass,
        "parameters.payload.inertia": mass * side**2 / 6.0 * np.eye(3),
        "parameters.grapple.position": (-0.5 * side, 0.0, 0.0),
    }
    return Instance(component, *sets, **{**given, **values})


def peaks(one: Instance, seconds: float, push: Callable[[float], np.ndarray] | None = None) -> np.ndarray:
    """Return the largest force and torque on the gripper, N and N m, and the way of the payload, m, over some time."""
    m, worst = one.m, np.zeros(3)
    start = np.array(m.payload.position)
    for k in range(round(seconds / H)):
        if push is not None:
            m.payload.force[:] = push((k + 0.5) * H)
        one.step(k * H, H)
        way = np.linalg.norm(m.payload.position - start)
        worst = np.fmax(worst, [np.linalg.norm(m.tip.force), np.linalg.norm(m.tip.torque), way])
    return worst


def stopped(component: Component, mass: float) -> np.ndarray:
    """Return the peaks after the brakes have engaged in a motion of 1.9 cm/s."""
    one = arm(component, mass, **{"command.mode": 2, "command.velocity": (0.0, 0.0, 0.019)})
    peaks(one, 20.0)
    one.m.command.mode = BRAKE
    return peaks(one, 15.0)


def knocked(component: Component, mass: float, duration: float) -> np.ndarray:
    """Return the peaks after a half sine on the payload, across the line to the root, with locked joints."""
    one = arm(component, mass, **{"parameters.joint.locked": 1})
    along = np.array(one.m.payload.position)
    across = np.cross(along, (0.0, 1.0, 0.0))
    across *= IMPULSE * np.pi / (2.0 * duration) / np.linalg.norm(across)

    def push(t: float) -> np.ndarray:
        return across * np.sin(np.pi * t / duration) if t < duration else 0.0 * across

    return peaks(one, duration + 10.0, push)


def change(of: Callable[..., np.ndarray], *arguments: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the peaks with flexible links, and what the spring gives more, as a share of them."""
    spring, flexible = (of(catalogue.component(name), *arguments) for name in (SPRING, FLEXIBLE))
    return flexible, spring / flexible - 1.0


def percent(share: float) -> str:
    """Return a share in percent with its sign."""
    return f"{100.0 * share:+.1f}" if abs(share) < 0.1 else f"{100.0 * share:+.0f}"


def frequencies() -> None:
    """Print the natural frequencies with held joints."""
    print("| payload, kg | over links | lowest, Hz | spring, % | third | sixth | seventh, links alone, Hz |")
    print("|---|---|---|---|---|---|---|")
    for mass in PAYLOADS:
        spring, one = (arm(catalogue.component(name), mass) for name in (SPRING, FLEXIBLE))
        links = float(one.m.parameters.link.mass.sum())
        own = np.sqrt(np.diag(one.m.chain.mobility))[:7] / (2.0 * np.pi)
        more = np.array(spring.m.compliance.frequency) / own[:6] - 1.0
        print(f"| {mass:g} | {mass / links:.3g} | {own[0]:.3g} | {percent(more[0])} | {percent(more[2])} | "
              f"{percent(more[5])} | {own[6]:.3g} |")  # fmt: skip


def stops() -> None:
    """Print the peaks after a stop by the brakes."""
    print("| payload, kg | force, N | torque, N m | way, mm | spring: force, % | torque | way |")
    print("|---|---|---|---|---|---|---|")
    for mass in PAYLOADS:
        flexible, more = change(stopped, mass)
        print(f"| {mass:g} | {flexible[0]:.3g} | {flexible[1]:.3g} | {1e3 * flexible[2]:.3g} | "
              f"{' | '.join(map(percent, more))} |")  # fmt: skip


def knocks() -> dict[float, list[np.ndarray]]:
    """Print the error of the spring in the force and the way after knocks, and return them."""
    print(f"| payload, kg | {' | '.join(f'{1e3 * t:g} ms' for t in KNOCKS)} |")
    print("|---|" + "---|" * len(KNOCKS))
    found = {}
    for mass in PAYLOADS:
        found[mass] = [change(knocked, mass, duration)[1] for duration in KNOCKS]
        cells = [" / ".join(map(percent, more[[0, 1, 2]])) for more in found[mass]]
        print(f"| {mass:g} | {' | '.join(cells)} |")
    return found


def draw(found: dict[float, list[np.ndarray]], folder: Path) -> None:
    """Draw the error of the force on the gripper over the duration of the knock, for all payloads."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharex=True, constrained_layout=True)
    colours = plt.get_cmap("viridis")(np.linspace(0.0, 0.9, len(found)))
    for k, (axis, title) in enumerate(zip(axes, ("force on the gripper", "way of the payload"), strict=True)):
        for (mass, errors), colour in zip(found.items(), colours, strict=True):
            axis.semilogx(
                KNOCKS, [100.0 * error[2 * k] for error in errors], "o-", ms=3, color=colour, label=f"{mass:g} kg"
            )
        axis.axhline(0.0, color="0.6", lw=0.8)
        axis.set(title=title, xlabel="duration of the knock, s", ylabel="spring against flexible links, %")
    axes[1].legend(fontsize=7)
    figure.savefig(folder / "flexible_links.png", dpi=110)


def berthings() -> None:
    """Print the loads of both named systems from starts drawn by seed, and how they differ."""
    rng = np.random.default_rng(41)
    loads = ("compression", "tension", "shear", "bending")
    rows: dict[str, list[list[float]]] = {"mim1_ssrms_nrt74": [], "mim1_ssrms_flexible": []}
    for _ in range(20):
        miss, angles = rng.uniform(-40.0, 40.0, 2), rng.uniform(-1.0, 1.0, 3)
        start = {"initial_conditions.miss": [float(x) * 1e-3 for x in miss]}
        start |= {f"initial_conditions.{name}": float(np.radians(x))
                  for name, x in zip(("yaw", "pitch", "roll"), angles, strict=True)}  # fmt: skip
        for name, found in rows.items():
            done = dockfmu.load(name, start).run(
                record=[*(f"mechanism.load.{load}" for load in loads), "sequence.load.peak_force",
                        "sequence.load.peak_torque"], every=1)  # fmt: skip
            found.append([*(float(done[f"mechanism.load.{load}"].max()) for load in loads),
                          float(done["sequence.load.peak_force"][-1]), float(done["sequence.load.peak_torque"][-1]),
                          done.events.get("capture", np.nan)])  # fmt: skip
    print(f"| | {' | '.join(loads)} | force on the gripper | torque | capture |")
    print("|---|" + "---|" * 7)
    for name, found in rows.items():
        table = np.array(found)
        missed = int(np.isnan(table[:, -1]).sum())
        middle = np.nanmedian(table, axis=0)
        print(f"| `{name}`, {missed} of {len(table)} missed, median | {' | '.join(f'{x:.4g}' for x in middle)} |")
        print(f"| largest | {' | '.join(f'{x:.4g}' for x in np.nanmax(table, axis=0))} |")
    apart = np.abs(np.array(rows["mim1_ssrms_flexible"]) / np.array(rows["mim1_ssrms_nrt74"]) - 1.0)
    print(f"| median difference, % | {' | '.join(f'{100 * x:.2g}' for x in np.nanmedian(apart, axis=0))} |")


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=("arm", "berthings"), default="arm")
    parser.add_argument("--write", type=Path, help="folder of the figure")
    given = parser.parse_args()
    if given.part == "berthings":
        berthings()
        return
    frequencies()
    stops()
    found = knocks()
    if given.write:
        draw(found, given.write)


if __name__ == "__main__":
    main()
