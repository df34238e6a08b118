"""The load at a section of a free rod over time, from all freedoms of its finite-element model."""

from dataclasses import replace

import numpy as np
from scipy.linalg import eigh

from dockfmu.components.spacecraft.modes import Beam

ROD = Beam(length=10.0, density=2.0, bending_y=4e4, bending_z=8e4, axial=1e8, torsion=2e4, polar=0.02)
"""The beam of flexible O1, by the elements of the synthetic modes: another program than that of `dockfmu reduce`."""
CUT = 8
"""Element, counted from 0, before whose first node the section lies: node 9 of the rod."""
SECTION = [(21 + CUT, 21)]
"""The section in the model of `models.BEAM`, whose inner nodes are numbered from 22."""


def element_load(q):
    """Return what the elements beyond a node exert on it: force and moment, from the displacements of both its ends."""
    short = replace(ROD, length=ROD.length / ROD.elements, elements=1)
    stiffness, _ = short.matrices()
    return -(stiffness @ q[6 * CUT : 6 * CUT + 12])[:6]


def section_loads(first, last, step):
    """Return (steps, 6): the loads at the section under forces (steps, 3) on the two ends, held over each step.

    Each of the 126 modes of the free model is advanced exactly.
    """
    K, M = ROD.matrices()
    values, shape = eigh(K, M)
    w = np.sqrt(np.maximum(values, 0.0))
    w[:6] = 0.0
    q, v = np.zeros(len(w)), np.zeros(len(w))
    slow = w < 1e-3
    c, s = np.cos(w * step), np.where(slow, step, np.sin(w * step) / np.where(slow, 1.0, w))
    c3 = np.where(slow, 0.5 * step**2, (1.0 - c) / np.where(slow, 1.0, w**2))
    found = []
    for one, other in zip(first, last, strict=True):
        f = shape[:3].T @ one + shape[-6:-3].T @ other
        q, v = c * q + s * v + c3 * f, s * (f - w * w * q) + c * v
        found.append(element_load(shape @ q))
    return np.array(found)
