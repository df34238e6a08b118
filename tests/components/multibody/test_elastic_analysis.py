"""`dockfmu.Multibody` of declarations with elastic bodies: against kernels, the Cartesian reference, beam theory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dockfmu
from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.analysis.deformation import StaticStartError
from dockfmu.components.multibody.declaration import read_model
from dockfmu.components.multibody.model import Model, Mounting, MultibodyJoint, Port
from dockfmu.components.multibody.model.elastic import elastic_rigid_body
from dockfmu.components.multibody.reference.algebra import cross
from dockfmu.components.multibody.reference.elastic import joint_rows
from dockfmu.components.multibody.reference.kinematics import follow
from tests.components.multibody.elastic_models import (
    KINDS,
    deflect,
    elastic_model,
    kernel_accelerations,
    marker,
    reference_states,
    reference_system,
)
from tests.components.multibody.random_models import made
from tests.components.multibody.test_elastic_bodies import CRANK, beam, free_flyer, hub_and_beam
from tests.dockfmu.elastic import models

MODELS = Path(__file__).parents[3] / "components" / "multibody" / "models"
# of accelerations, relative to the largest: conditions of mass matrices are up to 1e4
TOLERANCE = 1e-10


def deflected(model, seed, size=0.1):
    """Return an instance with random modal coordinates and rates, the analysis of its model, and the same state."""
    instance = Instance(made(model))
    deflect(instance, seed, size)
    system, m = Multibody(model), instance.m
    modes = [m.link[int(m.modal[k].link)] for k in range(int(m.run.modes))]
    names = system.coordinates[-len(modes) :]
    assert names == system.rates[-len(modes) :]
    state = system.state(
        dict(zip(names, (one.q for one in modes), strict=True)),
        dict(zip(names, (one.rate for one in modes), strict=True)),
    )
    return instance, system, state


def modal_accelerations(instance):
    m = instance.m
    return [m.link[int(m.modal[k].link)].qdd for k in range(int(m.run.modes))]


def model_of(seed):
    return elastic_model(200 + seed, 6, (KINDS[seed],) if seed < len(KINDS) else KINDS)


@pytest.mark.parametrize("seed", range(9))
def test_spec11_dynamics_and_energy_equal_the_kernels(seed):
    """Trees of every kind of joint between rigid and elastic bodies, deflected by up to 0.3 rad."""
    instance, system, state = deflected(model_of(seed), seed)
    expected = modal_accelerations(instance)
    found = system.forward_dynamics(state)
    size = np.abs(found).max()
    assert found[-len(expected) :] == pytest.approx(expected, abs=TOLERANCE * size)
    special = {joint.name for joint in system.model.tree if joint.kind in ("spherical", "free")}
    rates = [k for k, name in enumerate(system.rates[: -len(expected)]) if name.rpartition(".")[0] not in special]
    # where there is none, the record keeps a place
    shown = [one.acceleration for one in instance.m.coordinate][: len(rates)]
    assert found[rates] == pytest.approx(shown, abs=TOLERANCE * size)
    energy, audit = system.energy(state), instance.m.audit
    assert energy.kinetic == pytest.approx(audit.kinetic_energy, rel=1e-12)
    assert energy.gravity + energy.springs == pytest.approx(audit.stored_energy, rel=1e-12, abs=1e-10)
    assert energy.kinetic == pytest.approx(0.5 * state.u @ system.mass_matrix(state) @ state.u, rel=1e-12)
    assert system.inverse_dynamics(found, state) == pytest.approx(np.zeros(len(found)), abs=1e-9 * size)


@pytest.mark.parametrize("seed", [0, 2, 5, 8])
def test_spec11_reactions_are_the_multipliers_of_the_cartesian_reference(seed):
    model = replace(model_of(seed), ports=())
    instance, system, state = deflected(model, seed)
    found = system.reactions(state)
    assert list(found) == [joint.name for joint in model.joints]
    states, reference = reference_states(instance, model), reference_system(model)
    _, multipliers = reference.accelerations(states)
    size = np.abs(multipliers).max()
    for (kind, *sides), joint in zip(reference.joints, model.joints, strict=True):
        motions = [side.motion(states[side.body]) for side in sides]
        rows, _, _ = joint_rows(kind, *motions)
        wrench = rows[:, 6:].T @ multipliers[: len(rows)]
        multipliers = multipliers[len(rows) :]
        axes = motions[0].A
        assert found[joint.name].force == pytest.approx(axes.T @ wrench[:3], abs=1e-9 * size)
        assert found[joint.name].torque == pytest.approx(axes.T @ wrench[3:], abs=1e-9 * size)


def test_spec11_closed_loop_through_an_elastic_rod(tmp_path):
    """Accelerations, freedoms, and the force of the cut joint, as in the kernels."""
    beam(tmp_path).write(tmp_path / "rod.npz")
    (tmp_path / "crank.toml").write_text(CRANK, encoding="utf-8")
    model = read_model(tmp_path / "crank.toml").model
    instance = Instance(made(model))
    m, system = instance.m, Multibody.load(tmp_path / "crank.toml")
    count = int(m.run.modes)
    freedoms = system.freedoms()
    assert freedoms.number == count == m.closure.freedoms
    assert not freedoms.redundant
    # the loop is closed by the modes too, in the metric of the mass
    assert [one.coordinate for one in m.modal] == pytest.approx(system.start.q[-count:], abs=1e-9)
    found = system.forward_dynamics()
    size = np.abs(found).max()
    assert found[-count:] == pytest.approx(modal_accelerations(instance), abs=1e-8 * size)
    # on the predecessor in axes of its joint; the start of the rod is not turned
    load = system.reactions()["wrist"]
    assert np.linalg.norm(load.force) == pytest.approx(np.linalg.norm(m.cut[0].force), rel=1e-7)
    assert np.linalg.norm(load.torque) < 1e-9 * np.linalg.norm(load.force)


def test_jacobian_of_an_elastic_body_gives_the_twist_of_a_point_at_a_node():
    model = model_of(8)
    instance, system, state = deflected(model, 3)
    states = reference_states(instance, model)
    for port in model.ports:
        at = marker(model, port.body, Mounting(port.point, port.rotation))
        expected = at.motion(states[at.body])
        twist = np.concatenate((expected.w, expected.v))
        for found in (system.jacobian(port.name, state), system.jacobian(port.body, state, port.point)):
            assert found @ state.u == pytest.approx(twist, abs=1e-12 * np.abs(twist).max())


def test_mass_properties_are_those_of_the_deformed_bodies():
    """Compare with the block of the root of a free system in the mass matrix: mass, and inertia about its point."""
    model = free_flyer()
    _, system, state = deflected(model, 4)
    found, A = system.mass_properties(state), system.mass_matrix(state)
    root = follow(system.system, state.q, state.u)
    first = [k for k, name in enumerate(system.rates) if name.startswith(f"{model.joints[0].name}.")]
    joint = system.system.joints[0]
    place = root.r[joint.enters] + root.A[joint.enters] @ joint.minus.point
    reach = found.center - place
    turn = root.A[joint.enters] @ joint.minus.R
    block = A[np.ix_(first, first)]
    assert block[:3, :3] == pytest.approx(found.mass * np.eye(3), rel=1e-12, abs=1e-12)
    whole = found.inertia + found.mass * (reach @ reach * np.eye(3) - np.outer(reach, reach))
    assert turn @ block[3:, 3:] @ turn.T == pytest.approx(whole, rel=1e-11, abs=1e-11)
    assert found.mass == pytest.approx(sum(body.mass for body in model.bodies))
    # centres by names: those of the declaration alone
    centers = system.positions(state)
    assert list(centers) == [body.name for body in model.bodies]
    total = sum(body.mass * centers[body.name] for body in model.bodies) / found.mass
    assert total == pytest.approx(found.center, abs=1e-12)


def clamped(body, name="beam"):
    """Return a body on a wall."""
    return Model("Clamped", (elastic_rigid_body(name, body),), (MultibodyJoint("wall", "fixed", "base", name),))


def test_spec11_oracle_O1_vibrations_of_a_cantilever(tmp_path):
    """The frequencies of O1, and the decay of each mode by its damping."""
    body = dockfmu.reduce(models.beam(tmp_path), interface=[1], modes=8, frame=1, mass="matrix", damping=0.01)
    found = Multibody(clamped(body)).vibrations()
    assert found.frequencies == pytest.approx(
        [4.972397, 7.032031, 31.161542, 44.069076, 87.254466, 123.396449, 157.120009, 170.991810], rel=2e-7
    )
    assert found.unbalanced == 0.0
    pairs = found.eigenvalues[::2]
    assert np.abs(pairs) == pytest.approx(body.frequency, rel=1e-8)
    assert -pairs.real == pytest.approx(0.5 * body.damping, rel=1e-6)


def test_spec11_oracle_O3_vibrations_of_a_free_hub_with_a_beam(tmp_path):
    """The hub is a rigid body here, joined to the beam: six rigid motions, then the frequencies of O3, 1e-4 above."""
    body = dockfmu.reduce(models.beam(tmp_path), interface=[1], modes=12, frame=1, mass="matrix")
    hub = replace(
        clamped(body).bodies[0],
        name="hub",
        mass=1000.0,
        center=(-1.0, 0.0, 0.0),
        elastic=None,
        inertia=((800.0, 0.0, 0.0), (0.0, 600.0, 0.0), (0.0, 0.0, 600.0)),
    )
    joints = (MultibodyJoint("flight", "free", "base", "hub"), MultibodyJoint("root", "fixed", "hub", "beam"))
    found = Multibody(Model("Craft", (hub, elastic_rigid_body("beam", body)), joints)).vibrations()
    assert np.abs(found.frequencies[:6]).max() < 1e-3
    expected = np.array([7.528946, 10.647538, 32.146027, 45.461348, 87.795189])
    above = found.frequencies[6:11] / expected - 1.0
    assert np.all((above > -1e-7) & (above < 1e-4))


def test_two_elastic_beams_in_a_row_vibrate_as_one(tmp_path):
    """Two beams of 10 m, the second fixed to the tip of the first: the frequencies of the cantilever of 20 m."""
    half = beam(tmp_path, modes=16, interface=(1, 21), frame=1)
    longer = models.BEAM.replace('["10m", 0, 0]', '["20m", 0, 0]').replace("elements = 20", "elements = 40")
    whole = dockfmu.reduce(models.beam(tmp_path, longer), interface=[1], modes=8, frame=1)
    bodies = (elastic_rigid_body("inner", half), elastic_rigid_body("outer", half))
    tip = Mounting((10.0, 0.0, 0.0))
    joints = (MultibodyJoint("wall", "fixed", "base", "inner"), MultibodyJoint("weld", "fixed", "inner", "outer", tip))
    system = Multibody(Model("Row", bodies, joints))
    above = system.vibrations().frequencies[:6] / whole.frequency[:6] - 1.0
    assert np.all((above > -1e-6) & (above < 1e-3))
    assert np.abs(above[:2]).max() < 1e-5
    assert system.mass_properties().center == pytest.approx([10.0, 0.0, 0.0], abs=1e-9)


def test_static_start_is_that_of_the_kernels_and_of_beam_theory(tmp_path):
    """A cantilever under gravity: tip deflection q L^4 / (8 EI); its weight and moment at the wall."""
    cantilever = elastic_rigid_body("beam", beam(tmp_path, interface=(1, 21), frame=1), settled=True)
    model = replace(
        clamped(cantilever.elastic),
        bodies=(cantilever,),
        gravity=(0.0, 0.0, -0.01),
        ports=(Port("tip", "beam", (10.0, 0.0, 0.0)),),
    )
    instance, system = Instance(made(model)), Multibody(model)
    modes = [one.coordinate for one in instance.m.modal]
    assert system.start.q == pytest.approx(modes, rel=1e-9, abs=1e-12)
    assert np.abs(system.forward_dynamics()).max() < 1e-9
    tip = cantilever.elastic.shape[1] @ system.start.q
    assert tip[2] == pytest.approx(-0.02 * 1e4 / (8 * 4e4), rel=2e-3)
    load = system.reactions()["wall"]
    assert load.force == pytest.approx([0.0, 0.0, 0.2], abs=1e-9)
    assert load.torque == pytest.approx([0.0, -1.0, 0.0], abs=1e-6)
    # a mode that is given stays as it is
    assert system.state({"beam.mode1": 0.0}).q == pytest.approx(np.zeros(len(modes)), abs=0.0)


def test_a_static_start_that_no_deflection_holds_is_told(tmp_path):
    """It spins faster than its first frequency, 7.0 rad/s in the plane of the spin; the kernels tell it too."""
    cantilever = elastic_rigid_body("beam", beam(tmp_path, interface=(1, 21), frame=1), settled=True)
    hinge = MultibodyJoint("hinge", "revolute", "base", "beam", rates=(8.0,))
    model = Model("Spinning", (cantilever,), (hinge,), gravity=(0.0, -0.01, 0.0))
    with pytest.raises(StaticStartError, match="no deflection holds the loads of the start"):
        Multibody(model).state()
    with pytest.raises(ComponentError, match="no static equilibrium"):
        Instance(made(model))


def test_spec11_oracle_O6_accelerations_of_the_hub_with_a_beam_at_rest(tmp_path):
    _, model = hub_and_beam(tmp_path)
    system = Multibody(replace(model, gravity=(0.0, 0.1, 0.05)))
    instance = Instance(made(replace(model, gravity=(0.0, 0.1, 0.05))))
    found = system.forward_dynamics()
    expected = kernel_accelerations(instance, replace(model, gravity=(0.0, 0.1, 0.05)))[0]
    assert found == pytest.approx(expected, abs=1e-12)
    assert cross(np.ones(3), found[3:6]) == pytest.approx(np.zeros(3), abs=1e-12)


def test_the_named_elastic_array_is_analysed_and_drawn():
    """States by names of joints and modes; folded it has no rigid freedom but its flight and its four hinges."""
    wing = dockfmu.Multibody.load(MODELS / "elastic_array.toml")
    open_wing = wing.state(dict.fromkeys(("root.angle", "hinge1.angle", "hinge2.angle", "hinge3.angle"), 0.0))
    modes = sum(part.count for part in wing.system.flexible)
    assert wing.freedoms(open_wing).number == 6 + 4 + modes
    assert "panel1.mode1" in wing.rates
    properties = wing.mass_properties(open_wing)
    assert properties.mass == pytest.approx(500.0 + 4 * wing.model.bodies[1].elastic.invariants.mass)
    text = {one.get_text().strip() for one in wing.picture(open_wing).axes[0].texts}
    assert {"hull", "panel1", "panel4"} <= text
