"""Flexible links against rigid ones, the condensed spring, and whole finite-element models; balances and limits."""

from functools import cache

import numpy as np
import pytest
from scipy.linalg import eigh

import dockfmu
from dockfmu import fmus
from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.manipulator import drive, links, payload
from dockfmu.components.manipulator.flexible import motion
from dockfmu.components.manipulator.flexible.ports import SHAPES
from dockfmu.elastic.reduce import reduce
from dockfmu.fmus import catalogue
from tests.components.manipulator.arms import REF, SETS, energy, run
from tests.components.manipulator.arms import instance as condensed
from tests.components.manipulator.finite_elements import HeldArm
from tests.components.manipulator.test_free_base import AFFINE, LAGGED, floating

COMPONENT = catalogue.component("FlexibleManipulator")
ARMS = {"SSRMS": ("SSRMS", "MIM-1"), "ERA": ("ERA", "Airlock")}
REFERENCE = {"parameters.initial.angle": REF, "parameters.initial.payload_angles": (0.0, 0.0, 0.0)}
NINE = [(i, j) for i in (1, 2, 3) for j in (1, 2, 3)]
STIFF = ("bending", "torsion", "extension", "twist_stiffness", "tilt_stiffness")


def flexible(*names, stiffer=1.0, **values):
    """An arm with flexible links in the pose of the reference case, all links `stiffer` by a factor."""
    sets = [SETS[name] for name in (names or ARMS["SSRMS"])]
    for name in STIFF:
        key = f"parameters.segment.{name}"
        given = next((chosen.values[key] for chosen in sets if key in chosen.values), None)
        if given is not None:
            values.setdefault(key, stiffer * np.array(given))
    return Instance(COMPONENT, *sets, **{**REFERENCE, **values})


def own_frequencies(m):
    """Frequencies of links and payload with held joints, rad/s, as the damping knows them."""
    count = int(m.chain.coordinates)
    return np.sqrt(np.diag(m.chain.mobility)[:count])


@cache
def held(arm):
    """The finite-element model of an arm in the reference pose, eight elements in each beam."""
    return HeldArm(flexible(*ARMS[arm]).m, REF)


@pytest.mark.parametrize("arm", ARMS)
def test_tip_yields_to_static_loads_as_on_the_condensed_spring(arm):
    """P_M of the segments, transported and summed, and the whole finite-element model, to rounding of the latter."""
    m = flexible(*ARMS[arm]).m
    to_E = np.kron(np.eye(2), np.array(m.sensed.gripper))
    expected = to_E @ held(arm).compliance() @ to_E.T
    assert np.abs(np.array(m.flexure.compliance) - expected).max() < 1e-10 * np.abs(expected).max()
    # of the recursion: deflections of E by unit wrenches, from what each coordinate moves E
    c, G = m.chain, []
    grip = np.array(m.link[int(c.gripper)].position)
    for k in range(int(c.coordinates)):
        b = m.link[int(c.coordinate[k])]
        moved, turned, place = np.zeros(3), np.array(b.along), np.array(b.position)
        if b.flex >= 0.0:
            o = m.flex.body[int(b.flex)]
            end = m.link[int(o.modes) + SHAPES]
            s = m.flex.shape[int(end.first_shape) + int(c.coordinate[k] - o.modes)]
            moved, turned, place = np.array(s.moved), np.array(s.turned), np.array(end.position)
        G.append(np.concatenate([moved + np.cross(turned, grip - place), turned]))
    G = np.array(G).T
    found = G @ np.diag(1.0 / np.array(c.stiffness[: int(c.coordinates)])) @ G.T
    expected = held(arm).compliance()
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize("arm", ARMS)
def test_frequencies_of_arm_and_payload_are_those_of_the_whole_model(arm):
    """Joints held: the six of the payload to 2e-4, fifteen to 3 %; a reduction's frequencies are upper bounds."""
    found, expected = own_frequencies(flexible(*ARMS[arm]).m)[:15], held(arm).frequencies(15)
    error = found / expected - 1.0
    assert np.all(error > -1e-7)
    assert error[:6].max() < 2e-4
    assert error.max() < 0.03


