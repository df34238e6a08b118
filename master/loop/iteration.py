"""Implicit coupling: repeat the sweep of a macro step until the outputs agree with the values assumed for them."""

from __future__ import annotations

import numpy as np

from dockfmu.master.loop.compiler import compiled, get_directional_derivative
from dockfmu.master.loop.numerics import grow, invert, relative, weight
from dockfmu.master.loop.prediction import start_lines
from dockfmu.master.loop.program import call_failed
from dockfmu.master.loop.rollback import restore, save
from dockfmu.master.loop.sweep import sweep
from dockfmu.master.loop.tables import (
    AITKEN,
    BROYDEN,
    DIRECTIONAL_DERIVATIVE,
    INNER,
    JACOBIAN_KNOWN,
    NOT_CONVERGED,
    ONE,
    SWEEPS,
)


@compiled
def _predict(iteration, signals, prediction, h):
    """Set x to the ends of the lines of the outputs, or to the present outputs."""
    for j in range(iteration.slot.size):
        k = iteration.slot[j]
        iteration.x[j] = signals.y_real[k]
        if prediction.start.size > 0 and prediction.smooth[k]:
            iteration.x[j] += h * prediction.slope[k]


@compiled
def _impose(iteration, signals, prediction, h):
    """Make the next sweep use x, as the end of a line or as a held value."""
    for j in range(iteration.slot.size):
        k, x = iteration.slot[j], iteration.x[j]
        if prediction.start.size == 0:
            signals.y_real[k] = x
        elif prediction.smooth[k]:
            prediction.slope[k] = (x - prediction.start[k]) / h
        else:
            prediction.start[k] = x


@compiled
def _residual(iteration, y):
    """Compute the residual of a sweep; return its largest entry relative to the scales."""
    grow(iteration.scale, iteration.group, iteration.slot, y)
    largest = 0.0
    for j in range(iteration.slot.size):
        iteration.previous_residual[j] = iteration.residual[j]
        iteration.residual[j] = y[iteration.slot[j]] - iteration.x[j]
        size = relative(iteration.residual[j], iteration.scale[iteration.group[j]])
        # written so that NaN propagates
        if not size <= largest:
            largest = size
    return largest


@compiled
def _aitken(iteration, first, relaxation):
    """Return the relaxation that minimizes the residual on the straight line through the last two."""
    if first:
        return iteration.relaxation
    numerator, denominator = 0.0, 0.0
    for j in range(iteration.slot.size):
        w = weight(iteration.scale[iteration.group[j]])
        change = w * (iteration.residual[j] - iteration.previous_residual[j])
        numerator += w * iteration.previous_residual[j] * change
        denominator += change * change
    return -relaxation * numerator / denominator if denominator > 0.0 else relaxation


@compiled
def _update_jacobian(iteration):
    """Apply Broyden's update: the inverse Jacobian maps the last change of the residual to the last increment."""
    n, inverse = iteration.slot.size, iteration.inverse_jacobian
    denominator = 0.0
    for i in range(n):
        mapped = 0.0
        for j in range(n):
            mapped += inverse[i, j] * (iteration.residual[j] - iteration.previous_residual[j])
        iteration.work[i] = mapped
        denominator += iteration.increment[i] * weight(iteration.scale[iteration.group[i]]) ** 2 * mapped
    if denominator == 0.0:
        return
    for j in range(n):
        row = 0.0
        for i in range(n):
            row += iteration.increment[i] * weight(iteration.scale[iteration.group[i]]) ** 2 * inverse[i, j]
        for i in range(n):
            inverse[i, j] += (iteration.increment[i] - iteration.work[i]) * row / denominator


