"""What ends a step: which part failed, with what value, and when within the step. The first failure counts."""

from __future__ import annotations

from math import fabs, isfinite

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.vector import dot, load
from dockfmu.components.physics.tree.links import FIXED, FREE, MODE, REVOLUTE, SCREW, SPHERICAL

INERTIA = 401
ATTITUDE = 402
SINGULAR = 403
NOT_FINITE = 404
STOPS = 405
INPUT = 406
SOURCE_BASE = 407
PORT_INPUT = 408
NO_INERTIA = 409
OUTLINE = 410
TOO_DEEP = 411
COMMAND = 412
STOP_LIMIT = 413
NO_STIFFNESS = 414
NO_DIRECTION = 415
SOURCE_PORT = 416
NOT_CLOSED = 421
SINGULAR_CLOSURE = 422
OPENED = 423
RANK_CHANGED = 424
SINGULAR_LINK = 425
NOT_SETTLED = 426
CONTRADICTED = 427
SLIPS = 428
HYSTERESIS = 430
"""Codes of failures; `messages` has their texts. Those of a hysteresis law are added to the last."""

MOST_MOBILE = 1e12
"""1 / kg m2, 1/kg: the mobility of a coordinate whose inertia is taken for zero."""


@kernel
def note(run, code, part, value):
    """Note a failure of a part, from 1, in the present micro-step, unless there is one already."""
    if run.failure == 0.0:
        run.failure = code
        run.culprit = part
        run.amount = value
        run.failed_at = run.now


@kernel
def blame(link, run):
    """Note which joint is singular, or moves so that its acceleration is not finite, after the recursion.

    What is not finite goes from the outer links to the inner ones: the outermost is the cause.
    """
    for k in range(len(link) - 1, 0, -1):
        b = link[k]
        kind = b.kind
        total = dot(load(b.force), load(b.force)) + dot(load(b.torque), load(b.torque))
        rate = b.last_rate
        if REVOLUTE <= kind <= SCREW:
            if b.held == 0.0 and not 0.0 < b.mobility < MOST_MOBILE:
                note(run, SINGULAR_LINK, k, 1.0 / b.mobility if b.mobility != 0.0 else 0.0)
                return
            total += b.effort
        elif kind > FIXED:
            rate = dot(load(b.last_spin), load(b.last_spin)) ** 0.5
            if kind == SPHERICAL and b.held == 0.0:
                for i in range(6):
                    total += b.inverse[i]
            elif kind == FREE and b.held == 0.0:
                for i in range(3):
                    total += b.acceleration[i] + b.angular_acceleration[i]
        if not isfinite(total):
            note(run, NOT_FINITE, k, rate)
            return
    for k in range(1, len(link)):
        b = link[k]
        if not fabs(b.qdd) < 1e300:
            note(run, NOT_FINITE, k, b.last_rate)
            return
    note(run, NOT_FINITE, 1.0, link[1].last_rate)


@kernel
def check(link, run):
    """Note a joint whose motion is not finite."""
    for k in range(1, len(link)):
        b = link[k]
        total = b.q + b.rate + b.qdd
        # a mode has no acceleration of its own
        for i in range(3 if b.kind != MODE else 0):
            total += b.acceleration[i] + b.angular_acceleration[i] + b.spin[i] + b.speed[i]
        if not isfinite(total):
            blame(link, run)
            return
