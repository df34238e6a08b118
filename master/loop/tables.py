"""What the compiled loop works on: tables of addresses and buffers, made by `master.tables`.

Instances are numbered in execution order; "whole" stands for Integer and Boolean. Ranges have one entry more than what
they belong to: those of i are range[i] to range[i + 1]. Ranges and places are unsigned, which spares the compiled code
a look for negative indices at each access. Tables of what a run does not use are empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# why the loop returned
DONE, STOPPED, FAILED, NOT_FINITE, FULL = range(5)

# columns of the program and of other tables of calls; the stride is used by recording, which fills row after row
FUNCTION, COMPONENT, REFERENCES, COUNT, VALUES, STRIDE, KIND, OWNER = range(8)

# columns of a row of the program that carries COUNT values from outputs side by side to inputs side by side
SOURCE, TARGET = range(2)

# entries of Tables.report
REASON, INSTANCE, CALLED, STATUS, EVENTS, ROW = range(6)
SET, STEP, GET, RECORD, SLOPE, RATE, SAVE, RESTORE, DERIVATIVE = range(9)
"""what Tables.report[CALLED] may be; of SET, GET and RECORD the row of their table stands in report[ROW]"""
CARRY, CONVERT, CARRY_WHOLE, TRANSLATE = range(9, 13)
"""What else the rows of the program may be: Real inputs as the outputs are, or with factor and offset; whole inputs;
those of them whose values are looked up."""

# what Watches.kind may be
ANY_CHANGE_REAL, ANY_CHANGE_WHOLE, LEVEL_REAL, LEVEL_WHOLE = range(4)

# what Iteration.method may be
AITKEN, BROYDEN = range(2)

# what Control.estimate may be
NO_ESTIMATE, DOUBLING, POWER_BONDS = range(3)

ONE = np.uint64(1)
NOWHERE = np.uint64(2**63)
"""a place that is none"""


class Instances(NamedTuple):
    """A stage is a range of instances that get their inputs before any of them steps.

    The program is all that one macro step does where every instance steps once: of each stage the rows that carry
    outputs to inputs, then of each of its instances the calls that set, step and get.
    """

    stages: np.ndarray  # uint64 (stages + 1): ranges of instances
    program: np.ndarray  # int64 (rows, 8)
    carries: np.ndarray  # uint64 (instances, 3): its rows that carry begin here, those of other than Real inputs, end
    calls: np.ndarray  # uint64 (instances, 3): its rows that call begin here, its step, they end
    component: np.ndarray  # int64
    get_state: np.ndarray  # int64: addresses of fmi2GetFMUstate
    set_state: np.ndarray  # int64: addresses of fmi2SetFMUstate
    state: np.ndarray  # int64 (2, instances): saved states (fmi2FMUstate) of two levels, 0 before the first
    warnings: np.ndarray  # int64: calls that gave fmi2Warning
    final: int  # 1 if no step is ever repeated: noSetFMUStatePriorToCurrentPoint of fmi2DoStep


class Signals(NamedTuple):
    """Outputs that are coupled or watched, and inputs."""

    y_real: np.ndarray  # float64, by instance
    y_bits: np.ndarray  # int64: the same memory
    y_range: np.ndarray
    u_real: np.ndarray  # float64: all coupled inputs, by instance
    real_range: np.ndarray  # uint64 (instances + 1), as all ranges
    factor: np.ndarray  # float64, as u_real: of the output that an input comes from
    offset: np.ndarray
    y_whole: np.ndarray  # int32
    u_whole: np.ndarray
    tabled: np.ndarray  # uint64: the places in u_whole whose values are looked up
    table: np.ndarray  # int32 (rows, 2): value of the output, value of the input; others are passed on as they are
    table_range: np.ndarray  # rows of each entry of `tabled`


class Pace(NamedTuple):
    """Instances with a rate of their own; empty where all step once in each macro step."""

    substeps: np.ndarray  # int64 (instances): steps of the instance in a macro step
    every: np.ndarray  # int64 (instances): macro steps in a step of the instance
    waited: np.ndarray  # int64 (instances): macro steps since its last one
    begun: np.ndarray  # float64 (instances): the time at which it stands while it waits
    u_sum: np.ndarray  # float64 (inputs): their integrals over that time
    averaged: np.ndarray  # uint8 (instances): some of its outputs are means
    mean: np.ndarray  # uint8 (y_real): a mean over the step that gave it
    y_sum: np.ndarray  # float64 (y_real): integrals of those over the steps of an instance in one macro step


class Prediction(NamedTuple):
    """Outputs as straight lines over the macro step; empty where inputs are held."""

    predicted: np.ndarray  # uint8 (instances): it gets the values of the lines, not of the latest outputs
    smooth: np.ndarray  # uint8 (y_real): a line makes sense; means and what jumps are passed on as they are
    rate: np.ndarray  # uint64 (y_real): place of the output that is its derivative, or NOWHERE
    start: np.ndarray  # float64 (y_real): at the start of the macro step
    slope: np.ndarray  # float64 (y_real)
    u_slope: np.ndarray  # float64 (inputs)
    slope_calls: np.ndarray  # int64 (calls, 8): of fmi2SetRealInputDerivatives, for instances that take slopes
    slope_range: np.ndarray
    rate_calls: np.ndarray  # int64 (calls, 8): of fmi2GetRealOutputDerivatives; STRIDE is the first place in y_real
    told: np.ndarray  # float64 (y_real): what those gave
    orders: np.ndarray  # int32: ones, as many as a call can have derivatives


class Backup(NamedTuple):
    """Buffers as they were at the start of a step that may be repeated, shape (2, size); empty where none may."""

    y_real: np.ndarray
    y_whole: np.ndarray
    slope: np.ndarray
    waited: np.ndarray
    begun: np.ndarray
    u_sum: np.ndarray


OUTER, INNER = range(2)
"""levels of Backup and Instances.state: a step under control, the iteration in it"""


class Iteration(NamedTuple):
    """The implicit coupling: find x, the outputs that are used before they are there, such that a sweep gives them."""

    slot: np.ndarray  # uint64 (n): places of x in y_real; empty without iteration
    method: int
    limit: int  # sweeps in a step
    tolerance: float  # of the residual, relative to `scale`
    relaxation: float  # of the first correction of a step by Aitken's method
    group: np.ndarray  # uint64 (n): outputs that share a scale
    scale: np.ndarray  # float64 (groups): largest magnitude so far
    x: np.ndarray  # float64 (n)
    residual: np.ndarray  # float64 (n): outputs less x
    last: np.ndarray  # float64 (n): residual of the sweep before
    move: np.ndarray  # float64 (n): the last change of x
    work: np.ndarray  # float64 (n)
    inverse: np.ndarray  # float64 (n, n): of the Jacobian of the residual, approximately
    derivative_calls: np.ndarray  # int64 (instances, 8): arguments of fmi2GetDirectionalDerivative
    seed: np.ndarray  # float64 (y_real): a direction
    answer: np.ndarray  # float64 (inputs): what it makes of the inputs
    tally: np.ndarray  # int64 (3)
    worst: np.ndarray  # float64 (1): largest relative residual that was accepted


SWEEPS, UNSETTLED, KNOWN = range(3)
"""entries of Iteration.tally: sweeps, steps that were accepted unsettled, 1 once `inverse` is more than a guess"""


class Control(NamedTuple):
    """Steps of variable length."""

    estimate: int
    rollback: int  # 1 if steps may be repeated
    shortest: float
    longest: float
    event_step: float  # events are located within a step of this length
    order: float  # the estimate goes with this power of the step
    tolerance: float  # of the estimate: relative to `scale` for DOUBLING, in J for POWER_BONDS
    slot: np.ndarray  # uint64 (n): places in y_real of the outputs that DOUBLING compares
    group: np.ndarray  # uint64 (n): outputs that share a scale
    scale: np.ndarray  # float64 (groups): largest magnitude so far
    coarse: np.ndarray  # float64 (n): the outputs after one long step
    bond: np.ndarray  # uint64 (pairs): number of the bond
    effort: np.ndarray  # uint64 (pairs, 2): places of an effort in y_real and in u_real
    flow: np.ndarray  # uint64 (pairs, 2): the same of its flow
    ratio: np.ndarray  # float64 (pairs): factor of the effort's connection over that of the flow's
    energy: np.ndarray  # float64 (bonds): residuals of a step
    real_status: np.ndarray  # int64 (instances): addresses of fmi2GetRealStatus
    reached: np.ndarray  # float64 (1): what that function gave
    clock: np.ndarray  # float64 (6)
    rejected: np.ndarray  # int64 (1)
    trail: np.ndarray  # float64 (steps, 2): times and lengths of those since the saved state; empty where all are saved
    past: np.ndarray  # int64 (2)


NOW, NEXT, EVENT_BEFORE, LAST_ERROR, SHORTEST, LONGEST = range(6)
"""entries of Control.clock: present time; length of the next step; an event lies before this time; estimate of the last
step; shortest and longest step taken"""

BEHIND, QUIET = range(2)
"""entries of Control.past: steps since the saved state; steps since the last one that was repeated"""


class Watches(NamedTuple):
    """Changes that are logged, and those that a controlled step must not jump over."""

    kind: np.ndarray  # int64 (watches)
    slot: np.ndarray  # uint64: place in y_real or y_whole
    level: np.ndarray  # float64
    last: np.ndarray  # float64: value after the last step
    located: np.ndarray  # uint8: a step in which it changes is shortened
    logged: np.ndarray  # uint8
    event: np.ndarray  # float64 (capacity, 4): time, watch, old value, new value
    stop_slot: np.ndarray  # uint64 (0 or 1): place in y_whole that ends the run when it is not 0


class Rows(NamedTuple):
    """Groups of variables that are recorded."""

    every: np.ndarray  # int64 (groups): steps between two rows
    calls: np.ndarray  # int64 (calls, 8); the address of row r is VALUES + r * STRIDE
    range: np.ndarray
    filled: np.ndarray  # int64 (groups): rows that are taken
    time: np.ndarray  # float64 (groups, capacity)


class Crew(NamedTuple):
    """Threads that step instances of a stage side by side; empty where there is one."""

    board: np.ndarray  # int64 (48): words that threads look at, each in a line of the cache of its own
    moment: np.ndarray  # float64 (2): time and length of the macro step
    reports: np.ndarray  # int64 (threads beside the first, 6): of each as Tables.report


LIMIT, TICKET, FINISHED, QUIT, OFFSET, FIRST = range(0, 48, 8)
"""places in Crew.board: the first ticket not given out; the next one; how many instances have stepped, all since the
start of the run; 1 if the others are to quit; the first ticket of the stage, and the instance that it is for"""


class Tables(NamedTuple):
    """All that the loop needs."""

    instances: Instances
    signals: Signals
    pace: Pace
    prediction: Prediction
    backup: Backup
    iteration: Iteration
    control: Control
    watches: Watches
    rows: Rows
    crew: Crew
    report: np.ndarray  # int64 (6)
