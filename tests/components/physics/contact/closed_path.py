"""A closed path of a body in all six coordinates: the work of an elastic contact over it is zero."""

import numpy as np

from dockfmu.base.compiler import jit
from dockfmu.components.physics.mechanics.rotation import about_x, about_y, about_z, compose, store_matrix

Y = np.array([0.0, 0.3, 0.0, 0.0, 0.0, 0.0])
Y_AND_PITCH = np.array([0.0, 0.3, 0.0, 0.0, 0.3, 0.0])
"""Amplitudes of the second harmonic, which makes the outward and the return path differ."""


@jit
def place(body, middle, size, phase, second, s):
    """Place a body at the angle s (rad) of its path; return rates of the coordinates, angular velocity, and attitude.

    The coordinates x, y, z, yaw, pitch, roll are middle + size (sin(s + phase) + second sin 2 s), the rates those by s;
    the angular velocity is in the frame in which the body moves.
    """
    c = middle + size * (np.sin(s + phase) + second * np.sin(2.0 * s))
    rate = size * (np.cos(s + phase) + 2.0 * second * np.cos(2.0 * s))
    A = compose(about_x(c[5]), compose(about_z(c[4]), about_y(c[3])))
    store_matrix(A, body.rotation)
    for j in range(3):
        body.position[j] = c[j]
    # yaw about y, pitch about the turned z, roll about the body's x
    sy, cy = np.sin(c[3]), np.cos(c[3])
    w = (rate[5] * A[0][0] + rate[4] * sy, rate[5] * A[0][1] + rate[3], rate[5] * A[0][2] + rate[4] * cy)
    return rate, w, A
