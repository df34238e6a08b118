"""Ring and legs against Pinocchio: bodies on joints, loops closed by constraints, on a base that moves."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockfmu.components.physics.mechanics.rotation import from_angles
from tests.components.peripheral_mechanism.platforms import Platform, machine, random_state

pinocchio = pytest.importorskip("pinocchio")

pytestmark = pytest.mark.slow

WORLD = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
BASE, RING = slice(0, 6), slice(6, 12)
ALONG = np.array([1.0, 0.0, 0.0])


def append(model, joint, inertia, centre):
    """Put a body on a joint, its centre of mass at `centre` (m) along x."""
    mass, principal = inertia
    body = pinocchio.Inertia(mass, centre * ALONG, np.diag(principal))
    model.appendBodyToJoint(joint, body, pinocchio.SE3.Identity())


class Hexapod:
    """The mechanism as a tree of a base, the ring, and legs that end in a frame each, where the ring has one too.

    A leg: universal joint, housing, screw, nut, rod, universal joint. The stroke is the sum of what the screw makes of
    the roll and of the effective stroke, to which the nut adds its reduced inertia.
    """

    def __init__(self, m):
        self.machine = m
        self.model = model = pinocchio.Model()
        model.gravity = pinocchio.Motion.Zero()
        base = model.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "base")
        ring = model.addJoint(base, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "ring")
        append(model, ring, m.ring, 0.0)
        self.ends, self.seats, self.nuts = [], [], []
        for k, leg in enumerate(m.legs):
            joint, place = base, pinocchio.SE3(leg.axes.T, leg.lower)
            for turn in (pinocchio.JointModelRY(), pinocchio.JointModelRZ()):
                joint = model.addJoint(joint, turn, place, f"lower {k} {joint}")
                place = pinocchio.SE3.Identity()
            append(model, joint, m.housing, m.housing_centre)
            joint = model.addJoint(joint, pinocchio.JointModelHX(-1.0 / leg.ratio), place, f"screw {k}")
            joint = model.addJoint(joint, pinocchio.JointModelPX(), place, f"nut {k}")
            self.nuts.append(model.joints[joint].idx_v)
            append(model, joint, m.screw, m.screw_centre)
            for turn in (pinocchio.JointModelRY(), pinocchio.JointModelRZ()):
                joint = model.addJoint(joint, turn, place, f"upper {k} {joint}")
            frame = pinocchio.FrameType.OP_FRAME
            self.ends.append(model.addFrame(pinocchio.Frame(f"end {k}", joint, place, frame)))
            seat = pinocchio.SE3(leg.axes.T, leg.upper)
            self.seats.append(model.addFrame(pinocchio.Frame(f"seat {k}", ring, seat, frame)))
        armature = np.zeros(model.nv)
        armature[self.nuts] = [m.nut * leg.ratio**2 for leg in m.legs]
        model.armature = armature
        self.data = model.createData()

    def coordinates(self, position, rotation):
        """All joints of a pose of the ring, whose `rotation` goes from ring to frame 0."""
        poses, joints = self.machine.bodies(position, rotation)
        q = [np.zeros(3), [0.0, 0.0, 0.0, 1.0], position, Rotation.from_matrix(rotation).as_quat()]
        for k, (leg, (length, roll)) in enumerate(zip(self.machine.legs, joints, strict=True)):
            housing, rod = poses[1 + 2 * k][1], poses[2 + 2 * k][1]
            lower = Rotation.from_matrix(leg.axes @ housing).as_euler("YZX")
            upper = Rotation.from_matrix(rod.T @ rotation @ leg.axes.T).as_euler("YZX")
            assert abs(lower[2]) < 1e-12
            assert abs(upper[2]) < 1e-12
            q.append([*lower[:2], roll, length + roll / leg.ratio, *upper[:2]])
        return np.concatenate(q)

    def solve(self, s, base):
        """Accelerations of the ring (in frame 0, in ring axes) and force and torque on the base, as the product's."""
        model, data = self.model, self.data
        R = np.array(from_angles(*s["angles"])).T
        turning, angular, linear = base
        q = self.coordinates(s["position"], R)
        pinocchio.computeJointJacobians(model, data, q)
        pinocchio.updateFramePlacements(model, data)
        J = np.vstack(
            [
                pinocchio.getFrameJacobian(model, data, end, WORLD)
                - pinocchio.getFrameJacobian(model, data, seat, WORLD)
                for end, seat in zip(self.ends, self.seats, strict=True)
            ]
        )
        v = np.zeros(model.nv)
        v[3:6] = turning
        v[RING] = [*(R.T @ s["velocity"]), *s["spin"]]
        v[12:] = np.linalg.solve(J[:, 12:], -J[:, :12] @ v[:12])
        pinocchio.forwardKinematics(model, data, q, v, np.zeros(model.nv))
        drift = np.concatenate(
            [
                (
                    pinocchio.getFrameClassicalAcceleration(model, data, end, WORLD)
                    - pinocchio.getFrameClassicalAcceleration(model, data, seat, WORLD)
                ).vector
                for end, seat in zip(self.ends, self.seats, strict=True)
            ]
        )
        M = pinocchio.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        bias = pinocchio.nonLinearEffects(model, data, q, v)
        load = np.zeros(model.nv)
        load[RING] = [*(R.T @ s["force"]), *s["torque"]]
        load[self.nuts] = s["legs"]
        a = np.zeros(model.nv)
        a[BASE] = [*linear, *angular]
        free = slice(6, model.nv)
        size = len(J)
        K = np.block([[M[free, free], J[:, free].T], [J[:, free], np.zeros((size, size))]])
        right = np.concatenate([(load - bias - M @ a)[free], -drift - J @ a])
        found = np.linalg.solve(K, right)
        a[free] = found[: model.nv - 6]
        wrench = -(M @ a + bias + J.T @ found[model.nv - 6 :])[BASE]
        # the loads on the ring come from outside, and not from its joint with the base
        wrench += [*s["force"], *(np.cross(s["position"], s["force"]) + R @ s["torque"])]
        # ruling R14: the base bears what a nut takes to spin, which a reduced inertia leaves out
        for k, (leg, nut) in enumerate(zip(self.machine.legs, self.nuts, strict=True)):
            axis = self.machine.bodies(s["position"], R)[0][1 + 2 * k][1][:, 0]
            wrench[3:] -= self.machine.nut * leg.ratio * a[nut] * axis
        acceleration = R @ (a[6:9] + np.cross(s["spin"], v[6:9]))
        return np.concatenate([acceleration, a[9:12]]), wrench[:3], wrench[3:]


def test_moving_ring_against_pinocchio():
    """50 random states on a base that turns and accelerates: accelerations and wrench on the base, 1e-9."""
    rng = np.random.default_rng(9)
    p = Platform()
    reference = Hexapod(machine(p.p))
    for _ in range(50):
        s = random_state(rng)
        base = rng.uniform(-0.3, 0.3, (3, 3))
        found = p.put(**s).solve(tuple(map(tuple, base)))
        acceleration, force, torque = reference.solve(s, base)
        np.testing.assert_allclose(found, acceleration, rtol=0, atol=1e-9 * np.abs(acceleration).max())
        np.testing.assert_allclose(p.x.base_force, force, rtol=0, atol=1e-9 * np.abs(force).max())
        np.testing.assert_allclose(p.x.base_torque, torque, rtol=0, atol=1e-9 * np.abs(force).max())
