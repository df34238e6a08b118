"""Pinocchio and MuJoCo against the reference formulations, for the kinds of joints that they share. Tolerance 1e-10."""

import numpy as np
import pytest

from dockfmu.components.multibody.reference import joints
from dockfmu.components.multibody.reference.articulated import articulated
from dockfmu.components.multibody.reference.graph_method import equations, loads
from dockfmu.components.multibody.reference.impulse import closed_rates
from dockfmu.components.multibody.reference.kinematics import follow
from dockfmu.components.multibody.reference.loops import closed
from dockfmu.components.multibody.reference.system import JointArc, JointSide, RigidSystem
from tests.components.multibody import engines, random_systems
from tests.components.multibody.examples import spatial_slider_crank
from tests.components.multibody.test_triple_pendulum import in_space, run

IN_PINOCCHIO = ("fixed", "revolute", "prismatic", "screw", "universal", "planar", "spherical", "free")
IN_MUJOCO = ("fixed", "revolute", "prismatic", "cylindrical", "universal", "gimbal", "planar", "spherical")


def axes_as_in_pinocchio(system):
    """Return the system with planar joints in the x-y plane and right angles in universal ones."""
    arcs = []
    for joint in system.joints:
        motion = joint.motion
        if isinstance(motion, joints.AxisMotion) and len(motion.displacements) == 2:
            motion = joints.AxisMotion(((0, 0, 1.0),), ((1.0, 0, 0), (0, 1.0, 0)), displacements_first=True)
        if isinstance(motion, joints.AxisMotion) and len(motion.rotations) == 2:
            first, second = np.linalg.qr(np.array(motion.rotations).T)[0].T
            motion = joints.universal(first, second)
        arcs.append(JointArc(joint.name, joint.leaves, joint.enters, motion, joint.plus, joint.minus))
    return RigidSystem(system.bodies, tuple(arcs))


@pytest.mark.parametrize("seed", range(50))
def test_forward_dynamics_of_pinocchio(seed):
    """Accelerations of the bodies of trees of all shared kinds, with gravity and joint forces along one-axis joints."""
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(seed)
    system = axes_as_in_pinocchio(random_systems.tree(rng, 8, IN_PINOCCHIO, turned=False))
    q, u = random_systems.state(system, rng)
    model, index, fixed = engines.pinocchio_model(system)
    gravity = rng.normal(size=3)
    model.gravity.linear = gravity
    data = model.createData()
    position, velocity = engines.pinocchio_state(system, model, q, u)
    tau, applied = np.zeros(system.rates), np.zeros(model.nv)
    for joint, rates in zip(system.joints, system.rate_slices, strict=True):
        if joint.motion.rates == 1:
            tau[rates] = rng.normal()
            applied[model.joints[model.getJointId(joint.name)].idx_v] = tau[rates][0]
    acceleration = pin.aba(model, data, position, velocity, applied)
    pin.forwardKinematics(model, data, position, velocity, acceleration)

    motion = follow(system, q, u)
    _, a, e = articulated(motion, loads(system, gravity, tau=tau))
    size = max(1.0, np.abs(a).max(), np.abs(e).max())
    for body in range(1, system.n + 1):
        minus = system.joints[system.before[body][0]].minus
        centre = fixed[body].act(-minus.R.T @ minus.point)
        at = pin.SE3(np.eye(3), centre)
        R = data.oMi[index[body]].rotation
        np.testing.assert_allclose(data.oMi[index[body]].act(centre), motion.r[body], atol=1e-12)
        # spatial motion of the frame at the centre of mass; its classical acceleration has w x v beside it
        v, spatial = at.actInv(data.v[index[body]]), at.actInv(data.a[index[body]])
        classical = spatial.linear + np.cross(v.angular, v.linear)
        np.testing.assert_allclose(R @ classical, a[body - 1], rtol=0, atol=1e-10 * size)
        np.testing.assert_allclose(R @ spatial.angular, e[body - 1], rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize("seed", range(50))
def test_forward_dynamics_of_mujoco(seed):
    """Accelerations of the rates and the mass matrix, with gravity, joint forces, forces on bodies; free roots too."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(seed)
    system = random_systems.tree(rng, 8, IN_MUJOCO, turned=False)
    if seed % 2:
        free = JointArc("joint1", 0, 1, joints.free(), JointSide(), random_systems.side(rng))
        system = RigidSystem(system.bodies, (free, *system.joints[1:]))
    q, u = random_systems.state(system, rng)
    gravity = rng.normal(size=3)
    model = mujoco.MjModel.from_xml_string(engines.mujoco_text(system, gravity))
    data = mujoco.MjData(model)
    given = loads(system, gravity, *rng.normal(size=(2, system.n, 3)), rng.normal(size=system.rates))
    order, order_q = [], []
    for k in range(model.njnt):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k)
        arc = [joint.name for joint in system.joints].index(name.split("_")[0])
        part = int(name.split("_")[1]) if "_" in name else None
        here, rates = system.position_slices[arc], system.rate_slices[arc]
        order_q += range(here.start, here.stop) if part is None else [here.start + part]
        order += range(rates.start, rates.stop) if part is None else [rates.start + part]
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[order_q], u[order], given.tau[order]
    for body, mine in enumerate(system.bodies):
        weight = mine.mass * gravity
        data.xfrc_applied[model.body(mine.name).id] = np.concatenate((given.F[body] - weight, given.L[body]))
    mujoco.mj_forward(model, data)

    motion = follow(system, q, u)
    udot = articulated(motion, given)[0][order]
    np.testing.assert_allclose(data.qacc, udot, rtol=0, atol=1e-10 * max(1.0, np.abs(udot).max()))
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    A = equations(motion, given).A[np.ix_(order, order)]
    np.testing.assert_allclose(full, A, rtol=0, atol=1e-12 * np.abs(A).max())


def test_motion_of_mujoco_over_time():
    """The triple pendulum of E16 for 5 s, RK4 with 1 ms: its error, (w h)^4 a second, stays below 1e-8."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(engines.mujoco_text(in_space(), (0.0, -1.0, 0.0)))
    model.opt.timestep = 1e-3
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 5000)
    np.testing.assert_allclose(np.cumsum(data.qpos), run().sol(5.0)[:3], rtol=0, atol=2e-8)