@compiled
def _differentiate(tables):
    """Compute the inverse Jacobian from the directional derivatives of the instances over the last sweep.

    The outputs of an instance without directional derivatives count as independent of its inputs. Returns False after a
    failure.
    """
    instances, signals, prediction = tables.instances, tables.signals, tables.prediction
    iteration, stages = tables.iteration, tables.instances.stages
    n, dy, du, calls = iteration.slot.size, iteration.dy, iteration.du, iteration.derivative_calls
    jacobian, program = iteration.jacobian, instances.program
    for j in range(n):
        dy[:] = 0.0
        dy[iteration.slot[j]] = 1.0
        for s in range(stages.size - 1):
            a, b = stages[s], stages[s + 1]
            for i in range(a, b):
                for r in range(instances.transfers[i, 0], instances.transfers[i, 1]):
                    source, target = np.uint64(program[r].source), np.uint64(program[r].target)
                    for k in range(np.uint64(program[r].count)):
                        # an input held at the middle of a line moves half as far as the end of the line
                        half = prediction.start.size > 0 and prediction.smooth[source + k] != 0
                        du[target + k] = signals.factor[target + k] * dy[source + k] * (0.5 if half else 1.0)
            for i in range(a, b):
                for k in range(signals.y_range[i], signals.y_range[i + ONE]):
                    dy[k] = 0.0
                call = calls[i]
                if call.function == 0:
                    continue
                status: int = get_directional_derivative(  # type: ignore[call-arg]
                    call.function,
                    call.component,
                    call.unknowns,
                    call.unknown_count,
                    call.knowns,
                    call.known_count,
                    call.dv_known,
                    call.dv_unknown,
                )
                if status != 0 and call_failed(tables, status, i, DIRECTIONAL_DERIVATIVE, 0):
                    return False
        for i in range(n):
            jacobian[i, j] = dy[iteration.slot[i]]
        jacobian[j, j] -= 1.0
    invert(jacobian, iteration.inverse_jacobian)
    return True


@compiled
def _reset_jacobian(iteration):
    """Reset the inverse Jacobian to its value for outputs that do not depend on x."""
    iteration.inverse_jacobian[:, :] = 0.0
    for j in range(iteration.slot.size):
        iteration.inverse_jacobian[j, j] = -1.0
    iteration.counters[JACOBIAN_KNOWN] = 0


@compiled
def _improve(tables, first, relaxation):
    """Compute the next x; return the relaxation that was used, NaN after a failure."""
    iteration = tables.iteration
    if iteration.method == AITKEN:
        relaxation = _aitken(iteration, first, relaxation)
    elif not first:
        _update_jacobian(iteration)
    elif iteration.counters[JACOBIAN_KNOWN] == 0:
        _reset_jacobian(iteration)
        iteration.counters[JACOBIAN_KNOWN] = 1
        if iteration.derivative_calls.shape[0] > 0 and not _differentiate(tables):
            return np.nan
    for i in range(iteration.slot.size):
        increment = relaxation * iteration.residual[i]
        if iteration.method == BROYDEN:
            increment = 0.0
            for j in range(iteration.slot.size):
                increment -= iteration.inverse_jacobian[i, j] * iteration.residual[j]
        iteration.increment[i] = increment
        iteration.x[i] += increment
    return relaxation


@compiled
def iterate(tables, t, h):
    """Step all instances from t to t + h with inputs that agree with their outputs; return False after a failure.

    A step that does not converge is accepted as it is, and counted.
    """
    iteration, signals, prediction = tables.iteration, tables.signals, tables.prediction
    if not save(tables, INNER):
        return False
    _predict(iteration, signals, prediction, h)
    relaxation = iteration.relaxation
    for k in range(iteration.max_sweeps):
        if k > 0:
            if not restore(tables, INNER):
                return False
            if prediction.start.size > 0:
                start_lines(signals, prediction)
        _impose(iteration, signals, prediction, h)
        if not sweep(tables, t, h):
            return False
        iteration.counters[SWEEPS] += 1
        error = _residual(iteration, signals.y_real)
        if error <= iteration.tolerance:
            return True
        if not error < np.inf:
            break
        if k + 1 < iteration.max_sweeps:
            relaxation = _improve(tables, k == 0, relaxation)
            if relaxation != relaxation:
                return False
    iteration.counters[NOT_CONVERGED] += 1
    iteration.counters[JACOBIAN_KNOWN] = 0
    iteration.largest_residual[0] = max(iteration.largest_residual[0], error)
    return True
