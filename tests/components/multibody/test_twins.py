"""Twins: specialised mechanisms of the product, declared in TOML, at random states."""

from dataclasses import replace

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.manipulator import links
from dockfmu.components.multibody.declaration import read_text
from dockfmu.components.multibody.importing import declaration_text
from dockfmu.components.multibody.model import BASE, RATES, CoordinateLaw, Model, Mounting, MultibodyJoint, RigidBody
from dockfmu.components.multibody.reference.from_model import rigid_system
from dockfmu.components.multibody.reference.graph_method import loads
from dockfmu.components.multibody.reference.impulse import closed_positions, closed_rates
from dockfmu.components.multibody.reference.kinematics import follow
from dockfmu.components.multibody.reference.loops import closed
from dockfmu.components.multibody.reference.system import BaseMotion
from dockfmu.components.physics.mechanics.rotation import from_angles
from dockfmu.components.probe_mechanism import tree
from tests.components.manipulator import arms
from tests.components.multibody.random_models import body_accelerations, made
from tests.components.probe_mechanism.test_probe_tree import mechanism, place

# accelerations relative to the largest
TOLERANCE = 1e-10
AXES = {1: (1.0, 0.0, 0.0), 2: (0.0, 1.0, 0.0), 3: (0.0, 0.0, 1.0)}
X, Y, Z = AXES.values()


def rows(matrix):
    return tuple(tuple(map(float, row)) for row in matrix)


def about(axis):
    """Return a rotation whose last row is the axis."""
    others = [other for other in (X, Y, Z) if other != axis]
    first = np.cross(others[0], axis)
    return rows((first, np.cross(axis, first), axis))


def hinge(name, axis, predecessor, successor, point=(0.0, 0.0, 0.0), q=0.0, u=0.0):
    """Return a revolute joint at the origin of the successor, whose axes are those of the predecessor at zero."""
    frame = about(axis)
    inside = Mounting(tuple(map(float, point)), frame)
    return MultibodyJoint(
        name, "revolute", predecessor, successor, inside, Mounting(rotation=frame), coordinates=(q,), rates=(u,)
    )


def accelerations(model):
    """Return the accelerations of the coordinates of the kernels, of the model read from its declaration."""
    declared = read_text(declaration_text(model)).model
    return np.array([coordinate.acceleration for coordinate in Instance(made(declared)).m.coordinate])


@pytest.mark.slow
@pytest.mark.parametrize("name", arms.ARMS)
def test_twin_of_the_seven_joint_arm(name):
    """Torques as preloads of the joints; numbers of the declaration have twelve digits."""
    rng = np.random.default_rng(3)
    m = arms.instance(name).m
    q, v, tau = rng.normal(size=7), 0.3 * rng.normal(size=7), 300.0 * rng.normal(size=7)
    arms.place(m, q, v)
    arms.load_links(m, np.zeros(6), tau, np.zeros(7))
    links.accelerate(m)
    p, reach = m.parameters.link, arms.reaches(m)
    bodies = tuple(
        RigidBody(f"link{k}", float(p.mass[k]), tuple(map(float, p.center_of_mass[k])), rows(p.inertia[k]))
        for k in range(7)
    )
    joints = tuple(
        hinge(f"j{k}", AXES[int(p.axis[k])], f"link{k - 1}" if k else BASE, f"link{k}", reach[k], q[k], v[k])
        for k in range(7)
    )
    laws = tuple(CoordinateLaw(f"j{k}", preload=float(tau[k])) for k in range(7))
    found = accelerations(Model("Arm", bodies, joints, laws))
    expected = np.array([m.arm[k].qdd for k in range(1, 8)])
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * np.abs(expected).max())


def about_center(mass, center, inertia):
    """Return an inertia about the centre of mass from one about the origin."""
    c = np.array(center)
    return rows(np.array(inertia) - mass * (c @ c * np.eye(3) - np.outer(c, c)))


