"""Ruling R48: nothing depends on a velocity that both craft have in common; balances by code that shares no kernel."""

from __future__ import annotations

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.core.ports import BASE_MOTION
from dockfmu.components.physics.mechanics.rotation import from_quaternion
from dockfmu.fmus import catalogue
from tests.components.manipulator.arms import COMPONENT, REF, SETS
from tests.components.manipulator.test_free_base import ACCELERATION, POSE, TWIST, copy
from tests.components.peripheral_mechanism.pair import Pair
from tests.components.probe_mechanism.rig import Docking, degrees, put_port
from tests.components.ring_mechanism.ring_rig import RingPair

SEED = 48
# m/s, of a low orbit, in a random direction
V = 7.5e3 * (lambda v: v / np.linalg.norm(v))(np.random.default_rng(SEED).normal(size=3))
WRENCHES = [f"{port}.{kind}[{k}]" for port in ("base", "target") for kind in ("force", "torque") for k in (1, 2, 3)]
LOADS = [f"load.{name}" for name in ("compression", "tension", "shear", "torsion", "bending")]
SKEW = {
    "miss": (0.02, -0.02), "angles": degrees(1.0, -1.0, 1.5), "velocity": (0.12, 0.01, -0.01),
    "rate": degrees(0.05, 0.05, -0.05),
}  # fmt: skip

RING = SKEW | {"miss": (0.003, -0.002), "angles": degrees(0.3, -0.3, 0.5)}


def docking(base_motion="LAGGED"):
    return Docking(gap=0.10, parameters={"parameters.base_motion": BASE_MOTION.codes[base_motion]}, **SKEW)


PAIRS = {
    "probe": docking,
    "probe_source": lambda: docking("SOURCE"),
    "peripheral": lambda: Pair(0.004, **RING),
    "hydraulic": lambda: RingPair("hydraulic", gap=0.004, **RING),
}


def boost(pair, velocity):
    """Give both craft, and the ports that tell it, this velocity more (m/s, I)."""
    for craft, port in ((pair.active, pair.m.base), (pair.passive, pair.m.target)):
        craft.velocity[:] += velocity
        put_port(craft, port)
    # the mechanism knows the velocity of its base from the start on
    code = pair.component.initialize(pair.m)
    assert code == 0, pair.component.explain(code, pair.block)


def wrenches(pair, names, duration, h=1e-3):
    if isinstance(pair, Docking):
        run = pair.run(duration, h, record=names)
        return np.column_stack([run[name] for name in names])
    return pair.run(duration, names, h)[:, : len(names)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", PAIRS)
def test_ruling_R48_mean_wrenches_do_not_depend_on_a_common_velocity(kind):
    """With 7.5 km/s more for both craft, mean wrenches and extreme loads over an oblique impact are the same.

    After 0.3 s the craft are 2 km from the origin, where positions have a spacing of 2.3e-13 m. Contacts of 1e7 N/m
    turn it into 2e-6 N, and the dynamics of the impact amplify that; 1e-7 of the largest force and torque allows for
    it. With a ring the impacts of many petals at once are chaotic after some 0.1 s, so the comparison ends at 0.08 s.
    The torque about a place fixed at mid-step errs by 7.5 km/s times the first moment of the force: 10 % and more.
    """
    names = [*WRENCHES, *LOADS]
    still, moving = PAIRS[kind](), PAIRS[kind]()
    boost(still, np.zeros(3))
    boost(moving, V)
    duration = 0.3 if kind.startswith("probe") else 0.08
    expected, found = (wrenches(pair, names, duration) for pair in (still, moving))
    assert np.abs(expected[:, 6:9]).max() > 300.0, "the units touch"
    for column in range(0, len(names), 3):
        part = slice(column, min(column + 3, len(names)))
        scale = np.abs(expected[:, part]).max()
        assert np.abs(found[:, part] - expected[:, part]).max() < 1e-7 * scale, names[column]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["probe", "peripheral", "hydraulic"])
