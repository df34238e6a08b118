"""Figures and tables of docs/validation/coupling.md: order, stability and energy of every coupling algorithm.

python -m benchmarks algorithms [--output docs/images]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import expm

from benchmarks.coupling import impact, two_masses
from benchmarks.coupling.two_masses import Masses
from dockfmu.components.oscillator import component as oscillator
from dockfmu.fmus import build
from dockfmu.master.algorithms import FixedPoint, GaussSeidel, Jacobi, Midpoint, QuasiNewton, by_name
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation

STATES = ("first.position", "first.velocity", "second.position", "second.velocity")
EXPLICIT = ("jacobi", "gauss_seidel", "jacobi_linear", "gauss_seidel_linear")
RATIOS = np.geomspace(1.0, 1e4, 25)
DAMPING = 0.2


def _trajectory(fmus: tuple[Path, Path], masses: Masses, name: str, h: float, steps: int, folder: Path) -> np.ndarray:
    system = masses.system(*fmus)
    result = CoSimulation(
        system, Schedule(step=h, stop=steps * h), algorithm=by_name(name), observers=[Recorder(folder / "r.h5", STATES)]
    ).run()
    if result.status != "completed":
        return np.full((1, 4), np.inf)
    with read_results(folder / "r.h5") as results:
        return np.column_stack([results[name] for name in STATES])


def convergence(fmus: tuple[Path, Path], folder: Path, output: Path) -> None:
    masses = Masses(c1=0.1, c2=0.1, coupling=2.0)
    exact = expm(4.0 * masses.matrix()) @ masses.start
    counts = np.array([20, 40, 80, 160, 320, 640])
    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    print(f"{'error at 4 s against the macro step':40}", *(f"{4.0 / n:9.4f}" for n in counts), "    order")
    for name in (*EXPLICIT, "quasi_newton"):
        errors = np.array(
            [np.abs(_trajectory(fmus, masses, name, 4.0 / n, n, folder)[-1] - exact).max() for n in counts]
        )
        order = np.log2(errors[-2] / errors[-1])
        print(f"{name:40}", *(f"{error:9.2e}" for error in errors), f"{order:9.2f}")
        axes.loglog(4.0 / counts, errors, "o-", label=f"{name}: order {order:.2f}", markersize=4)
    axes.set(xlabel="macro step, s", ylabel="largest error at 4 s, m and m/s")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(output / "convergence.png", dpi=120)
    plt.close(figure)


def _limits(name: str) -> list[float]:
    """Return the longest stable macro step at each ratio, below the first instability that the eigenvalues show."""
    found: list[float] = []
    for ratio in RATIOS:
        masses = Masses(c1=DAMPING, c2=DAMPING, coupling=ratio)
        h = 0.2 * found[-1] if found else 1e-2
        while two_masses.spectral_radius(masses, name, 1.01 * h) < 1.0:
            h *= 1.01
        found.append(h)
    return found


def _grows(fmus: tuple[Path, Path], masses: Masses, name: str, h: float, folder: Path) -> bool:
    rate = abs(np.log(two_masses.spectral_radius(masses, name, h)))
    steps = min(int(20.0 / rate) + 10, 50_000)
    got = _trajectory(fmus, masses, name, h, steps, folder)
    return bool(not np.abs(got[len(got) // 2 :]).max() < np.abs(got[: len(got) // 2 + 1]).max())


def stability(fmus: tuple[Path, Path], folder: Path, output: Path) -> None:
    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    print(f"\n{'longest stable macro step, s':40}", *(f"{ratio:9.0f}" for ratio in RATIOS[::6]))
    for k, name in enumerate(EXPLICIT):
        limits = _limits(name)
        print(f"{name:40}", *(f"{limit:9.2e}" for limit in limits[::6]))
        axes.loglog(RATIOS, limits, f"C{k}-", label=name)
        for ratio, limit in zip(RATIOS[::6], limits[::6], strict=True):
            masses = Masses(c1=DAMPING, c2=DAMPING, coupling=ratio)
            for h, mark in ((0.7 * limit, "o"), (2.5 * limit, "x")):
                wrong = _grows(fmus, masses, name, h, folder) == (mark == "o")
                axes.plot(ratio, h, mark, color="red" if wrong else f"C{k}", markersize=5)
    axes.set(xlabel="stiffness of the coupling over that of the springs to the ground", ylabel="macro step, s")
    axes.set_title("lines: eigenvalues; runs: o decay, x grow", fontsize=10)
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(output / "stability.png", dpi=120)
    plt.close(figure)


def impacts(fmus: tuple[Path, Path], output: Path) -> None:
    steps = np.array([1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5])
    rows = {
        "held, all at once (jacobi)": Jacobi(),
        "held, contact first (gauss_seidel)": GaussSeidel(),
        "extrapolated to the middle (midpoint without rates)": Midpoint(),
        "at the predicted midpoint (midpoint)": Midpoint(derivatives=impact.RATES),
        "implicit, substitution (fixed_point)": FixedPoint(),
        "implicit (quasi_newton)": QuasiNewton(),
        "implicit, held at the end (quasi_newton, linear=False)": QuasiNewton(linear=False),
    }
    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    print(f"\n{'energy of an impact, %, at H in ms':56}", *(f"{1e3 * h:9.3g}" for h in steps))
    for name, algorithm in rows.items():
        errors = np.array([impact.energy_error(*fmus, algorithm, h) for h in steps])
        print(f"{name:56}", *(f"{100.0 * error:+9.3g}" for error in errors))
        axes.loglog(1e3 * steps, 100.0 * np.abs(errors), "o-", label=name, markersize=4)
    axes.set(xlabel="macro step, ms", ylabel="energy that an impact makes or loses, %")
    axes.legend(fontsize=7)
    axes.grid(alpha=0.3)
    figure.savefig(output / "impact.png", dpi=120)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("docs/images"), help="folder of the figures")
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mass = build(oscillator(), folder)
        pair = mass, build(two_masses.component(), folder)
        convergence(pair, folder, output)
        stability(pair, folder, output)
        impacts((mass, build(impact.component(), folder)), output)


if __name__ == "__main__":
    main()
