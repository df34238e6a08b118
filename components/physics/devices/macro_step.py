"""The macro step of a mechanism: its micro-steps, and the mean wrenches on both craft at its end.

Theory: conventions section 6.

The record m of the mechanism has the groups that `exchange` works with, `status`, `stepping` with the fields of
`micro_steps`, and the parameters `micro_step` and `step_limit`.
"""

from dockfmu.components.core import timing
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.devices import exchange, micro_steps

STEP_TOO_LONG = 3
MESSAGES = {
    STEP_TOO_LONG: Message(
        "step {status.value:g} s is longer than parameters.step_limit = {parameters.step_limit:g} s", discard=True
    ),
}

CLOSED = -1
"""Returned by a micro-step that must be repeated with a shorter length because a contact has closed in it."""

# a micro-step above this fraction of `micro_step` is halved when a penetration exceeds its limit (R30)
SMALLEST = 1.0 / 16.0
# relative error of a step: two times, each rounded in a product or a sum, and their difference
STEP_ERROR = 4.0 * 2.0**-52


def make_advance(micro_step, below, above):
    """Return the kernel `advance(m, h) -> code` that makes all micro-steps of a step of length h, s.

    `micro_step(m, start, size, long) -> code` makes one micro-step, from `start` (s) in the step. It returns CLOSED if
    a contact closes in a `long` one, which is then repeated with the short length. A code between `below` and `above`,
    both excluded, means that a penetration was too deep: the micro-step is then halved. In both cases the micro-step
    must leave the state unchanged.
    """

    @kernel
    def advance(m, h):
        p = m.parameters
        done = 0.0
        left = 1
        while left > 0:
            left = timing.micro_steps(h - done, m.stepping.micro_step)
            size = (h - done) / left
            code = micro_step(m, done, size, m.stepping.micro_step > p.micro_step)
            if code == CLOSED:
                micro_steps.restart(p, m.stepping)
            elif below < code < above and size > SMALLEST * p.micro_step:
                m.stepping.micro_step = min(0.5 * size, p.micro_step)
            elif code:
                return code
            else:
                done += size
                left -= 1
        return 0

    return advance


def make_step(check_inputs, begin, advance, finish):
    """Return the kernel `step(m, t, h) -> code` that advances a mechanism from t by h > 0, s.

    `check_inputs(m)`, `begin(m)`, `advance(m, h)` and `finish(m, h)` each return 0, or the code of a failure.
    """

    @kernel
    def step(m, t, h):
        code = check_inputs(m)
        if code:
            return code
        # importers pass the difference of two rounded times
        if h - STEP_ERROR * (abs(t) + h) > m.parameters.step_limit:
            return fail(m.status, STEP_TOO_LONG, h, 0)
        exchange.clear_impulses(m)
        code = begin(m)
        if code == 0:
            code = advance(m, h)
        if code == 0:
            code = finish(m, h)
        if code:
            return code
        # a micro-step that was repeated may have left the code of its first attempt
        m.status.code = 0.0
        exchange.set_mean_wrenches(m, h)
        return 0

    return step
