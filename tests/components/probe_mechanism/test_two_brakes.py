"""Axial damper with two friction brakes (V2): law, energy, central impacts of central-docking 9.4, re-cocking."""

from itertools import pairwise
from math import pi

import numpy as np
import pytest

from dockfmu.components.core.field import Group
from dockfmu.components.core.record import Record
from dockfmu.components.physics import hysteresis
from dockfmu.components.physics.devices import drive
from dockfmu.components.probe_mechanism import component
from dockfmu.components.probe_mechanism.axial import axial_train, two_brakes
from dockfmu.components.probe_mechanism.axial.ports import TWO_BRAKES
from tests.components.physics.hysteresis import series_brakes
from tests.components.probe_mechanism.event_driven import event_driven_impact
from tests.components.probe_mechanism.one_dimensional import (
    ACTIVE,
    PLAY,
    RECORD_V2,
    STIFFNESS,
    central_impact,
    elastic_gears,
    loss_of_two_brakes,
)

SPEC_94 = {
    # speed: compression mm, its time s, peak kN, its time s, force at 0.1 s kN, slip of FrB2 mm, stroke of FrB1 mm max
    #        and end, recoil m/s, its time s, latch pulse kN
    0.15: (81.2, 1.121, 2.90, 0.020, 2.74, 0.0, 79.0, 77.7, 0.012, 3.11, 0.84),
    0.07: (19.2, 0.563, 2.66, 0.038, 2.57, 0.0, 17.0, 15.7, 0.012, 2.55, 0.84),
    0.35: (189.4, 0.924, 10.4, 0.343, 3.18, 80.95, 100.0, 61.3, 0.061, 1.55, 1.05),
}
STOP = 8.0
GEARS = elastic_gears(RECORD_V2)


def parameters():
    return RECORD_V2.memory().parameters.axial


def impact(speed, **options):
    return central_impact(speed, record=RECORD_V2, **options)


@pytest.mark.parametrize("speed", SPEC_94)
def test_spec06_oracle_94_central_impact_v2(speed):
    """Within 1 % of the table, but for three peaks of a few milliseconds. There are no later pulses.

    The first peaks at 0.15 and 0.07 m/s are 1.3 % lower here, and the latch pulse at 0.35 m/s 3.5 %: the event-driven
    solution, below, has them within 0.4 % of ours. Where the nut stands or the force is flat at its maximum, the time
    of the maximum is ill-defined: there the tabulated instant must lie on the maximum.
    """
    compression, t_compression, peak, t_peak, early, slip, most, end, recoil, t_recoil, pulse = SPEC_94[speed]
    run = impact(speed, stop=STOP)
    assert run.travel.max() * 1e3 == pytest.approx(compression, rel=0.01)
    assert run.travel[round(t_compression / 1e-4)] == pytest.approx(run.travel.max(), abs=2e-6)
    assert run.bottom.max() / 1e3 == pytest.approx(peak, rel=0.015)
    near = slice(round(0.9 * t_peak / 1e-4), round(1.1 * t_peak / 1e-4))
    assert run.bottom[near].max() == pytest.approx(run.bottom.max(), rel=2e-3)
    assert run.bottom[round(0.1 / 1e-4)] / 1e3 == pytest.approx(early, rel=0.01)
    assert run.slip.max() * 1e3 == pytest.approx(slip, rel=0.01, abs=1e-9)
    assert run.deflection.max() * 1e3 == pytest.approx(most, rel=0.01)
    assert run.deflection[-1] * 1e3 == pytest.approx(end, rel=0.01)
    hit = int(np.argmax(run.latch > 0.0))
    # half of the last digit
    assert -run.closing[hit - 1] == pytest.approx(recoil, abs=5e-4)
    assert run.t[hit] == pytest.approx(t_recoil, rel=0.01)
    found = run.pulses()
    assert [name for name, _ in found] == ["bottom", "latch"]
    assert found[1][1] / 1e3 == pytest.approx(pulse, rel=0.036 if speed == 0.35 else 0.01)


def test_spec06_section_9_4_closed_forms_of_the_first_brake():
    """Push on the plateau of FrB1: F1p / (1 - k) and the train's damping; pull of the latches about F1n / (1 - k)."""
    p = parameters()
    run = impact(0.15, stop=STOP)
    rate = np.gradient(run.travel, run.t)
    sliding = (run.t > 0.1) & (run.t < 0.9)
    expected = (p.first_brake_compression + p.train_damping * rate) / (1.0 - p.screw_friction)
    # the nut decelerates with the craft, b x'' = 0.15 m/s / 1.1 s * 25 kg
    assert run.bottom[sliding] == pytest.approx(expected[sliding], rel=5e-3)
    assert run.latch.max() == pytest.approx(p.first_brake_extension / (1.0 - p.screw_friction), rel=0.05)


