"""Elastic modes of a free structure: the data that a spacecraft needs, and their sources."""

from dockfmu.components.spacecraft.modes.beam import Beam
from dockfmu.components.spacecraft.modes.f06 import F06Error, read_f06
from dockfmu.components.spacecraft.modes.inertia import InertialCoupling
from dockfmu.components.spacecraft.modes.model import ASSUMED_BANDS, ModalModel, Modes
from dockfmu.components.spacecraft.modes.op2 import OP2Error, read_op2

__all__ = [
    "ASSUMED_BANDS",
    "Beam",
    "F06Error",
    "InertialCoupling",
    "ModalModel",
    "Modes",
    "OP2Error",
    "read_f06",
    "read_op2",
]
