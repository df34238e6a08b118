"""The public names of dockfmu, each once: this stub tells type checkers and `dockfmu.__init__` where they are."""

from .base.errors import DockfmuError as DockfmuError
from .base.files import WriteError as WriteError
from .base.locks import LockedError as LockedError
from .base.units import UnitError as UnitError
from .campaign.campaign import Campaign as Campaign
from .campaign.cluster.execution import SchedulerLostError as SchedulerLostError
from .campaign.folder import CampaignError as CampaignError
from .campaign.runner import WorkerMismatchError as WorkerMismatchError
from .components.core.record import ParameterError as ParameterError
from .components.multibody.analysis import (
    ContactForce as ContactForce,
)
from .components.multibody.analysis import (
    Freedoms as Freedoms,
)
from .components.multibody.analysis import (
    JointLoad as JointLoad,
)
from .components.multibody.analysis import (
    MassProperties as MassProperties,
)
from .components.multibody.analysis import (
    Multibody as Multibody,
)
from .components.multibody.analysis import (
    MultibodyEnergy as MultibodyEnergy,
)
from .components.multibody.analysis import (
    MultibodyState as MultibodyState,
)
from .components.multibody.analysis import (
    TargetMotion as TargetMotion,
)
from .components.multibody.analysis import (
    Vibration as Vibration,
)
from .components.multibody.analysis.deformation import StaticStartError as StaticStartError
from .components.multibody.analysis.inertia import SingularPoseError as SingularPoseError
from .components.multibody.analysis.multibody import UnknownNameError as UnknownNameError
from .components.multibody.declaration import ModelError as ModelError
from .components.multibody.reference.impulse import ClosureError as ClosureError
from .components.physics.elastic.body import ElasticBody as ElasticBody
from .components.physics.elastic.body import ElasticBodyError as ElasticBodyError
from .components.physics.elastic.body import ElasticCheck as ElasticCheck
from .components.physics.elastic.invariants import ElasticInvariants as ElasticInvariants
from .declare.adaptive import Adaptive as Adaptive
from .declare.conditions.initial_conditions import InitialConditions as InitialConditions
from .declare.plan import Panel as Panel
from .declare.plan import Plan as Plan
from .declare.port_mobility import PortMobility as PortMobility
from .declare.toml.tables import DeclarationError as DeclarationError
from .elastic.reduce import reduce as reduce
from .errors import OptionError as OptionError
from .fmus.catalogue import CatalogueError as CatalogueError
from .fmus.folders import FolderError as FolderError
from .library import build as build
from .library import list_components as list_components
from .library import list_systems as list_systems
from .library import load as load
from .library import load_component as load_component
from .life.ledger import Ledger as Ledger
from .life.ledger import LedgerError as LedgerError
from .life.ledger import read_ledger as read_ledger
from .life.sections import StructureSection as StructureSection
from .life.sections import read_sections as read_sections
from .life.spent import SectionLife as SectionLife
from .life.spent import life_spent as life_spent
from .master.algorithms import (
    FixedPoint as FixedPoint,
)
from .master.algorithms import (
    GaussSeidel as GaussSeidel,
)
from .master.algorithms import (
    Jacobi as Jacobi,
)
from .master.algorithms import (
    Midpoint as Midpoint,
)
from .master.algorithms import (
    QuasiNewton as QuasiNewton,
)
from .master.algorithms.algorithm import Algorithm as Algorithm
from .master.bond import Bond as Bond
from .master.checkpoint import (
    Checkpoint as Checkpoint,
)
from .master.checkpoint import (
    CheckpointError as CheckpointError,
)
from .master.checkpoint import (
    Difference as Difference,
)
from .master.checkpoint import (
    read_checkpoint as read_checkpoint,
)
from .master.drivers.datagrams import Datagrams as Datagrams
from .master.drivers.driver import Driver as Driver
from .master.drivers.driver import Function as Function
from .master.errors import (
    ArchiveError as ArchiveError,
)
from .master.errors import (
    DescriptionError as DescriptionError,
)
from .master.errors import (
    FmuError as FmuError,
)
from .master.errors import (
    MasterError as MasterError,
)
from .master.errors import (
    StructureError as StructureError,
)
from .master.fmi.variables import Description as Description
from .master.fmi.variables import Variable as Variable
from .master.observers.endings import EndAfterEvents as EndAfterEvents
from .master.observers.events import Event as Event
from .master.observers.loads import LoadLimit as LoadLimit
from .master.observers.loads import LoadRule as LoadRule
from .master.observers.observer import Observer as Observer
from .master.observers.observer import RunContext as RunContext
from .master.observers.outcomes import OutcomeRule as OutcomeRule
from .master.observers.pacing import Pacing as Pacing
from .master.observers.recording.recorder import Recorder as Recorder
from .master.observers.recording.results import (
    DamagedRecording as DamagedRecording,
)
from .master.observers.recording.results import (
    Results as Results,
)
from .master.observers.recording.results import (
    read_results as read_results,
)
from .master.observers.recording.results import (
    recover as recover,
)
from .master.observers.recording.selection import Dense as Dense
from .master.observers.stream import Stream as Stream
from .master.observers.stream import subscribe as subscribe
from .master.requests import EndRequest as EndRequest
from .master.requests import Sampling as Sampling
from .master.requests import Trigger as Trigger
from .master.result import Result as Result
from .master.step_control import (
    PowerBonds as PowerBonds,
)
from .master.step_control import (
    Retry as Retry,
)
from .master.step_control import (
    StepControl as StepControl,
)
from .master.step_control import (
    StepDoubling as StepDoubling,
)
from .master.system import Connection as Connection
from .master.system import Element as Element
from .master.system import Structure as Structure
from .options import RunOptions as RunOptions
from .outcome import NotRecordedError as NotRecordedError
from .outcome import Outcome as Outcome
from .reconstruct.reconstruction import reconstruct_loads as reconstruct_loads
from .reconstruct.result import Reconstruction as Reconstruction
from .reconstruct.unbiased import UnobservableError as UnobservableError
from .record import RecordedRun as RecordedRun
from .report.notebook import NotebookFigure as NotebookFigure
from .report.notebook import NotebookPage as NotebookPage
from .report.notebook import ProgressBar as ProgressBar
from .simulation import Simulation as Simulation
from .ssp.model import SspError as SspError
from .statespace.errors import LinearisationError as LinearisationError
from .statespace.linearise import linearise as linearise
from .statespace.mobility import Mobility as Mobility
from .statespace.mobility import PortPair as PortPair
from .statespace.mobility import mobility as mobility
from .statespace.model import Mode as Mode
from .statespace.model import StateSpace as StateSpace
from .system import System as System
from .telemetry.make import write_telemetry as write_telemetry
from .watch.live import Live as Live

__version__: str
