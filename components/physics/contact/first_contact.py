"""First contact: poses of the craft when the main buffer link just touches.

Theory: contact-geometry A13, spacecraft section 8.

The two craft are numbered as everywhere: 1 carries the mechanism, 2 the passive unit. Vectors of craft data are in axes
of the craft's body (C), rotations map parent to child components (conventions).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.components.physics.contact import probe_cone, ring_pair
from dockfmu.components.physics.mechanics.rotation import from_angles, quaternion

# step of the march toward contact, admissible penetration at first contact, distance of the march to each side; m
MARCH = 1e-3
TOLERANCE = 1e-6
FAR = 5.0

Penetration = Callable[[np.ndarray, np.ndarray], float]


class NoContactError(DockfmuError, ValueError):
    """The main buffer link does not meet the passive unit anywhere along the approach."""


@dataclass(frozen=True)
class Misalignment:
    """Pose and motion of the moving craft's unit relative to the resting one: the parameters of spacecraft section 8.

    Attributes
    ----------
    miss : lateral offset (y, z) of the reference point of the active unit, m
    angles : yaw, pitch, roll of the moving unit relative to the resting one, rad
    velocity : of the moving craft's centre of mass, m/s; x > 0 closes
    angular_velocity : of the moving craft, its body axes, rad/s
    """

    miss: tuple[float, float] = (0.0, 0.0)
    angles: tuple[float, float, float] = (0.0, 0.0, 0.0)
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Mount:
    """A docking port in its craft: `position` from the centre of mass (C axes), `rotation` C -> port."""

    position: Any
    rotation: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class CraftState:
    """Motion of a craft in the inertial frame.

    Attributes
    ----------
    position, velocity : of the centre of mass, axes I
    quaternion : I -> C
    angular_velocity : absolute, axes C
    """

    position: np.ndarray
    quaternion: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray


@dataclass(frozen=True)
class Placement:
    """Both craft at first contact (or `start_gap` before it), and frame 0 relative to PU there.

    Attributes
    ----------
    active, passive : states of craft 1 and 2
    position : origin of frame 0 in PU, m
    rotation : PU -> 0, shape (3, 3)
    penetration : of the main buffer link at first contact, 0 < penetration <= 1e-6 m
    """

    active: CraftState
    passive: CraftState
    position: np.ndarray
    rotation: np.ndarray
    penetration: float


def rotation_matrix(yaw: float, pitch: float, roll: float) -> np.ndarray:
    """Return A(yaw, pitch, roll), shape (3, 3)."""
    return np.array(from_angles(yaw, pitch, roll))


def probe_cone_penetration(unit: Any, link_position: Any, link_rotation: Any = None) -> Penetration:
    """Return the penetration of the probe head as a function of the position (PU) and rotation (PU -> 0) of frame 0.

    `unit` is the record of an initialised `probe_cone` unit; the link is at `link_position` in frame 0. Only the unit's
    inputs and work space are written.
    """
    unit.input.link[0].position[:] = link_position
    unit.input.link[0].rotation[:] = np.eye(3) if link_rotation is None else link_rotation

    def penetration(position: np.ndarray, rotation: np.ndarray) -> float:
        unit.input.base.position[:] = position
        unit.input.base.rotation[:] = rotation
        return float(probe_cone.head_penetration(unit))

    return penetration


def ring_penetration(unit: Any, link_position: Any, link_rotation: Any = None) -> Penetration:
    """Return the penetration of the active ring as a function of the position (PU) and rotation (PU -> 0) of frame 0.

    `unit` is the record of an initialised `ring_pair` unit; the ring-plane frame AR is at `link_position` in frame 0.
    The unit's inputs, flags and work space are written.
    """
    unit.input.link.position[:] = link_position
    unit.input.link.rotation[:] = np.eye(3) if link_rotation is None else link_rotation

    def penetration(position: np.ndarray, rotation: np.ndarray) -> float:
        unit.input.base.position[:] = position
        unit.input.base.rotation[:] = rotation
        return float(ring_pair.penetration(unit))

    return penetration


def approach(penetration: Callable[[float], float], start: float, stop: float) -> float:
    """Return the least s in [start, stop] with 0 < penetration(s) <= 1e-6 m: march from `start`, then bisect.

    A negative penetration is minus a clearance: no shorter approach can close it. Raises NoContactError if there is
    none, ValueError if `start` is in contact already.
    """
    if penetration(start) > 0.0:
        raise ValueError(f"the march toward first contact starts in contact, {penetration(start):.3g} m deep")
    free = start
    while free < stop:
        touching = min(free + max(MARCH, -penetration(free)), stop)
        if penetration(touching) > 0.0:
            while penetration(touching) > TOLERANCE:
                middle = 0.5 * (free + touching)
                if not free < middle < touching:
                    break
                if penetration(middle) > 0.0:
                    touching = middle
                else:
                    free = middle
            return touching
        free = touching
    raise NoContactError(f"no contact within {stop - start:g} m of approach")


def place(
    penetration: Penetration,
    misalignment: Misalignment,
    active: Mount,
    passive: Mount,
    reference_point: Any,
    *,
    moving: Literal["active", "passive"] = "active",
    start_gap: float = 0.0,
    velocity_point: Literal["cm_inertial", "port_relative"] = "cm_inertial",
    orbital_rate: Any = (0.0, 0.0, 0.0),
) -> Placement:
    """Return the initial states of both craft at first contact of the main buffer link (spacecraft (4.5.1) to (4.5.4)).

    Parameters
    ----------
    penetration : of the main buffer link for a position (PU) and rotation (PU -> 0) of frame 0,
        see `probe_cone_penetration`
    reference_point : point of the active unit, in frame 0, whose lateral offset is the miss: the centre of the probe
        head or of the ring plane (ruling R31)
    moving : the craft that approaches; the other one is at rest, its body frame being the inertial one
    start_gap : distance along x by which the moving craft is moved back from first contact, m
    velocity_point : `cm_inertial`: the given velocity is that of the moving centre of mass in I (4.5.4);
        `port_relative`: of the origin of the moving unit as seen in the resting, turning port
    orbital_rate : angular velocity of the resting craft, body axes, rad/s; the moving one gets it too

    Raises NoContactError if the link meets nothing.
    """
    A_mis = rotation_matrix(*misalignment.angles)
    point = np.asarray(reference_point, float)
    A = A_mis if moving == "active" else A_mis.T

    def position(s: float) -> np.ndarray:
        """Return the origin of frame 0 in PU after an approach of s."""
        d = np.array([s, *misalignment.miss])
        if moving == "active":
            return d - A.T @ point
        # the passive unit moves toward -x of frame 0, where its origin is at -d from the reference point
        d[0] = -s
        return -A.T @ d - A.T @ point

    s = approach(lambda s: penetration(position(s), A), -FAR, FAR)
    depth = penetration(position(s), A)
    r = position(s - start_gap)
    resting, mover = (passive, active) if moving == "active" else (active, passive)
    rate = np.asarray(orbital_rate, float)
    rest_state, move_state = _craft_states(r, A, resting, mover, moving, misalignment, velocity_point, rate)
    if moving == "active":
        return Placement(move_state, rest_state, r, A, depth)
    return Placement(rest_state, move_state, r, A, depth)


def _craft_states(
    r: np.ndarray,
    A: np.ndarray,
    resting: Mount,
    mover: Mount,
    moving: str,
    misalignment: Misalignment,
    velocity_point: str,
    rate: np.ndarray,
) -> tuple[CraftState, CraftState]:
    """Return (resting, moving) craft for frame 0 at `r` in PU, rotated by `A`.

    The resting body frame is the inertial one. Erratum of (4.5.1): C1 -> C2 is A_C2 A_C1^T.
    """
    G_rest, G_move = np.asarray(resting.rotation, float), np.asarray(mover.rotation, float)
    l_rest, l_move = np.asarray(resting.position, float), np.asarray(mover.position, float)
    # the moving port relative to the resting one, in axes of the resting one
    to_mover, offset = (A, r) if moving == "active" else (A.T, -A @ r)
    A_move = G_move.T @ to_mover @ G_rest
    port = l_rest + G_rest.T @ offset
    v = np.array(misalignment.velocity)
    if moving == "passive":
        v[0] = -v[0]
    w = np.array(misalignment.angular_velocity) + A_move @ rate
    if velocity_point == "port_relative":
        v = np.cross(rate, port) + G_rest.T @ v - np.cross(A_move.T @ w, A_move.T @ l_move)
    rest = CraftState(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3), rate.copy())
    rows = tuple(tuple(row) for row in A_move)
    move = CraftState(port - A_move.T @ l_move, np.array(quaternion(rows)), v, w)
    return rest, move
