"""A component that has one of everything: all types, tunable and bounded parameters, a resource, every kind of failure.

`total` integrates gain * signal + table[count] exactly, and `held` the input that is taken at the start of a step.
"""

from pathlib import Path

import numpy as np

from dockfmu.components.core import ports
from dockfmu.components.core.component import Component, Message, fail
from dockfmu.components.core.field import (
    BOOLEAN,
    INTEGER,
    Group,
    enumeration,
    input,
    local,
    output,
    parameter,
    private,
    table,
)
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.record import Record

MODE = enumeration("GadgetMode", OFF="does nothing", ADD="adds", FAIL="fails at once")
STEP_TOO_LONG = 1
TOLD_TO_FAIL = 7
BAD_OFFSET = 8

RECORD = Record(
    input("signal", "N", "integrated, mean over the step", evaluated="mean"),
    input("held", "N", "integrated, value at the start of the step", 0.5),
    input("switch", "1", "adds one to `counted`", False, type=BOOLEAN),
    input("count", "1", "which entry of the table is added", 1, type=INTEGER, minimum=1, maximum=3),
    input("mode", "1", "what to do", 2, type=MODE),
    input("command", "N", "a Real that is held", discrete=True, minimum=-1.0, maximum=1.0),
    output("total", "N.s", "integral of gain * signal + table[count]"),
    output("square", "N2", "square of the signal of the last step, offset at the start"),
    output("held_total", "N.s", "integral of held"),
    output("active", "1", "the switch was on", type=BOOLEAN),
    output("counted", "1", "steps with the switch on", type=INTEGER),
    output("mode_now", "1", "mode of the last step", 1, type=MODE),
    local("angle", "rad", "for plots"),
    Group(
        "parameters",
        parameter("gain", "1", "factor of signal", 2.0, minimum=0.0, maximum=10.0, tunable=True),
        parameter("offset", "N", "added to total at the start; at most 100", 0.0),
        parameter("longest_step", "s", "a longer step is discarded", 1.0, minimum=1e-6),
        parameter("steps", "1", "a number that is not used", 4, type=INTEGER, minimum=1),
        parameter("matrix", "kg.m2", "a matrix that is not used", ((1.0, 2.0), (3.0, 4.0)), shape=(2, 2)),
    ),
    ports.status(),
    Group("hidden", private("calls", "1", "number of steps so far"), private("marker", "1", "never written", 3.0)),
    Group("tables", table("values", "N", "by count", shape=3, resource="table.f64"), table("own", "N", "", 5.0)),
)

MESSAGES = {
    STEP_TOO_LONG: Message(
        "step of {status.value:.3f} s, 100% too long for {parameters.longest_step:g} s", discard=True
    ),
    TOLD_TO_FAIL: Message("told to fail in step {hidden.calls:.0f}, gain {parameters.gain}", outcome="limit_exceeded"),
    BAD_OFFSET: Message("offset {parameters.offset:g} N is more than 100 N", discard=True),
}


@kernel
def initialize(m):
    if m.parameters.offset > 100.0:
        return fail(m.status, BAD_OFFSET, m.parameters.offset, 0)
    # anything but the start values here would show that `initialize` ran twice on the same memory
    m.total += m.parameters.offset + m.hidden.calls
    m.square = m.parameters.offset * m.parameters.offset
    m.angle = m.tables.values[0] + m.tables.own + m.hidden.marker
    m.hidden.calls += 1.0
    return 0


@kernel
def step(m, t, h):
    if h > m.parameters.longest_step:
        m.total = -1.0
        return fail(m.status, STEP_TOO_LONG, h, 0)
    if m.mode == 3.0:
        return fail(m.status, TOLD_TO_FAIL, 0.0, 0)
    m.hidden.calls += 1.0
    if m.mode == 2.0:
        m.total += h * (m.parameters.gain * m.signal + m.tables.values[int(m.count) - 1])
    m.square = m.signal * m.signal
    m.held_total += h * m.held
    m.active = m.switch
    if m.switch != 0.0:
        m.counted += 1.0
    m.mode_now = m.mode
    return 0


def component() -> Component:
    return Component(
        name="Gadget",
        description="has one of everything",
        record=RECORD,
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        resources={"table.f64": np.array([10.0, 20.0, 30.0])},
    )
