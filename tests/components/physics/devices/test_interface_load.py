"""Ruling R52: the extremes of the interface loads over the micro-steps of a step."""

from __future__ import annotations

import numpy as np
import pytest

from dockfmu.components.contact_airlock import component as airlock
from dockfmu.components.core.component import Instance
from dockfmu.components.core.record import Record
from dockfmu.components.physics.devices import interface_load
from tests.components.peripheral_mechanism.pair import Pair
from tests.components.probe_mechanism.rig import Docking, degrees
from tests.components.ring_mechanism.ring_rig import RingPair

LOADS = [f"load.{name}" for name in interface_load.NAMES]
FORCE = [f"target.force[{k}]" for k in (1, 2, 3)] + [f"target.torque[{k}]" for k in (1, 2, 3)]
NOW = [name.replace("force", "force_now").replace("torque", "torque_now") for name in FORCE]
OBLIQUE = {
    "miss": (0.003, -0.002), "angles": degrees(0.3, -0.3, 0.5), "velocity": (0.12, 0.01, -0.01),
    "rate": degrees(0.05, 0.05, -0.05),
}  # fmt: skip


def loads_of(wrench):
    """Return the five loads of wrenches, shape (..., 6), in plain numpy."""
    force, torque = wrench[..., :3], wrench[..., 3:]
    return np.stack(
        [
            np.maximum(force[..., 0], 0.0),
            np.maximum(-force[..., 0], 0.0),
            np.linalg.norm(force[..., 1:], axis=-1),
            np.abs(torque[..., 0]),
            np.linalg.norm(torque[..., 1:], axis=-1),
        ],
        axis=-1,
    )


@pytest.mark.quick
def test_ruling_R52_loads_of_a_wrench():
    load = Record(interface_load.loads()).memory().load
    interface_load.hold(load, (-300.0, 3.0, -4.0), (-5.0, 6.0, 8.0))
    assert (load.compression, load.tension, load.shear, load.torsion, load.bending) == (0.0, 300.0, 5.0, 5.0, 10.0)
    interface_load.take(load, (200.0, 0.0, 0.0), (4.0, 0.0, -11.0))
    assert (load.compression, load.tension, load.shear, load.torsion, load.bending) == (200.0, 300.0, 5.0, 5.0, 11.0)
    interface_load.clear(load)
    assert (load.compression, load.tension, load.shear, load.torsion, load.bending) == (0.0,) * 5


@pytest.mark.quick
def test_ruling_R52_the_head_of_the_airlock_presses_against_the_axis_of_its_port():
    """The axis of PMU points toward the active unit: the head presses it back, and that is compression."""
    contact = Instance(airlock(), **{"base.position": 0.0, "target.position": (-0.25, 0.0, 0.0)})
    assert contact.m.target.force_now[0] < -1.0
    assert contact.m.load.compression == -contact.m.target.force_now[0]
    assert contact.m.load.tension == 0.0


def impact(kind, h, duration, names, **parameters):
    if kind == "probe":
        values = {f"parameters.{name}": value for name, value in parameters.items()}
        run = Docking(velocity=(0.15, 0.0, 0.0), angles=degrees(0.5, 0.3, 1.0), parameters=values).run(
            duration, h, record=names
        )
        return np.column_stack([run[name] for name in names])
    pair = Pair(0.004, **OBLIQUE, **parameters)
    if kind == "hydraulic":
        pair = RingPair("hydraulic", gap=0.004, **OBLIQUE, **parameters)
    return pair.run(duration, names, h)[:, : len(names)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["probe", "peripheral", "hydraulic"])
def test_ruling_R52_loads_are_those_of_the_largest_micro_step(kind):
    """Loads of steps of one micro-step each are those of its mean wrench; of longer steps, the largest of these.

    Equal to rounding: the mean over one micro-step goes through axes I and back. The motion of the craft differs with
    the step, by 1e-3 of the largest within a few steps; the first six steps of contact are compared, to 3e-3.
    """
    micro, count, steps = 6.25e-5, 16, 6
    fixed = {"micro_step": micro, "longest_micro_step": micro, "micro_tolerance": 0.0}
    fine = impact(kind, micro, 0.08, [*LOADS, *FORCE], **fixed)
    single = loads_of(fine[:, 5:])
    assert fine[:, :5] == pytest.approx(single, rel=1e-9, abs=1e-6)
    coarse = impact(kind, count * micro, 0.08, LOADS, **fixed)
    expected = single[: len(coarse) * count].reshape(-1, count, 5).max(axis=1)
    touched = np.flatnonzero(expected[:, 0] > 0.0)[0]
    compared = slice(touched, touched + steps)
    scale = np.repeat([expected[compared, :3].max(), expected[compared, 3:].max()], (3, 2))
    assert (np.abs(coarse[compared] - expected[compared]) < 3e-3 * scale).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["peripheral", "hydraulic"])
def test_ruling_R52_peaks_do_not_depend_on_the_macro_step(kind):
    """An oblique impact of rings at macro steps of 1, 0.5 and 0.25 ms: peaks within 1 %, largest 10 kN.

    The values sampled at the ends of the steps miss up to 20 % of the compression at 1 ms.
    """
    runs = {h: impact(kind, h, 0.08, [*LOADS, *NOW]) for h in (1e-3, 5e-4, 2.5e-4)}
    peaks = {h: run[:, :5].max(axis=0) for h, run in runs.items()}
    sampled = {h: loads_of(run[:, 5:]).max(axis=0) for h, run in runs.items()}
    print({h: (peaks[h][0], sampled[h][0]) for h in runs})
    for h in (1e-3, 5e-4):
        assert peaks[h] == pytest.approx(peaks[2.5e-4], rel=0.01)
        assert (peaks[h] >= sampled[h][0:5] * np.array([1.0, 0.0, 0.99, 0.99, 0.99])).all()
    if kind == "hydraulic":
        assert sampled[1e-3][0] < 0.85 * peaks[1e-3][0]
