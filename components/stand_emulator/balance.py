"""The balance of the stand: six gauges under the passive unit, their readings, and the wrenches on the craft.

A step over [t, t + h] takes the mean wrench of the mechanism on the passive unit over this interval, so the balance
steps after the mechanism and before the craft. Every `frame_time` the computer reads the gauges and holds the reading;
the craft get the mean over the step of the held readings. The passive craft gets the measured wrench, the active one
the reaction at its own port, in the simulated relative pose: their total momentum does not change. The wrench of the
mechanism on the platform acts on no craft, so the mass of the active craft includes the mechanism.
"""

from __future__ import annotations

from math import exp, fabs, isfinite, pi

from dockfmu.components.core import check
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.noise import normal_pair
from dockfmu.components.core.timing import ROUNDING
from dockfmu.components.physics.mechanics import matrix
from dockfmu.components.physics.mechanics.kinematics import extrapolate, relate
from dockfmu.components.physics.mechanics.rotation import apply, load_matrix
from dockfmu.components.physics.mechanics.vector import cross, load, negate, norm, store, subtract

DIRECTION = 11
ARRANGEMENT = 12
WRENCH = 13

MESSAGES = check.messages("1 active, 2 passive") | {
    DIRECTION: Message(
        "parameters.gauge.direction: row {status.index:.0f} has length {status.value:.6g}: give a unit vector"
    ),
    ARRANGEMENT: Message(
        "parameters.gauge: these positions and directions do not determine all six components of a wrench"
    ),
    WRENCH: Message("the force or torque of port {status.index:.0f} (1 base, 2 target) is not finite"),
}

# smallest pivot of a regular arrangement of gauges, m; rounding leaves 1e-16
SMALLEST_PIVOT = 1e-9


@kernel
def _check_wrench(port, index, status):
    total = 0.0
    for i in range(3):
        total += port.force[i] + port.torque[i]
    if not isfinite(total):
        return fail(status, WRENCH, total, index)
    return 0


@kernel
def _check_inputs(m):
    """Return 0, or the code of an input that is not finite or not an attitude."""
    code = check.check_ports(m.active, m.passive, m.status)
    if code == 0:
        code = check.check_accelerations(m.active, m.passive, m.status)
    if code == 0:
        code = _check_wrench(m.base, 1, m.status)
    if code == 0:
        code = _check_wrench(m.target, 2, m.status)
    return code


@kernel
def _prepare(p, w, status):
    """Set the matrix S of the gauges, with columns [e; p x e], and its LU factors. Returns 0, or a code."""
    for k in range(6):
        e = load(p.gauge.direction[k])
        if not check.is_unit(p.gauge.direction[k]):
            return fail(status, DIRECTION, norm(e), k + 1)
        m = cross(load(p.gauge.position[k]), e)
        for i in range(3):
            w.matrix[i, k] = e[i]
            w.matrix[3 + i, k] = m[i]
            w.factors[i, k] = e[i]
            w.factors[3 + i, k] = m[i]
    regular = matrix.factor_lu(w.factors, w.pivot, 6)
    for k in range(6):
        regular = regular and fabs(w.factors[k, k]) > SMALLEST_PIVOT
    if not regular:
        return fail(status, ARRANGEMENT, 0.0, 0)
    return 0


@kernel
def _load(m):
    """Set the forces along the gauges that balance the wrench on the passive unit."""
    w = m.work
    for i in range(3):
        w.load[i] = m.target.force[i]
        w.load[3 + i] = m.target.torque[i]
    matrix.solve_lu(w.factors, w.pivot, w.load, 6)


@kernel
def _component(S, i, gauges):
    """Return component i of the wrench of forces along the gauges."""
    total = 0.0
    for k in range(6):
        total += S[i, k] * gauges[k]
    return total


@kernel
def _watch(m):
    """Set the emergency stop if the signals of the gauges exceed a limit, as the analogue channel does."""
    S = m.work.matrix
    signal = m.work.signal
    force = (_component(S, 0, signal), _component(S, 1, signal), _component(S, 2, signal))
    torque = (_component(S, 3, signal), _component(S, 4, signal), _component(S, 5, signal))
    if norm(force) > m.parameters.force_limit or norm(torque) > m.parameters.torque_limit:
        m.emergency_stop = 1.0


