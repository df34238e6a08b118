"""What an engineer checks of a multibody system before a run: freedoms, masses, dynamics, reactions, frequencies."""

from dockfmu.components.multibody.analysis.multibody import Multibody
from dockfmu.components.multibody.analysis.results import (
    Freedoms,
    JointLoad,
    MassProperties,
    MultibodyEnergy,
    MultibodyState,
    Vibration,
)

__all__ = [
    "Freedoms",
    "JointLoad",
    "MassProperties",
    "Multibody",
    "MultibodyEnergy",
    "MultibodyState",
    "Vibration",
]
