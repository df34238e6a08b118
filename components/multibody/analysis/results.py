"""What the analysis of a multibody system returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class MultibodyState:
    """Coordinates and rates of the joints of the tree, at a time, s.

    `Multibody.coordinates` and `Multibody.rates` name their elements. `rotors` has (angle, rate) of rotors behind
    elastic gearboxes by the names of their drives, in units of their coordinates; others turn with their joints.
    """

    q: np.ndarray
    u: np.ndarray
    time: float = 0.0
    rotors: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class MassProperties:
    """Mass (kg), centre of mass (m) and inertia about it (kg m2) of all bodies together, in axes of the base."""

    mass: float
    center: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True)
class Freedoms:
    """Degrees of freedom at a pose, and how much of the constraints of closed loops is redundant.

    Attributes
    ----------
    number : int
        Degrees of freedom: rates of the tree, less prescribed and locked ones, less independent constraints.
    constraints, rank : int
        Constraints of cut joints and of prescribed and locked coordinates, and how many are independent.
    joints : tuple of str
        Joints on loops with redundant constraints: the motion is determined, their reactions are not.
    singular : bool
        Whether poses nearby have more independent constraints: the system can leave this pose in more ways than one.
    redundant : dict of str to (int, int)
        Cut joints with redundant constraints: how many of them follow from the others, and how many there are. With
        several such loops it is the sum that is determined: those of the cut joints declared last are counted.
    """

    number: int
    constraints: int
    rank: int
    joints: tuple[str, ...] = ()
    singular: bool = False
    redundant: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def __str__(self) -> str:
        text = f"{self.number} degrees of freedom, {self.constraints} constraints of rank {self.rank}"
        if self.joints:
            text += f": the reactions of {', '.join(self.joints)} are not determined"
        if self.redundant:
            counts = (f"{some} of the {every} of cut joint {name}" for name, (some, every) in self.redundant.items())
            text += f"; redundant are {', '.join(counts)}"
        if self.singular:
            text += "; the pose is singular"
        return text


@dataclass(frozen=True)
class MultibodyEnergy:
    """Energies, J: of motion with rotors, of gravity, of springs, hysteresis and gears.

    That of gravity is 0 where a centre of mass is at the origin of the base.
    """

    kinetic: float
    gravity: float
    springs: float

    @property
    def total(self) -> float:
        """Return the sum."""
        return self.kinetic + self.gravity + self.springs


@dataclass(frozen=True)
class JointLoad:
    """Hold what the predecessor of a joint exerts on its successor: N, N m about the joint point of the successor.

    Components are in axes of the joint frame on the predecessor: x, y, z, where z is the axis of a revolute joint. They
    are NaN where redundant constraints leave them undetermined. Springs, dampers and drives of the joint are included.
    """

    force: np.ndarray
    torque: np.ndarray


@dataclass(frozen=True)
class TargetMotion:
    """Place and motion of the unit that a model meets, as at its port `target`: m, m/s, rad/s.

    The position is in axes of the base, velocities are in those of the target.
    """

    position: Sequence[float] = (0.0, 0.0, 0.0)
    quaternion: Sequence[float] = (1.0, 0.0, 0.0, 0.0)
    velocity: Sequence[float] = (0.0, 0.0, 0.0)
    angular_velocity: Sequence[float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class ContactForce:
    """A pair of surfaces that touch.

    Attributes
    ----------
    contact : str
        Contact of the declaration to which the pair belongs.
    surfaces, bodies : (str, str)
        The moving surface, then the other one, and their bodies.
    depth : float
        Penetration, m.
    position : array
        Point of contact, m, axes of the base.
    force : array
        On the second body, N; its opposite acts on the first.
    normal_force, friction_force : float
        Their sizes, N: friction is that of the present sliding by the regularised law, not that held over a micro-step.
    stored_energy : float
        In the spring of the contact, J.
    """

    contact: str
    surfaces: tuple[str, str]
    bodies: tuple[str, str]
    depth: float
    position: np.ndarray
    force: np.ndarray
    normal_force: float
    friction_force: float
    stored_energy: float


@dataclass(frozen=True)
class Vibration:
    """Small motions about a pose.

    Attributes
    ----------
    frequencies : array
        Natural frequencies without damping, rad/s, rising; negative where the pose is unstable in that mode.
    shapes : array
        Rates of the modes, one column each, with unit modal mass; below them those of rotors behind elastic gearboxes.
    eigenvalues : array
        Of the damped system, 1/s, twice as many.
    unbalanced : float
        Largest acceleration of a mode at the pose at rest: 0 in equilibrium. Frequencies about other poses are those of
        the motion seen from a frame that accelerates so.
    """

    frequencies: np.ndarray
    shapes: np.ndarray = field(repr=False)
    eigenvalues: np.ndarray = field(repr=False)
    unbalanced: float = 0.0
