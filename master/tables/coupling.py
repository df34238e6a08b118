"""From a system and its instances to the tables of the compiled loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from master.algorithms.algorithm import Scheme
from master.errors import FmuError
from master.fmi.instance import Instance
from master.loop import tables
from master.loop.packing import pack
from master.step_control import StepControl, control_tables, located_changes
from master.system import System
from master.tables.calls import places
from master.tables.inputs import Inputs
from master.tables.iteration import feedback, iteration_tables
from master.tables.outputs import Outputs
from master.tables.prediction import prediction_tables, rates_of
from master.tables.program import program_tables
from master.tables.rates import pace_tables
from master.tables.recording import Group, Sampling, record_calls, row_tables
from master.tables.threads import crew_tables
from master.tables.triggers import Watch, watch_tables


class Coupling:
    """Buffers and tables for `instances`, coupled as `scheme` says; `control` makes the steps vary.

    `watches` and `samplings` are what observers ask for. Raises StructureError for FMUs that cannot do what is asked.
    """

    def __init__(
        self,
        system: System,
        instances: Mapping[str, Instance],
        scheme: Scheme,
        watches: Sequence[Watch] = (),
        samplings: Sequence[Sampling] = (),
        stop_when: str | None = None,
        longest: int = 1 << 16,
        control: StepControl | None = None,
    ) -> None:
        self.system = system
        self.scheme = scheme
        self.order = [name for stage in scheme.stages for name in stage]
        self.instances = [instances[name] for name in self.order]
        self.groups = [Group(system, sampling, longest) for sampling in samplings]
        self.rates = rates_of(system, scheme)
        self.feedback = feedback(system, scheme)
        self._kept: list[np.ndarray] = []
        located = located_changes(system, control) if control is not None else []
        watched = {watch.variable for watch in (*watches, *located)} | {*self.rates.values()}
        self.outputs = outputs = Outputs(system, self.instances, watched | ({stop_when} if stop_when else set()))
        self.inputs = Inputs(self)
        records = record_calls(self)
        rollback = bool(self.feedback) or (control is not None and self.can_roll_back())
        signals, pace, prediction = self._signals(), pace_tables(self), prediction_tables(self)
        self.tables = tables.Tables(
            instances=self._instance_tables(rollback),
            signals=signals,
            pace=pace,
            prediction=prediction,
            backup=_backup(rollback, signals, pace, prediction),
            iteration=iteration_tables(self),
            control=control_tables(self, control),
            watches=watch_tables(outputs, watches, located, stop_when),
            rows=row_tables(self.groups, records),
            crew=crew_tables(scheme.threads),
            report=np.zeros(6, np.int64),
        )
        self.packed = pack(self.tables)
        self.keep([*self.inputs.calls.kept, *outputs.calls.kept, *records.kept])

    def can_roll_back(self) -> bool:
        """Whether the states of all instances can be saved and set."""
        return all(instance.description.can_get_and_set_state for instance in self.instances)

    def keep(self, blocks: Iterable[np.ndarray]) -> None:
        """Let arrays whose addresses stand in the tables live as long as these."""
        self._kept += blocks

    def _signals(self) -> tables.Signals:
        inputs, outputs = self.inputs, self.outputs
        return tables.Signals(
            y_real=outputs.y_real,
            y_bits=outputs.y_real.view(np.int64),
            y_range=places(outputs.real_range),
            u_real=inputs.u_real,
            real_range=places(inputs.real_range),
            factor=inputs.factor,
            offset=inputs.offset,
            y_whole=outputs.y_whole,
            u_whole=inputs.u_whole,
            tabled=places([k for k, _ in inputs.tabled]),
            table=np.array([row for _, table in inputs.tabled for row in table], np.int32).reshape(-1, 2),
            table_range=places(np.cumsum([0, *(len(table) for _, table in inputs.tabled)])),
        )

    def _instance_tables(self, rollback: bool) -> tables.Instances:
        def entries(function: str) -> np.ndarray:
            return np.array([i.entry(function) for i in self.instances] if rollback else [], np.int64)

        return tables.Instances(
            stages=places(np.cumsum([0, *(len(stage) for stage in self.scheme.stages)])),
            **program_tables(self, self.inputs.calls, self.outputs.calls)._asdict(),
            component=np.array([instance.component for instance in self.instances], np.int64),
            get_state=entries("fmi2GetFMUstate"),
            set_state=entries("fmi2SetFMUstate"),
            state=np.zeros((2, len(self.instances)), np.int64),
            warnings=np.zeros(len(self.instances), np.int64),
            final=int(not rollback),
        )

    def instance(self, name: str) -> Instance:
        """The instance of an element."""
        return self.instances[self.order.index(name)]

    def free_states(self) -> list[str]:
        """Give the states that the loop has saved back to the instances; what failed in words."""
        saved, notes = self.tables.instances.state, []
        for level, i in zip(*np.nonzero(saved), strict=True):
            try:
                self.instances[i].free_state(int(saved[level, i]))
            except FmuError as error:
                notes.append(str(error))
        saved[:] = 0
        return notes


def _backup(rollback: bool, signals: tables.Signals, pace: tables.Pace, prediction: tables.Prediction) -> tables.Backup:
    def two(live: np.ndarray) -> np.ndarray:
        return np.zeros((2 if rollback else 0, len(live)), live.dtype)

    return tables.Backup(
        y_real=two(signals.y_real),
        y_whole=two(signals.y_whole),
        slope=two(prediction.slope),
        waited=two(pace.waited),
        begun=two(pace.begun),
        u_sum=two(pace.u_sum),
    )
