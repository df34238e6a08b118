"""First-contact finder and initial states of the craft."""

from __future__ import annotations

from math import radians

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import probe_cone
from dockfmu.components.physics.contact.first_contact import (
    Misalignment,
    Mount,
    NoContactError,
    approach,
    place,
    probe_cone_penetration,
)
from dockfmu.components.physics.mechanics.rotation import angles, from_angles, from_quaternion

HEAD = (0.80, 0.0, 0.0)
ACTIVE = Mount((5.0, 0.1, -0.2))
PASSIVE = Mount((-20.0, 0.3, 0.0), np.array(from_angles(0.1, -0.2, 0.3)))
UNIT = Record(probe_cone.unit()).memory().probe_cone
assert probe_cone.initialize(UNIT) == 0
PENETRATION = probe_cone_penetration(UNIT, HEAD)


def matrix(q):
    return np.array(from_quaternion(tuple(q)))


def test_spec04_oracle_S11_sphere_in_cone():
    """x_S = x_T - d_L cot(a) - R_S / sin(a), on the outer frustum of 60 deg."""
    for miss in ((0.30, 0.0), (0.18, -0.24), (-0.05, 0.26)):
        found = place(PENETRATION, Misalignment(miss), ACTIVE, PASSIVE, HEAD)
        a = np.arctan2(0.360 - 0.220, 0.0808290)
        apex = 0.360 / np.tan(a)
        d = np.hypot(*miss)
        expected = apex - d / np.tan(a) - 0.045 / np.sin(a)
        assert 0.0 < found.penetration <= 1e-6
        assert found.position[0] + HEAD[0] == pytest.approx(expected, abs=1e-6 / np.sin(a))


@given(
    miss=st.tuples(st.floats(-0.2, 0.2), st.floats(-0.2, 0.2)),
    tilt=st.tuples(*[st.floats(-radians(7.0), radians(7.0))] * 3),
    moving=st.sampled_from(["active", "passive"]),
)
def test_spec04_oracle_S11_recovers_the_misalignment(miss, tilt, moving):
    """The craft as placed have exactly the misalignment asked for, by relations independent of the finder's."""
    wanted = Misalignment(miss, tilt, (0.1, 0.01, -0.02), (0.01, 0.0, -0.01))
    found = place(PENETRATION, wanted, ACTIVE, PASSIVE, HEAD, moving=moving)
    assert 0.0 < found.penetration <= 1e-6
    # ports in I from the states, then 0 relative to PU
    ports = []
    for state, mount in ((found.active, ACTIVE), (found.passive, PASSIVE)):
        A = matrix(state.quaternion)
        ports.append((state.position + A.T @ np.array(mount.position), np.array(mount.rotation) @ A))
    (r1, A1), (r2, A2) = ports
    A_PA = A1 @ A2.T
    r_PA = A2 @ (r1 - r2)
    np.testing.assert_allclose(A_PA, found.rotation, atol=1e-13)
    np.testing.assert_allclose(r_PA, found.position, atol=1e-12)
    r_head = r_PA + A_PA.T @ HEAD
    if moving == "active":
        assert r_head[1:] == pytest.approx(miss, abs=1e-12)
        assert angles(tuple(map(tuple, A_PA))) == pytest.approx(tilt, abs=1e-12)
        assert tuple(found.active.velocity) == wanted.velocity
        assert not found.passive.velocity.any()
    else:
        assert (-A_PA @ r_head)[1:] == pytest.approx(miss, abs=1e-12)
        assert angles(tuple(map(tuple, A_PA.T))) == pytest.approx(tilt, abs=1e-12)
        assert tuple(found.passive.velocity) == (-0.1, 0.01, -0.02)
        assert not found.active.velocity.any()


