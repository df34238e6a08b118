"""Every end stop of the ring family has a law and a depth limit (ruling R50)."""

from __future__ import annotations

import numpy as np
import pytest

from dockfmu.components.core.field import Group
from dockfmu.components.core.record import Record
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.ring_on_legs import forward_stop, platform
from dockfmu.components.ring_mechanism import component
from dockfmu.components.ring_mechanism.legs import cranked, geared

pytestmark = pytest.mark.quick

RECORD = Record(
    Group("parameters", *platform.parameters(), forward_stop.parameters()), hexapod.hexapod(), forward_stop.state()
)
STROKE, OVERRUN, STIFFNESS, DAMPING = 0.24, 0.012, 5e5, 500.0


def held(stroke, rate, share=1e-4):
    """A rod at this stroke and rate: the record after `hold`."""
    m = RECORD.view(RECORD.start.copy())
    for k in range(6):
        m.hexapod.strut[k].stroke, m.hexapod.strut[k].rate[3] = stroke, rate
    forward_stop.hold(m.parameters, m.hexapod, m.end_stop, share)
    return m


def test_ruling_R50_rods_have_a_forward_stop_at_full_extension():
    """Free up to the overrun; then spring and damper push back, and never pull."""
    assert held(STROKE + OVERRUN - 1e-9, 0.5).hexapod.strut[3].force[3] == 0.0
    for depth, rate in ((1e-3, 0.0), (1e-3, 0.2), (2e-3, -0.1)):
        m = held(STROKE + OVERRUN + depth, rate)
        assert m.hexapod.strut[5].force[3] == pytest.approx(-(STIFFNESS * depth + DAMPING * rate))
    assert held(STROKE + OVERRUN + 1e-4, -1.0).hexapod.strut[0].force[3] == 0.0


def test_ruling_R50_the_stop_stores_and_loses_what_the_rod_gives():
    """Along a stroke into the stop and out: work of the rod = stored + dissipated, by the midpoint rule."""
    m = RECORD.view(RECORD.start.copy())
    h, work = 1e-5, 0.0
    t = np.arange(0.0, 0.1, h) + 0.5 * h
    for stroke, rate in zip(
        STROKE + 0.02 * np.sin(np.pi * t / 0.1), 0.02 * np.pi / 0.1 * np.cos(np.pi * t / 0.1), strict=True
    ):
        for k in range(6):
            m.hexapod.strut[k].stroke, m.hexapod.strut[k].rate[3] = stroke, rate
        forward_stop.hold(m.parameters, m.hexapod, m.end_stop, h)
        work -= 6.0 * m.hexapod.strut[0].force[3] * rate * h
        stored = forward_stop.stored_energy(m.parameters, m.hexapod)
        assert work == pytest.approx(stored + m.end_stop.dissipated, rel=2e-3, abs=0.1)
    assert m.end_stop.dissipated > 1.0
    assert stored == 0.0


def test_ruling_R50_depth_limits_name_the_stop():
    m = component("cranked").record.view(component("cranked").start())
    m.hexapod.crank[2].cosine[0], m.hexapod.crank[2].sine[0] = np.cos(2.99), np.sin(2.99)
    for k in (0, 1, 3, 4, 5):
        m.hexapod.crank[k].cosine[0], m.hexapod.crank[k].sine[0] = np.cos(2.5), np.sin(2.5)
    assert cranked.check_stops(m) == cranked.CRANK_STOP
    assert (m.status.index, m.status.value) == (3, pytest.approx(2.99 - np.radians(165.0)))
    m = component("geared").record.view(component("geared").start())
    for k in range(6):
        m.hexapod.strut[k].cosine[2], m.hexapod.strut[k].nut_ratio = 1.0, 2.0 * np.pi / 0.02 * m.parameters.legs.hand[k]
        m.hexapod.strut[k].stroke = 0.03
    assert geared.check_stops(m) == geared.SHAFT_STOP
    assert m.status.index == 1
    m.hexapod.strut[0].stroke = 0.24
    assert platform.MESSAGES[platform.STROKE].text.startswith("leg[")
