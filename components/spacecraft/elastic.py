"""Elastic modes: oscillators, advanced exactly for a force held over the step (sections 4.2 and 4.3).

The loops run over arrays of modes without branches and with several independent sums, added in a fixed order.
Thousands of modes cost a few nanoseconds each.
"""

from __future__ import annotations

from math import cos, exp, pi, sin, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics import vector
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import cross, scale, subtract
from dockfmu.components.spacecraft import mounts


@kernel
def damping(frequency, decrement):
    """Return c of q'' + c q' + w^2 q = f from the logarithmic decrement (eq. (4.2.7), the square root corrected)."""
    return 2.0 * frequency * decrement / sqrt(4.0 * pi * pi + decrement * decrement)


@kernel
def coefficients(frequency, decrement, h):
    """Return (c1, c2, c3, c5) of one mode over h (eq. (4.3.4), c3 corrected); c4 = -w^2 c2 and c6 = c2."""
    a = -0.5 * damping(frequency, decrement)
    b = sqrt(frequency * frequency - a * a)
    decay = exp(a * h)
    c = decay * cos(b * h)
    s = decay * sin(b * h) / b
    c1 = c - a * s
    return c1, s, (1.0 - c1) / (frequency * frequency), c + a * s


@kernel
def dot(x, y, n):
    """Return the sum of x[j] y[j] over the first n, in four interleaved parts."""
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    whole = n // 4
    for k in range(whole):
        j = 4 * k
        a += x[j] * y[j]
        b += x[j + 1] * y[j + 1]
        c += x[j + 2] * y[j + 2]
        d += x[j + 3] * y[j + 3]
    for j in range(4 * whole, n):
        a += x[j] * y[j]
    return (a + b) + (c + d)


@kernel
def project(shape, coordinate, rate, n):
    """Return the displacement and rotation of a port in axes S, and their rates: two tuples of six.

    One pass over the modes computes twelve independent sums, which keep the processor busy; a single sum would wait for
    its own result.
    """
    a0 = a1 = a2 = a3 = a4 = a5 = 0.0
    b0 = b1 = b2 = b3 = b4 = b5 = 0.0
    for j in range(n):
        q = coordinate[j]
        v = rate[j]
        a0 += shape[j, 0] * q
        a1 += shape[j, 1] * q
        a2 += shape[j, 2] * q
        a3 += shape[j, 3] * q
        a4 += shape[j, 4] * q
        a5 += shape[j, 5] * q
        b0 += shape[j, 0] * v
        b1 += shape[j, 1] * v
        b2 += shape[j, 2] * v
        b3 += shape[j, 3] * v
        b4 += shape[j, 4] * v
        b5 += shape[j, 5] * v
    return (a0, a1, a2, a3, a4, a5), (b0, b1, b2, b3, b4, b5)


@kernel
def prepare(e, modes, r, mount, n):
    """Set the modal coordinates at the start, zero for modes that are not used, and deform the ports accordingly."""
    for j in range(len(e.coordinate)):
        e.coordinate[j] = modes.initial_coordinate[j] if j < n else 0.0
        e.rate[j] = modes.initial_rate[j] if j < n else 0.0
        e.force[j] = 0.0
    e.step = 0.0
    for p in range(len(mount)):
        for i in range(6):
            mount[p].load[i] = 0.0
        deform(e, modes, r, mount[p], p, n, 0.0)
    energies(e, modes, n)


@kernel
def deform(e, modes, r, mount, p, n, h):
    """Deform port p by the modes after a step of length h, 0 at the start.

    Returns the work of its wrench on them.
    """
    deformation, rate = project(modes.port[p], e.coordinate, e.rate, n)
    return mounts.deform(r, mount, deformation, rate, h)


@kernel
def energies(e, modes, n):
    """Set the kinetic and stored energy of the modes; `force` serves as scratch."""
    e.kinetic_energy = 0.5 * dot(e.rate, e.rate, n)
    for j in range(n):
        e.force[j] = modes.frequency[j] * e.coordinate[j]
    e.stored_energy = 0.5 * dot(e.force, e.force, n)


@kernel
def set_mobility(e, modes, p, n, h):
    """Set the mobility of port p due to the modes from their coefficients for steps of h, axes S."""
    shape = modes.port[p]
    for i in range(6):
        for k in range(6):
            total = 0.0
            for j in range(n):
                total += shape[j, i] * shape[j, k] * e.from_rate[j]
            e.mobility[i, k] = total / h


