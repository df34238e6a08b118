"""What an engineer checks of a multibody system before a run: freedoms, masses, dynamics, reactions, frequencies."""

from dockfmu.components.multibody.analysis.multibody import Multibody
from dockfmu.components.multibody.analysis.results import (
    ContactForce,
    Freedoms,
    JointLoad,
    MassProperties,
    MultibodyEnergy,
    MultibodyState,
    TargetMotion,
    Vibration,
)

__all__ = [
    "ContactForce",
    "Freedoms",
    "JointLoad",
    "MassProperties",
    "Multibody",
    "MultibodyEnergy",
    "MultibodyState",
    "TargetMotion",
    "Vibration",
]
