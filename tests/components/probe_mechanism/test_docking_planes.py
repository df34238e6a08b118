"""Contact of the docking planes, and pushers of a solid length (ruling R47)."""

from math import cos, sin

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.core.field import Group
from dockfmu.components.core.record import Record
from dockfmu.components.physics.devices import docking_planes, pushers
from dockfmu.components.physics.mechanics.rotation import from_angles, quaternion
from dockfmu.components.probe_mechanism import component
from tests.components.probe_mechanism.rig import Docking, degrees

RECORD = Record(Group("parameters", pushers.parameters(), *docking_planes.parameters()), docking_planes.state())
PLANE = 0.3


def bearing(position=(0.0, 0.0, 0.0), angles=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0), rate=(0.0, 0.0, 0.0), **values):
    """Return the contact with the centre of the active plane at `position` in PU; pushers that never get solid."""
    m = RECORD.memory()
    p = m.parameters
    p.pusher_stop.travel = 1.0
    for name, value in values.items():
        setattr(p.planes, name, value)
    A = np.array(from_angles(*angles))
    ring = m.plane_contact.ring
    ring.rotation[:] = A
    ring.position[:] = np.array(position) - A.T @ [PLANE, 0.0, 0.0]
    ring.velocity[:], ring.angular_velocity[:] = velocity, rate
    docking_planes.reset(m.plane_contact)
    docking_planes.measure(p.planes, p.pushers, p.pusher_stop, PLANE, m.plane_contact)
    docking_planes.exert(p.planes, p.pusher_stop, m.plane_contact)
    return m


@pytest.mark.quick
def test_spec00_ruling_47_planes_bear_as_an_annulus():
    """Even pressure is a force, tilted pressure a moment: area and second moments of the annulus, exactly."""
    m = bearing((1e-3, 0.0, 0.0))
    p, c = m.parameters.planes, m.plane_contact
    assert c.sums.passive.force == pytest.approx([p.stiffness * 1e-3, 0.0, 0.0])
    assert np.abs(c.sums.passive.torque).max() < 1e-9 * p.stiffness * 1e-3
    assert c.sums.stored_energy == pytest.approx(0.5 * p.stiffness * 1e-6)
    tilt = 1e-3
    bending = p.stiffness * 0.25 * (p.inner_radius**2 + p.outer_radius**2) * sin(tilt)
    for axis, angles in ((1, (tilt, 0.0, 0.0)), (2, (0.0, tilt, 0.0))):
        m = bearing((2e-3, 0.0, 0.0), angles)
        expected = np.zeros(3)
        # the passive unit is turned towards the active one
        expected[axis] = bending * cos(tilt)
        assert m.plane_contact.sums.passive.torque == pytest.approx(expected, rel=1e-3, abs=1.0)
        assert m.plane_contact.sums.passive.force[0] == pytest.approx(p.stiffness * 2e-3, rel=1e-6)


@pytest.mark.quick
def test_a_tilted_plane_touches_first_at_its_rim_and_not_beyond_that_of_the_other():
    tilt = 0.02
    first = 0.5 * sin(tilt)
    assert bearing((-first - 1e-6, 0.0, 0.0), (tilt, 0.0, 0.0)).plane_contact.depth[0] < 0.0
    m = bearing((-first + 1e-4, 0.0, 0.0), (tilt, 0.0, 0.0))
    assert m.plane_contact.depth[0] == pytest.approx(1e-4)
    assert m.plane_contact.sums.passive.force[0] == pytest.approx(m.parameters.planes.stiffness * 1e-4 / 32.0)
    assert not bearing((1e-3, 1.2, 0.0)).plane_contact.sums.passive.force.any()
    assert not bearing((7.0, 1.2, 0.0)).plane_contact.sums.passive.force.any()


