"""Implicit coupling: sweeps of one macro step are repeated until the outputs agree with what was assumed of them."""

from __future__ import annotations

import numpy as np

from master.loop.calls import derivative, refused
from master.loop.compiled import compiled
from master.loop.linear import invert
from master.loop.scales import grow, relative, weight
from master.loop.states import restore, save
from master.loop.sweep import begin_lines, sweep
from master.loop.tables import (
    AITKEN,
    BROYDEN,
    COUNT,
    DERIVATIVE,
    INNER,
    KNOWN,
    ONE,
    SOURCE,
    SWEEPS,
    TARGET,
    UNSETTLED,
)  # fmt: skip


@compiled
def _guess(iteration, signals, prediction, h):
    """x where the lines of the outputs lead to, or where the outputs are."""
    for j in range(iteration.slot.size):
        k = iteration.slot[j]
        iteration.x[j] = signals.y_real[k]
        if prediction.start.size > 0 and prediction.smooth[k]:
            iteration.x[j] += h * prediction.slope[k]


@compiled
def _impose(iteration, signals, prediction, h):
    """Let a sweep use x: as the end of a line, or held."""
    for j in range(iteration.slot.size):
        k, x = iteration.slot[j], iteration.x[j]
        if prediction.start.size == 0:
            signals.y_real[k] = x
        elif prediction.smooth[k]:
            prediction.slope[k] = (x - prediction.start[k]) / h
        else:
            prediction.start[k] = x


@compiled
def _compare(iteration, y):
    """The residual of a sweep; returns the largest, relative to the scales."""
    grow(iteration.scale, iteration.group, iteration.slot, y)
    largest = 0.0
    for j in range(iteration.slot.size):
        iteration.last[j] = iteration.residual[j]
        iteration.residual[j] = y[iteration.slot[j]] - iteration.x[j]
        size = relative(iteration.residual[j], iteration.scale[iteration.group[j]])
        # written so that NaN wins
        if not size <= largest:
            largest = size
    return largest


@compiled
def _aitken(iteration, first, relaxation):
    """The relaxation that makes the residual smallest on the straight line through the last two."""
    if first:
        return iteration.relaxation
    above, below = 0.0, 0.0
    for j in range(iteration.slot.size):
        w = weight(iteration.scale[iteration.group[j]])
        change = w * (iteration.residual[j] - iteration.last[j])
        above += w * iteration.last[j] * change
        below += change * change
    return -relaxation * above / below if below > 0.0 else relaxation


@compiled
def _learn(iteration):
    """Broyden's update: the inverse Jacobian that maps the last change of the residual to the last move."""
    n, inverse = iteration.slot.size, iteration.inverse
    below = 0.0
    for i in range(n):
        mapped = 0.0
        for j in range(n):
            mapped += inverse[i, j] * (iteration.residual[j] - iteration.last[j])
        iteration.work[i] = mapped
        below += iteration.move[i] * weight(iteration.scale[iteration.group[i]]) ** 2 * mapped
    if below == 0.0:
        return
    for j in range(n):
        row = 0.0
        for i in range(n):
            row += iteration.move[i] * weight(iteration.scale[iteration.group[i]]) ** 2 * inverse[i, j]
        for i in range(n):
            inverse[i, j] += (iteration.move[i] - iteration.work[i]) * row / below


@compiled
def _differentiate(tables):
    """The inverse Jacobian, from the instances' directional derivatives over the last sweep; False after a failure.

    An instance without directional derivatives counts as one that does not react.
    """
    instances, signals, prediction = tables.instances, tables.signals, tables.prediction
    iteration, stages = tables.iteration, tables.instances.stages
    n, seed, answer, table = iteration.slot.size, iteration.seed, iteration.answer, iteration.derivative_calls
    jacobian, program = np.zeros((n, n)), instances.program
    for j in range(n):
        seed[:] = 0.0
        seed[iteration.slot[j]] = 1.0
        for s in range(stages.size - 1):
            a, b = stages[s], stages[s + 1]
            for i in range(a, b):
                for r in range(instances.carries[i, 0], instances.carries[i, 1]):
                    source, target = np.uint64(program[r, SOURCE]), np.uint64(program[r, TARGET])
                    for k in range(np.uint64(program[r, COUNT])):
                        # of a line that is held in the middle, an input gets half of what its end moves
                        half = prediction.start.size > 0 and prediction.smooth[source + k] != 0
                        answer[target + k] = signals.factor[target + k] * seed[source + k] * (0.5 if half else 1.0)
            for i in range(a, b):
                for k in range(signals.y_range[i], signals.y_range[i + ONE]):
                    seed[k] = 0.0
                if table[i, 0] == 0:
                    continue
                status: int = derivative(  # type: ignore[call-arg]
                    table[i, 0], table[i, 1], table[i, 2], table[i, 3],
                    table[i, 4], table[i, 5], table[i, 6], table[i, 7],
                )  # fmt: skip
                if status != 0 and refused(instances.warnings, tables.report, status, i, DERIVATIVE, 0):
                    return False
        for i in range(n):
            jacobian[i, j] = seed[iteration.slot[i]]
        jacobian[j, j] -= 1.0
    invert(jacobian, iteration.inverse)
    return True


@compiled
def _forget(iteration):
    """Start again from the inverse Jacobian of outputs that do not depend on x."""
    iteration.inverse[:, :] = 0.0
    for j in range(iteration.slot.size):
        iteration.inverse[j, j] = -1.0
    iteration.tally[KNOWN] = 0


@compiled
def _improve(tables, first, relaxation):
    """The next x; returns the relaxation that was used, NaN after a failure."""
    iteration = tables.iteration
    if iteration.method == AITKEN:
        relaxation = _aitken(iteration, first, relaxation)
    elif not first:
        _learn(iteration)
    elif iteration.tally[KNOWN] == 0:
        _forget(iteration)
        iteration.tally[KNOWN] = 1
        if iteration.derivative_calls.shape[0] > 0 and not _differentiate(tables):
            return np.nan
    for i in range(iteration.slot.size):
        move = relaxation * iteration.residual[i]
        if iteration.method == BROYDEN:
            move = 0.0
            for j in range(iteration.slot.size):
                move -= iteration.inverse[i, j] * iteration.residual[j]
        iteration.move[i] = move
        iteration.x[i] += move
    return relaxation


@compiled
def iterate(tables, t, h):
    """All instances from t to t + h with inputs that agree with their outputs; False after a failure.

    A step that does not settle is accepted as it is, and counted.
    """
    iteration, signals, prediction = tables.iteration, tables.signals, tables.prediction
    if not save(tables, INNER):
        return False
    _guess(iteration, signals, prediction, h)
    relaxation = iteration.relaxation
    for k in range(iteration.limit):
        if k > 0:
            if not restore(tables, INNER):
                return False
            if prediction.start.size > 0:
                begin_lines(signals, prediction)
        _impose(iteration, signals, prediction, h)
        if not sweep(tables, t, h):
            return False
        iteration.tally[SWEEPS] += 1
        error = _compare(iteration, signals.y_real)
        if error <= iteration.tolerance:
            return True
        if not error < np.inf:
            break
        if k + 1 < iteration.limit:
            relaxation = _improve(tables, k == 0, relaxation)
            if relaxation != relaxation:
                return False
    iteration.tally[UNSETTLED] += 1
    iteration.tally[KNOWN] = 0
    iteration.worst[0] = max(iteration.worst[0], error)
    return True
