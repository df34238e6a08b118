"""dockfmu.Multibody: functions of analysis against closed forms and against each other."""

from dataclasses import replace

import numpy as np
import pytest

from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.analysis.multibody import UnknownNameError
from dockfmu.components.multibody.declaration import ModelError
from dockfmu.components.multibody.importing import declaration_text
from dockfmu.components.multibody.model import (
    BASE,
    CoordinateLaw,
    JointLock,
    Model,
    Mounting,
    MultibodyJoint,
    PointSpring,
    Port,
    PrescribedMotion,
    RigidBody,
)
from dockfmu.components.multibody.reference.cartesian_solution import cartesian
from dockfmu.components.multibody.reference.graph_method import loads
from tests.components.multibody import declared_models
from tests.components.multibody.declared_models import motion_of

pytestmark = pytest.mark.quick


def rod(name, mass=1.0, length=2.0):
    """Return a rod along x with its origin at one end."""
    J = mass * length**2 / 12.0
    return RigidBody(name, mass, (0.5 * length, 0.0, 0.0), ((0.0, 0.0, 0.0), (0.0, J, 0.0), (0.0, 0.0, J)))


def hinge(name, predecessor, successor, at=0.0, **options):
    return MultibodyJoint(name, "revolute", predecessor, successor, Mounting((at, 0.0, 0.0)), **options)


def pendulum(**options):
    """Return a rod of 2 kg and 1.2 m on a hinge, gravity along -y."""
    return Model("P", (rod("rod", 2.0, 1.2),), (hinge("pin", BASE, "rod"),), gravity=(0.0, -9.81, 0.0), **options)


def four_bar():
    """Return a linkage on a ground of 0.6 m; its cut joint closes coupler and rocker."""
    joints = (
        hinge("A", BASE, "crank", coordinates=(0.9,)),
        hinge("B", "crank", "coupler", 0.2, coordinates=(-0.6,)),
        hinge("D", BASE, "rocker", 0.6, coordinates=(2.0,)),
        MultibodyJoint("C", "revolute", "coupler", "rocker", Mounting((0.5, 0, 0)), Mounting((0.4, 0, 0)), cut=True),
    )
    return Model("FourBar", (rod("crank", 1.0, 0.2), rod("coupler", 2.0, 0.5), rod("rocker", 1.5, 0.4)), joints)


def test_names_of_coordinates_and_rates():
    system = Multibody(declared_models.tree(np.random.default_rng(0), 3, ("universal", "free", "cylindrical")))
    assert len(system.coordinates) == len(system.start.q)
    assert len(system.rates) == len(system.start.u)
    state = system.state({system.coordinates[0]: 0.25}, {system.rates[1]: -3.0})
    assert (state.q[0], state.u[1]) == (0.25, -3.0)


def test_an_unknown_name_is_refused_with_a_suggestion():
    system = Multibody(pendulum())
    with pytest.raises(UnknownNameError, match=r"no coordinate pin.angel; did you mean pin.angle"):
        system.state({"pin.angel": 0.0})
    with pytest.raises(UnknownNameError, match=r"no body or port rodd; did you mean rod"):
        system.jacobian("rodd")


def test_mass_properties_of_two_rods():
    """Two rods of 1 kg and 2 m in a line: 2 kg, the middle at 2 m, inertia of a rod of 4 m."""
    model = Model("Two", (rod("one"), rod("two")), (hinge("a", BASE, "one"), hinge("b", "one", "two", 2.0)))
    found = Multibody(model).mass_properties()
    assert found.mass == 2.0
    np.testing.assert_allclose(found.center, (2.0, 0.0, 0.0), atol=1e-15)
    np.testing.assert_allclose(found.inertia, np.diag([0.0, 8.0 / 3.0, 8.0 / 3.0]), atol=1e-14)


