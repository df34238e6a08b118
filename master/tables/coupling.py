"""From a system and its instances to the tables of the compiled loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dockfmu.master.algorithms.algorithm import Scheme
from dockfmu.master.fmi.instance import FmuInstance
from dockfmu.master.loop import tables
from dockfmu.master.loop.packing import Packed, pack
from dockfmu.master.loop.records import REPORT, table_of
from dockfmu.master.requests import Sampling, Trigger
from dockfmu.master.step_control import StepControl, located_changes
from dockfmu.master.system import Structure
from dockfmu.master.tables.iteration import iteration_table
from dockfmu.master.tables.layout import Layout, lay_out
from dockfmu.master.tables.observation import RowGroup, record_calls, recording_table, trigger_table
from dockfmu.master.tables.prediction import prediction_table
from dockfmu.master.tables.program import instance_table, rate_table, signal_table
from dockfmu.master.tables.step_control import control_table


@dataclass(frozen=True)
class Coupling:
    """The layout of coupled instances, and the tables with which the loop steps them.

    `groups` are the rows of the samplings, `packed` the tables in the form that the loop takes. `buffers` are the
    arrays whose addresses are in the tables; they must live as long as the tables.
    """

    layout: Layout
    groups: tuple[RowGroup, ...]
    tables: tables.LoopTables
    packed: Packed
    buffers: tuple[np.ndarray, ...]


def couple(
    system: Structure,
    instances: Mapping[str, FmuInstance],
    scheme: Scheme,
    triggers: Sequence[Trigger] = (),
    samplings: Sequence[Sampling] = (),
    stop_when: str | None = None,
    longest: int = 1 << 16,
    control: StepControl | None = None,
) -> Coupling:
    """Couple `instances` according to `scheme`; with `control` the steps vary.

    Observers request `triggers` and `samplings`; `longest` is the largest number of steps between two returns to
    Python. Raises StructureError for FMUs that lack a required capability.
    """
    located = located_changes(system, control) if control is not None else []
    observed = {trigger.variable for trigger in (*triggers, *located)} | ({stop_when} if stop_when else set())
    layout = lay_out(system, instances, scheme, observed)
    groups = tuple(RowGroup(system, sampling, longest) for sampling in samplings)
    records = record_calls(layout, groups)
    rollback = bool(layout.feedback) or (control is not None and layout.can_roll_back())
    signals, rates = signal_table(layout), rate_table(layout)
    prediction, derivative_buffers = prediction_table(layout)
    iteration, direction_buffers = iteration_table(layout)
    filled = tables.LoopTables(
        instances=instance_table(layout, rollback=rollback),
        signals=signals,
        rates=rates,
        prediction=prediction,
        backup=_backup_table(rollback, signals, rates, prediction),
        iteration=iteration,
        control=control_table(layout, control),
        triggers=trigger_table(layout.outputs, triggers, located, stop_when),
        recording=recording_table(groups, records),
        threads=_thread_table(scheme.threads),
        report=table_of(REPORT, [(0,) * 6]),
    )
    calls = (layout.inputs.calls, layout.outputs.calls, records)
    references = [block for table in calls for block in table.buffers]
    return Coupling(layout, groups, filled, pack(filled), (*references, *derivative_buffers, *direction_buffers))


def _backup_table(
    rollback: bool, signals: tables.SignalTable, rates: tables.RateTable, prediction: tables.PredictionTable
) -> tables.BackupTable:
    """Return the table for two copies of the buffers, empty without `rollback`."""

    def two(live: np.ndarray) -> np.ndarray:
        return np.zeros((2 if rollback else 0, len(live)), live.dtype)

    return tables.BackupTable(
        y_real=two(signals.y_real),
        y_int=two(signals.y_int),
        slope=two(prediction.slope),
        elapsed=two(rates.elapsed),
        start=two(rates.start),
        u_integral=two(rates.u_integral),
    )


def _thread_table(threads: int) -> tables.ThreadTable:
    """Return the table of threads, empty for one thread."""
    others = threads - 1
    return tables.ThreadTable(
        words=np.zeros(48 if others else 0, np.int64),
        interval=np.zeros(2),
        reports=table_of(REPORT, [(0,) * 6] * others),
    )
