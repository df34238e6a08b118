"""Where the energy of a docking goes, device by device: a figure, and a table of the sums at its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import ScalarFormatter

from benchmarks.validation.docking import Docking
from benchmarks.validation.published import NONE

DEVICES = {
    "screw": "screw",
    "train": "damping of the gear train, spring, brake",
    "gears": "hysteresis of the gear train",
    "magnetic": "magnetic brakes",
    "first_brake": "brake FrB1",
    "brake": "brake FrB2",
    "lateral_springs": "lateral springs",
    "lateral_brakes": "lateral brakes",
    "lateral_stops": "lateral stops",
    "limiter": "movable limiter",
    "probe": "bending of the probe",
    "contact": "contacts",
    "latches": "latches",
    "cover": "hatch cover",
    "planes": "docking planes, solid pushers",
    "end_stops": "end stops of the probe",
}
"""Devices that dissipate energy, as `mechanism.audit.dissipated_NAME`; the drive is taken with the motors."""

KINDS = ("kinetic", "stored")


def balance(docking: Docking) -> dict[str, np.ndarray]:
    """Return the energies of a docking over time, J, shape (rows,) each.

    `supplied` is the work of thrusters and motors, less the heat of motors and drive themselves; `kinetic` and `stored`
    are those of both craft and the mechanism; devices are named as in DEVICES, and `modes` is the damping of the
    elastic craft. Their sum is `supplied` plus the kinetic energy of the approach, and `residual` is what is missing.
    """

    def total(ending: str) -> np.ndarray:
        return np.sum([docking[name] for name in docking.energies if name.endswith(ending)], axis=0)

    motors = docking["mechanism.audit.work_drive"] - docking["mechanism.audit.dissipated_drive"]
    found = {"supplied": total("audit.work_control") + motors}
    found |= {kind: total(f"audit.{kind}_energy") for kind in KINDS}
    for name in DEVICES:
        if f"mechanism.audit.dissipated_{name}" in docking.energies:
            found[name] = docking[f"mechanism.audit.dissipated_{name}"]
    found["modes"] = total("audit.dissipated_modes")
    used = np.sum([values for name, values in found.items() if name != "supplied"], axis=0)
    given = found["kinetic"][0] + found["stored"][0] + found["supplied"]
    found["residual"] = given - used
    return found


def table(dockings: Sequence[Docking]) -> list[str]:
    """Return the energies at the end of each docking as lines of Markdown, J."""
    balances = [balance(docking) for docking in dockings]
    lines = ["| energy, J | " + " | ".join(f"`{docking.name}`" for docking in dockings) + " |"]
    lines.append("|---" * (1 + len(dockings)) + "|")

    def row(title: str, values: Sequence[float | None], digits: int = 1) -> str:
        return f"| {title} | " + " | ".join(NONE if v is None else f"{v:.{digits}f}" for v in values) + " |"

    lines.append(
        row("kinetic and stored energy at first contact", [b["kinetic"][0] + b["stored"][0] for b in balances])
    )
    lines.append(row("work of thrusters, and of motors through the drive", [b["supplied"][-1] for b in balances]))
    for name, title in (*DEVICES.items(), ("modes", "modes of the station")):
        values = [b[name][-1] if name in b else None for b in balances]
        if any(value is not None and abs(value) >= 0.05 for value in values):
            lines.append(row(title, values))
    lines.append(row("kinetic energy at the end", [b["kinetic"][-1] for b in balances]))
    lines.append(row("stored energy at the end", [b["stored"][-1] for b in balances]))
    lines.append(row("residual", [b["residual"][-1] for b in balances], 4))
    return lines


def draw(dockings: Sequence[Docking], file: Path) -> None:
    """Draw the energy dissipated by each device over time, stacked, a panel for each docking."""
    figure, panels = plt.subplots(len(dockings), 1, figsize=(8.0, 3.2 * len(dockings)), squeeze=False, sharex=True)
    colours = dict(zip((*DEVICES, "modes"), plt.get_cmap("tab20").colors, strict=False))
    titles = DEVICES | {"modes": "modes of the station"}
    for docking, axes in zip(dockings, panels[:, 0], strict=True):
        found = balance(docking)
        # the impact takes seconds, the retraction minutes
        rows = np.unique(np.searchsorted(docking.time, np.geomspace(0.5, docking.time[-1], 240)))
        rows = rows[rows < len(docking.time)]
        shown = [name for name in titles if name in found and found[name].max() >= 0.005 * found["supplied"].max()]
        axes.stackplot(
            docking.time[rows],
            [found[name][rows] for name in shown],
            labels=[titles[name] for name in shown],
            colors=[colours[name] for name in shown],
        )
        given = found["kinetic"][0] + found["stored"][0] + found["supplied"] - found["kinetic"] - found["stored"]
        axes.plot(docking.time[rows], given[rows], color="black", lw=1.0, label="given up by craft, springs and drive")
        axes.set(xscale="log", xlim=(docking.time[rows[0]], docking.time[-1]), ylabel="energy dissipated, J")
        axes.set_ylim(bottom=0.0)
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.set_title(docking.name, loc="left", fontsize=10)
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], labels[::-1], loc="upper left", fontsize=8, frameon=False)
    panels[-1, 0].set_xlabel("time since first contact, s")
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    plt.close(figure)