def test_masses_of_the_undeformed_arm_are_its_parameters():
    """Kinetic energy and momenta of rates of the joints are those of rigid links, to rounding."""
    m = flexible(**{"parameters.link.center_of_mass[3,2]": 0.1, "parameters.link.center_of_mass[5,1]": -0.1}).m
    rng = np.random.default_rng(3)
    for k in range(7):
        m.drive[k].input_rate = m.parameters.gear.ratio[k] * rng.normal()
    motion.place(m)
    mass, moment = motion.static_moment(m)
    expected_mass, expected_moment = links.static_moment(m)
    assert mass == pytest.approx(expected_mass, rel=1e-14)
    assert moment == pytest.approx(expected_moment, rel=1e-12)
    frame = (0.3, -0.2, 0.5)
    for found, expected in zip(motion.momenta(m, frame), links.momenta(m, frame), strict=True):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-9)


def stiffen(m):
    """Make the links rigid: nothing moves an elastic coordinate."""
    c = m.chain
    c.stiffness[: int(c.coordinates)] = 1e22
    c.damping[:] = c.bound[:] = 0.0


def moving(m):
    """Put an arm into motion, with contact and thrust on its payload."""
    m.interface.force[:], m.interface.torque[:] = (-40.0, 12.0, 5.0), (3.0, -8.0, 20.0)
    m.payload.force[:], m.payload.torque[:] = (30.0, -20.0, 10.0), (1.0, 15.0, -6.0)
    for k in range(7):
        m.drive[k].input_rate = m.parameters.gear.ratio[k] * 0.02 * (k - 3)
        m.drive[k].motor_angle += 2.0 - k


def test_held_links_are_rigid_ones():
    """Accelerations of the joints and the wrench on the root, the payload part of the last link, to rounding."""
    h = 5e-4
    m = flexible().m
    moving(m)
    stiffen(m)
    motion.place(m)
    motion.micro_step(m, h)
    other = flexible().m
    moving(other)
    p, turn, last = other.parameters, np.array(other.free_body.fixture), other.arm[7]
    arm = turn @ -np.array(p.grapple.position) + np.array(last.reach)
    own = turn @ np.array(p.payload.inertia) @ turn.T
    last.mass += p.payload.mass
    last.moment[:] += p.payload.mass * arm
    last.inertia[:] += own + p.payload.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    links.place(other)
    drive.predict(other, h)
    force, torque = (turn @ np.array(v) for v in payload.outer_wrench(other))
    last.force[:] += force
    last.torque[:] += torque + np.cross(arm, force)
    links.accelerate(other)
    found = np.array([m.arm[k].qdd for k in range(1, 8)])
    expected = np.array([other.arm[k].qdd for k in range(1, 8)])
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12 * np.abs(expected).max())
    for found, expected in zip((m.base.force_now, m.base.torque_now), links.root_wrench(other), strict=True):
        assert np.array(found) == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())


APPROACH = {"command.mode": 2, "command.velocity": (0.019, 0.0, 0.0), "parameters.compliance.decrement": 2.5}


def test_stiff_links_approach_rigid_ones():
    """Angles of the joints after 1.5 s of an approach: the difference falls as one over the stiffness."""

    def angles(stiffer, hold=False):
        arm = flexible(stiffer=stiffer, **APPROACH)
        if hold:
            stiffen(arm.m)
        run(arm, 1.5)
        return np.array([joint.angle for joint in arm.m.joint]) - REF

    rigid = angles(1.0, hold=True)
    errors = [np.abs(angles(stiffer) - rigid).max() / np.abs(rigid).max() for stiffer in (10.0, 100.0, 1000.0)]
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.2)
    assert errors[1] / errors[2] == pytest.approx(10.0, rel=0.2)


def test_braked_arm_answers_a_thrust_as_the_whole_model_does():
    """Gears in series with the links, undamped, 12 s: place of the payload to 0.1 %, load on the gripper to 2.5 %.

    A small backlash is taken up at once. The implicit gears damp fast modes by w h / 2, and the load, which has more of
    these, is that of the middle of the last micro-step.
    """
    h, thrust = 4e-3, np.array([6.0, -4.0, 5.0])
    arm = flexible(**{
        "command.mode": 5, "parameters.compliance.decrement": 0.0, "parameters.gear.damping_ratio": 0.0,
        "parameters.gear.play": 1e-7,
    })  # fmt: skip
    p = arm.m.parameters.gear
    ratios = np.array(p.ratio)
    model = HeldArm(arm.m, REF, 4, gears=np.array(p.stiffness), rotors=np.array(p.inertia) * ratios**2)
    squares, modes = eigh(model.K, model.M)
    omega = np.sqrt(squares)
    arm.m.payload.force[:] = thrust
    start = np.array(arm.m.payload.position)
    rows = run(arm, 12.0, h, watch=lambda m: [*(np.array(m.payload.position) - start), *m.tip.force])
    center = np.pad(model.center, ((0, 0), (0, model.size - model.center.shape[1])))
    t = h * np.arange(1, len(rows) + 1)
    gain = center[:3] @ modes * ((center[:3] @ modes).T @ thrust)
    place = gain @ ((1 - np.cos(np.outer(omega, t))) / squares[:, None])
    pull = thrust[:, None] - arm.m.parameters.payload.mass * gain @ np.cos(np.outer(omega, t))
    pull = np.array(arm.m.sensed.gripper) @ pull
    for found, expected, limit in ((rows[:, :3].T, place, 1e-3), (rows[:, 3:].T, pull, 0.025)):
        assert np.abs(found - expected).max() < limit * np.abs(expected).max()