def in_pinocchio(system, q, u, gravity, kind):
    """Return (accelerations, impulse of the constraint on the second body) by proximal constraint dynamics."""
    pin = pytest.importorskip("pinocchio")
    model, index, fixed = engines.pinocchio_model(system)
    model.gravity.linear = np.array(gravity, dtype=float)
    data = model.createData()
    cut = system.cuts[0]
    sides = []
    for body, side in ((cut.leaves, cut.plus), (cut.enters, cut.minus)):
        placement = pin.SE3(side.R, side.point)
        if body:
            carrier = system.joints[system.before[body][0]].minus
            placement = fixed[body] * pin.SE3(carrier.R.T, -carrier.R.T @ carrier.point) * placement
        sides += [index[body], placement]
    constraint = pin.RigidConstraintModel(getattr(pin.ContactType, kind), model, *sides, pin.ReferenceFrame.LOCAL)
    made = constraint.createData()
    pin.initConstraintDynamics(model, data, [constraint], [made])
    state = engines.pinocchio_state(system, model, q, u)
    settings = pin.ProximalSettings(1e-13, 1e-13, 1e-6, 100)
    datas = pin.StdVec_RigidConstraintData()
    datas.append(made)
    pin.constraintDynamics(model, data, *state, np.zeros(model.nv), [constraint], datas, settings)
    return np.array(data.ddq), datas[0].contact_force.linear, model


def test_closed_chain_of_pinocchio():
    """The slider-crank of E8 by proximal constraint dynamics; 1e-7 of its limit, which is regularised."""
    system, q, u = spatial_slider_crank(np.pi / 3, 10.0)
    found, _, model = in_pinocchio(system, q, u, (0.0, -9.81, 0.0), "CONTACT_3D")
    order = [model.joints[model.getJointId(joint.name)].idx_v for joint in system.joints]
    expected = closed(follow(system, q, u), loads(system, (0.0, -9.81, 0.0)))
    np.testing.assert_allclose(found[order], expected.udot, rtol=0, atol=1e-7 * np.abs(expected.udot).max())


@pytest.mark.parametrize("seed", range(12))
def test_random_closed_chains_of_pinocchio(seed):
    """A ball joint closes a random tree: accelerations and the force in it, where that is determined."""
    rng = np.random.default_rng(seed)
    system, q = random_systems.closed(
        rng, "spherical", 6, ("revolute", "prismatic", "screw", "spherical"), turned=False
    )
    u = closed_rates(system, q, rng.normal(size=system.rates))
    gravity = rng.normal(size=3)
    found, force, model = in_pinocchio(system, q, u, gravity, "CONTACT_3D")
    expected = closed(follow(system, q, u), loads(system, gravity))
    order = np.concatenate(
        [model.joints[model.getJointId(joint.name)].idx_v + np.arange(joint.motion.rates) for joint in system.joints]
    )
    size = max(1.0, np.abs(expected.udot).max())
    np.testing.assert_allclose(found[order], expected.udot, rtol=0, atol=1e-7 * size)
    if not expected.rank.redundant:
        np.testing.assert_allclose(np.linalg.norm(force), np.linalg.norm(expected.X[0]), rtol=1e-6)
