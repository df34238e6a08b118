"""A small importer in C, for every platform that FMUs are built for: it runs FMUs where there is no Python."""

from fmus.check.importer.experiment import Experiment as Experiment
from fmus.check.importer.experiment import experiment_for as experiment_for
from fmus.check.importer.program import ImporterRun as ImporterRun
from fmus.check.importer.program import RunError as RunError
from fmus.check.importer.program import run as run