def test_the_set_has_the_ratios_of_the_source():
    """Yaskevich 2020, 6.4, 6.5: FrB1 almost a quarter of FrB2, 2.5 times the spring's stroke, a third in pull-out."""
    sets = {
        entry.name: entry.values
        for built in ("spring_and_brake", "two_brakes")
        for entry in component(axial=built).parameter_sets
    }
    new, old = sets["AX-2"], sets["AX-1"]
    assert 3.5 < new["parameters.axial.brake_compression"] / new["parameters.axial.first_brake_compression"] < 4.0
    ratio = new["parameters.axial.first_brake_compression"] / new["parameters.axial.first_brake_extension"]
    assert ratio == pytest.approx(3.0)
    ratio = new["parameters.axial.first_brake_stroke"] / old["parameters.axial.spring_stroke"]
    assert ratio == pytest.approx(2.5)
    assert new["parameters.axial.brake_extension"] > new["parameters.axial.brake_compression"]


def _residual(h):
    run = impact(0.35, h=h, stop=3.0)
    contact = 0.5 * STIFFNESS * np.maximum(0.0, np.maximum(run.depth, -run.depth - PLAY)) ** 2
    total = run.kinetic + run.stored + run.dissipated + run.pending + np.cumsum(run.contact_loss) + contact
    return np.abs(total - 0.5 * ACTIVE * 0.35**2).max(), run


def test_spec06_oracle_15_energy_of_the_impact_and_its_order():
    """Through the slip of both brakes, the end of the stroke, recoil and latches: O(h), small against 1225 J."""
    errors = [_residual(h)[0] for h in (4e-4, 2e-4, 1e-4, 5e-5)]
    assert errors[2] < 2e-4 * 1225.0
    assert errors[3] < 0.7 * errors[2] < 0.49 * errors[1]
    run = _residual(1e-4)[1]
    assert run.slip.max() > 0.05
    assert np.diff(run.dissipated + run.pending).min() > -1e-4


@pytest.mark.parametrize("speed", [0.07, 0.15, 0.35])
def test_impact_follows_the_event_driven_solution(speed):
    """Modes of both brakes and of the screw, switched at events found by a Runge-Kutta method: no code in common."""
    reference = event_driven_impact(speed, stop=4.0)
    run = impact(speed, h=2e-5, stop=4.0)
    t = np.linspace(0.005, 3.99, 800)
    for name, scale in (("travel", run.travel.max()), ("deflection", run.travel.max()), ("slip", run.travel.max())):
        ours = np.interp(t, run.t, getattr(run, name))
        assert ours == pytest.approx(reference(name, t), abs=1e-3 * scale), name
    assert run.latch.max() == pytest.approx(reference.largest_latch_force, rel=0.01)
    assert run.bottom.max() == pytest.approx(reference.largest_bottom_force, rel=0.005)


def test_spec06_oracle_08_two_brakes_return_mapping_is_the_hysteresis_law():
    """On random paths with slip of both brakes both ways, to 1e-9 of the largest force: two formulations."""
    record = Record(
        hysteresis.law("law", "m", "N", causality="constant"),
        series_brakes.memory("memory", "m", "N"),
        series_brakes.two_brakes("brakes", "m", "N"),
    )
    table = record.memory()
    p = parameters()
    for side, level in enumerate((p.brake_compression, p.brake_extension)):
        table.law.points[side] = 3
        table.law.transition_stiffness[side] = p.train_stiffness
        for curve in ("forward", "backward"):
            getattr(table.law, f"{curve}_deformation")[side, :3] = np.array([0.0, 0.5, 1.0]) * level / p.train_stiffness
            getattr(table.law, f"{curve}_reaction")[side, :3] = np.array([0.0, 0.5, 1.0]) * level
    table.brakes.first_positive, table.brakes.first_negative = p.first_brake_compression, p.first_brake_extension
    table.brakes.first_stroke = p.first_brake_stroke
    table.brakes.second_positive, table.brakes.second_negative = p.brake_compression, p.brake_extension
    assert hysteresis.validate(table.law) == 0
    hysteresis.reset(table.law, table.memory)
    generator = np.random.default_rng(64)
    knots = np.concatenate([[0.0], generator.uniform(-0.1, 0.22, 60)])
    slip = stroke = 0.0
    reached = set()
    for a, b in pairwise(knots):
        for u in np.linspace(a, b, 200)[1:]:
            force, slip, stroke = two_brakes.train(p, GEARS, slip, stroke, u)
            assert series_brakes.update_with_two_brakes(table.law, table.brakes, table.memory, u, b - a, 1.0) == 0
            assert table.memory.reaction == pytest.approx(force, abs=1e-9 * p.brake_extension)
            assert table.memory.slip == pytest.approx(slip, abs=1e-12)
            assert table.memory.stroke == pytest.approx(stroke, abs=1e-12)
            reached.add((stroke == 0.0, stroke == p.first_brake_stroke, force >= p.brake_compression))
    assert len(reached) >= 4


