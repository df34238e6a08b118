"""Figure of a reduction: wireframes of the lowest shapes, and errors of frequencies."""

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

    Amplitudes are scaled to a tenth of the size of the body; the title of each shape says its frequency.
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
        _draw(axes, body, body.points, "0.6")
        _draw(axes, body, body.points + 0.1 * size / largest * motion, "C0")
        axes.scatter(*body.place.T, color="C3", s=12)
        note = ", static" if body.residual[j] else ""
        axes.set_title(f"{j + 1}: {body.frequency[j] / (2 * np.pi):.4g} Hz{note}", fontsize=9)
        middle = 0.5 * (body.points.max(axis=0) + body.points.min(axis=0))
        for axis, at in zip("xyz", middle, strict=True):
            getattr(axes, f"set_{axis}lim")(at - 0.6 * size, at + 0.6 * size)
            getattr(axes, f"set_{axis}label")(f"{axis}, m", fontsize=7)
        axes.tick_params(labelsize=6)
        axes.set_box_aspect(None, zoom=0.85)
    figure.suptitle(f"{body.name}: shapes in frame {body.frame}, interface nodes red, amplitude scaled", fontsize=10)
    with atomic_file(file) as unfinished:
        figure.savefig(unfinished, format=file.suffix[1:].lower())
    return file


def _draw(axes: Any, body: ElasticBody, points: np.ndarray, colour: str) -> None:
    for line in body.lines:
        axes.plot(*points[line].T, color=colour, linewidth=1.0)
    if not len(body.lines):
        axes.scatter(*points.T, color=colour, s=6)
