"""The parts of a multibody system: plain data in SI units, without numpy and without kernels.

Frames. Every body has a frame of its own, with its origin anywhere; the base is body 0, called `BASE`. A joint has a
frame on each of its two bodies; its coordinates are the motion of the frame on the successor relative to the frame on
the predecessor (multibody-formulations 2). Rotation matrices are tuples of rows and map components in the parent to
components in the child, as everywhere in the product (conventions 2): body components to joint components for a
`Mounting`.

Coordinates and rates of each kind, in this order, x, y, z being the axes of the joint frame on the predecessor:

=========== ============================== ======================================================================
kind        coordinates                    rates
=========== ============================== ======================================================================
fixed       none                           none
revolute    angle about z                  its derivative
prismatic   displacement along z           its derivative
screw       angle about z                  its derivative; the displacement along z is `pitch` times angle / (2 pi)
cylindrical angle about z, displacement    their derivatives
universal   angle about x of the           their derivatives
            predecessor, then about y
            of the successor
planar      displacements along x and y,   their derivatives
            then angle about z
spherical   quaternion, scalar first,      angular velocity of the successor relative to the predecessor, axes of the
            predecessor -> successor       joint frame on the successor
free        position of the successor's    velocity of that origin as seen in the predecessor's joint frame, its axes;
            joint frame in the             then angular velocity as for `spherical`
            predecessor's, then quaternion
=========== ============================== ======================================================================

Non-holonomic constraints are kinds of cut joints. `rolling_disc` and `rolling_ball`: a disc with the axis z of the
frame on the successor, or a ball, its centre in the joint point of the successor, rolls without slip on the plane
across z of the predecessor's frame through its joint point. `knife_edge`: the joint point of the successor does not
move along z of the successor's frame relative to the predecessor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, sin
from typing import TYPE_CHECKING, Literal

from dockfmu.components.multibody.model.surfaces import DeclaredContact, DeclaredSensor, DeclaredSurface
from dockfmu.components.multibody.model.vectors import IDENTITY, ZERO, Matrix, Vector

if TYPE_CHECKING:
    from dockfmu.components.physics.elastic.body import ElasticBody

BASE = "base"
"""Name of body 0: the inertial frame, a body with prescribed motion, or the craft that carries the system."""

Kind = Literal[
    "fixed",
    "revolute",
    "prismatic",
    "screw",
    "cylindrical",
    "universal",
    "planar",
    "spherical",
    "free",
    "rolling_disc",
    "rolling_ball",
    "knife_edge",
]

COORDINATES: dict[Kind, tuple[str, ...]] = {
    "fixed": (),
    "revolute": ("angle",),
    "prismatic": ("displacement",),
    "screw": ("angle",),
    "cylindrical": ("angle", "displacement"),
    "universal": ("angle_x", "angle_y"),
    "planar": ("x", "y", "angle"),
    "spherical": ("quaternion_w", "quaternion_x", "quaternion_y", "quaternion_z"),
    "free": ("x", "y", "z", "quaternion_w", "quaternion_x", "quaternion_y", "quaternion_z"),
}
"""Names of the coordinates of each kind, in order."""

RATES: dict[Kind, tuple[str, ...]] = {
    **{kind: names for kind, names in COORDINATES.items() if kind not in ("spherical", "free")},
    "spherical": ("rotation_x", "rotation_y", "rotation_z"),
    "free": ("x", "y", "z", "rotation_x", "rotation_y", "rotation_z"),
}
"""Names of the rates of each kind, in order: its degrees of freedom."""

START: dict[Kind, tuple[float, ...]] = {
    kind: tuple(1.0 if name == "quaternion_w" else 0.0 for name in names) for kind, names in COORDINATES.items()
}
"""The coordinates at which the two joint frames coincide."""

CONSTRAINTS: tuple[Kind, ...] = ("rolling_disc", "rolling_ball", "knife_edge")
"""Kinds that are constraints alone, for cut joints only: they have no coordinates."""


@dataclass(frozen=True)
class RigidBody:
    """A body: mass (kg), centre of mass (m, body frame), inertia about the centre of mass (kg m2, body axes).

    An elastic body has these undeformed, its frame being E, and a reduced finite-element model, `elastic`; it starts in
    static equilibrium if `settled`; what is attached to it is at most `reach` (m) from an interface node. `node` is the
    index of the interface node that a body of an expanded model is (`model.elastic`).
    """

    name: str
    mass: float
    center: Vector = ZERO
    inertia: Matrix = (ZERO, ZERO, ZERO)
    elastic: ElasticBody | None = None
    settled: bool = False
    reach: float = 1e-6
    node: int | None = None


@dataclass(frozen=True)
class Mounting:
    """The place of a joint frame on a body: its origin (m, body frame), its rotation (body -> joint components)."""

    point: Vector = ZERO
    rotation: Matrix = IDENTITY


@dataclass(frozen=True)
class PrescribedMotion:
    """A coordinate as a function of time: position + rate t + acceleration t^2/2 + amplitude sin(frequency t + phase).

    The units are those of the coordinate; frequency in rad/s.
    """

    position: float = 0.0
    rate: float = 0.0
    acceleration: float = 0.0
    amplitude: float = 0.0
    frequency: float = 0.0
    phase: float = 0.0

    def at(self, time: float) -> Vector:
        """Return (coordinate, its rate, its acceleration) at a time, s."""
        angle = self.frequency * time + self.phase
        wave = self.amplitude * sin(angle)
        return (
            self.position + self.rate * time + 0.5 * self.acceleration * time * time + wave,
            self.rate + self.acceleration * time + self.amplitude * self.frequency * cos(angle),
            self.acceleration - self.frequency * self.frequency * wave,
        )


CLOSURE_LIMIT = 1e-3
"""Error of the closure of a cut joint with which a run ends by default, m or rad."""


@dataclass(frozen=True)
class MultibodyJoint:
    """A joint of exactly two bodies (multibody-formulations 1.2).

    Attributes
    ----------
    predecessor, successor : str
        Bodies; the coordinates are the motion of the successor relative to the predecessor, whichever of them is nearer
        to the base.
    on_predecessor, on_successor : Mounting
        The joint frame on either body.
    pitch : float
        Of a screw: displacement in a turn, m.
    coordinates, rates : tuple of float
        Start values, in the order of `COORDINATES` and `RATES`; empty for zero (and the unit quaternion).
    motions : mapping of int to PrescribedMotion
        Prescribed (rheonomic) coordinates by their number from 0, of the kinds whose rates are derivatives of their
        coordinates. Start values of these are those of the motion at time 0.
    cut : bool
        Whether the joint closes a loop: it is left out of the tree, and its constraints are added to it.
    radius : float
        Of the disc or ball that rolls, m.
    closure_limit : float
        Of a cut joint: error of its closure with which a run ends, m or rad.
    deforms : bool
        Of a fixed joint in an expanded model: it is between an elastic body and one of its nodes.
    """

    name: str
    kind: Kind
    predecessor: str
    successor: str
    on_predecessor: Mounting = Mounting()
    on_successor: Mounting = Mounting()
    pitch: float = 0.0
    coordinates: tuple[float, ...] = ()
    rates: tuple[float, ...] = ()
    motions: dict[int, PrescribedMotion] = field(default_factory=dict)
    cut: bool = False
    radius: float = 0.0
    closure_limit: float = CLOSURE_LIMIT
    deforms: bool = False

    @property
    def start(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Start values of (coordinates, rates), with those of prescribed coordinates at time 0."""
        if self.kind in CONSTRAINTS:
            return (), ()
        q = list(self.coordinates or START[self.kind])
        v = list(self.rates or (0.0,) * len(RATES[self.kind]))
        for k, motion in self.motions.items():
            q[k], v[k], _ = motion.at(0.0)
        return tuple(q), tuple(v)


