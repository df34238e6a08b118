"""A payload on an arm whose contact goes through the stand: growth by eigenvalues, and by a run of the kernels.

This is `delayed_contact` for the berthing system: MIM-1 hangs on SSRMS, whose joints are locked, so that its gripper is
fixed and the payload moves in six degrees of freedom on K_M, C_M. A spring k and damper c act along x on its
mating interface, and the stand delays their force by G(s): exp(s t) is a motion where
M s^2 + C_M s + K_M + e e^T (c s + k) G(s) is singular, e the direction of the contact at E.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, least_squares

from benchmarks.coupling.delayed_contact import Stand, devices
from dockfmu.components.core.component import Instance
from dockfmu.fmus import catalogue

JOINTS = 7
PAYLOAD = 8015.0
"""Mass that the contact feels, kg: its line passes through the centre of mass of MIM-1."""
START = 1e-5
"""Deflection of the contact spring at the start, m: so small that motion stays linear while it grows 200 times."""


def _arm() -> Instance:
    component = catalogue.component("Manipulator")
    sets = {entry.name: entry for entry in component.parameter_sets}
    chosen = [sets[name] for name in ("SSRMS", "MIM-1", "REF-SSRMS")]
    return Instance(component, *chosen, **{"parameters.joint.locked": np.ones(JOINTS)})


def _matrices(m) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (mass, C_M, K_M, e) of small motions of the payload at E, axes E; e is a unit force along x of PI."""
    p = m.parameters
    # PL -> E, I -> E, as the payload hangs at the start
    to_gripper = np.array(m.free_body.to_gripper)
    centre = -to_gripper @ np.array(p.grapple.position)
    lever = np.cross(np.eye(3), centre)
    mass = np.zeros((6, 6))
    mass[:3, :3] = p.payload.mass * np.eye(3)
    mass[3:, :3] = p.payload.mass * lever
    mass[:3, 3:] = mass[3:, :3].T
    mass[3:, 3:] = to_gripper @ np.array(p.payload.inertia) @ to_gripper.T + p.payload.mass * lever.T @ lever
    along = to_gripper @ np.array(m.free_body.to_interface)[0]
    place = centre + to_gripper @ np.array(p.interface.position)
    contact = np.concatenate([along, np.cross(place, along)])
    return mass, np.array(m.compliance.damping), np.array(m.compliance.stiffness), contact


def eigenvalues(stand: Stand, k: float, c: float) -> np.ndarray:
    """Return s of the six modes of the payload on arm and contact, 1/s, by Newton's method.

    Each starts from the mode without the stand, and the delays are introduced gradually.
    """
    mass, damping, stiffness, e = _matrices(_arm().m)
    inverse = np.linalg.inv(mass)
    system = np.block(
        [
            [np.zeros((6, 6)), np.eye(6)],
            [-inverse @ (stiffness + k * np.outer(e, e)), -inverse @ (damping + c * np.outer(e, e))],
        ]
    )
    start = np.linalg.eigvals(system)
    return np.array([_followed(stand, k, c, complex(s), (mass, damping, stiffness, e)) for s in start[start.imag > 0]])


def _followed(stand: Stand, k: float, c: float, s: complex, matrices: tuple[np.ndarray, ...]) -> complex:
    mass, damping, stiffness, e = matrices
    for share in np.linspace(0.05, 1.0, 20):
        part = Stand(
            share * stand.delay,
            stand.frequency / share,
            stand.damping,
            stand.feedforward,
            stand.cutoff / share,
            share * stand.frame_time,
        )

        def determinant(x: complex, part: Stand = part) -> complex:
            delayed = (c * x + k) * part.response(x) * np.outer(e, e)
            return np.linalg.det(np.linalg.solve(mass, mass * x * x + damping * x + stiffness + delayed))

        for _ in range(50):
            step = 1e-6 * abs(s)
            change = determinant(s) / ((determinant(s + step) - determinant(s - step)) / (2.0 * step))
            s -= change
            if abs(change) < 1e-12 * abs(s):
                break
    return s


def least_damping(stand: Stand, k: float) -> float:
    """Return the damping with which the fastest of the modes neither grows nor decays, N s/m."""

    def growth(c: float) -> float:
        return float(eigenvalues(stand, k, c).real.max())

    return float(brentq(growth, 0.0, k * stand.total_delay, rtol=1e-4))


def growth(positions: np.ndarray, modes: np.ndarray, h: float = 1e-3) -> complex:
    """Return s of the fastest growing mode, 1/s, by a fit of all modes and a constant over the second half of a run.

    The others are held at `modes`, their eigenvalues: some decay by less than 0.02 1/s, and a fit of one mode alone
    would take their remainder for growth.
    """
    fastest = modes.real.argmax()
    every = max(1, round(2.0 * np.pi / modes.imag.max() / 24.0 / h))
    x = positions[len(positions) // 2 :: every]
    t = every * h * np.arange(len(x))

    def left(s: np.ndarray) -> np.ndarray:
        tried = modes.copy()
        tried[fastest] = complex(*s)
        wave = np.exp(np.outer(t, tried))
        columns = np.column_stack([wave.real, wave.imag, np.ones(len(t))])
        columns /= np.linalg.norm(columns, axis=0)
        return (columns @ np.linalg.lstsq(columns, x, rcond=None)[0] - x) / np.abs(x).max()

    found = least_squares(left, [modes[fastest].real, modes[fastest].imag], x_scale=1e-2, xtol=1e-12, ftol=1e-12)
    return complex(*found.x)


def simulate(stand: Stand, k: float, c: float, seconds: float, h: float = 1e-3) -> np.ndarray:
    """Return the positions of the interface along x after each step, m, by the kernels of arm, platform and balance."""
    arm = _arm()
    port = arm.m.interface
    position = port.position
    origin = np.array(position)
    attitude = np.array(port.quaternion)
    motion = {"passive.position": origin, "active.position": origin, "active.quaternion": attitude}
    platform, balance = devices(stand, **motion)
    # views of the records: to find them by their names takes longer than a step
    names = ("position", "quaternion", "velocity", "angular_velocity")
    told = [(getattr(d.m.active, name), getattr(port, name)) for d in (platform, balance) for name in names]
    place, rate, change = (getattr(platform.m.base, name) for name in ("position", "velocity", "acceleration"))
    pushed, felt = (
        balance.m.target.force,
        [(getattr(port, n), getattr(balance.m.active, n)) for n in ("force", "torque")],
    )
    found = np.empty(round(seconds / h))
    for n in range(len(found)):
        for device, own in told:
            device[:] = own
        platform.step(n * h, h)
        x, v, a = place[0], rate[0], change[0]
        # the mean over the step of the force on the unit at rest; the spring is relaxed START before the first place
        pushed[0] = k * (x + START + v * h / 2 + a * h * h / 6) + c * (v + a * h / 2)
        balance.step(n * h, h)
        for own, device in felt:
            own[:] = device
        arm.step(n * h, h)
        found[n] = position[0] - origin[0]
    return found
