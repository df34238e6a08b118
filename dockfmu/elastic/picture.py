"""Figure of a reduction: wireframes of the lowest shapes, coloured by their displacements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.files import atomic_file
from dockfmu.components.physics.elastic.body import ElasticBody, ElasticBodyError

SHOWN = 6
"""Number of shapes that are drawn."""


def write_picture(body: ElasticBody, file: Path) -> Path:
    """Write a figure (.png, .svg, .pdf) of the lowest shapes over the undeformed wireframe; return its path.

    Amplitudes are drawn as a tenth of the size of the body; colours are the displacements in metres at a stored energy
    of 1 J, with a scale for each shape, whose title says its frequency.
    """
    from matplotlib.figure import Figure

    if file.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ElasticBodyError(f"{file}: the name of a figure must end in .png, .svg or .pdf")
    figure = Figure(figsize=(11.0, 7.0), layout="constrained")
    size = float(np.ptp(body.points, axis=0).max()) or 1.0
    for j in range(min(SHOWN, len(body.frequency))):
        axes: Any = figure.add_subplot(2, 3, j + 1, projection="3d")
        motion = body.point_shape[:, :, j]
        largest = float(np.linalg.norm(motion, axis=1).max()) or 1.0
        _draw(axes, body, body.points)
        # a mass-normalised shape stores half the square of its frequency and coordinate
        moved = np.linalg.norm(motion, axis=1) * np.sqrt(2.0) / body.frequency[j]
        _colour(figure, axes, body, body.points + 0.1 * size / largest * motion, moved)
        axes.scatter(*body.place.T, color="C3", s=12)
        note = ", static" if body.residual[j] else ""
        axes.set_title(f"{j + 1}: {body.frequency[j] / (2 * np.pi):.4g} Hz{note}", fontsize=9)
        middle = 0.5 * (body.points.max(axis=0) + body.points.min(axis=0))
        for axis, at in zip("xyz", middle, strict=True):
            getattr(axes, f"set_{axis}lim")(at - 0.6 * size, at + 0.6 * size)
            getattr(axes, f"set_{axis}label")(f"{axis}, m", fontsize=7)
        axes.tick_params(labelsize=6)
        axes.set_box_aspect(None, zoom=0.85)
    figure.suptitle(f"{body.name}: shapes in frame {body.frame}, interface nodes red", fontsize=10)
    with atomic_file(file) as unfinished:
        figure.savefig(unfinished, format=file.suffix[1:].lower())
    return file


def _draw(axes: Any, body: ElasticBody, points: np.ndarray) -> None:
    for line in body.lines:
        axes.plot(*points[line].T, color="0.75", linewidth=0.8)


def _colour(figure: Any, axes: Any, body: ElasticBody, points: np.ndarray, moved: np.ndarray) -> None:
    """Draw the wireframe, or its points, in colours of the displacements `moved`, m, with their scale."""
    from matplotlib.colors import Normalize
    from mpl_toolkits.mplot3d.art3d import Line3DCollection  # type: ignore[import-untyped]

    scale = Normalize(0.0, float(moved.max()) or 1.0)
    if len(body.lines):
        drawn = Line3DCollection(points[body.lines], cmap="viridis", norm=scale, linewidths=1.6)
        drawn.set_array(moved[body.lines].mean(axis=1))
        axes.add_collection3d(drawn)
    else:
        drawn = axes.scatter(*points.T, c=moved, cmap="viridis", norm=scale, s=6)
    bar = figure.colorbar(drawn, ax=axes, shrink=0.6, pad=0.1)
    bar.set_label("m at 1 J", fontsize=7)
    bar.ax.tick_params(labelsize=6)