@pytest.mark.quick
def test_planes_do_not_pull_and_lose_energy_in_any_motion():
    generator = np.random.default_rng(47)
    for _ in range(200):
        m = bearing(
            (generator.uniform(-2e-3, 3e-3), *generator.normal(scale=0.01, size=2)),
            tuple(generator.normal(scale=4e-3, size=3)),
            tuple(generator.normal(scale=0.1, size=3)),
            tuple(generator.normal(scale=0.02, size=3)),
        )
        c = m.plane_contact
        assert c.sums.passive.force[0] >= 0.0
        assert c.lost_power >= -1e-9 * (1.0 + abs(c.sums.passive.force[0]))
        assert np.hypot(*c.sums.passive.force[1:]) <= m.parameters.planes.friction * c.sums.passive.force[0] * (
            1.0 + 1e-9
        )


@pytest.mark.quick
def test_spec06_oracle_17_planes_in_a_mirror():
    """Mirrored in y, then in z: force and torque are those of the mirrored pose."""
    generator = np.random.default_rng(17)
    for _ in range(20):
        place = np.array([generator.uniform(0.0, 2e-3), *generator.normal(scale=0.01, size=2)])
        angles, rate = generator.normal(scale=3e-3, size=3), generator.normal(scale=0.02, size=3)
        velocity = generator.normal(scale=0.05, size=3)
        plain = bearing(place, angles, velocity, rate).plane_contact
        # a mirror turns vectors across itself, and rotations about the axes within it; yaw, pitch, roll are y, z, x
        for vector, spin, angle in (
            ([1, -1, 1], [-1, 1, -1], [1, -1, -1]),
            ([1, 1, -1], [-1, -1, 1], [-1, 1, -1]),
        ):
            other = bearing(place * vector, angles * angle, velocity * vector, rate * spin).plane_contact
            assert other.sums.passive.force == pytest.approx(plain.sums.passive.force * vector, rel=1e-10, abs=1e-6)
            assert other.sums.passive.torque == pytest.approx(plain.sums.passive.torque * spin, rel=1e-10, abs=1e-6)


@pytest.mark.quick
def test_a_solid_pusher_is_a_stop():
    m = RECORD.memory()
    p, c = m.parameters, m.plane_contact
    p.pusher_stop.travel = 0.02
    c.ring.rotation[:] = np.eye(3)
    c.ring.position[0] = -PLANE - 4e-3
    docking_planes.measure(p.planes, p.pushers, p.pusher_stop, PLANE, c)
    docking_planes.exert(p.planes, p.pusher_stop, c)
    assert c.depth == pytest.approx([-4e-3, 1e-3])
    assert c.sums.passive.force == pytest.approx([4 * p.pusher_stop.stiffness * 1e-3, 0.0, 0.0])
    assert c.sums.stored_energy == pytest.approx(4 * 0.5 * p.pusher_stop.stiffness * 1e-6)


def meeting(speed=0.05, angles=(0.5, -0.3, 1.0), **values):
    """Let craft meet plane on plane: the active one stands 0.4 m before the head, which touches nothing."""
    ahead = {"parameters.docking_plane_x": 1.2, "parameters.pushers.stiffness": 0.0, "parameters.pushers.preload": 0.0,
             "command.latches_armed": 0.0, **values}  # fmt: skip
    docking = Docking(
        gap=0.3770023 - 0.045 + 0.4 + 0.008,
        miss=(5e-3, -3e-3),
        angles=degrees(*angles),
        velocity=(speed, 2e-3, 0.0),
        rate=degrees(0.02, 0.01, -0.05),
        parameters=ahead,
    )
    names = ["flag.plane_contact", "validity.early_plane_contact", "audit.dissipated_planes", "target.force_now[1]",
             "docking.plane_gap", "audit.stored_energy", "sensor.first_contact"]  # fmt: skip
    return docking, docking.run(1.0, record=names)


