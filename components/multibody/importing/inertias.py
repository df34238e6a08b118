"""Masses and inertias of a robot description before MuJoCo compiles it: whose they are, and which are impossible."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

ROUNDING = 1e-9
"""Relative to the largest principal moment: by so much moments may be impossible, as rounded numbers are."""
LEAST = 1e-14
"""kg m2: no body has less inertia for MuJoCo, where it is given by six elements."""
MOST_NAMED = 10


def keep_given(mujoco: Any, spec: Any, text: str) -> None:
    """Let bodies of URDF have the mass of their `<inertial>` alone: without one they have none.

    MuJoCo would give them the mass of their geometries, of 1000 kg/m3, unless the description asks for that. It also
    refuses rods and points of mass, one of whose moments is zero: they get twice its least inertia.
    """
    kinds = mujoco.mjtInertiaFromGeom
    if _is_urdf(text) and spec.compiler.inertiafromgeom == kinds.mjINERTIAFROMGEOM_AUTO:
        spec.compiler.inertiafromgeom = kinds.mjINERTIAFROMGEOM_FALSE
    for body in spec.bodies:
        if body.explicitinertial and np.all(np.isfinite(body.fullinertia)):
            moments = _principal(body)
            if _is_possible(moments) and moments[0] < 2.0 * LEAST:
                body.fullinertia[:3] += 2.0 * LEAST


def impossible(spec: Any) -> str:
    """Return a sentence that lists all bodies whose inertia no distribution of mass has, "" without one."""
    found = []
    for body in spec.bodies:
        moments = _principal(body)
        if body.explicitinertial and not _is_possible(moments):
            values = ", ".join(f"{value:.3g}" for value in moments)
            found.append(f"{body.name or 'a body without a name'} ({values})")
    if not found:
        return ""
    return (
        f"no body can have these inertias: {listed(found)}. Of the principal moments, here in "
        "kg m2, none may be negative, nor larger than the sum of the other two; correct ixx to iyz, or fullinertia or "
        "diaginertia, of these bodies"
    )


def listed(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def _is_urdf(text: str) -> bool:
    root = re.search(r"<([A-Za-z]\w*)", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))
    return root is not None and root[1] == "robot"


def _principal(body: Any) -> np.ndarray:
    """Return the principal moments of a body, the smallest first."""
    xx, yy, zz, xy, xz, yz = map(float, body.fullinertia)
    if np.isnan(xx):
        return np.sort(np.asarray(body.inertia, float))
    full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.linalg.eigvalsh(full) if np.all(np.isfinite(full)) else np.full(3, np.nan)


def _is_possible(moments: np.ndarray) -> bool:
    a, b, c = map(float, moments)
    margin = ROUNDING * abs(c) + LEAST
    return bool(np.all(np.isfinite(moments))) and a >= -margin and c <= a + b + margin