def test_freedoms_of_trees_and_loops():
    free = Multibody(declared_models.tree(np.random.default_rng(3), 5))
    assert free.freedoms().number == len(free.rates)
    report = Multibody(four_bar()).freedoms()
    assert (report.number, report.constraints, report.rank) == (1, 5, 2)
    assert set(report.joints) == {"A", "B", "C", "D"}
    assert str(report).startswith("1 degrees of freedom, 5 constraints of rank 2: the reactions of A, B, D, C are not")


def test_a_singular_pose_is_told():
    """A parallelogram laid flat can fold two ways: one more freedom there, the forces along it undetermined."""
    joints = (
        hinge("A", BASE, "crank"),
        hinge("B", "crank", "coupler", 0.3),
        hinge("D", BASE, "rocker", 0.6),
        MultibodyJoint("C", "revolute", "coupler", "rocker", Mounting((0.6, 0, 0)), Mounting((0.3, 0, 0)), cut=True),
    )
    system = Multibody(Model("Flat", (rod("crank", 1, 0.3), rod("coupler", 1, 0.6), rod("rocker", 1, 0.3)), joints))
    flat = system.freedoms()
    assert (flat.number, flat.singular) == (2, True)
    assert str(flat).endswith("; the pose is singular")
    bent = system.freedoms(system.state({"A.angle": 0.7}))
    assert (bent.number, bent.singular) == (1, False)


