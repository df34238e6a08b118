"""dockfmu: spacecraft docking and berthing as FMI 2.0 co-simulation FMUs, and the master that couples them."""

from importlib.metadata import version

__version__ = version("dockfmu")
