"""Oracles S7 and S8 of spacecraft where loose tolerances or one contact alone could not see a fault."""

from __future__ import annotations

import numpy as np
import pytest

from dockfmu.components.physics.contact.probe_cone.pairs import HEAD_BOTTOM, PAD_CONE
from tests.components.physics.contact.probe_cone.test_contact_bodies import (
    LOSSLESS,
    impact_of_two_bodies,
    invariants,
    right_side,
)

pytestmark = pytest.mark.quick


def pad_touches(unit):
    """Abscissa of the limiter, coaxial with the cone, where its pad just touches."""
    low, high = -0.5, 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        unit.link(1, (middle, 0.0, 0.0))
        unit.head((0.0, 0.0, 0.0))
        if any(contact.pair == PAD_CONE for contact in unit.contacts()):
            high = middle
        else:
            low = middle
    return high


def test_spec04_oracle_S07_two_dependent_contacts_share_by_stiffness(make_unit):
    """A body guided along x stands on the socket's bottom and on a limiter pad: two rows of H, one degree of freedom.

    The penalty shares the load by the stiffnesses along x, k n_x^2. The constraint matrix of (A6) is singular, though
    the acceleration that it leaves, none, is the same.
    """
    unit = make_unit(**LOSSLESS, **{"limiter.pads": 1})
    p = unit.u.parameters
    bottom, pad = p.law_bottom.stiffness, p.law_limiter.stiffness
    touching = unit.u.geometry.bottom_x - p.head.radius

    def press(depth):
        """Move both links by `depth` beyond the place where they just touch; the contacts' (pair, normal, force)."""
        unit.link(1, (clear + depth, 0.0, 0.0))
        assert unit.head((touching + depth, 0.0, 0.0)) == 0
        return [(c.pair, np.array(c.normal), float(c.normal_force)) for c in unit.contacts()]

    clear = pad_touches(unit)
    load = 5e3
    depth = 1e-4
    for _ in range(3):
        contacts = press(depth)
        assert sorted(pair for pair, _, _ in contacts) == [HEAD_BOTTOM, PAD_CONE]
        depth *= load / sum(force * normal[0] for _, normal, force in contacts)
    shares = {pair: force * normal[0] for pair, normal, force in contacts}
    n_x = {pair: normal[0] for pair, normal, _ in contacts}
    assert sum(shares.values()) == pytest.approx(load, rel=1e-6)
    assert shares[HEAD_BOTTOM] / shares[PAD_CONE] == pytest.approx(
        bottom * n_x[HEAD_BOTTOM] ** 2 / (pad * n_x[PAD_CONE] ** 2), rel=1e-6
    )

    mass = 20.0
    for rows, regular in (([n_x[HEAD_BOTTOM]], True), ([n_x[HEAD_BOTTOM], n_x[PAD_CONE]], False)):
        H = np.array(rows)[:, None]
        matrix = np.block([[np.array([[mass]]), H.T], [H, np.zeros((len(rows), len(rows)))]])
        assert (np.linalg.matrix_rank(matrix) == len(matrix)) == regular
        solution = np.linalg.lstsq(matrix, np.array([load, *[0.0] * len(rows)]), rcond=None)[0]
        assert abs(solution[0]) < 1e-12 * load / mass
        if regular:
            # erratum (c): the reaction on the passive unit is +lambda n
            assert solution[1] * n_x[HEAD_BOTTOM] == pytest.approx(load)


def test_spec04_oracle_S08_energy_to_1e_9_while_the_contact_is_closed(make_unit):
    """Two free bodies from the middle of their impact on: RK4 without the kinks of touching and parting.

    (omega h)^6 / 144 of the energy a step, with omega = 360 rad/s and h = 2e-5 s: 1e-12 in all; rounding of depths of
    1e-3 m to 1e-16 m at 2e6 N/m adds no more.
    """
    unit = make_unit(**LOSSLESS)
    _, state, _ = impact_of_two_bodies(unit, steps=150)
    h, total, depths = 2e-5, [], []
    for _ in range(100):
        k1 = right_side(unit, state)
        depths.append(unit.contacts()[0].penetration if unit.contacts() else 0.0)
        total.append(invariants(state)[2] + unit.output.stored_energy)
        k2 = right_side(unit, state + 0.5 * h * k1)
        k3 = right_side(unit, state + 0.5 * h * k2)
        k4 = right_side(unit, state + h * k3)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    assert min(depths) > 1e-5
    assert np.ptp(total) < 1e-9 * total[0]
    assert np.ptp(depths) > 1e-5
