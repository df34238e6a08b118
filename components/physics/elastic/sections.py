"""Loads at sections of an elastic body by the mode-acceleration method: constants of the file of the body.

The load at a section is that of the whole finite-element model under the forces on it and the inertia forces of its
motion, not that of the displacement of the shapes that were kept:

    load = sum over nodes of L_k f_k - L_a {a, epsilon} - L_s ww - L_w (u - omega^2 w),

with the wrenches f_k on the interface nodes, the acceleration a and angular acceleration epsilon of E, the products ww
of its angular velocity, and for each shape the modal force u less the elastic one, which is its inertia and damping.
Rates of the shapes times the angular velocity are left out, as are changes of the levers by the deformation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

PRODUCTS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Components of the angular velocity that are multiplied, in the order of the columns of `spin`."""


@dataclass(frozen=True)
class ElasticSections:
    """Loads at sections of a body, force and moment in axes of E, about the node of the section.

    The load is what the part beyond the section exerts on the part of the node.

    names : of the sections
    place : (s, 3) their nodes in E, m
    node : (s, b, 6, 6) load by a unit force or moment on each interface node
    inertia : (s, 6, 6) by unit accelerations of E
    spin : (s, 6, 6) by unit products of the angular velocity, see PRODUCTS
    modal : (s, 6, H) by unit modal forces that the stiffness does not balance
    displaced : (s, 6, H) load of unit shapes by their stiffness: what the displacement of the shapes alone would give
    """

    names: tuple[str, ...]
    place: np.ndarray
    node: np.ndarray
    inertia: np.ndarray
    spin: np.ndarray
    modal: np.ndarray
    displaced: np.ndarray

    def shapes(self, nodes: int, count: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the arrays must have, with `nodes` interface nodes and `count` shapes."""
        s = len(self.names)
        return {
            "place": (s, 3), "node": (s, nodes, 6, 6), "inertia": (s, 6, 6), "spin": (s, 6, 6),
            "modal": (s, 6, count), "displaced": (s, 6, count),
        }  # fmt: skip


def products(angular_velocity: np.ndarray) -> np.ndarray:
    """Return the products of the components of an angular velocity, in the order of PRODUCTS."""
    return np.array([angular_velocity[i] * angular_velocity[j] for i, j in PRODUCTS])


def centrifugal(place: np.ndarray) -> np.ndarray:
    """Return the matrix (3, 6) by which the products make the acceleration w x (w x place)."""
    found = np.zeros((3, 6))
    for k, (i, j) in enumerate(PRODUCTS):
        found[i, k] += place[j]
        if i == j:
            found[:, k] -= place
        else:
            found[j, k] += place[i]
    return found


def gyroscopic(inertia: np.ndarray) -> np.ndarray:
    """Return the matrix (3, 6) by which the products make the moment w x (inertia w)."""
    found = np.zeros((3, 6))
    unit = np.eye(3)
    for k, (i, j) in enumerate(PRODUCTS):
        found[:, k] = np.cross(unit[i], inertia[:, j])
        if i != j:
            found[:, k] += np.cross(unit[j], inertia[:, i])
    return found


def rigid_motion(arm: np.ndarray) -> np.ndarray:
    """Return the matrix (6, 6) from the small rigid motion of a point to that of the point at `arm` from it."""
    x, y, z = arm
    found = np.eye(6)
    found[:3, 3:] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    return found


def turned_products(turn: np.ndarray) -> np.ndarray:
    """Return the matrix (6, 6) from the products in other axes to those of `turn` w, the axes of the rows of `turn`."""
    found = np.zeros((6, 6))
    for row, (a, b) in enumerate(PRODUCTS):
        for k, (i, j) in enumerate(PRODUCTS):
            found[row, k] = turn[a, i] * turn[b, j] + (turn[a, j] * turn[b, i] if i != j else 0.0)
    return found