def test_ruling_R48_mean_torque_is_the_mean_of_the_torques_about_the_moving_port(kind):
    """Ports that move uniformly at 7.5 km/s: a step of 16 micro-steps exerts what 16 steps of one micro-step exert.

    The state takes the same micro-steps in both, so the impulses about the moving origins are equal but for rounding:
    the positions, up to 2 km from the origin, round to 2.3e-13 m, which contacts of 1e7 N/m turn into 2e-6 N. About the
    place at mid-step the coarse torque would lack V x (first moment of the force), which the fine steps show to be
    large.
    """
    h, count = 6.25e-5, 16
    fixed = {"micro_step": h, "longest_micro_step": h, "micro_tolerance": 0.0}
    place = (SKEW if kind == "probe" else RING) | {"velocity": (0.2, 0.0, 0.0), "rate": (0.0, 0.0, 0.0)}

    def pair():
        if kind == "probe":
            made = Docking(gap=0.09, parameters={f"parameters.{name}": value for name, value in fixed.items()}, **place)
        elif kind == "peripheral":
            made = Pair(0.002, **place, **fixed)
        else:
            made = RingPair("hydraulic", gap=0.002, **place, **fixed)
        boost(made, V)
        return made

    def prescribed(made, size, steps):
        rows = []
        for k in range(steps):
            code = made.component.step(made.m, k * size, size)
            assert code == 0, made.component.explain(code, made.block)
            for craft, port in ((made.active, made.m.base), (made.passive, made.m.target)):
                craft.position[:] += size * np.array(craft.velocity)
                put_port(craft, port)
            rows.append([made.block[made.component.record.index[name]] for name in WRENCHES])
        return np.array(rows).reshape(steps, 2, 2, 3)

    steps = 300 if kind == "probe" else 20
    coarse = prescribed(pair(), count * h, steps)
    fine = prescribed(pair(), h, steps * count).reshape(steps, count, 2, 2, 3)
    scale = np.abs(coarse).max(axis=(0, 1, 3))
    assert (scale > 50.0).all(), "the units touch"
    assert (np.abs(fine.mean(axis=1) - coarse).max(axis=(0, 1, 3)) < 1e-6 * scale).all()
    # the term by which the torque about the place at mid-step differs: ports of axes I here
    moment = h * (np.arange(count) + 0.5 - count / 2.0)
    first = np.einsum("k,nkpx->npx", moment, fine[:, :, :, 0]) / count
    assert np.abs(np.cross(V, first)).max() > 0.1 * scale[1]


@pytest.mark.slow
def test_ruling_R48_angular_momentum_in_axes_of_the_common_velocity():
    """Craft and mechanism, seen from axes that move at 7.5 km/s: no more drift than of craft that only approach.

    The momenta of the craft come from their states, that of the mechanism from its motion relative to its base.
    """

    def drift(velocity):
        pair = docking()
        boost(pair, velocity)
        rows = []
        for k in range(60):
            pair.run(5e-3)
            total = np.zeros(3)
            shift = velocity * (k + 1) * 5e-3
            for craft in (pair.active, pair.passive):
                total += craft.spin
                total += craft.mass * np.cross(craft.position - shift, craft.velocity - velocity)
            # the mechanism's motion relative to its base, on the base's true motion
            base, own = pair.m.base, pair.m.balance
            A = np.array(from_quaternion(tuple(base.quaternion)))
            carried = A.T @ base.velocity - velocity
            momentum = own.relative_momentum + own.mass * carried
            total += own.relative_angular_momentum + np.cross(own.end_moment, carried)
            rows.append(total + np.cross(base.position - shift, momentum))
        rows = np.array(rows)
        return np.abs(rows - rows[0]).max()

    still, moving = drift(np.zeros(3)), drift(V)
    print(still, moving)
    # angular momenta of 1e3 N m s are exchanged; at 7.5 km/s single terms are 1e9 N m s, with 1e-7 of rounding
    assert still < 0.05
    assert moving < still + 1e-3