def test_each_mode_falls_by_its_decrement():
    """C of the elastic coordinates: damping ratios of the modes with held joints, and symmetric."""
    m = flexible(**{"parameters.compliance.decrement": (0.1, 0.15, 0.2, 0.25, 0.3, 0.35)}).m
    c, count = m.chain, int(m.chain.coordinates)
    K, C = np.diag(c.stiffness[:count]), np.array(c.damping)[:count, :count]
    scale = np.sqrt(np.outer(np.diag(K), np.diag(K)))
    vectors = np.array(c.vectors)[:count, :count]
    ratios = np.diag(vectors.T @ (C / scale) @ vectors) * own_frequencies(m) / 2.0
    decrement = np.concatenate([(0.1, 0.15, 0.2, 0.25, 0.3), np.full(count - 5, 0.35)])
    assert ratios == pytest.approx(decrement / np.sqrt(4.0 * np.pi**2 + decrement**2), rel=1e-9)
    assert np.linalg.eigvalsh(np.diag(c.bound[:count]) - C)[0] > -1e-9 * C.max()


def test_free_decay_is_that_of_the_decrement():
    """The lowest mode of the payload with locked joints, from its static shape: ratio of successive peaks."""
    arm = flexible(**{"parameters.joint.locked": 1, "parameters.compliance.decrement": 0.2})
    m = arm.m
    model = held("SSRMS")
    squares, modes = eigh(model.K, model.M)
    center = np.pad(model.center, ((0, 0), (0, model.size - model.center.shape[1])))
    # a wrench that deflects the mode alone: M phi of the payload
    shape = center @ modes[:, 0]
    inertia = np.array(m.parameters.payload.inertia)
    m.payload.force[:], m.payload.torque[:] = 0.5 * m.parameters.payload.mass * shape[:3], 0.5 * inertia @ shape[3:]
    period = 2.0 * np.pi / np.sqrt(squares[0])
    run(arm, 0.5 * period, 1e-2)
    m.payload.force[:] = m.payload.torque[:] = 0.0
    axis = np.argmax(np.abs(shape[:3]))
    speed = run(arm, 4.0 * period, 1e-2, watch=lambda m: m.payload.velocity[axis])
    peaks = [np.abs(speed[k : k + round(period / 1e-2)]).max() for k in range(0, len(speed), round(period / 1e-2))][:4]
    assert np.array(peaks[:-1]) / peaks[1:] == pytest.approx(np.full(3, np.exp(0.2)), rel=0.01)


def test_balance_of_energy_closes_with_the_micro_step():
    """An approach and a push on the payload: of first order in the micro-step, 1e-3 of what was supplied."""

    def missing(micro_step):
        arm = flexible(
            **{"command.mode": 2, "command.velocity": (0.019, 0.0, 0.0), "parameters.micro_step": micro_step}
        )
        run(arm, 2.0)
        arm.m.interface.force[:], arm.m.interface.torque[:] = (-80.0, 20.0, 10.0), (5.0, -10.0, 15.0)
        worst = np.abs(run(arm, 2.0, watch=lambda m: energy(m))).max()
        return worst, arm.m.audit.work_motors, arm.m.audit.dissipated_compliance

    coarse, fine = missing(5e-4), missing(1.25e-4)
    assert coarse[0] < 2e-3 * coarse[1]
    assert fine[0] < 0.4 * coarse[0]
    assert fine[2] > 0.0


