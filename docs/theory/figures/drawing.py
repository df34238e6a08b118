"""Style of the figures of the theory pages, and small helpers to draw with."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

FOLDER = Path(__file__).parent
INK, ACTIVE, PASSIVE, FORCE, PALE = "#1f2933", "#1764ab", "#b35900", "#b3123f", "#9aa5b1"

mpl.use("svg")
mpl.rcParams.update(
    {
        "svg.hashsalt": "dockfmu",
        "svg.fonttype": "path",
        "font.size": 10,
        "font.family": "DejaVu Sans",
        "mathtext.fontset": "cm",
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "lines.linewidth": 1.6,
        "legend.frameon": False,
    }
)


def sketch(width: float, height: float, x: tuple[float, float], y: tuple[float, float]) -> tuple[Figure, Axes]:
    """Return a figure without axes, of `width` and `height` inches, that shows the range of `x` and `y` undistorted."""
    figure, axes = plt.subplots(figsize=(width, height))
    axes.set(xlim=x, ylim=y, aspect="equal")
    axes.axis("off")
    figure.subplots_adjust(0.01, 0.01, 0.99, 0.99)
    return figure, axes


def arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    color: str = INK,
    width: float = 1.4,
    style: str = "-|>",
) -> None:
    axes.annotate(
        "",
        end,
        start,
        arrowprops={
            "arrowstyle": style,
            "color": color,
            "lw": width,
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": 12,
        },
    )


def triad(
    axes: Axes, origin: tuple[float, float], size: float, index: str, color: str = INK, below: bool = False
) -> None:
    """Draw the axes x and y of a frame at `origin`; z points to the reader. `below`: x is named below its axis."""
    x, y = origin
    arrow(axes, origin, (x + size, y), color)
    arrow(axes, origin, (x, y + size), color)
    if below:
        axes.text(x + 0.85 * size, y - 0.15 * size, f"$x_{{{index}}}$", color=color, ha="center", va="top")
    else:
        axes.text(x + 1.06 * size, y, f"$x_{{{index}}}$", color=color, va="center")
    axes.text(x, y + 1.08 * size, f"$y_{{{index}}}$", color=color, ha="center", va="bottom")
    axes.plot(x, y, "o", color=color, ms=5, mfc="white")
    axes.plot(x, y, ".", color=color, ms=3)


def save(figure: Figure, name: str) -> None:
    figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
