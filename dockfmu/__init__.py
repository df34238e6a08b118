"""dockfmu: spacecraft docking and berthing as FMI co-simulation FMUs, and the master that couples them.

>>> import dockfmu                                                                               # doctest: +SKIP
>>> outcome = dockfmu.load("central_impact_20t").run()
>>> outcome.events, outcome.time, outcome["chaser.body.position"]

What stands in `__all__` is public; it is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dockfmu.outcome import Outcome
    from dockfmu.simulation import Simulation
    from dockfmu.system import System, build, components, load, systems
    from master.algorithms import FixedPoint, GaussSeidel, Jacobi, Midpoint, QuasiNewton
    from master.bond import Bond
    from master.checkpoint import Checkpoint, CheckpointError, read_checkpoint
    from master.drivers.datagrams import Datagrams
    from master.drivers.driver import Driver, Function
    from master.errors import FmuError, MasterError, StructureError
    from master.observers.events import Event
    from master.observers.observer import Observer
    from master.observers.pacing import Pacing
    from master.observers.recording.recorder import Recorder
    from master.observers.recording.results import Results, read_results, recover
    from master.observers.recording.selection import Dense
    from master.observers.stream import Stream, subscribe
    from master.step_control import PowerBonds, Retry, StepControl, StepDoubling

_HOME = {
    "dockfmu.outcome": ("Outcome",),
    "dockfmu.simulation": ("Simulation",),
    "dockfmu.system": ("System", "build", "components", "load", "systems"),
    "master.algorithms": ("FixedPoint", "GaussSeidel", "Jacobi", "Midpoint", "QuasiNewton"),
    "master.bond": ("Bond",),
    "master.checkpoint": ("Checkpoint", "CheckpointError", "read_checkpoint"),
    "master.drivers.datagrams": ("Datagrams",),
    "master.drivers.driver": ("Driver", "Function"),
    "master.errors": ("FmuError", "MasterError", "StructureError"),
    "master.observers.recording.selection": ("Dense",),
    "master.observers.events": ("Event",),
    "master.observers.observer": ("Observer",),
    "master.observers.pacing": ("Pacing",),
    "master.observers.recording.recorder": ("Recorder",),
    "master.observers.recording.results": ("Results", "read_results", "recover"),
    "master.observers.stream": ("Stream", "subscribe"),
    "master.step_control": ("PowerBonds", "Retry", "StepControl", "StepDoubling"),
}
_MODULES = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Bond",
    "Checkpoint",
    "CheckpointError",
    "Datagrams",
    "Dense",
    "Driver",
    "Event",
    "FixedPoint",
    "FmuError",
    "Function",
    "GaussSeidel",
    "Jacobi",
    "MasterError",
    "Midpoint",
    "Observer",
    "Outcome",
    "Pacing",
    "PowerBonds",
    "QuasiNewton",
    "Recorder",
    "Results",
    "Retry",
    "Simulation",
    "StepControl",
    "StepDoubling",
    "Stream",
    "StructureError",
    "System",
    "build",
    "components",
    "load",
    "read_checkpoint",
    "read_results",
    "recover",
    "subscribe",
    "systems",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dockfmu")
    if name not in _MODULES:
        raise AttributeError(f"module 'dockfmu' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