def test_loops_are_closed_by_the_coordinates_that_are_not_given():
    system = Multibody(four_bar())
    state = system.state({"A.angle": 1.1}, {"A.angle": 2.0})
    assert (state.q[0], state.u[0]) == (1.1, 2.0)
    motion = motion_of(system, state)
    tip = motion.r[2] + motion.A[2] @ [0.25, 0.0, 0.0]
    other = motion.r[3] + motion.A[3] @ [0.2, 0.0, 0.0]
    np.testing.assert_allclose(tip, other, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_inverse_dynamics_inverts_forward_dynamics(seed):
    rng = np.random.default_rng(seed)
    system = Multibody(declared_models.tree(rng, 5))
    drives = dict(zip(system.rates, rng.normal(size=len(system.rates)), strict=True))
    accelerations = system.forward_dynamics(drives=drives)
    np.testing.assert_allclose(
        system.inverse_dynamics(accelerations),
        list(drives.values()),
        rtol=0,
        atol=1e-10 * max(1.0, np.abs(accelerations).max()),
    )


@pytest.mark.parametrize("seed", range(6))
def test_jacobian_is_the_derivative_of_position_and_gives_the_twist(seed):
    rng = np.random.default_rng(seed)
    model = declared_models.tree(rng, 4)
    point = tuple(map(float, rng.normal(size=3)))
    system = Multibody(replace(model, ports=(Port("tool", "body4", point),)))
    state, motion = system.start, motion_of(system)
    J = system.jacobian("body4", point=point)
    np.testing.assert_array_equal(J, system.jacobian("tool"))
    arm = motion.A[4] @ (np.array(point) - model.bodies[3].center)
    np.testing.assert_allclose(J[:3] @ state.u, motion.w[4], atol=1e-12)
    np.testing.assert_allclose(J[3:] @ state.u, motion.v[4] + np.cross(motion.w[4], arm), atol=1e-12)
    assert not system.jacobian(BASE).any()


def test_reaction_of_a_pendulum():
    """Hanging with the rate w: m (g + w^2 l / 2) upwards on the rod."""
    system = Multibody(pendulum())
    load = system.reactions(system.state({"pin.angle": -np.pi / 2}, {"pin.angle": 3.0}))["pin"]
    np.testing.assert_allclose(load.force, (0.0, 2.0 * (9.81 + 9.0 * 0.6), 0.0), atol=1e-12)
    np.testing.assert_allclose(load.torque, 0.0, atol=1e-12)


def test_reactions_include_springs_and_drives_of_the_joint():
    """A rod that a spring holds horizontal: the torque of the spring and the weight are what the base exerts."""
    torque = 2.0 * 9.81 * 0.6
    model = pendulum(laws=(CoordinateLaw("pin", stiffness=100.0, rest=torque / 100.0),))
    load = Multibody(model).reactions()["pin"]
    np.testing.assert_allclose(load.force, (0.0, 2.0 * 9.81, 0.0), atol=1e-12)
    np.testing.assert_allclose(load.torque, (0.0, 0.0, torque), atol=1e-12)
    loaded = Multibody(pendulum()).reactions(drives={"pin.angle": torque})["pin"]
    np.testing.assert_allclose(loaded.torque, (0.0, 0.0, torque), atol=1e-12)


def test_undetermined_reactions_are_not_a_number():
    """Find the forces in the plane and the torque about the axes of a planar loop determined, nothing else."""
    for load in Multibody(four_bar()).reactions(drives={"A.angle": 1.0}).values():
        assert np.isnan(load.force).tolist() == [False, False, True]
        assert np.isnan(load.torque).tolist() == [True, True, False]


@pytest.mark.parametrize("seed", range(5))
def test_reactions_equal_those_of_the_cartesian_formulation(seed):
    """Trees without laws; X, Y on i+ in axes of the base there."""
    model = declared_models.tree(np.random.default_rng(seed), 5)
    system = Multibody(model)
    motion = motion_of(system)
    expected = cartesian(motion, loads(system.system, model.gravity))
    for a, joint in enumerate(system.system.joints):
        F = motion.A[joint.leaves] @ joint.plus.R
        load = system.reactions()[joint.name]
        size = max(1.0, np.abs(expected.X).max())
        np.testing.assert_allclose(F @ load.force, -expected.X[a], rtol=0, atol=1e-10 * size)
        np.testing.assert_allclose(F @ load.torque, -expected.Y[a], rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize("kind", declared_models.KINDS)
def test_determined_reactions_of_closed_systems_equal_those_of_the_cartesian_formulation(kind):
    """Compare random loops; CART marks all components of a joint where one of them is not determined."""
    rng = np.random.default_rng(declared_models.KINDS.index(kind))
    compared = 0
    for _ in range(3):
        model = declared_models.closed_tree(rng, kind)
        system = Multibody(model)
        motion = motion_of(system)
        expected = cartesian(motion, loads(system.system, model.gravity))
        found = system.reactions()
        size = max(1.0, *(np.nanmax(np.abs(values), initial=0.0) for values in (expected.X, expected.Y)))
        for a, joint in enumerate((*system.system.joints, *system.system.cuts)):
            if np.isnan(expected.X[a]).any():
                continue
            F = motion.A[joint.leaves] @ joint.plus.R
            np.testing.assert_allclose(F @ found[joint.name].force, -expected.X[a], rtol=0, atol=1e-8 * size)
            np.testing.assert_allclose(F @ found[joint.name].torque, -expected.Y[a], rtol=0, atol=1e-8 * size)
            compared += 1
    assert compared > 3


def test_reactions_of_a_planar_loop_equal_those_of_the_planar_equations():
    """The slider-crank of E8, with the guide reaction and the force of the ground hinge on the crank of its table."""
    crank = RigidBody("crank", 1.0, (0.05, 0.0, 0.0), rod("", 1.0, 0.1).inertia)
    coupler = RigidBody("rod", 2.0, (0.15, 0.0, 0.0), rod("", 2.0, 0.3).inertia)
    slider = RigidBody("slider", 3.0, inertia=((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)))
    # z of the guide along x of the base, y along y: the reaction across is its y
    across = ((0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    joints = (
        hinge("ground", BASE, "crank", coordinates=(np.pi / 3,), rates=(10.0,)),
        hinge("pin", "crank", "rod", 0.1, coordinates=(-1.34,)),
        MultibodyJoint("guide", "prismatic", BASE, "slider", Mounting(rotation=across), Mounting(rotation=across),
                       coordinates=(0.33,)),
        MultibodyJoint("wrist", "revolute", "rod", "slider", Mounting((0.3, 0.0, 0.0)), cut=True),
    )  # fmt: skip
    system = Multibody(Model("SC", (crank, coupler, slider), joints, gravity=(0.0, -9.81, 0.0)))
    state = system.state({"ground.angle": np.pi / 3}, {"ground.angle": 10.0})
    assert system.forward_dynamics(state)[0] == pytest.approx(-41.76775407, abs=1e-8)
    found = system.reactions(state)
    np.testing.assert_allclose(found["ground"].force[:2], (1.5598566, 6.2144924), rtol=0, atol=1e-7)
    assert found["guide"].force[1] == pytest.approx(36.522545, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_power_of_forces_is_the_rate_of_energy(seed):
    """Laws, point springs and gravity: d(kinetic + stored)/dt = - losses, here 0, by differences along the motion."""
    rng = np.random.default_rng(seed)
    model = declared_models.tree(rng, 4, ("revolute", "prismatic", "cylindrical", "universal", "planar"))
    laws = tuple(
        CoordinateLaw(joint.name, 0, stiffness=5.0, rest=0.3, preload=1.5, upper=0.1, stop_stiffness=40.0)
        for joint in model.joints
    )
    springs = (
        PointSpring("s", BASE, "body4", (0.1, 0.2, 0.3), (0.3, 0.0, -0.1), 30.0, 0.2),
        PointSpring("t", "body2", "body3", (0.1, 0.2, 0.3), (0.3, 0.0, -0.1), 30.0, 0.1, tether=True),
    )
    system = Multibody(replace(model, laws=laws, springs=springs))
    h, state = 1e-5, system.start
    udot = system.forward_dynamics()

    def energy(step):
        moved = system.system.moved(state.q, step * state.u + 0.5 * step**2 * udot)
        return system.energy(replace(state, q=moved, u=state.u + step * udot)).total

    scale = abs(system.energy().total) + 1.0
    # rates of quaternions are absent here, so that the path is exact to second order; a stop may open within h
    assert (energy(h) - energy(-h)) / (2.0 * h) == pytest.approx(0.0, abs=1e-5 * scale)


def test_vibration_of_a_pendulum_and_of_a_spring():
    """w^2 = m g l/2 / (m l^2 / 3) about hanging; unstable about the top; a hinge spring adds k / J."""
    J, moment = 2.0 * 1.44 / 3.0, 2.0 * 9.81 * 0.6
    system = Multibody(pendulum())
    hanging = system.vibrations(system.state({"pin.angle": -np.pi / 2}))
    assert hanging.frequencies == pytest.approx([np.sqrt(moment / J)], rel=1e-9)
    assert hanging.unbalanced < 1e-12
    top = system.vibrations(system.state({"pin.angle": np.pi / 2}))
    assert top.frequencies == pytest.approx([-np.sqrt(moment / J)], rel=1e-9)
    sprung = Multibody(pendulum(laws=(CoordinateLaw("pin", stiffness=50.0, rest=-np.pi / 2, damping=0.4),)))
    found = sprung.vibrations(sprung.state({"pin.angle": -np.pi / 2}))
    w2, d = (moment + 50.0) / J, 0.4 / J
    assert found.frequencies == pytest.approx([np.sqrt(w2)], rel=1e-9)
    assert found.eigenvalues.real == pytest.approx([-0.5 * d, -0.5 * d], rel=1e-8)
    assert np.abs(found.eigenvalues.imag) == pytest.approx([np.sqrt(w2 - 0.25 * d**2)] * 2, rel=1e-8)


def test_spec10_E16_frequencies_of_the_triple_pendulum():
    J = ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    bodies = tuple(RigidBody(f"rod{k}", 1.0, (1.0, 0.0, 0.0), J) for k in range(3))
    joints = tuple(hinge(f"h{k}", (BASE, "rod0", "rod1")[k], f"rod{k}", 2.0 * min(k, 1)) for k in range(3))
    system = Multibody(Model("T", bodies, joints, gravity=(0.0, -1.0, 0.0)))
    found = system.vibrations(system.state({"h0.angle": -np.pi / 2}))
    assert found.frequencies == pytest.approx([0.47565901, 0.92597015, 1.55445418], abs=1e-8)
    A = system.mass_matrix(system.state({"h0.angle": -np.pi / 2}))
    np.testing.assert_allclose(found.shapes.T @ A @ found.shapes, np.eye(3), atol=1e-10)


def test_vibration_of_a_loop():
    """The four-bar with a spring at its crank: one frequency, w^2 = k / (mass of the crank's freedom)."""
    model = four_bar()
    rest = float(Multibody(model).start.q[0])
    system = Multibody(replace(model, laws=(CoordinateLaw("A", stiffness=3.0, rest=rest),)))
    found = system.vibrations()
    u = system.state({"A.angle": rest}, {"A.angle": 1.0}).u
    mass = u @ system.mass_matrix() @ u
    assert found.frequencies == pytest.approx([np.sqrt(3.0 / mass)], rel=1e-6)
    assert found.unbalanced < 1e-9


def test_prescribed_and_locked_coordinates_are_no_freedoms():
    """The crank turns as prescribed; the drive is what inverse dynamics asks for. A lock holds its rate."""
    turning = PrescribedMotion(position=0.3, rate=2.0, acceleration=0.5)
    model = pendulum()
    driven = Multibody(replace(model, joints=(replace(model.joints[0], motions={0: turning}),)))
    state = driven.state(time=0.4)
    np.testing.assert_allclose((state.q[0], state.u[0]), turning.at(0.4)[:2])
    assert driven.freedoms(state).number == 0
    assert driven.forward_dynamics(state) == pytest.approx([0.5])
    torque = driven.reactions(state)["pin"].torque[2]
    assert torque == pytest.approx(driven.inverse_dynamics([0.5], state)[0])
    locked = Multibody(replace(model, locks=(JointLock("lock", "pin", closed=True),)))
    assert locked.freedoms().number == 0
    assert locked.forward_dynamics() == pytest.approx([0.0])
    assert locked.vibrations().frequencies.size == 0


def test_picture_shows_every_body_joint_and_port(tmp_path):
    model = replace(four_bar(), ports=(Port("tool", "coupler", (0.25, 0.0, 0.0)),))
    figure = Multibody(model).picture()
    (axes,) = figure.axes
    assert {text.get_text().strip() for text in axes.texts} == {"crank", "coupler", "rocker", "tool"}
    # the cut joint is hollow
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    assert len(hollow) == 1
    figure.savefig(tmp_path / "four_bar.png")
    assert (tmp_path / "four_bar.png").stat().st_size > 5000


def test_a_system_is_loaded_from_a_file(tmp_path):
    file = tmp_path / "pendulum.toml"
    file.write_text(declaration_text(pendulum()))
    system = Multibody.load(file)
    assert system.coordinates == ("pin.angle",)
    assert system.mass_matrix() == pytest.approx(np.array([[2.0 * 1.44 / 3.0]]))
    file.write_text('name = "P"\n[bodies.rod]\n')
    with pytest.raises(ModelError, match=r"pendulum\.toml: bodies\.rod\.mass"):
        Multibody.load(file)


def test_a_light_part_near_its_stop_vibrates_on_its_spring():
    """A finger of 1e-5 kg m2, 0.01 rad before a stop of 50 N m/rad: sqrt(k / J) of its spring alone, to 1e-8.

    Moved by what a unit modal mass moves by it would be 0.06 rad, behind the stop.
    """
    inertia = ((1e-5, 0.0, 0.0), (0.0, 1e-5, 0.0), (0.0, 0.0, 1e-5))
    law = CoordinateLaw("pin", stiffness=0.004, upper=0.01, stop_stiffness=50.0)
    model = Model("Finger", (RigidBody("finger", 0.02, inertia=inertia),), (hinge("pin", BASE, "finger"),), (law,))
    assert Multibody(model).vibrations().frequencies == pytest.approx([np.sqrt(0.004 / 1e-5)], rel=1e-8)
