"""A multibody system as data: its parts, its graph, and the checks that every model must pass."""

from dockfmu.components.multibody.model.parts import (
    BASE,
    CONSTRAINTS,
    COORDINATES,
    RATES,
    CoordinateLaw,
    JointLock,
    Kind,
    Model,
    Mounting,
    MultibodyJoint,
    PointSpring,
    Port,
    PrescribedMotion,
    RigidBody,
)
from dockfmu.components.multibody.model.surfaces import TARGET, DeclaredContact, DeclaredSensor, DeclaredSurface

__all__ = [
    "BASE",
    "CONSTRAINTS",
    "COORDINATES",
    "RATES",
    "TARGET",
    "CoordinateLaw",
    "DeclaredContact",
    "DeclaredSensor",
    "DeclaredSurface",
    "JointLock",
    "Kind",
    "Model",
    "Mounting",
    "MultibodyJoint",
    "PointSpring",
    "Port",
    "PrescribedMotion",
    "RigidBody",
]  # fmt: skip
