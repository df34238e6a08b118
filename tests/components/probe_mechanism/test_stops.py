"""Stops of the mechanism have a contact law and a depth limit (ruling R50)."""

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.probe_mechanism import component
from dockfmu.components.probe_mechanism.lateral import lateral_damper

FAR = {"target.position": (2.0, 0.0, 0.0)}
# the axial device out of the way, so that the nut flies from stop to stop
FREE = {
    "parameters.axial.train_stiffness": 1.0, "parameters.axial.hysteresis_loss": 0.0,
    "parameters.axial.train_damping": 0.0, "parameters.axial.screw_friction": 0.0,
    "parameters.axial.magnetic_force": 0.0,
}  # fmt: skip


def thrown(rate, steps=60, h=1e-3, **values):
    """Return rows (travel, rate, energy) of a probe thrown at `rate` (m/s) from 20 mm inside its travel."""
    start = 0.34 if rate > 0.0 else 0.0
    i = Instance(component(), **{**FAR, **FREE, "parameters.initial_travel": start, **values})
    i.m.axial.rate = rate
    rows = []
    for k in range(steps):
        i.step(k * h, h)
        audit = i.m.audit
        rows.append(
            (
                i.m.axial.travel,
                i.m.axial.rate,
                audit.kinetic_energy
                + audit.stored_energy
                + audit.dissipated_energy
                - audit.work_base
                - audit.work_target,
            )
        )
    return i, np.array(rows).T


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "stop"), [(0.5, 0.36), (-0.5, -0.03)])
def test_spec00_ruling_50_the_probe_has_end_stops(rate, stop):
    """25 kg at 0.5 m/s into 1e7 N/m: depth v sqrt(b/k), less its damping (ratio 0.16); it comes back slower."""
    i, (travel, speed, energy) = thrown(rate, steps=100)
    beyond = (travel - stop) * np.sign(rate)
    assert 0.5 < beyond.max() / (0.5 * np.sqrt(25.0 / 1e7)) < 1.0
    assert 0.4 < -speed[-1] / rate < 0.8
    kinetic = 0.5 * 25.0 * 0.25
    assert i.m.audit.dissipated_end_stops == pytest.approx(kinetic - 0.5 * 25.0 * speed[-1] ** 2, rel=0.02)
    assert np.abs(energy - energy[0]).max() < 0.01 * kinetic


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "number"), [(6.0, 1), (-6.0, 2)])
def test_spec00_ruling_50_end_stops_have_a_limit(rate, number):
    with pytest.raises(ComponentError, match=rf"the probe in end stop {number} .* exceeds its limit of 0\.005 m"):
        thrown(rate)


@pytest.mark.slow
def test_spec00_ruling_50_the_rear_stop_of_the_movable_limiter_has_a_limit():
    """Thrown back through its springs at 5.8 m/s its 4 kg stop within the limit, at 9 m/s the run ends: part named."""
    built = component(axial="two_brakes", limiter="movable")
    sets = {entry.name: entry for entry in built.parameter_sets}
    chosen = [sets[name] for name in ("AX-2", "LD-2", "LD-3", "PR-2", "DR-2", "ShortCone25", "HB-3", "ML-2")]

    def push(speed):
        i = Instance(built, *chosen, **FAR)
        i.m.tree.qd[5] = -speed
        deepest = 0.0
        for k in range(200):
            i.step(k * 1e-3, 1e-3)
            deepest = max(deepest, i.m.movable_limiter.depth[1], i.m.limiter.travel - i.m.parameters.limiter.stroke)
        return deepest

    assert 0.0 < push(5.8) < 5e-3
    with pytest.raises(ComponentError, match=r"the movable limiter .* in part 2 .* exceeds its limit of 0\.005 m"):
        push(9.0)


@pytest.mark.quick
def test_spec00_ruling_50_lateral_stops_have_a_limit():
    """Spring mechanisms and cranks, to either side: told with their number, and not before their limit."""
    record = component().record
    m = record.view(component().start())
    p, d = m.parameters.lateral, m.damper
    for k in range(2):
        d.brake[k].angle = 0.5 * (p.brake.stop_low[k] + p.brake.stop_high[k])
    assert lateral_damper.check_stops(p, d, m.status) == 0
    for k in range(2):
        for side in (1.0, -1.0):
            reach = p.spring.first_travel[k] + p.spring.second_travel[k]
            d.spring[k].stroke = side * (reach + 0.999 * p.spring.stop_limit)
            assert lateral_damper.check_stops(p, d, m.status) == 0
            d.spring[k].stroke = side * (reach + 1.001 * p.spring.stop_limit)
            assert lateral_damper.check_stops(p, d, m.status) == lateral_damper.SPRING_STOP
            assert m.status.index == k + 1
            d.spring[k].stroke = 0.0
        middle = d.brake[k].angle
        for angle in (
            p.brake.stop_low[k] - 1.001 * p.brake.stop_limit,
            p.brake.stop_high[k] + 1.001 * p.brake.stop_limit,
        ):
            d.brake[k].angle = angle
            assert lateral_damper.check_stops(p, d, m.status) == lateral_damper.CRANK_STOP
            assert m.status.index == k + 1
        d.brake[k].angle = middle
