"""The tables that the compiled loop works on: addresses and buffers, made by `dockfmu.master.tables`.

Instances are numbered in order of execution. Values of Real variables are float64; those of Integer, Boolean and String
variables are int32 (`_int`; strings as numbers of `dockfmu.master.fmi.strings`). CALL, DERIVATIVE and REPORT are
`records`. An array of ranges has one entry more
than the items it belongs to: the range of item i is range[i] to range[i + 1]. Ranges and slots are unsigned, which
spares the compiled code a test for negative indices at each access. Tables of features that a run does not use are
empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# why the loop returned
DONE, STOPPED, FAILED, NOT_FINITE, DELIVER, ENDED = range(6)

# values of REPORT.called
(
    SET,
    STEP,
    GET,
    RECORD,
    SET_INPUT_DERIVATIVES,
    GET_OUTPUT_DERIVATIVES,
    SAVE,
    RESTORE,
    DIRECTIONAL_DERIVATIVE,
) = range(9)
COPY, CONVERT, COPY_INT, MAP_INT = range(9, 13)
"""Kinds of rows of the program besides SET, STEP and GET: copy outputs to Real inputs, or convert them by factor and
offset; copy outputs to int32 inputs; map the values of those that have a mapping."""

# values of TriggerTable.kind
ANY_CHANGE_REAL, ANY_CHANGE_INT, LEVEL_REAL, LEVEL_INT = range(4)

# values of IterationTable.method
AITKEN, BROYDEN = range(2)

# values of ControlTable.estimate
NO_ESTIMATE, DOUBLING, POWER_BONDS = range(3)

ONE = np.uint64(1)
NO_SLOT = np.uint64(2**63)
"""The slot of a variable that does not exist."""


class InstanceTable(NamedTuple):
    """The instances, in stages: ranges of instances that get their inputs before any of them steps.

    The program is the work of one macro step in which every instance steps once. Each stage begins with the rows that
    transfer outputs to inputs, followed by the calls that set, step and get for each of its instances.
    """

    stages: np.ndarray  # uint64 (stages + 1): ranges of instances
    program: np.ndarray  # CALL (rows)
    transfers: np.ndarray  # uint64 (instances, 3): its first row for Real inputs, the first for int32 inputs, the end
    calls: np.ndarray  # uint64 (instances, 3): its first row that calls, its step, the end
    component: np.ndarray  # int64
    get_state: np.ndarray  # int64: addresses of fmi2GetFMUstate
    set_state: np.ndarray  # int64: addresses of fmi2SetFMUstate
    state: np.ndarray  # int64 (2, instances): saved states (fmi2FMUstate) of two levels, 0 before the first
    warnings: np.ndarray  # int64: calls that gave fmi2Warning
    real_status: np.ndarray  # int64: addresses of fmi2GetRealStatus
    boolean_status: np.ndarray  # int64: addresses of fmi2GetBooleanStatus
    answer: np.ndarray  # int32 (instances): results of that function
    end: np.ndarray  # float64 (instances): time at which the FMU asked to end the simulation, infinite if it did not
    asked: np.ndarray  # int64 (1): 1 if any FMU did
    final: int  # 1 if no step is ever repeated: noSetFMUStatePriorToCurrentPoint of fmi2DoStep


class SignalTable(NamedTuple):
    """Outputs that are coupled or observed, and coupled inputs, by instance."""

    y_real: np.ndarray  # float64
    y_bits: np.ndarray  # int64: the same memory
    y_range: np.ndarray  # uint64 (instances + 1), as all ranges
    u_real: np.ndarray  # float64
    u_range: np.ndarray
    factor: np.ndarray  # float64, as u_real: u = factor * y + offset
    offset: np.ndarray
    y_int: np.ndarray  # int32
    u_int: np.ndarray
    mapped: np.ndarray  # uint64: the slots in u_int whose values are mapped
    mapping: np.ndarray  # int32 (rows, 2): value of the output, value of the input; others are copied
    mapping_range: np.ndarray  # rows of each entry of `mapped`


class RateTable(NamedTuple):
    """Instances that do not step once in each macro step; empty where all do."""

    substeps: np.ndarray  # int64 (instances): steps of the instance in a macro step
    every: np.ndarray  # int64 (instances): macro steps in a step of the instance
    elapsed: np.ndarray  # int64 (instances): macro steps since its last step
    start: np.ndarray  # float64 (instances): the time of that step's end
    u_integral: np.ndarray  # float64 (inputs): their integrals since then
    has_means: np.ndarray  # uint8 (instances): some of its outputs are means
    is_mean: np.ndarray  # uint8 (y_real): a mean over the step that gave it
    y_integral: np.ndarray  # float64 (y_real): sums of those over the substeps of a macro step


class PredictionTable(NamedTuple):
    """Outputs as straight lines over the macro step; empty where inputs are held."""

    predicted: np.ndarray  # uint8 (instances): it gets values of the lines, not the latest outputs
    smooth: np.ndarray  # uint8 (y_real): it is extrapolated; means and discontinuous outputs are held
    derivative: np.ndarray  # uint64 (y_real): slot of the output that is its derivative, or NO_SLOT
    start: np.ndarray  # float64 (y_real): at the start of the macro step
    slope: np.ndarray  # float64 (y_real)
    u_slope: np.ndarray  # float64 (inputs)
    set_calls: np.ndarray  # CALL (calls): of fmi2SetRealInputDerivatives
    set_range: np.ndarray  # calls of each instance
    get_calls: np.ndarray  # CALL (calls): of fmi2GetRealOutputDerivatives; `stride` is the first slot in y_real
    received: np.ndarray  # float64 (y_real): the results of those calls
    orders: np.ndarray  # int32: ones, as many as the most derivatives of a call


class BackupTable(NamedTuple):
    """Buffers at the start of a step that may be repeated, shape (2, size); empty where none may."""

    y_real: np.ndarray
    y_int: np.ndarray
    slope: np.ndarray
    elapsed: np.ndarray
    start: np.ndarray
    u_integral: np.ndarray


OUTER, INNER = range(2)
"""Levels of BackupTable and InstanceTable.state: a controlled step, the iteration in it."""


class IterationTable(NamedTuple):
    """The implicit coupling: find x, the outputs that are used before they are known, such that a sweep returns x."""

    slot: np.ndarray  # uint64 (n): slots of x in y_real; empty without iteration
    method: int
    max_sweeps: int  # in a step
    tolerance: float  # of the residual, relative to `scale`
    relaxation: float  # of the first correction of a step by Aitken's method
    group: np.ndarray  # uint64 (n): outputs that share a scale
    scale: np.ndarray  # float64 (groups): largest magnitude so far
    x: np.ndarray  # float64 (n)
    residual: np.ndarray  # float64 (n): outputs less x
    previous_residual: np.ndarray  # float64 (n): that of the sweep before
    increment: np.ndarray  # float64 (n): the last change of x
    work: np.ndarray  # float64 (n)
    inverse_jacobian: np.ndarray  # float64 (n, n): of the residual, approximately
    jacobian: np.ndarray  # float64 (n, n): the matrix to invert, used while the inverse is computed
    derivative_calls: np.ndarray  # DERIVATIVE (instances)
    dy: np.ndarray  # float64 (y_real): a direction of outputs
    du: np.ndarray  # float64 (inputs): the direction of inputs that follows from it
    counters: np.ndarray  # int64 (3)
    largest_residual: np.ndarray  # float64 (1): relative, among the steps accepted without convergence


SWEEPS, NOT_CONVERGED, JACOBIAN_KNOWN = range(3)
"""Entries of IterationTable.counters: sweeps; steps accepted without convergence; 1 once the inverse Jacobian is more
than a first guess."""


class ControlTable(NamedTuple):
    """Macro steps of variable length."""

    estimate: int
    rollback: int  # 1 if steps may be repeated
    shortest: float
    longest: float
    event_step: float  # events are located within a step of this length
    order: float  # the estimate is proportional to this power of the step
    tolerance: float  # of the estimate: relative to `scale` for DOUBLING, in J for POWER_BONDS
    slot: np.ndarray  # uint64 (n): slots in y_real of the outputs that DOUBLING compares
    group: np.ndarray  # uint64 (n): outputs that share a scale
    scale: np.ndarray  # float64 (groups): largest magnitude so far
    coarse: np.ndarray  # float64 (n): the outputs after one long step
    bond: np.ndarray  # uint64 (pairs): number of the bond
    effort: np.ndarray  # uint64 (pairs, 2): slots of an effort in y_real and in u_real
    flow: np.ndarray  # uint64 (pairs, 2): the same of its flow
    ratio: np.ndarray  # float64 (pairs): factor of the effort's connection over that of the flow's
    energy: np.ndarray  # float64 (bonds): residuals of a step
    last_successful_time: np.ndarray  # float64 (1): the result of that function
    clock: np.ndarray  # float64 (6)
    rejected: np.ndarray  # int64 (1): steps that were repeated
    history: np.ndarray  # float64 (steps, 2): times and lengths since the saved state; empty where all states are saved
    counters: np.ndarray  # int64 (2)


NOW, NEXT, EVENT_BEFORE, LAST_ERROR, SHORTEST, LONGEST = range(6)
"""Entries of ControlTable.clock: present time; length of the next step; an event lies before this time; estimate of the
last step; shortest and longest step taken."""

SINCE_SAVE, SINCE_REJECTION = range(2)
"""Entries of ControlTable.counters: steps since the saved state; steps since the last one that was repeated."""


class TriggerTable(NamedTuple):
    """Changes that are logged, and those that a controlled step must not jump over."""

    kind: np.ndarray  # int64 (triggers)
    slot: np.ndarray  # uint64: in y_real or y_int
    level: np.ndarray  # float64
    last: np.ndarray  # float64: value after the last step
    located: np.ndarray  # uint8: a step in which it fires is shortened
    logged: np.ndarray  # uint8
    prompt: np.ndarray  # uint8: it is delivered before the next step
    event: np.ndarray  # float64 (capacity, 4): time, trigger, old value, new value
    stop_slot: np.ndarray  # uint64 (0 or 1): slot in y_int that ends the run when it is not 0


class RecordingTable(NamedTuple):
    """Groups of variables that are recorded."""

    every: np.ndarray  # int64 (groups): steps between two rows
    calls: np.ndarray  # CALL (calls); the address of row r is `values` + r * `stride`
    range: np.ndarray  # calls of each group
    filled: np.ndarray  # int64 (groups): rows in use
    time: np.ndarray  # float64 (groups, capacity)


class ThreadTable(NamedTuple):
    """Threads that step instances of a stage in parallel; empty where there is one."""

    words: np.ndarray  # int64 (48): words shared by all threads, each in its own cache line
    interval: np.ndarray  # float64 (2): time and length of the macro step
    reports: np.ndarray  # REPORT (additional threads): LoopTables.report of each


LIMIT, TICKET, FINISHED, QUIT, OFFSET, FIRST = range(0, 48, 8)
"""Indices in ThreadTable.words: the first ticket not issued; the next one to take; instances that have stepped since
the start of the run; 1 if the additional threads are to end; the first ticket of the stage, and its instance."""


class LoopTables(NamedTuple):
    """All tables of the loop."""

    instances: InstanceTable
    signals: SignalTable
    rates: RateTable
    prediction: PredictionTable
    backup: BackupTable
    iteration: IterationTable
    control: ControlTable
    triggers: TriggerTable
    recording: RecordingTable
    threads: ThreadTable
    report: np.ndarray  # REPORT (1)
