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
    from dockfmu.base.errors import DockfmuError
    from dockfmu.base.files import WriteError
    from dockfmu.base.locks import LockedError
    from dockfmu.base.units import UnitError
    from dockfmu.campaign.campaign import Campaign
    from dockfmu.campaign.cluster.execution import SchedulerLostError
    from dockfmu.campaign.runner import WorkerMismatchError
    from dockfmu.campaign.storage.folder import CampaignError
    from dockfmu.components.core.record import ParameterError
    from dockfmu.declare.adaptive import Adaptive
    from dockfmu.declare.conditions.initial_conditions import InitialConditions
    from dockfmu.declare.plan import Panel, Plan
    from dockfmu.declare.toml.tables import DeclarationError
    from dockfmu.errors import OptionError
    from dockfmu.fmus.catalogue import CatalogueError
    from dockfmu.library import build, components, load, systems
    from dockfmu.master.algorithms import FixedPoint, GaussSeidel, Jacobi, Midpoint, QuasiNewton
    from dockfmu.master.algorithms.algorithm import Algorithm
    from dockfmu.master.bond import Bond
    from dockfmu.master.checkpoint import Checkpoint, CheckpointError, Difference, read_checkpoint
    from dockfmu.master.drivers.datagrams import Datagrams
    from dockfmu.master.drivers.driver import Driver, Function
    from dockfmu.master.errors import ArchiveError, DescriptionError, FmuError, MasterError, StructureError
    from dockfmu.master.fmi.variables import Description, Variable
    from dockfmu.master.observers.endings import EndAfterEvents
    from dockfmu.master.observers.events import Event
    from dockfmu.master.observers.loads import LoadLimit, LoadRule
    from dockfmu.master.observers.observer import Observer, RunContext
    from dockfmu.master.observers.outcomes import OutcomeRule
    from dockfmu.master.observers.pacing import Pacing
    from dockfmu.master.observers.recording.recorder import Recorder
    from dockfmu.master.observers.recording.results import DamagedRecording, Results, read_results, recover
    from dockfmu.master.observers.recording.selection import Dense
    from dockfmu.master.observers.stream import Stream, subscribe
    from dockfmu.master.requests import EndRequest, Sampling, Trigger
    from dockfmu.master.result import Result
    from dockfmu.master.step_control import PowerBonds, Retry, StepControl, StepDoubling
    from dockfmu.master.system import Connection, Element, Structure
    from dockfmu.options import RunOptions
    from dockfmu.outcome import NotRecordedError, Outcome
    from dockfmu.record import RecordedRun
    from dockfmu.simulation import Simulation
    from dockfmu.ssp.model import SspError
    from dockfmu.statespace.errors import LinearisationError
    from dockfmu.statespace.linearise import linearise
    from dockfmu.statespace.model import Mode, StateSpace
    from dockfmu.system import System
    from dockfmu.watch.live import Live

_HOME = {
    "dockfmu.base.errors": ("DockfmuError",),
    "dockfmu.base.files": ("WriteError",),
    "dockfmu.base.locks": ("LockedError",),
    "dockfmu.base.units": ("UnitError",),
    "dockfmu.components.core.record": ("ParameterError",),
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
    "dockfmu.fmus.catalogue": ("CatalogueError",),
    "dockfmu.master.algorithms": ("FixedPoint", "GaussSeidel", "Jacobi", "Midpoint", "QuasiNewton"),
    "dockfmu.master.algorithms.algorithm": ("Algorithm",),
    "dockfmu.master.bond": ("Bond",),
    "dockfmu.master.checkpoint": ("Checkpoint", "CheckpointError", "Difference", "read_checkpoint"),
    "dockfmu.master.drivers.datagrams": ("Datagrams",),
    "dockfmu.master.drivers.driver": ("Driver", "Function"),
    "dockfmu.master.errors": ("ArchiveError", "DescriptionError", "FmuError", "MasterError", "StructureError"),
    "dockfmu.master.fmi.variables": ("Description", "Variable"),
    "dockfmu.master.observers.endings": ("EndAfterEvents",),
    "dockfmu.master.observers.events": ("Event",),
    "dockfmu.master.observers.loads": ("LoadLimit", "LoadRule"),
    "dockfmu.master.observers.observer": ("Observer", "RunContext"),
    "dockfmu.master.observers.outcomes": ("OutcomeRule",),
    "dockfmu.master.observers.pacing": ("Pacing",),
    "dockfmu.master.observers.recording.recorder": ("Recorder",),
    "dockfmu.master.observers.recording.results": ("DamagedRecording", "Results", "read_results", "recover"),
    "dockfmu.master.observers.recording.selection": ("Dense",),
    "dockfmu.master.observers.stream": ("Stream", "subscribe"),
    "dockfmu.master.requests": ("EndRequest", "Sampling", "Trigger"),
    "dockfmu.master.result": ("Result",),
    "dockfmu.master.step_control": ("PowerBonds", "Retry", "StepControl", "StepDoubling"),
    "dockfmu.master.system": ("Connection", "Element", "Structure"),
    "dockfmu.ssp.model": ("SspError",),
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
