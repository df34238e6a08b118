"""A head that bounces in a wedge: a docking without its cost, to be estimated from a thousand times."""

import math

import numba
import numpy as np

STEP, STEPS, EVERY = 5e-4, 2800, 40
"""Step, s; steps of a run; steps between readings."""
SLOPE, STIFFNESS, MASS = 0.5, 4e4, 100.0
"""Of the walls, of walls and bottom (N/m), and of the head (kg)."""
HALF_WIDTH, DEPTH = 0.13, 0.22
"""Half the width of the wedge where the head enters, and where its bottom is, m."""
UNKNOWNS = 5
"""Lateral place, axial and lateral speed, friction, damping."""
READINGS = STEPS // EVERY
TIME = np.repeat((np.arange(READINGS) + 1) * EVERY * STEP, 3)
NOISE = np.tile([0.02, 0.02, 0.002], READINGS)
"""Of the mean axial and lateral acceleration since the last reading, m/s2, and of the lateral speed, m/s."""
BLOCKS = (3 * (np.arange(READINGS)[:, None] // 5) + np.arange(3)).ravel()


@numba.njit
def _run(lateral, speed, across, friction, damping, told):
    """Fill the readings of a run, shape (3 READINGS,), and return the largest force, N."""
    x, y, vx, vy, peak, jx, jy = 0.0, lateral, speed, across, 0.0, 0.0, 0.0
    norm = math.hypot(SLOPE, 1.0)
    for step in range(STEPS):
        fx, fy = 0.0, 0.0
        for side in (1.0, -1.0):
            depth = (side * y - HALF_WIDTH + SLOPE * x) / norm
            if depth > 0.0:
                nx, ny = -SLOPE / norm, -side / norm
                force = max(STIFFNESS * depth - damping * (vx * nx + vy * ny), 0.0)
                held = -friction * force * math.tanh((vy * nx - vx * ny) / 0.005)
                fx += force * nx - held * ny
                fy += force * ny + held * nx
        if x > DEPTH:
            fx -= max(STIFFNESS * (x - DEPTH) + damping * vx, 0.0)
        peak = max(peak, math.hypot(fx, fy))
        vx += STEP * fx / MASS
        vy += STEP * fy / MASS
        x += STEP * vx
        y += STEP * vy
        jx += fx
        jy += fy
        if (step + 1) % EVERY == 0:
            row = 3 * ((step + 1) // EVERY - 1)
            told[row], told[row + 1], told[row + 2] = jx / (EVERY * MASS), jy / (EVERY * MASS), vy
            jx, jy = 0.0, 0.0
    return peak


def bounce(members):
    """Return readings, shape (members, 3 READINGS), and largest forces, shape (members,), of normal unknowns."""
    told, peaks = np.empty((len(members), 3 * READINGS)), np.empty(len(members))
    for row, (lateral, speed, across, friction, damping) in enumerate(members):
        peaks[row] = _run(
            0.06 * lateral,
            0.25 + 0.03 * speed,
            0.03 * across,
            0.15 * math.exp(0.3 * friction),
            600.0 * math.exp(0.4 * damping),
            told[row],
        )
    return told, peaks