@pytest.mark.parametrize(("mass", "payload"), [(6e4, 8015.0), (6e3, 6e4), (5e2, 5e3)])
def test_affine_keeps_the_momenta_with_any_craft(mass, payload):
    """Expect errors of second order, as with rigid links."""
    coarse, fine = (floating(AFFINE, h, mass, payload, component=COMPONENT) for h in (2e-3, 1e-3))
    assert fine.linear < 3e-7
    assert fine.angular < 3e-7
    for name in ("linear", "angular"):
        assert getattr(coarse, name) / getattr(fine, name) == pytest.approx(4.0, rel=0.1)


def test_lagged_keeps_the_momenta_on_a_station_much_heavier_than_the_payload():
    """The payload moves with the links at once: with LAGGED the station must be far heavier than both."""
    found = floating(LAGGED, 1e-3, 6e5, 8015.0, component=COMPONENT)
    assert found.linear < 1e-12
    assert found.angular < 1e-12
    with pytest.raises(ComponentError, match="the station is too light: use AFFINE"):
        floating(LAGGED, 1e-3, 6e4, 8015.0, component=COMPONENT)


@pytest.mark.parametrize("mass", [20.0, 4e5])
def test_payloads_of_any_mass_are_stable_with_the_usual_micro_step(mass):
    """The damping of heavy modes acts on light links too: an explicit method would diverge from 20 t on."""
    inertia = mass / 8015.0 * np.diag([6e3, 2.8e4, 2.8e4])
    values = {"parameters.payload.mass": mass, "parameters.payload.inertia": inertia}
    arm = flexible(**{"command.mode": 2, "command.velocity": (0.019, 0.0, 0.0), **values})
    other = condensed("SSRMS", "MIM-1", **{**REFERENCE, **APPROACH, "parameters.compliance.decrement": 0.2, **values})
    for one in (arm, other):
        run(one, 3.0)
    assert arm.m.interface.position == pytest.approx(other.m.interface.position, abs=1e-3)


@pytest.mark.parametrize("fixed", [1, 0])
def test_saved_state_goes_on_bitwise(fixed):
    """Make NaN of what is not saved: it is not read before it is written."""
    values = {"command.mode": 2, "command.velocity": (0.019, 0.01, 0.0), "parameters.base_fixed": fixed,
              "parameters.base_motion": AFFINE, "base.acceleration": (0.01, 0.0, 0.0)}  # fmt: skip
    one, other = flexible(**values), flexible(**values)
    run(one, 0.1)
    other.block[:] = np.nan
    for span in COMPONENT.record.saved:
        place = slice(span.first, span.first + span.count)
        other.block[place] = one.block[place]
    for arm in (one, other):
        run(arm, 0.05, start=0.1)
    for span in COMPONENT.record.saved:
        place = slice(span.first, span.first + span.count)
        assert one.block[place].tobytes() == other.block[place].tobytes()


def test_one_step_of_twice_the_length_is_two_steps():
    one, other = flexible(**APPROACH), flexible(**APPROACH)
    run(one, 0.4, 2e-3)
    run(other, 0.4, 1e-3)
    assert one.m.interface.position == pytest.approx(other.m.interface.position, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"parameters.variant": 2}, "parameters.variant must be FULL: flexible links need links with mass, and drives"),
        (
            {"parameters.segment.kind[1,1]": 3, "parameters.segment.length[1,1,1]": 1.0},
            "link 0 has a beam, but no mass",
        ),
        ({f"parameters.segment.kind[{k},1]": 4 for k in range(1, 7)}, "the arm has more than 4 beams or 4 lumped"),
        (
            {"parameters.link.mass[3]": 0.0, **{f"parameters.link.inertia[3,{i},{j}]": 0.0 for i, j in NINE}},
            "beam 1 of the arm, from the root, has no mass",
        ),
    ],
)
def test_arms_that_cannot_have_flexible_links_are_refused(values, message):
    values = {**{f"parameters.segment.{name}": 1e6 for name in STIFF}, **values}
    with pytest.raises(ComponentError, match=message):
        flexible(**values)


def test_links_are_condensed_or_flexible():
    with pytest.raises(ValueError, match="links must be 'condensed' or 'flexible', not 'rigid'"):
        catalogue.component("Manipulator", links="rigid")