@dataclass(frozen=True)
class CoordinateLaw:
    """Generalised force on one rate of a joint, of the kinds whose rates are derivatives of their coordinates.

    force = preload - stiffness (q - rest) - damping q' + stops + friction. A stop acts with `stop_stiffness` on what
    the coordinate is beyond `lower` or `upper`, with `stop_damping` while it does, and never pulls; beyond `stop_limit`
    a run ends. Friction is Coulomb's with the limit `friction`, on an elastic presliding of `friction_stiffness`. Units
    are N, m or N m, rad by the coordinate.
    """

    joint: str
    coordinate: int = 0
    stiffness: float = 0.0
    rest: float = 0.0
    preload: float = 0.0
    damping: float = 0.0
    lower: float = float("-inf")
    upper: float = float("inf")
    stop_stiffness: float = 0.0
    stop_damping: float = 0.0
    friction: float = 0.0
    friction_stiffness: float = 0.0
    stop_limit: float = float("inf")


@dataclass(frozen=True)
class HystereticSpring:
    """Spring of one coordinate whose loading and unloading branches differ (hysteresis 3, `elastic_loop`).

    `stiffness` of the loading branch up to a deformation of `range` from `rest` on either side, and `play` before it
    acts; `loss` is the area of a full loop over the work of loading, `ratio` the stiffness between the branches over
    that of loading, `common` the share of the range without hysteresis. Units by the coordinate.
    """

    joint: str
    coordinate: int
    stiffness: float
    range: float
    loss: float
    ratio: float = 2.0
    common: float = 0.03
    play: float = 0.0
    rest: float = 0.0


Control = Literal["voltage", "rate", "position"]