def unit(name, place, velocity=(0.0, 0.0, 0.0)):
    """Step a contact component once with its units in touch, both with this velocity; return its wrenches and loads."""
    contact = Instance(catalogue.component(name), **place)
    for port in (contact.m.base, contact.m.target):
        port.velocity[:] += velocity
    contact.step(0.0, 1e-3)
    m = contact.m
    values = [*m.target.force, *m.target.torque, *m.target.force_now, *m.target.torque_now]
    values += [m.load.compression, m.load.tension, m.load.shear, m.load.torsion, m.load.bending]
    return np.array(values)


HEAD_ON_BOTTOM = {"base.position": 0.0, "target.position": (-0.33205, 0.0, 0.0), "link[2].position": (-1.0, 0.0, 0.0)}


@pytest.mark.quick
@pytest.mark.parametrize(("name", "place"), [
    ("ContactProbeCone", HEAD_ON_BOTTOM),
    ("ContactRing", {"target.position": 0.0, "base.position": (-0.005, 0.0005, 0.0053)}),
    ("ContactAirlock", {"base.position": 0.0, "target.position": (-0.248, 0.002, 0.001)}),
    ("ContactRadiator", {"target.position": 0.0, "base.position": (0.0005, 0.002, -0.001)}),
])  # fmt: skip
def test_ruling_R48_contact_components_do_not_depend_on_a_common_velocity(name, place):
    """One step of 1 ms, 7.5 m: positions of 7.5 m round to 1e-15 m, which contacts of 1e7 N/m turn into 1e-8 N."""
    still, moving = unit(name, place), unit(name, place, V)
    assert np.abs(still).max() > 1.0, "the units touch"
    assert moving == pytest.approx(still, rel=1e-7, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["LAGGED", "AFFINE"])
def test_ruling_R48_an_arm_on_a_free_station_does_not_depend_on_its_velocity(mode):
    """Wrench on the station of SSRMS with a payload that a force at its interface pushes, for 0.1 s.

    Momenta of the payload of 8 t are 6e7 N s at 7.5 km/s, with a spacing of 7.5e-9 N s: over 1 ms 1e-5 N, and with the
    arm of 10 m 1e-4 N m. About a place fixed at mid-step the torque of the push alone errs by 10 N m.
    """

    def wrench(velocity):
        craft = Instance(
            catalogue.component("Spacecraft"),
            **{
                "parameters.mass": 6e4,
                "parameters.inertia": np.diag([2e5, 6e5, 6e5]),
                "parameters.port[1].base_motion": BASE_MOTION.codes[mode],
                "parameters.port[1].position": (2.0, 0.0, 0.3),
                "parameters.initial.velocity": velocity,
                "parameters.initial.angular_velocity": (0.01, 0.02, -0.03),
            },
        )
        port = craft.m.port[0]
        arm = Instance(
            COMPONENT,
            SETS["SSRMS"],
            **{
                "command.mode": 2,
                "command.velocity": (0.019, 0.0, 0.0),
                "parameters.base_fixed": 0,
                "parameters.base_motion": BASE_MOTION.codes[mode],
                "parameters.initial.angle": REF,
                "parameters.payload.mass": 8015.0,
                "parameters.payload.inertia": np.diag([6e3, 2.8e4, 2.8e4]),
                "parameters.grapple.position": (-0.8, 1.25, 0.0),
                **{f"base.{name}": np.array(getattr(port, name)) for name in (*POSE, *TWIST)},
            },
        )
        rows = []
        for k in range(100):
            arm.m.interface.force[:] = 100.0 * np.sin(0.1 * k), -50.0, 20.0
            arm.step(k * 1e-3, 1e-3)
            copy(arm.m.base, port, ("force", "torque", "affine_mass"))
            craft.step(k * 1e-3, 1e-3)
            copy(port, arm.m.base, (*POSE, *TWIST, *ACCELERATION))
            rows.append([*port.force, *port.torque])
        return np.array(rows).reshape(100, 2, 3)

    still, moving = wrench(np.zeros(3)), wrench(V)
    scale = np.abs(still).max(axis=(0, 2))
    assert (scale > 20.0).all()
    assert np.abs(moving[:, 0] - still[:, 0]).max() < 2e-3
    assert np.abs(moving[:, 1] - still[:, 1]).max() < 2e-2