@pytest.mark.slow
def test_spec06_oracle_14_15_craft_that_meet_plane_on_plane():
    """They bounce off each other with a loss of the planes alone: momentum is kept, energy closes to 1e-3.

    The force is held over steps of 1 ms on a contact of 90 rad/s, 0.05 of its phase.
    """
    _, run = meeting()
    approach = 0.5 * 20e3 * 0.05**2
    assert run["flag.plane_contact"].any()
    assert not run["sensor.first_contact"].any()
    assert run["docking.plane_gap"].min() < 0.01
    lost = run["audit.dissipated_planes"]
    assert np.diff(lost).min() >= 0.0
    assert lost[-1] > 0.02 * approach
    assert np.abs(run["energy"] - run["energy"][0]).max() < 2e-3 * approach
    scale = np.linalg.norm(run["momentum"][0])
    assert np.abs(run["momentum"] - run["momentum"][0]).max() < 1e-8 * scale
    assert run["target.force_now[1]"].min() >= -1e-6


@pytest.mark.slow
def test_spec00_ruling_47_planes_that_meet_during_absorption_count():
    """In validity.early_plane_contact, which a run names; not once the drive has retracted the probe."""
    _, run = meeting()
    assert run["validity.early_plane_contact"][-1] > 0.0
    retracted, run = meeting(**{"parameters.initial_travel": 0.36})
    assert run["flag.plane_contact"].any()
    assert run["validity.early_plane_contact"][-1] == 0.0
    assert retracted.m.sensor.retracted == 1.0


@pytest.mark.slow
def test_spec00_ruling_47_solid_pushers_stop_the_craft_before_their_planes():
    """Pushers that are solid 5 mm earlier: the planes stay apart by as much, energy is kept, and it counts."""
    _, planes = meeting(angles=(0.0, 0.0, 0.0))
    _, run = meeting(angles=(0.0, 0.0, 0.0), **{"parameters.pusher_stop.travel": 0.0205})
    nearest = run["docking.plane_gap"].min()
    assert 4e-3 < nearest - planes["docking.plane_gap"].min() < 6e-3
    assert run["flag.plane_contact"].any()
    assert run["validity.early_plane_contact"][-1] > 0.0
    assert run["docking.plane_gap"][-1] > nearest + 5e-3, "they bounce off"
    approach = 0.5 * 20e3 * 0.05**2
    assert np.abs(run["energy"] - run["energy"][0]).max() < 2e-3 * approach


@pytest.mark.slow
def test_planes_driven_too_deep_end_the_run():
    with pytest.raises(
        AssertionError, match=r"penetration .* m of the docking planes .* exceeds its limit of 0\.005 m"
    ):
        meeting(speed=0.8)


@pytest.mark.slow
def test_planes_bear_alike_with_internal_and_external_contact():
    """They belong to the mechanism, not to the contact of the head: the same wrenches to the last bit."""
    q = quaternion(from_angles(*degrees(0.1, -0.05, 0.3)))
    values = {"parameters.docking_plane_x": 1.2, "target.position": (0.0, 0.0, 0.0),
              "base.position": (-1.199, 2e-3, -1e-3), "base.quaternion": q,
              "base.velocity": (0.02, 0.003, 0.0)}  # fmt: skip
    inside, outside = (Instance(component(contact=kind), **values) for kind in ("internal", "external"))
    for instance in (inside, outside):
        instance.step(0.0, 1e-3)
        assert instance.m.flag.plane_contact == 1.0
        assert instance.m.target.force[0] > 1e4
    for port in ("base", "target"):
        for name in ("force", "torque"):
            assert (getattr(getattr(inside.m, port), name) == getattr(getattr(outside.m, port), name)).all()


@pytest.mark.slow
def test_planes_below_the_limit_at_the_start_are_refused_with_their_depth():
    with pytest.raises(ComponentError, match=r"0\.02 m of the docking planes .* exceeds its limit"):
        Instance(
            component(),
            **{"parameters.docking_plane_x": 1.2, "target.position": (0.0, 0.0, 0.0), "base.position": (-1.18, 0, 0)},
        )