@pytest.mark.parametrize("mass", [1e3, 3e3, 8e3])
def test_spring_is_too_fast_by_the_mass_of_the_links_that_moves_with_the_payload(mass):
    """The rule of the comparison: 14 % of links over payload, for the lowest mode, within a tenth of it."""
    values = {
        "parameters.payload.mass": mass,
        "parameters.payload.inertia": mass ** (5 / 3) / 300.0 ** (2 / 3) / 6.0 * np.eye(3),
        "parameters.grapple.position": (-0.5 * (mass / 300.0) ** (1 / 3), 0.0, 0.0),
    }
    spring, one = (made("SSRMS", **{**REFERENCE, **values}).m for made in (condensed, flexible))
    more = spring.compliance.frequency[0] / one.compliance.frequency[0] - 1.0
    assert more == pytest.approx(0.14 * one.parameters.link.mass.sum() / mass, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["differences", "directional"])
def test_linear_model_of_the_fmu_has_the_modes_of_the_whole_model(by, tmp_path):
    """From saved states, or directional derivatives: 44 states; frequencies are low by the first order of 0.1 ms."""
    file = fmus.build(COMPONENT, tmp_path)
    sets = [chosen.values for name in ARMS["SSRMS"] for chosen in [SETS[name]]]
    values = {name: value for given in sets for name, value in given.items()}
    values |= {**REFERENCE, "parameters.joint.locked": 1.0, "parameters.micro_step": 1e-4}
    settings = {
        scalar: f"{number!r}rad" if "angle" in name else number
        for name, value in values.items()
        for scalar, number in COMPONENT.record.expand(name, value, "test")
    }
    model = dockfmu.linearise(
        file, 0.0, settings=settings, step=1e-3, by=by, inputs=["payload.force"], outputs=["payload.position"]
    )
    assert len(model.states) == 44
    modes = sorted((mode for mode in model.modes if mode.eigenvalue.imag > 0.0), key=lambda mode: mode.frequency)
    assert [mode.kind for mode in modes] == ["decays"] * 22
    found = 2.0 * np.pi * np.array([mode.frequency for mode in modes])
    assert found[:6] == pytest.approx(held("SSRMS").frequencies(6), rel=2e-4)
    assert found[:11] == pytest.approx(held("SSRMS").frequencies(11), rel=0.015)
    assert [mode.damping for mode in modes[:6]] == pytest.approx(np.full(6, 0.0318), rel=0.005)


def test_beam_of_a_link_is_the_body_that_the_reduction_makes(tmp_path):
    """The upper boom of SSRMS as a frame model of 20 elements: frequencies, invariants and motion of its end.

    The reduction has no rotary inertia across the beam, and true modes where there are quartics.
    """
    m = flexible().m
    mass, length, radius = 279.2, 7.11, 0.175
    file = tmp_path / "boom.toml"
    file.write_text(f"""
name = "boom"
[nodes]
1 = [0, 0, 0]
2 = [{length}, 0, 0]
[sections.tube]
area = 1e-3
bending_y = 5e-5
bending_z = 5e-5
torsion = 2e-5
polar = {1e-3 * radius**2}
[materials.stiff]
modulus = 1e11
shear = 1e11
density = {mass / length / 1e-3}
[[beams]]
nodes = [1, 2]
section = "tube"
material = "stiff"
elements = 20
""")
    body = reduce(file, interface=[1, 2], modes=2, frame=1)
    modes = [m.flex.mode[SHAPES + k] for k in range(SHAPES)]
    found = np.array([mode.frequency for mode in modes])
    # 2 % of the pairs above the first: what the rotary inertia of the tube takes
    assert found[:4] == pytest.approx(body.frequency[:4], rel=0.02)
    assert found[:2] == pytest.approx(body.frequency[:2], rel=2e-3)
    o, own = m.flex.body[1], body.invariants
    assert np.array(o.moment) == pytest.approx(own.static_moment, abs=1e-3 * mass * length)
    inertia = np.array(o.inertia)[[0, 3, 5]]
    assert inertia == pytest.approx(np.diag(own.inertia), rel=2e-3)
    translation = np.array([mode.translation for mode in modes]).T
    rotation = np.array([mode.rotation for mode in modes]).T
    assert translation @ translation.T == pytest.approx(own.translation @ own.translation.T, rel=0.01, abs=0.01 * mass)
    assert rotation @ rotation.T == pytest.approx(own.rotation @ own.rotation.T, rel=0.01, abs=10.0)
    end = np.array([m.flex.shape[2 * SHAPES + k].value for k in range(SHAPES)]).T
    compliance = end @ np.diag(found**-2.0) @ end.T
    expected = body.shape[1] @ np.diag(body.frequency**-2.0) @ body.shape[1].T
    assert compliance == pytest.approx(expected, rel=1e-6, abs=1e-12)