@dataclass(frozen=True)
class JointDrive:
    """A DC motor with controller, friction, brake and gearbox on one coordinate (`drives`).

    Attributes
    ----------
    ratio : float
        Radians of the motor a rad or m of the coordinate.
    inertia, damping, friction, brake_torque : float
        Of the motor: kg m2, N m s, N m; the brake's limit, N m.
    holding_stiffness : float
        N m/rad at the motor, of the presliding on which friction and brake hold.
    torque_constant, voltage_constant, resistance, voltage_limit, current_limit : float
        N m/A, V s/rad, ohm, V, A.
    gear_stiffness, gear_damping, play : float
        Of the gearbox, at the joint: N m/rad or N/m, 0 for a rigid one; N m s/rad or N s/m; rad or m.
    efficiency : float
        Of the gearbox.
    rate_gain, position_gain, rate_limit : float
        Of the controller: V s/rad at the motor; 1/s; rad/s or m/s at the joint.
    command, powered, braked :
        Start values of the inputs.
    """

    name: str
    joint: str
    coordinate: int = 0
    control: Control = "voltage"
    ratio: float = 1.0
    inertia: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    brake_torque: float = 0.0
    holding_stiffness: float = 0.0
    torque_constant: float = 1.0
    voltage_constant: float = 1.0
    resistance: float = 1.0
    voltage_limit: float = 0.0
    current_limit: float = 0.0
    gear_stiffness: float = 0.0
    gear_damping: float = 0.0
    play: float = 0.0
    efficiency: float = 1.0
    rate_gain: float = 0.0
    position_gain: float = 0.0
    rate_limit: float = 0.0
    command: float = 0.0
    powered: bool = True
    braked: bool = False


@dataclass(frozen=True)
class PointSpring:
    """A spring and damper between a point of one body and a point of another (m, body frames).

    The tension is stiffness (distance - length) + damping times the rate of the distance. A tether (`tether=True`) is
    slack when shorter than `length`, and never pushes; a pusher (`pusher=True`) has no contact when longer, and never
    pulls.
    """

    name: str
    first: str
    second: str
    first_point: Vector = ZERO
    second_point: Vector = ZERO
    stiffness: float = 0.0
    length: float = 0.0
    damping: float = 0.0
    tether: bool = False
    pusher: bool = False


@dataclass(frozen=True)
class JointLock:
    """A lock of one coordinate, or of a whole spherical or free joint, by a plastic impulse.

    Theory: multibody-formulations 4.1.

    It closes when the coordinate passes `at` upward (`direction` 1), downward (-1) or either way (0), when all sensors
    of `close_when` have closed, and by command; `closed` is its state at the start. It opens when all sensors of
    `open_when` have closed, and by command.
    """

    name: str
    joint: str
    coordinate: int = 0
    at: float | None = None
    direction: int = 0
    closed: bool = False
    close_when: tuple[str, ...] = ()
    open_when: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeclaredOutcome:
    """An outcome of a run: it is met while all these sensors and locks are closed."""

    name: str
    when: tuple[str, ...]


@dataclass(frozen=True)
class Port:
    """A port on a body: a wrench comes in there; pose, twist and acceleration go out.

    The point is in m, body frame; the rotation maps body components to port components.
    """

    name: str
    body: str
    point: Vector = ZERO
    rotation: Matrix = IDENTITY


@dataclass(frozen=True)
class Model:
    """A multibody system.

    Attributes
    ----------
    gravity : Vector
        Uniform field, m/s2, axes of I.
    base : {"fixed", "carried"}
        Body 0 is the inertial frame, or moves with the input port `base` (pose, twist, acceleration), on which the
        system exerts a wrench. A free system hangs on a fixed base by a joint of the kind `free`.
    """

    name: str
    bodies: tuple[RigidBody, ...]
    joints: tuple[MultibodyJoint, ...]
    laws: tuple[CoordinateLaw, ...] = ()
    loops: tuple[HystereticSpring, ...] = ()
    drives: tuple[JointDrive, ...] = ()
    springs: tuple[PointSpring, ...] = ()
    locks: tuple[JointLock, ...] = ()
    ports: tuple[Port, ...] = ()
    surfaces: tuple[DeclaredSurface, ...] = ()
    contacts: tuple[DeclaredContact, ...] = ()
    sensors: tuple[DeclaredSensor, ...] = ()
    outcomes: tuple[DeclaredOutcome, ...] = ()
    gravity: Vector = ZERO
    base: Literal["fixed", "carried"] = "fixed"
    description: str = ""

    @property
    def tree(self) -> tuple[MultibodyJoint, ...]:
        """The joints of the spanning tree."""
        return tuple(joint for joint in self.joints if not joint.cut)

    @property
    def cuts(self) -> tuple[MultibodyJoint, ...]:
        """The cut joints."""
        return tuple(joint for joint in self.joints if joint.cut)
