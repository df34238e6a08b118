"""A hub with a long beam, and its motion by bodies in absolute coordinates: a reference for the two-way craft.

The reference uses neither invariants nor the equations of flexible 3.4. Kinetic energy is summed over the bodies;
momenta are its derivatives with respect to velocity, angular velocity and modal rates, integrated by DOP853 in Hamel's
form

    p_v' = F - w x p_v,   p_w' = M - w x p_w - v x p_v,   p_xi' = Q + dT/dw,

with the derivatives by complex steps.
"""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from dockfmu.components import spacecraft
from dockfmu.components.core.component import Instance
from dockfmu.components.spacecraft.modes import Beam, InertialCoupling, Modes
from dockfmu.components.spacecraft.modes.eigen import symmetric_modes

BEAM = Beam(length=10.0, density=2.0, bending_y=4e4, bending_z=8e4, axial=1e8, torsion=2e4, polar=0.02)
HUB = 1000.0, np.diag([800.0, 600.0, 600.0]), np.array([-1.0, 0.0, 0.0])
"""Mass, inertia about its centre, centre from the root of the beam: flexible O3."""


def skew(r: np.ndarray) -> np.ndarray:
    """Return the matrix of r x."""
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


def rotation(q: np.ndarray) -> np.ndarray:
    """Return A of a quaternion, I -> body, the formula of conventions section 2."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
            [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
            [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@dataclass(frozen=True)
class Bodies:
    """Hub and nodes of the beam as rigid bodies; the hub is first, and no mode moves it. Places are from the root."""

    mass: np.ndarray
    place: np.ndarray
    inertia: np.ndarray
    shape: np.ndarray
    frequency: np.ndarray
    tip: np.ndarray

    @property
    def center(self):
        return self.mass @ self.place / self.mass.sum()

    @property
    def origin(self):
        """Root of the beam -> origin of I of `craft`, whose frame C starts there."""
        return self.center

    def whole(self):
        """Mass, centre and inertia about the centre of the undeformed craft."""
        r = self.place - self.center
        steiner = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(self.mass, r, strict=True))
        return self.mass.sum(), self.center, self.inertia.sum(axis=0) + steiner

    def coupling(self):
        return InertialCoupling.of_bodies(self.mass, self.place - self.center, self.inertia, self.shape)

    def modes(self, decrement=0.0):
        n = len(self.frequency)
        ports = np.stack([np.zeros((6, n)), self.tip])
        return Modes(self.frequency, np.full(n, decrement), ports, np.zeros((1, 3, n)), coupling=self.coupling())

    def free_modes(self):
        """Return modes of the free craft in the same shapes, for one-way: they move hub and tip, and no momentum."""
        n = len(self.frequency)
        M, K = Reference(self).mass_matrix(np.zeros(n)), np.zeros((6 + n, 6 + n))
        K[6:, 6:] = np.diag(self.frequency**2)
        values, vectors = symmetric_modes(K, M)
        ports = np.zeros((2, 6, 6 + n))
        for port, place, shape in ((0, HUB[2], np.zeros((6, n))), (1, np.array([10.0, 0.0, 0.0]), self.tip)):
            ports[port, :3, :3] = ports[port, 3:, 3:6] = np.eye(3)
            ports[port, :3, 3:6] = -skew(place)
            ports[port, :, 6:] = shape
        return Modes(np.sqrt(values[6:]), np.zeros(n), ports @ vectors[:, 6:], np.zeros((1, 3, n)))

    def craft(self, coupling="two_way", decrement=0.0, modes=None, **values):
        mass, center, inertia = self.whole()
        modes = self.modes(decrement) if modes is None else modes
        return Instance(
            spacecraft.component(modes, coupling=coupling),
            **{
                "parameters.mass": mass,
                "parameters.center_of_mass": center,
                "parameters.inertia": inertia,
                "parameters.port[1].position": HUB[2],
                "parameters.port[2].position": (10.0, 0.0, 0.0),
                "parameters.rotation_limit": 10.0,
                **values,
            },
        )


def hub_and_beam(count=4, scale=1.0):
    """Return the craft of flexible O6 with the first `count` modes of the beam held at its root.

    `scale` multiplies the beam's mass.
    """
    K, _ = BEAM.matrices()
    mass, offset, inertia = BEAM.bodies()
    mass, inertia = scale * mass, scale * inertia
    M = np.zeros_like(K)
    for k in range(len(mass)):
        at = slice(6 * k, 6 * k + 6)
        T = np.block([[np.eye(3), -skew(offset[k])], [np.zeros((3, 3)), np.eye(3)]])
        M[at, at] = T.T @ np.block([[mass[k] * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), inertia[k]]]) @ T
    values, vectors = symmetric_modes(scale * K[6:, 6:], M[6:, 6:])
    shape = np.zeros((len(K), count))
    shape[6:] = vectors[:, :count]
    for j in range(count):
        tip = shape[-6:-3, j]
        shape[:, j] *= np.sign(tip[np.argmax(np.abs(tip))])
    shape = shape.reshape(-1, 6, count)
    centre = shape.copy()
    centre[:, :3] += np.cross(shape[:, 3:], offset[:, :, None], axis=1)
    nodes = np.column_stack([BEAM.nodes + 5.0, np.zeros((len(mass), 2))])
    return Bodies(
        mass=np.append(HUB[0], mass),
        place=np.vstack([HUB[2], nodes + offset]),
        inertia=np.concatenate([HUB[1][None], inertia]),
        shape=np.concatenate([np.zeros((1, 6, count)), centre]),
        frequency=np.sqrt(values[:count]),
        tip=shape[-1],
    )


class Reference:
    """Motion of the bodies; state (p_v, p_w, p_xi, position of the root in I, quaternion I -> body, w)."""

    def __init__(self, bodies, damping=0.0):
        self.bodies, self.n = bodies, len(bodies.frequency)
        self.damping = damping * np.ones(self.n)

    def mass_matrix(self, w):
        """From the kinetic energy of the bodies; of complex w too."""
        b = self.bodies
        place = b.place + b.shape[:, :3] @ w
        J = np.zeros((len(b.mass), 6, 6 + self.n), place.dtype)
        J[:, :3, :3] = J[:, 3:, 3:6] = np.eye(3)
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            # column 3 + j of -s x: e_j x s
            J[:, i, 3 + j] = place[:, k]
            J[:, j, 3 + i] = -place[:, k]
        J[:, :, 6:] = b.shape
        moving = J * np.sqrt(b.mass)[:, None, None]
        moving = moving[:, :3].reshape(-1, 6 + self.n)
        turning = np.einsum("kij,kja->kia", b.inertia, J[:, 3:]).reshape(-1, 6 + self.n)
        return moving.T @ moving + J[:, 3:].reshape(-1, 6 + self.n).T @ turning

    def start(self, velocity=(0, 0, 0), spin=(0, 0, 0), w=None, rate=None):
        w = np.zeros(self.n) if w is None else np.asarray(w, float)
        rate = np.zeros(self.n) if rate is None else np.asarray(rate, float)
        momenta = self.mass_matrix(w) @ np.concatenate([velocity, spin, rate])
        return np.concatenate([momenta, np.zeros(3), [1.0, 0.0, 0.0, 0.0], w])

    def velocities(self, y):
        return np.linalg.solve(self.mass_matrix(y[13 + self.n :]), y[: 6 + self.n])

    def derivative(self, t, y, load):
        """`load(t, y)`: force and torque about the root, body axes, and modal forces."""
        n = self.n
        p, q, w = y[: 6 + n], y[9 + n : 13 + n], y[13 + n :]
        u = self.velocities(y)
        force, torque, modal = load(t, y)
        v, omega, rate = u[:3], u[3:6], u[6:]
        slope = np.empty(n)
        for j in range(n):
            moved = w.astype(complex)
            moved[j] += 1e-30j
            slope[j] = 0.5 * (u @ self.mass_matrix(moved) @ u).imag / 1e-30
        out = np.empty_like(y)
        out[:3] = force - np.cross(omega, p[:3])
        out[3:6] = torque - np.cross(omega, p[3:6]) - np.cross(v, p[:3])
        out[6 : 6 + n] = modal + slope - self.bodies.frequency**2 * w - self.damping * rate
        out[6 + n : 9 + n] = rotation(q).T @ v
        x = np.append(0.0, omega)
        out[9 + n : 13 + n] = 0.5 * np.array(
            [
                -q[1:] @ x[1:],
                *(q[0] * x[1:] + np.cross(q[1:], x[1:])),
            ]
        )
        out[13 + n :] = rate
        return out

    def tip(self, y):
        """Place of the beam's tip in I, whose origin is the root at the start."""
        w, q = y[13 + self.n :], y[9 + self.n : 13 + self.n]
        return y[6 + self.n : 9 + self.n] + rotation(q).T @ (np.array([10.0, 0.0, 0.0]) + self.bodies.tip[:3] @ w)

    def run(self, y, seconds, load, start=0.0):
        """State after some seconds, in which the load is smooth."""
        done = solve_ivp(self.derivative, (start, start + seconds), y, "DOP853", args=(load,), rtol=1e-10, atol=1e-12)
        return done.y[:, -1]
