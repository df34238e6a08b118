"""Elastic modes of a free structure: the data that a spacecraft needs, and their sources."""

from dockfmu.components.spacecraft.modes.beam import Beam
from dockfmu.components.spacecraft.modes.inertia import InertialCoupling
from dockfmu.components.spacecraft.modes.model import ASSUMED_BANDS, ModalModel, Modes
from dockfmu.components.spacecraft.modes.nastran import F06Error, read_f06

__all__ = ["ASSUMED_BANDS", "Beam", "F06Error", "InertialCoupling", "ModalModel", "Modes", "read_f06"]
