"""dockfmu: spacecraft docking and berthing as FMI co-simulation FMUs, and the master that couples them.

>>> import dockfmu                                                                               # doctest: +SKIP
>>> outcome = dockfmu.load("central_impact_20t").run()
>>> outcome.events, outcome.time, outcome["chaser.body.position"]

The names in `__all__` are public; each is loaded on first use.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from base.errors import DockfmuError
    from base.files import WriteError
    from base.locks import LockedError
    from base.units import UnitError
    from components.core.record import ParameterError
    from dockfmu.campaign.campaign import Campaign
    from dockfmu.campaign.cluster.execution import SchedulerLostError
    from dockfmu.campaign.runner import WorkerMismatchError
    from dockfmu.campaign.storage.folder import CampaignError
    from dockfmu.declare.adaptive import Adaptive
    from dockfmu.declare.conditions.initial_conditions import InitialConditions
    from dockfmu.declare.plan import Panel, Plan
    from dockfmu.declare.toml.tables import DeclarationError
    from dockfmu.errors import OptionError
    from dockfmu.library import build, components, load, systems
    from dockfmu.options import RunOptions
    from dockfmu.outcome import NotRecordedError, Outcome
    from dockfmu.record import RecordedRun
    from dockfmu.simulation import Simulation
    from dockfmu.statespace.errors import LinearisationError
    from dockfmu.statespace.linearise import linearise
    from dockfmu.statespace.model import Mode, StateSpace
    from dockfmu.system import System
    from dockfmu.watch.live import Live
    from fmus.catalogue import CatalogueError
    from master.algorithms import FixedPoint, GaussSeidel, Jacobi, Midpoint, QuasiNewton
    from master.algorithms.algorithm import Algorithm
    from master.bond import Bond
    from master.checkpoint import Checkpoint, CheckpointError, Difference, read_checkpoint
    from master.drivers.datagrams import Datagrams
    from master.drivers.driver import Driver, Function
    from master.errors import ArchiveError, DescriptionError, FmuError, MasterError, StructureError
    from master.fmi.variables import Description, Variable
    from master.observers.endings import EndAfterEvents
    from master.observers.events import Event
    from master.observers.loads import LoadLimit, LoadRule
    from master.observers.observer import Observer, RunContext
    from master.observers.outcomes import OutcomeRule
    from master.observers.pacing import Pacing
    from master.observers.recording.recorder import Recorder
    from master.observers.recording.results import DamagedRecording, Results, read_results, recover
    from master.observers.recording.selection import Dense
    from master.observers.stream import Stream, subscribe
    from master.requests import EndRequest, Sampling, Trigger
    from master.result import Result
    from master.step_control import PowerBonds, Retry, StepControl, StepDoubling
    from master.system import Connection, Element, Structure
    from ssp.model import SspError

_HOME = {
    "base.errors": ("DockfmuError",),
    "base.files": ("WriteError",),
    "base.locks": ("LockedError",),
    "base.units": ("UnitError",),
    "components.core.record": ("ParameterError",),
    "dockfmu.campaign.campaign": ("Campaign",),
    "dockfmu.campaign.cluster.execution": ("SchedulerLostError",),
    "dockfmu.campaign.runner": ("WorkerMismatchError",),
    "dockfmu.campaign.storage.folder": ("CampaignError",),
    "dockfmu.declare.adaptive": ("Adaptive",),
    "dockfmu.declare.conditions.initial_conditions": ("InitialConditions",),
    "dockfmu.declare.plan": ("Panel", "Plan"),
    "dockfmu.declare.toml.tables": ("DeclarationError",),
    "dockfmu.library": ("build", "components", "load", "systems"),
    "dockfmu.errors": ("OptionError",),
    "dockfmu.options": ("RunOptions",),
    "dockfmu.outcome": ("NotRecordedError", "Outcome"),
    "dockfmu.record": ("RecordedRun",),
    "dockfmu.simulation": ("Simulation",),
    "dockfmu.statespace.errors": ("LinearisationError",),
    "dockfmu.statespace.linearise": ("linearise",),
    "dockfmu.statespace.model": ("Mode", "StateSpace"),
    "dockfmu.system": ("System",),
    "dockfmu.watch.live": ("Live",),
    "fmus.catalogue": ("CatalogueError",),
    "master.algorithms": ("FixedPoint", "GaussSeidel", "Jacobi", "Midpoint", "QuasiNewton"),
    "master.algorithms.algorithm": ("Algorithm",),
    "master.bond": ("Bond",),
    "master.checkpoint": ("Checkpoint", "CheckpointError", "Difference", "read_checkpoint"),
    "master.drivers.datagrams": ("Datagrams",),
    "master.drivers.driver": ("Driver", "Function"),
    "master.errors": ("ArchiveError", "DescriptionError", "FmuError", "MasterError", "StructureError"),
    "master.fmi.variables": ("Description", "Variable"),
    "master.observers.endings": ("EndAfterEvents",),
    "master.observers.events": ("Event",),
    "master.observers.loads": ("LoadLimit", "LoadRule"),
    "master.observers.observer": ("Observer", "RunContext"),
    "master.observers.outcomes": ("OutcomeRule",),
    "master.observers.pacing": ("Pacing",),
    "master.observers.recording.recorder": ("Recorder",),
    "master.observers.recording.results": ("DamagedRecording", "Results", "read_results", "recover"),
    "master.observers.recording.selection": ("Dense",),
    "master.observers.stream": ("Stream", "subscribe"),
    "master.requests": ("EndRequest", "Sampling", "Trigger"),
    "master.result": ("Result",),
    "master.step_control": ("PowerBonds", "Retry", "StepControl", "StepDoubling"),
    "master.system": ("Connection", "Element", "Structure"),
    "ssp.model": ("SspError",),
}
_MODULES = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Adaptive",
    "Algorithm",
    "ArchiveError",
    "Bond",
    "Campaign",
    "CampaignError",
    "CatalogueError",
    "Checkpoint",
    "CheckpointError",
    "Connection",
    "DamagedRecording",
    "Datagrams",
    "DeclarationError",
    "Dense",
    "Description",
    "DescriptionError",
    "Difference",
    "DockfmuError",
    "Driver",
    "Element",
    "EndAfterEvents",
    "EndRequest",
    "Event",
    "FixedPoint",
    "FmuError",
    "Function",
    "GaussSeidel",
    "InitialConditions",
    "Jacobi",
    "LinearisationError",
    "Live",
    "LoadLimit",
    "LoadRule",
    "LockedError",
    "MasterError",
    "Midpoint",
    "Mode",
    "NotRecordedError",
    "Observer",
    "OptionError",
    "Outcome",
    "OutcomeRule",
    "Pacing",
    "Panel",
    "ParameterError",
    "Plan",
    "PowerBonds",
    "QuasiNewton",
    "RecordedRun",
    "Recorder",
    "Result",
    "Results",
    "Retry",
    "RunContext",
    "RunOptions",
    "Sampling",
    "SchedulerLostError",
    "Simulation",
    "SspError",
    "StateSpace",
    "StepControl",
    "StepDoubling",
    "Stream",
    "Structure",
    "StructureError",
    "System",
    "Trigger",
    "UnitError",
    "Variable",
    "WorkerMismatchError",
    "WriteError",
    "build",
    "components",
    "linearise",
    "load",
    "read_checkpoint",
    "read_results",
    "recover",
    "subscribe",
    "systems",
]


def _check_packages() -> None:
    """Raise ImportError if a module of the user hides a package that dockfmu is made of."""
    home = Path(__file__).resolve().parents[1]
    for name in ("base", "components", "fmus", "master", "ssp"):
        spec = find_spec(name)
        found = None if spec is None or spec.origin is None else Path(spec.origin).resolve()
        if found is None or found.parents[1] != home:
            raise ImportError(
                f"{found or 'a folder on the path'} hides the package {name!r} of dockfmu: rename it, or remove its "
                "folder from the path of Python"
            )


_check_packages()


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