@kernel
def tune(e, modes, n, h, affine_port):
    """Set the coefficients for steps of h, kept until h changes.

    With `affine_port` >= 0, also set the mobility of that port.
    """
    if e.step == h:
        return
    for j in range(n):
        c1, c2, c3, c5 = coefficients(modes.frequency[j], modes.decrement[j], h)
        e.from_coordinate[j] = c1
        e.from_rate[j] = c2
        e.from_force[j] = c3
        e.rate_from_rate[j] = c5
    e.step = h
    if affine_port >= 0:
        set_mobility(e, modes, affine_port, n, h)


@kernel
def excite_by_thrusters(e, modes, thruster, nozzle, n):
    """Set the excitation of a step to the modal forces of the thrusters."""
    for j in range(n):
        e.excitation[j] = 0.0
    for k in range(len(thruster)):
        thrust = thruster[k].thrust
        if thrust != 0.0:
            f = scale(thrust, vector.load(nozzle[k].direction))
            shape = modes.thruster[k]
            for j in range(n):
                e.excitation[j] += shape[j, 0] * f[0] + shape[j, 1] * f[1] + shape[j, 2] * f[2]


@kernel
def control_wrench(p, r, a):
    """Return the wrench of control, push and attitude hold about nozzle 1: (force, torque), axes S."""
    frame = load_matrix(r.frame)
    f = apply_transposed(frame, vector.load(a.direct_force))
    m = apply_transposed(frame, vector.load(a.direct_torque))
    arm = subtract(vector.load(p.thruster[0].position), vector.load(p.center_of_mass))
    return f, subtract(m, cross(arm, f))


@kernel
def excite_by_control(p, e, modes, r, a, n):
    """Add the modal forces of control wrench, push and attitude hold, and set `e.force` to the sum so far.

    Their wrench about the centre of mass acts on the structure at nozzle 1, where the engines are: the same force, with
    the torque about that point. So a control wrench equal to the thrust of nozzle 1 excites the modes in the same way
    (ruling R43).
    """
    f, m = control_wrench(p, r, a)
    if vector.dot(f, f) + vector.dot(m, m) > 0.0:
        shape = modes.control
        for j in range(n):
            translation = shape[j, 0] * f[0] + shape[j, 1] * f[1] + shape[j, 2] * f[2]
            e.excitation[j] += translation + (shape[j, 3] * m[0] + shape[j, 4] * m[1] + shape[j, 5] * m[2])
    for j in range(n):
        e.force[j] = e.excitation[j]


@kernel
def excite_by_port(e, modes, mount, p, n):
    """Add the modal forces of the wrench on port p (eq. (4.2.4))."""
    shape = modes.port[p]
    load = mount.load
    f0 = load[0]
    f1 = load[1]
    f2 = load[2]
    m0 = load[3]
    m1 = load[4]
    m2 = load[5]
    if f0 == 0.0 and f1 == 0.0 and f2 == 0.0 and m0 == 0.0 and m1 == 0.0 and m2 == 0.0:
        return
    for j in range(n):
        translation = shape[j, 0] * f0 + shape[j, 1] * f1 + shape[j, 2] * f2
        e.force[j] += translation + (shape[j, 3] * m0 + shape[j, 4] * m1 + shape[j, 5] * m2)


@kernel
def bias(e, modes, p, n, h):
    """Set `bias` to the mean acceleration of port p over the step due to the modal forces gathered so far, axes S."""
    shape = modes.port[p]
    for i in range(6):
        total = 0.0
        for j in range(n):
            w = modes.frequency[j]
            change = e.from_rate[j] * (e.force[j] - w * w * e.coordinate[j]) + (e.rate_from_rate[j] - 1.0) * e.rate[j]
            total += shape[j, i] * change
        e.bias[i] = total / h


@kernel
def advance(e, modes, n):
    """Advance all modes over the step. Returns the work of thrusters and control on them."""
    before = dot(e.excitation, e.coordinate, n)
    for j in range(n):
        w = modes.frequency[j]
        q = e.coordinate[j]
        v = e.rate[j]
        f = e.force[j]
        c2 = e.from_rate[j]
        e.coordinate[j] = e.from_coordinate[j] * q + c2 * v + e.from_force[j] * f
        e.rate[j] = c2 * (f - w * w * q) + e.rate_from_rate[j] * v
    return dot(e.excitation, e.coordinate, n) - before
