"""Figures and tables of docs/validation/stand.md: the effect of the delays of a stand on a contact and on a docking.

python -m benchmarks stand [delay] [docking] [berthing] [--output docs/images] [--write docs/validation/stand.md]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import dockfmu
from benchmarks.coupling import delayed_berth as berth
from benchmarks.coupling import delayed_contact as contact
from benchmarks.page import replace_table
from dockfmu.declare.parameters import parameters

STIFFNESS = 1e6
"""Stiffness, N/m: that of the train of the axial damper, on which the latches hang."""
SHARES = np.linspace(0.0, 2.0, 9)
FREQUENCIES = np.array([1.0, 2.0, 4.0, 7.0, 10.0, 14.0, 18.0, 22.0])
"""Frequencies of the contact without a stand, rad/s."""

WORKS = ("chaser.audit.work_port[1]", "station.audit.work_port[1]", "mechanism.audit.work_base",
         "mechanism.audit.work_target")  # fmt: skip
SECONDS = 12.0
BERTH = 3.5e5
"""Effective axial stiffness of the contact of MIM-1, N/m, from the peak force of NRT-74 (manipulator 10)."""
P, B = "platform.parameters.", "balance.parameters."
CRAFT = {
    p.full_name: p.value
    for p in parameters("atv_probe_cone", {})
    if p.full_name in ("chaser.parameters.mass", "chaser.parameters.inertia", "chaser.parameters.port[1].position")
}
"""Craft of `atv_probe_cone` without the mechanism, which acts on the craft where the stand is bypassed."""
STANDS = {
    "no stand (`bypass`)": {f"{P}bypass": 1, f"{B}bypass": 1, **CRAFT},
    "quick: all of SP-1 and SB-1 ten times faster": {
        f"{P}frequency": 100.0, f"{P}delay": 5e-4, f"{P}frame_time": 2e-4, f"{B}cutoff": 1e3, f"{B}frame_time": 2e-4,
    },
    "SP-1 with commanded rates (`feedforward` 1)": {f"{P}feedforward": 1.0},
    "SP-1, SB-1": {},
    "slower: 7 Hz": {f"{P}frequency": 7.0},
}  # fmt: skip


def delays() -> tuple[str, plt.Figure]:
    """Draw growth against damping, and the least damping against frequency: eigenvalues, runs, and the rule."""
    stand = contact.Stand()
    unit = STIFFNESS * stand.total_delay
    period = 2.0 * np.pi / np.sqrt(STIFFNESS / contact.MASS)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
    fine = np.linspace(0.0, 2.0, 81)
    left.plot(fine, [contact.eigenvalue(stand, STIFFNESS, x * unit).real for x in fine], "C0-", label="eigenvalue")
    left.plot(fine, [contact.rule(stand, STIFFNESS, x * unit) for x in fine], "k:", label=r"rule, $(k\tau-c)/2m$")
    rows = ["| damper c / (k τ) | growth by eigenvalue, 1/s | by run | by rule |", "|---|---|---|---|"]
    found = []
    for x in SHARES:
        s = contact.growth(contact.simulate(stand, STIFFNESS, x * unit, 8.0), period)
        found.append(s.real)
        predicted = contact.eigenvalue(stand, STIFFNESS, x * unit).real
        rows.append(f"| {x:.2f} | {predicted:+.4f} | {s.real:+.4f} | {contact.rule(stand, STIFFNESS, x * unit):+.4f} |")
    left.plot(SHARES, found, "o", color="C3", label="run of the stand's kernels")
    left.axhline(0.0, color="k", lw=0.8)
    left.axvline(1.0, color="0.6", lw=0.8)
    left.set(
        xlabel=r"damper $c/(k\tau)$",
        ylabel="growth rate of the contact, 1/s",
        title=f"20 t on 1 MN/m, delay of the loop {1e3 * stand.total_delay:.1f} ms",
    )
    left.legend(frameon=False)

    rows += ["", "| ω τ | least damper by eigenvalue, c / (k τ) | by run |", "|---|---|---|"]
    curve = np.linspace(FREQUENCIES[0], FREQUENCIES[-1], 60)
    stiffness = contact.MASS * curve**2
    right.plot(
        curve * stand.total_delay,
        [contact.least_damping(stand, k) / (k * stand.total_delay) for k in stiffness],
        "C0-",
        label="eigenvalue",
    )
    for n, frequency in enumerate(FREQUENCIES):
        k = contact.MASS * frequency**2
        least = contact.least_damping(stand, k)
        seconds = 12.0 * 2.0 * np.pi / frequency
        rates = [
            contact.growth(contact.simulate(stand, k, x * least, seconds), 2.0 * np.pi / frequency).real
            for x in (0.97, 1.03)
        ]
        crossing = least * (0.97 + 0.06 * rates[0] / (rates[0] - rates[1])) / (k * stand.total_delay)
        right.plot(
            frequency * stand.total_delay,
            crossing,
            "o",
            color="C3",
            label="" if n else "runs, where growth changes sign",
        )
        rows.append(f"| {frequency * stand.total_delay:.3f} | {least / (k * stand.total_delay):.4f} | {crossing:.4f} |")
    right.axhline(1.0, color="k", ls=":", label=r"rule, $c=k\tau$")
    right.set(
        xlabel=r"$\omega\tau$, $\omega=\sqrt{k/m}$",
        ylabel=r"least damper $c/(k\tau)$",
        ylim=(0.9, None),
        title="damping that a delayed force needs",
    )
    right.legend(frameon=False)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    return "\n".join(rows), figure


def docking() -> tuple[str, plt.Figure]:
    """Return the table and the figure of the docking of `atv_stand` on stands of different speed."""
    record = [*WORKS, "mechanism.target.force_now", "balance.measured.force", "platform.error.position"]
    figure, (force, energy) = plt.subplots(2, 1, figsize=(10.0, 6.0), sharex=True, layout="constrained")
    rows = [
        "| stand | first latch pulse, kN | second | third | energy that the stand has made by 12 s, J |",
        "|---|---|---|---|---|",
    ]
    for n, (name, values) in enumerate(STANDS.items()):
        run = dockfmu.load("atv_stand", {f"{B}force_limit": 1e5, f"{B}torque_limit": 1e5, **values}).run(
            stop=SECONDS, record=record
        )
        axial = run["mechanism.target.force_now"][:, 0]
        made = sum(run[work] for work in WORKS)
        peaks = pulses(run.time, -axial)
        rows.append(f"| {name} | {' | '.join(f'{1e-3 * peak:.2f}' for peak in peaks)} | {made[-1] - made[0]:+.1f} |")
        label = name.replace("`", "")
        if n in (0, 3):
            force.plot(run.time, 1e-3 * axial, f"C{n}-", lw=1.2, label=label)
        energy.plot(run.time, made - made[0], f"C{n}-", lw=1.4, label=label)
    force.set(ylabel="axial force on the passive unit, kN")
    energy.set(xlabel="time, s", ylabel="energy made by the stand, J", xlim=(0.0, SECONDS))
    for axes in (force, energy):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    return "\n".join(rows), figure


def berthing() -> tuple[str, plt.Figure]:
    """Return table and figure of MIM-1 on its arm: growth of the contact, and NRT-74 with and without a stand."""
    stand = contact.Stand()
    none = contact.Stand(1e-9, 1e6, 0.7, 0.0, 1e6, 1e-9)
    unit = BERTH * stand.total_delay
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
    rows = [
        "| damper c / (k τ) | fastest growth by eigenvalue, 1/s | by run | rule, no arm "
        "| what the stand adds, sum over the modes |",
        "|---|---|---|---|---|",
    ]
    fine = np.linspace(0.0, 1.5, 31)
    left.plot(fine, [berth.eigenvalues(stand, BERTH, x * unit).real.max() for x in fine], "C0-", label="eigenvalue")
    left.plot(
        fine,
        [contact.rule(stand, BERTH, x * unit, berth.PAYLOAD) for x in fine],
        "k:",
        label=r"rule without the arm, $(k\tau-c)/2m$",
    )
    least = berth.least_damping(stand, BERTH) / unit
    for n, x in enumerate((0.0, 0.25, 0.5, least)):
        modes = berth.eigenvalues(stand, BERTH, x * unit)
        fastest = modes[modes.real.argmax()]
        found = berth.growth(berth.simulate(stand, BERTH, x * unit, 16.0), modes).real
        left.plot(x, found, "o", color="C3", label="" if n else "run of the kernels of arm and stand")
        rule = contact.rule(stand, BERTH, x * unit, berth.PAYLOAD)
        share = (modes.real - berth.eigenvalues(none, BERTH, x * unit).real).sum()
        rows.append(f"| {x:.2f} | {fastest.real:+.4f} | {found:+.4f} | {rule:+.4f} | {share:+.4f} |")
    left.axhline(0.0, color="k", lw=0.8)
    left.set(
        xlabel=r"damper $c/(k\tau)$", ylabel="growth rate of the fastest mode, 1/s", title="MIM-1 on SSRMS, 350 kN/m"
    )
    works = ("manipulator.audit.work_interface", "mechanism.audit.work_base", "mechanism.audit.work_target")
    rows += ["", "| NRT-74 | peak at the bottom, N | ringing of the last 2 s, N | energy that the stand has made, J |",
             "|---|---|---|---|"]  # fmt: skip
    for name, label in (("mim1_ssrms_nrt74", "no stand"), ("mim1_ssrms_nrt74_stand", "SP-1, SB-1")):
        run = dockfmu.load(name).run(record=[*works, "mechanism.target.force_now"])
        axial = run["mechanism.target.force_now"][:, 0]
        ringing = axial[run.time > run.time[-1] - 2.0].std()
        made = sum(run[work][-1] for work in works)
        rows.append(f"| {label} | {axial.max():.0f} | {ringing:.0f} | {made:+.2f} |")
        right.plot(run.time, 1e-3 * axial, lw=1.2, label=label)
    right.set(xlabel="time, s", ylabel="axial force on the passive unit, kN", xlim=(50.0, 55.5), title="NRT-74")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    return "\n".join(rows), figure


def pulses(time: np.ndarray, pull: np.ndarray, count: int = 3, apart: float = 0.8) -> list[float]:
    """Return the peaks of the first `count` pulls of the latches, N: maxima over 1 kN, at least `apart` s apart."""
    found: list[tuple[float, float]] = []
    for k in np.flatnonzero(pull > 1e3):
        if found and time[k] - found[-1][0] < apart:
            if pull[k] > found[-1][1]:
                found[-1] = (time[k], pull[k])
        else:
            found.append((time[k], pull[k]))
    return ([peak for _, peak in found] + count * [0.0])[:count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"delay": delays, "docking": docking, "berthing": berthing}
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)}; without, all")
    parser.add_argument("--output", type=Path, default=Path("docs/images"), help="folder of the figures")
    parser.add_argument("--write", type=Path, help="page that gets the tables")
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - parts.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}: choose from {', '.join(parts)}")
    chosen.output.mkdir(parents=True, exist_ok=True)
    for name in chosen.parts or parts:
        table, figure = parts[name]()
        print(f"\n{name}\n{table}")
        figure.savefig(chosen.output / f"stand_{name}.png", dpi=120)
        plt.close(figure)
        if chosen.write:
            replace_table(chosen.write, name, table)


if __name__ == "__main__":
    main()