@kernel
def _read(m):
    """Read the gauges, with bias, noise and full scale, and set the wrench of the reading."""
    p = m.parameters
    w = m.work
    number = int(w.readings)
    saturated = False
    for pair in range(3):
        deviates = normal_pair(int(p.seed), number, pair)
        for i in range(2):
            k = 2 * pair + i
            reading = w.signal[k] + p.gauge.bias[k] + p.noise * deviates[i]
            if fabs(reading) > p.gauge.full_scale:
                reading = p.gauge.full_scale if reading > 0.0 else -p.gauge.full_scale
                saturated = True
            m.gauge[k].reading = reading
    for i in range(6):
        total = 0.0
        for k in range(6):
            total += w.matrix[i, k] * m.gauge[k].reading
        w.wrench[i] = total
    for i in range(3):
        m.measured.force[i] = w.wrench[i]
        m.measured.torque[i] = w.wrench[3 + i]
    m.measured.saturated = 1.0 if saturated else 0.0
    w.readings += 1.0


@kernel
def _exert(m, h):
    """Apply the mean of the readings to the passive craft, and its reaction to the active one, in mid-step."""
    mean = m.work.mean
    force = (mean[0], mean[1], mean[2])
    torque = (mean[3], mean[4], mean[5])
    store(force, m.passive.force)
    store(torque, m.passive.torque)
    extrapolate(m.active, load(m.active.acceleration), load(m.active.angular_acceleration), 0.5 * h, m.at_active)
    extrapolate(
        m.passive,
        load(m.passive.acceleration),
        load(m.passive.angular_acceleration),
        0.5 * h,
        m.at_passive,
    )
    relate(m.relative, m.at_active, m.at_passive)
    A = load_matrix(m.relative.rotation)
    about_base = subtract(torque, cross(load(m.relative.position), force))
    store(negate(apply(A, force)), m.active.force)
    store(negate(apply(A, about_base)), m.active.torque)


@kernel
def _pass_on(m):
    """Pass the wrenches of the mechanism on to both craft, bitwise unchanged."""
    store(load(m.base.force), m.active.force)
    store(load(m.base.torque), m.active.torque)
    store(load(m.target.force), m.passive.force)
    store(load(m.target.torque), m.passive.torque)


@kernel
def initialize(m):
    """Begin with gauges settled to the present wrench and read once. Returns 0, or the code of a failure."""
    code = _check_inputs(m)
    if code == 0:
        code = _prepare(m.parameters, m.work, m.status)
    if code:
        return code
    m.emergency_stop = 0.0
    m.work.readings = 0.0
    m.work.until_frame = 0.0
    _load(m)
    for k in range(6):
        m.work.signal[k] = m.work.load[k]
    _read(m)
    # the first step reads again, at its start
    m.work.readings = 0.0
    if m.parameters.bypass != 0.0:
        _pass_on(m)
        return 0
    for i in range(6):
        m.work.mean[i] = m.work.wrench[i]
    _exert(m, 0.0)
    return 0


@kernel
def step(m, t, h):
    """Measure over [t, t + h], h > 0, s. Returns 0, or the code of a failure."""
    code = _check_inputs(m)
    if code:
        return code
    if m.parameters.bypass != 0.0:
        _pass_on(m)
        return 0
    w = m.work
    _load(m)
    for i in range(6):
        w.mean[i] = 0.0
    done = 0.0
    while h - done > ROUNDING:
        while w.until_frame <= done + ROUNDING:
            _read(m)
            w.until_frame += m.parameters.frame_time
        until = min(h, w.until_frame)
        part = until - done
        decay = exp(-2.0 * pi * m.parameters.cutoff * part)
        for k in range(6):
            w.signal[k] = w.load[k] + (w.signal[k] - w.load[k]) * decay
            w.mean[k] += part / h * w.wrench[k]
        _watch(m)
        done = until
    w.until_frame -= h
    _exert(m, h)
    return 0