@pytest.mark.slow
def test_spec06_oracle_08_closed_loops_with_two_brakes_dissipate():
    """Work around every closed loop is the booked loss of the brakes, which is never negative."""
    p = parameters()
    generator = np.random.default_rng(8)
    for _ in range(20):
        knots = np.concatenate([[0.0], generator.uniform(-0.05, 0.2, 6), [0.0]])
        path = np.concatenate([np.linspace(a, b, 4000) for a, b in pairwise(knots)])
        force = slip = stroke = work = loss = 0.0
        for u, u_next in pairwise(path):
            before = (force, slip, stroke)
            force, slip, stroke = two_brakes.train(p, GEARS, slip, stroke, u_next)
            increment = loss_of_two_brakes(p, force, before[1], before[2], slip, stroke)
            assert increment >= -1e-9
            loss += increment
            work += 0.5 * (before[0] + force) * (u_next - u)
        # each kink inside a step costs the trapezium at most stiffness * step^2 / 8
        stored = 0.5 * force * force / p.train_stiffness
        assert work == pytest.approx(stored + loss, abs=50 * 1e6 * (0.25 / 4000) ** 2)


def test_spec06_oracle_08_first_brake_does_not_return_by_itself():
    """Unloaded, the stroke stays but for the elastic twist; a pull beyond the reverse force takes it back to 0."""
    p = parameters()
    slip = stroke = force = 0.0
    for u in np.linspace(0.0, 0.05, 500):
        force, slip, stroke = two_brakes.train(p, GEARS, slip, stroke, u)
    wound = stroke
    assert wound == pytest.approx(0.05 - p.first_brake_compression / p.train_stiffness)
    assert two_brakes.train(p, GEARS, slip, stroke, wound) == pytest.approx((0.0, 0.0, wound), abs=1e-9)
    force, _, stroke = two_brakes.train(p, GEARS, slip, stroke, 0.02)
    assert force == pytest.approx(-p.first_brake_extension)
    assert stroke == pytest.approx(0.02 + p.first_brake_extension / p.train_stiffness)


def test_spec06_oracle_09_stroke_stays_in_its_range_and_pull_at_its_start_is_elastic():
    p = parameters()
    generator = np.random.default_rng(9)
    slip = stroke = 0.0
    for u in np.cumsum(generator.normal(scale=5e-3, size=20_000)):
        _, slip, stroke = two_brakes.train(p, GEARS, slip, stroke, u)
        assert 0.0 <= stroke <= p.first_brake_stroke
    for pull in (1e-4, 5e-3, 0.999 * p.brake_extension / p.train_stiffness):
        assert two_brakes.train(p, GEARS, 0.0, 0.0, -pull) == (-pull * p.train_stiffness, 0.0, 0.0)


MACHINE = Record(
    TWO_BRAKES.state, axial_train.load(), drive.state(), Group("parameters", TWO_BRAKES.parameters, drive.parameters())
)


def retract(pull, seconds, stroke=0.02):
    """The drive (DR-1) retracts from a first brake at `stroke` while `pull` (N) holds the head."""
    m = MACHINE.memory()
    p, d, a = m.parameters.drive, m.drive, m.axial
    m.parameters.axial.hysteresis_loss = 0.0
    assert axial_train.initialize(m.parameters.axial, a, stroke) == 0
    a.deflection = stroke
    drive.initialize(p, d)
    per_metre = 2.0 * pi / m.parameters.axial.lead
    h = 1e-3
    rows = []
    for _ in range(round(seconds / h)):
        m.axial_load.head_force = pull
        m.axial_load.drive_travel = (d.angle + 0.5 * h * d.rate) / p.nut_ratio / per_metre
        m.axial_load.drive_rate = d.rate / p.nut_ratio / per_metre
        axial_train.advance(m.parameters.axial, a, m.axial_load, h)
        drive.advance(p, d, (27.0, 27.0), a.train_force / per_metre, h)
        rows.append((a.travel, a.deflection, d.rate / p.nut_ratio / per_metre, a.train_force))
    return np.array(rows).T


@pytest.mark.slow
def test_spec06_section_5_11_the_drive_re_cocks_the_first_brake_against_a_pull():
    """Pull above F1n / (1 + k) and below what the drive can do: the nut stands, the stroke goes back as fast as the
    drive turns, and the probe is retracted when it is used up. A weaker pull leaves the stroke as it is."""
    travel, stroke, rate, force = retract(pull=800.0, seconds=30.0)
    back = int(np.argmax(stroke == 0.0))
    assert 18.0 < back * 1e-3 < 22.0
    running = slice(2000, back - 10)
    assert np.ptp(travel[running]) < 1e-6
    assert force[running] == pytest.approx(-733.3, abs=10.0)
    assert np.gradient(stroke, 1e-3)[running] == pytest.approx(-rate[running], rel=1e-3)
    # the nut waits until the train pulls with the screw's friction too
    twist = (800.0 * (1.0 + 0.1) - 2200.0 / 3.0) / 1e6
    assert travel[-1] - travel[back] == pytest.approx(1e-3 * rate[back:].sum() - twist, rel=2e-3)
    travel, stroke, *_ = retract(pull=600.0, seconds=10.0)
    # but for what the nut lags behind while it starts
    assert stroke[-1] == stroke[2000] > 0.0197
    assert travel[-1] > 0.028
