"""What rounding may shift: instants of communication points, and the number of micro-steps in a step."""

from __future__ import annotations

from math import ceil

from dockfmu.components.core.kernel import kernel

# s; the rounding error of sums of steps is far below this, and this is far below any step
ROUNDING = 1e-9
# a ratio of rounded times may exceed a whole number by less than this
SLACK = 1e-9


@kernel
def micro_steps(h, longest):
    """Return the number of equal micro-steps, each at most `longest`, in a step of length h; at least 1."""
    return max(1, ceil(h / longest - SLACK))