@pytest.mark.parametrize("seed", range(3))
def test_twin_of_the_tree_of_the_probe_mechanism(seed):
    """Housing on a universal joint, probe on bending and torsion at the exit bearing, without chains."""
    rng = np.random.default_rng(seed)
    m = mechanism()
    p, t = m.parameters.probe, m.tree
    q, u, tau = rng.uniform(-0.3, 0.3, 5), rng.normal(size=5), 50.0 * rng.normal(size=3)
    t.q[:], t.qd[:] = q, u
    assert place(m) == 0
    t.force[:], t.damping[:] = tau, 0.0
    zero = (0.0, 0.0, 0.0)
    assert tree.dynamics(p, t, m.damper, zero, zero, zero) == 0
    bodies = (
        RigidBody("housing", p.housing_mass, tuple(p.housing_centre.tolist()),
                  about_center(p.housing_mass, p.housing_centre, p.housing_inertia)),
        RigidBody("bent", 0.0),
        RigidBody("probe", p.probe_mass, tuple(p.probe_centre.tolist()),
                  about_center(p.probe_mass, p.probe_centre, p.probe_inertia)),
    )  # fmt: skip
    first = Mounting(rotation=(Y, Z, X))
    bearing = Mounting((float(p.bearing_distance), 0.0, 0.0), (Y, Z, X))
    joints = (
        MultibodyJoint("hinge", "universal", BASE, "housing", first, first, coordinates=tuple(q[:2]),
                       rates=tuple(u[:2])),
        MultibodyJoint("bending", "universal", "housing", "bent", bearing, first, coordinates=tuple(q[2:4]),
                       rates=tuple(u[2:4])),
        hinge("torsion", X, "bent", "probe", q=float(q[4]), u=float(u[4])),
    )  # fmt: skip
    laws = (
        CoordinateLaw("bending", 0, preload=float(tau[0])), CoordinateLaw("bending", 1, preload=float(tau[1])),
        CoordinateLaw("torsion", 0, preload=float(tau[2])),
    )  # fmt: skip
    found = accelerations(Model("Probe", bodies, joints, laws))
    np.testing.assert_allclose(found, t.qdd, rtol=0, atol=TOLERANCE * np.abs(t.qdd).max())


UNIVERSAL = np.array((Y, Z, X))
"""Components of a leg, x along it, to those of a universal joint about its y, then its z."""


def ring_on_legs(reference, q):
    """Return the model of the ring on six legs in a pose: the ring flies freely, and its upper joints are cut."""
    bodies, joints, cuts = [], [], []
    m = reference

    def body(name, inertia, center):
        mass, principal = inertia
        bodies.append(RigidBody(name, mass, (center, 0.0, 0.0), rows(np.diag(principal))))

    body("ring", m.ring, 0.0)
    x, y, z, w = q[10:14]
    joints.append(MultibodyJoint("flight", "free", BASE, "ring", coordinates=tuple(map(float, (*q[7:10], w, x, y, z)))))
    axial, seat = Mounting(rotation=about(X)), Mounting(rotation=rows(UNIVERSAL))
    for k, leg in enumerate(m.legs):
        lower_y, lower_z, roll, stroke = map(float, q[14 + 6 * k : 18 + 6 * k])
        body(f"housing{k}", m.housing, m.housing_centre)
        bodies.append(RigidBody(f"nut{k}", 0.0))
        body(f"rod{k}", m.screw, m.screw_centre)
        lower, upper = (
            Mounting(tuple(map(float, point)), rows(UNIVERSAL @ leg.axes)) for point in (leg.lower, leg.upper)
        )
        joints += [
            MultibodyJoint(f"lower{k}", "universal", BASE, f"housing{k}", lower, seat, coordinates=(lower_y, lower_z)),
            MultibodyJoint(f"screw{k}", "screw", f"housing{k}", f"nut{k}", axial, axial,
                           pitch=-2.0 * np.pi / float(leg.ratio), coordinates=(roll,)),
            MultibodyJoint(f"stroke{k}", "prismatic", f"nut{k}", f"rod{k}", axial, axial, coordinates=(stroke,)),
        ]  # fmt: skip
        cuts.append(MultibodyJoint(f"upper{k}", "universal", f"rod{k}", "ring", seat, upper, cut=True))
    return Model("RingOnLegs", tuple(bodies), (*joints, *cuts))


