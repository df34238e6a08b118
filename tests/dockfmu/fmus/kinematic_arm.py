"""An arm as a third party might write it: pythonfmu and numpy, rigid, its joints at the commanded rates exactly.

It takes the ports of `dockfmu ports mim1_ssrms_nrt74.manipulator` that the system connects, and the kinematic
parameters of our `Manipulator`; no drives, no elasticity, no audit. The operator's rates are those of the payload's
interface in its own axes, approached at a limited acceleration; nothing that pushes on the payload moves it.
"""

import numpy as np
from array_slave import ArraySlave
from pythonfmu import Boolean, Fmi2Causality, Fmi2Variability, Integer, Real

JOINTS = 7
SEMI = 2
ACCELERATION = 0.02
"""of the interface, m/s2 and rad/s2: a jump of its rate would be a blow on the mechanism that it carries"""


def turn(axis, angle):
    """Return the matrix from axes turned about x, y or z (1, 2, 3) by an angle to those before the turn."""
    u = np.cross(np.eye(3), np.eye(3)[axis - 1])
    return np.eye(3) + np.sin(angle) * u + (1.0 - np.cos(angle)) * u @ u


def attitude(yaw, pitch, roll):
    """Return the matrix from axes turned by yaw about y, pitch about z and roll about x to those before."""
    return turn(2, yaw) @ turn(3, pitch) @ turn(1, roll)


def unit_quaternion(A):
    """Return the quaternion, scalar first, of a rotation matrix by less than half a turn."""
    w = 0.5 * np.sqrt(1.0 + np.trace(A))
    return np.array([w, *np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]]) / (4.0 * w)])


class KinematicArm(ArraySlave):
    def __init__(self, **options):
        super().__init__(**options)
        parameter = Fmi2Causality.parameter
        self.axis = np.array([1, 3, 2, 2, 2, 3, 1])
        self.locked = np.zeros(JOINTS)
        self.segments = np.zeros((JOINTS + 1, 3, 3))
        self.start, self.payload_angles = np.zeros(JOINTS), np.zeros(3)
        self.grapple, self.interface = np.zeros(3), np.zeros(3)
        self.target, self.target_angles = np.zeros(3), np.zeros(3)
        for name, array, kind in (
            ("link.axis", self.axis, Integer),
            ("joint.locked", self.locked, Boolean),
            ("segment.length", self.segments, Real),
            ("initial.angle", self.start, Real),
            ("initial.payload_angles", self.payload_angles, Real),
            ("grapple.position", self.grapple, Real),
            ("interface.position", self.interface, Real),
            ("target.position", self.target, Real),
            ("target.angles", self.target_angles, Real),
        ):
            self.add(f"parameters.{name}", array, parameter, kind, variability=Fmi2Variability.tunable)
        self.force, self.torque = np.zeros(3), np.zeros(3)
        self.velocity, self.spin = np.zeros(3), np.zeros(3)
        self.mode, self.abort, self.state = np.array(6.0), np.array(0.0), np.array(1.0)
        self.step_type, self.step_axis, self.trigger = np.array(1.0), np.array(1.0), np.array(0.0)
        self.amplitude, self.speed = np.array(0.0), np.array(0.0)
        for name, array, kind in (
            ("interface.force", self.force, Real),
            ("interface.torque", self.torque, Real),
            ("command.velocity", self.velocity, Real),
            ("command.angular_velocity", self.spin, Real),
            ("command.mode", self.mode, Integer),
            ("command.abort", self.abort, Boolean),
            ("command.step.type", self.step_type, Integer),
            ("command.step.axis", self.step_axis, Integer),
            ("command.step.amplitude", self.amplitude, Real),
            ("command.step.speed", self.speed, Real),
            ("command.step.trigger", self.trigger, Boolean),
        ):
            self.add(name, array, Fmi2Causality.input, kind)
        self.out = {
            f"{group}.{name}": np.zeros(4 if name == "quaternion" else 3)
            for group, names in (
                (
                    "interface",
                    ("position", "quaternion", "velocity", "angular_velocity", "acceleration", "angular_acceleration"),
                ),
                ("relative", ("position", "quaternion", "velocity", "angular_velocity")),
                ("tip", ("force", "torque")),
            )
            for name in names
        }
        for name, array in self.out.items():
            self.add(name, array, Fmi2Causality.output)
        self.add("command.state", self.state, Fmi2Causality.output, Integer)
        self.angle = np.zeros((JOINTS, 1))
        for k in range(JOINTS):
            self.add(f"joint[{k + 1}].angle", self.angle[k, 0:1].reshape(()), Fmi2Causality.output)

    def chain(self):
        """Return the joints' places (7, 3) and axes (7, 3), the gripper's place and its axes (columns), all in I."""
        reach = self.segments.sum(axis=1)
        A, place = np.eye(3), reach[0].copy()
        places, axes = [], []
        for k in range(JOINTS):
            axis = int(self.axis[k])
            A = A @ turn(axis, self.angle[k, 0])
            places.append(place)
            axes.append(A[:, axis - 1])
            place = place + A @ reach[k + 1]
        return np.array(places), np.array(axes), place, A

    def pose(self, tip, A):
        """Return place and axes of the payload's interface, from those of the gripper."""
        B = A @ self.grip
        return tip + B @ (self.interface - self.grapple), B

    def publish(self, twist):
        out = self.out
        _, _, tip, A = self.chain()
        place, B = self.pose(tip, A)
        velocity, spin = twist[:3], twist[3:]
        to_target = attitude(*self.target_angles).T
        out["interface.position"][:] = place
        out["interface.quaternion"][:] = unit_quaternion(B)
        out["interface.velocity"][:] = B.T @ velocity
        out["interface.angular_velocity"][:] = B.T @ spin
        out["relative.position"][:] = to_target @ (place - self.target)
        out["relative.quaternion"][:] = unit_quaternion(to_target @ B)
        out["relative.velocity"][:] = to_target @ velocity
        out["relative.angular_velocity"][:] = to_target @ spin
        pull = A.T @ B @ self.force
        out["tip.force"][:] = pull
        out["tip.torque"][:] = A.T @ B @ self.torque + np.cross(A.T @ (place - tip), pull)

    def enter_initialization_mode(self):
        self.angle[:, 0] = self.start
        self.grip = self.chain()[3].T @ attitude(*self.payload_angles)
        self.twist = np.zeros(6)
        self.publish(self.twist)

    def do_step(self, current_time, step_size):
        places, axes, tip, A = self.chain()
        place, B = self.pose(tip, A)
        wanted = np.zeros(6)
        if int(self.mode) == SEMI and not self.abort:
            wanted = np.concatenate([B @ self.velocity, B @ self.spin])
        self.twist += np.clip(wanted - self.twist, -ACCELERATION * step_size, ACCELERATION * step_size)
        free = np.flatnonzero(self.locked == 0.0)
        jacobian = np.vstack([np.cross(axes, place - places).T, axes.T])[:, free]
        rates = np.linalg.lstsq(jacobian, self.twist, rcond=None)[0]
        self.angle[free, 0] += step_size * rates
        before = self.out["interface.velocity"].copy(), self.out["interface.angular_velocity"].copy()
        self.publish(self.twist)
        for name, old in zip(("velocity", "angular_velocity"), before, strict=True):
            rate = (self.out[f"interface.{name}"] - old) / step_size
            self.out[f"interface.{name.replace('velocity', 'acceleration')}"][:] = rate
        return True
