"""A small importer in C, for every platform that FMUs are built for: it runs them where there is no Python."""

from fmus.importer.experiment import Experiment as Experiment
from fmus.importer.experiment import experiment_for as experiment_for
from fmus.importer.program import Run as Run
from fmus.importer.program import RunError as RunError
from fmus.importer.program import run as run
