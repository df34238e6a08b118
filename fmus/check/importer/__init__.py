"""A small importer in C, for every platform that FMUs are built for: it runs FMUs where there is no Python."""

from dockfmu.fmus.check.importer.experiment import Experiment as Experiment
from dockfmu.fmus.check.importer.experiment import experiment_for as experiment_for
from dockfmu.fmus.check.importer.program import ImporterRun as ImporterRun
from dockfmu.fmus.check.importer.program import RunError as RunError
from dockfmu.fmus.check.importer.program import run as run