def test_both_cases_describe_one_relative_state():
    """A relative state found with the active craft moving is found again with the passive one moving."""
    first = place(PENETRATION, Misalignment((0.10, 0.05), (0.02, -0.03, 0.05)), ACTIVE, PASSIVE, HEAD)
    A = first.rotation
    head = first.position + A.T @ HEAD
    d = -A @ head
    mirrored = Misalignment((d[1], d[2]), angles(tuple(map(tuple, A.T))))
    second = place(PENETRATION, mirrored, ACTIVE, PASSIVE, HEAD, moving="passive")
    np.testing.assert_allclose(second.rotation, A, atol=1e-13)
    # both stop within 1e-6 m of depth
    np.testing.assert_allclose(second.position, first.position, atol=3e-6)


def test_start_gap_moves_the_craft_back_along_x():
    at = place(PENETRATION, Misalignment((0.1, 0.0)), ACTIVE, PASSIVE, HEAD)
    before = place(PENETRATION, Misalignment((0.1, 0.0)), ACTIVE, PASSIVE, HEAD, start_gap=0.02)
    assert before.position - at.position == pytest.approx((-0.02, 0.0, 0.0), abs=1e-12)
    A = matrix(before.passive.quaternion).T @ np.array(PASSIVE.rotation).T
    assert before.active.position - at.active.position == pytest.approx(A @ (-0.02, 0.0, 0.0), abs=1e-12)
    assert PENETRATION(before.position, before.rotation) < 0.0


def test_port_relative_velocity_with_orbital_rate():
    """Frame 0 approaches as asked, as seen from the turning PU."""
    rate = np.array([0.0, 1.1e-3, 0.0])
    wanted = Misalignment((0.05, 0.0), (0.01, 0.02, 0.0), (0.1, 0.01, 0.0), (0.002, 0.0, 0.001))
    found = place(PENETRATION, wanted, ACTIVE, PASSIVE, HEAD, velocity_point="port_relative", orbital_rate=rate)
    A1, A2 = matrix(found.active.quaternion), matrix(found.passive.quaternion)
    w1 = A1.T @ found.active.angular_velocity
    v1 = found.active.velocity + np.cross(w1, A1.T @ ACTIVE.position)
    port_1 = found.active.position + A1.T @ ACTIVE.position
    seen = v1 - np.cross(A2.T @ found.passive.angular_velocity, port_1 - found.passive.position)
    G2 = np.array(PASSIVE.rotation)
    assert G2 @ A2 @ seen == pytest.approx(wanted.velocity, abs=1e-14)
    assert found.active.angular_velocity - A1 @ A2.T @ rate == pytest.approx(wanted.angular_velocity, abs=1e-15)


def test_coaxial_head_meets_the_socket_bottom():
    found = place(PENETRATION, Misalignment(), ACTIVE, PASSIVE, HEAD)
    assert found.position[0] + HEAD[0] == pytest.approx(0.3770023 - 0.045, abs=1e-6)


def test_a_miss_outside_the_unit_is_an_error():
    with pytest.raises(NoContactError):
        place(PENETRATION, Misalignment((0.7, 0.0)), ACTIVE, PASSIVE, HEAD)


def test_approach_must_start_free():
    with pytest.raises(ValueError, match="starts in contact"):
        approach(lambda s: s, 0.5, 1.0)
    assert 0.0 < approach(lambda s: s - 0.1234567, 0.0, 1.0) - 0.1234567 <= 1e-6


def test_the_real_unit_touches_where_the_finder_says(make_unit):
    """Evaluation at the pose found: first contact by the head alone, nothing else."""
    unit = make_unit()
    found = place(PENETRATION, Misalignment((0.05, -0.05), (0.017, -0.017, 0.026)), ACTIVE, PASSIVE, HEAD)
    unit.u.input.base.position[:] = found.position
    unit.u.input.base.rotation[:] = found.rotation
    unit.link(1, (0.0, 0.0, 0.0))
    assert unit.head(HEAD) == 0
    unit.accept()
    assert unit.output.first_contact == 1.0
    assert [item.pair for item in unit.contacts()] == [1.0]
    assert unit.contacts()[0].penetration == pytest.approx(found.penetration, abs=1e-12)
