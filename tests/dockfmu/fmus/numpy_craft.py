"""A rigid spacecraft as a third party might write it: pythonfmu and numpy, Newton and Euler, classical Runge-Kutta.

It takes the ports of `dockfmu ports atv_probe_cone.chaser` and the parameters that a rigid body needs; no audit.
"""

import numpy as np
from array_slave import ArraySlave
from pythonfmu import Boolean, Fmi2Causality, Fmi2Variability, Integer


def cross(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def matrix(q):
    """Body -> inertial, of the unit quaternion of the body's attitude."""
    u = cross(q[1:])
    return np.eye(3) + 2.0 * q[0] * u + 2.0 * u @ u


class NumpyCraft(ArraySlave):
    def __init__(self, **options):
        super().__init__(**options)
        self.mass = np.array(1.0)
        self.inertia = np.eye(3)
        self.arm = np.zeros(3)
        self.thrust = np.array(0.0)
        self.position, self.velocity, self.spin = np.zeros(3), np.zeros(3), np.zeros(3)
        self.attitude = np.array([1.0, 0.0, 0.0, 0.0])
        self.force, self.torque = np.zeros(3), np.zeros(3)
        self.push, self.hold = np.array(0.0), np.array(0.0)
        self.out = {
            name: np.zeros(4 if name == "quaternion" else 3)
            for name in (
                "position",
                "quaternion",
                "velocity",
                "angular_velocity",
                "acceleration",
                "angular_acceleration",
            )
        }
        for name, array in (
            ("mass", self.mass),
            ("inertia", self.inertia),
            ("port[1].position", self.arm),
            ("push_thrust", self.thrust),
            ("initial.position", self.position),
            ("initial.quaternion", self.attitude),
            ("initial.velocity", self.velocity),
            ("initial.angular_velocity", self.spin),
        ):
            self.add(f"parameters.{name}", array, Fmi2Causality.parameter, variability=Fmi2Variability.tunable)
        self.add("port[1].force", self.force, Fmi2Causality.input)
        self.add("port[1].torque", self.torque, Fmi2Causality.input)
        for name, array in self.out.items():
            self.add(f"port[1].{name}", array, Fmi2Causality.output)
        self.add("command.push", self.push, Fmi2Causality.input, Integer)
        self.add("command.attitude_hold", self.hold, Fmi2Causality.input, Boolean)

    def rates(self, q, w):
        """(acceleration of the centre in I, angular acceleration in body axes) under the wrench held in body axes."""
        force = self.force + np.array([float(self.push * self.thrust), 0.0, 0.0])
        torque = self.torque + np.cross(self.arm, self.force)
        return (
            matrix(q) @ force / float(self.mass),
            np.linalg.solve(self.inertia, torque - np.cross(w, self.inertia @ w)),
        )

    def derivative(self, state):
        q, w = state[6:10] / np.linalg.norm(state[6:10]), state[10:]
        acceleration, angular = self.rates(q, w)
        turn = 0.5 * np.concatenate([[-q[1:] @ w], q[0] * w + np.cross(q[1:], w)])
        return np.concatenate([state[3:6], acceleration, turn, angular])

    def publish(self):
        A, q, w = matrix(self.attitude), self.attitude, self.spin
        acceleration, angular = self.rates(q, w)
        out = self.out
        out["position"][:] = self.position + A @ self.arm
        # the quaternion of I -> port turns vectors the other way round, and is that of the body's attitude
        out["quaternion"][:] = q
        out["velocity"][:] = A.T @ self.velocity + np.cross(w, self.arm)
        out["angular_velocity"][:] = w
        out["acceleration"][:] = A.T @ acceleration + np.cross(angular, self.arm) + np.cross(w, np.cross(w, self.arm))
        out["angular_acceleration"][:] = angular

    def enter_initialization_mode(self):
        self.attitude /= np.linalg.norm(self.attitude)
        self.publish()

    def do_step(self, current_time, step_size):
        if self.hold:
            return False
        h, y = step_size, np.concatenate([self.position, self.velocity, self.attitude, self.spin])
        k1 = self.derivative(y)
        k2 = self.derivative(y + 0.5 * h * k1)
        k3 = self.derivative(y + 0.5 * h * k2)
        k4 = self.derivative(y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        self.position[:], self.velocity[:], self.spin[:] = y[:3], y[3:6], y[10:]
        self.attitude[:] = y[6:10] / np.linalg.norm(y[6:10])
        self.publish()
        return True