@pytest.mark.parametrize("seed", range(4))
def test_twin_of_the_ring_on_six_legs(seed):
    """A closed chain with 24 constraints on a base that turns and accelerates: LOOP against the kernels, 1e-10.

    The declaration has twelve digits, which leaves 2e-12; with seventeen 2e-15 is left.
    """
    pytest.importorskip("pinocchio")
    from tests.components.peripheral_mechanism.platforms import Platform, machine, random_state
    from tests.components.peripheral_mechanism.test_against_pinocchio import Hexapod

    rng = np.random.default_rng(seed)
    # what a nut takes to spin is an inertia of the coordinate alone, which a declaration does not have
    platform = Platform(nut_inertia=0.0)
    reference = machine(platform.p)
    s, (turning, angular, linear) = random_state(rng), rng.uniform(-0.3, 0.3, (3, 3))
    found = platform.put(**s).solve((tuple(turning), tuple(angular), tuple(linear)))

    q = Hexapod(reference).coordinates(s["position"], np.array(from_angles(*s["angles"])).T)
    model = read_text(declaration_text(ring_on_legs(reference, q))).model
    system, base = rigid_system(model), BaseMotion(w=turning, e=angular, a=linear)
    q = np.concatenate([joint.start[0] for joint in model.tree])
    q = closed_positions(system, q, fixed=range(6), tolerance=1e-13)
    u = np.zeros(system.rates)
    u[:6] = [*s["velocity"], *s["spin"]]
    u = closed_rates(system, q, u, fixed=range(6), base=base)
    tau, F, L = np.zeros(system.rates), np.zeros((19, 3)), np.zeros((19, 3))
    tau[[joint.name.startswith("stroke") for joint in model.tree for _ in RATES[joint.kind]]] = s["legs"]
    motion = follow(system, q, u, base=base)
    F[0], L[0] = s["force"], motion.A[1] @ s["torque"]
    solution = closed(motion, loads(system, F=F, L=L, tau=tau))
    assert (solution.rank.freedoms, solution.rank.redundant) == (6, 0)
    np.testing.assert_allclose(solution.udot[:6], found, rtol=0, atol=TOLERANCE * np.abs(found).max())


@pytest.mark.parametrize("seed", range(4, 8))
def test_twin_of_the_ring_on_six_legs_in_the_kernels(seed):
    """The kernels of the declared ring on a base at rest, forces of the legs as preloads, to 1e-10.

    The declaration has twelve digits, and the kernels close its start values.
    """
    pytest.importorskip("pinocchio")
    from tests.components.peripheral_mechanism.platforms import Platform, machine, random_state
    from tests.components.peripheral_mechanism.test_against_pinocchio import Hexapod

    platform = Platform(nut_inertia=0.0)
    reference, s = machine(platform.p), random_state(np.random.default_rng(seed))
    s |= {"force": np.zeros(3), "torque": np.zeros(3)}
    expected = platform.put(**s).solve()
    R = np.array(from_angles(*s["angles"])).T
    model = ring_on_legs(reference, Hexapod(reference).coordinates(s["position"], R))
    system = rigid_system(model)
    q = np.concatenate([joint.start[0] for joint in model.tree])
    u = np.array([*s["velocity"], *s["spin"], *np.zeros(system.rates - 6)])
    u = closed_rates(system, q, u, fixed=range(6))
    moving = [
        replace(joint, rates=tuple(map(float, u[rates])))
        for joint, rates in zip(model.tree, system.rate_slices, strict=True)
    ]
    laws = tuple(CoordinateLaw(f"stroke{k}", preload=float(force)) for k, force in enumerate(s["legs"]))
    model = replace(model, joints=(*moving, *model.cuts), laws=laws)
    declared = read_text(declaration_text(model)).model
    found = body_accelerations(Instance(made(declared)), declared)["ring"]
    np.testing.assert_allclose(found[:3], expected[:3], rtol=0, atol=TOLERANCE * np.abs(expected).max())
    np.testing.assert_allclose(R.T @ found[3:], expected[3:], rtol=0, atol=TOLERANCE * np.abs(expected).max())
