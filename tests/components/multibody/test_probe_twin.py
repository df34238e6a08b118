"""The probe of ProbeMechanism as a declared system, `probe.toml`: both strike the cone of the passive unit.

The devices are linear, as a declaration has them: no hysteresis, levers, latches, sensors, brakes and stops; the axial
train stays below the preload of its spring. Base and target move with given velocities.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from dockfmu.components.core.component import Component, Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import read_model
from dockfmu.components.probe_mechanism import component
from tests.components.multibody.random_models import interpreted

LINEAR = {
    "parameters.probe.hysteresis_loss": 1e-6,
    # the bending stiffness is that of the extended probe all the time, and there is no end stop
    "parameters.probe.shortest_length": 0.45 * (1.0 - 1e-9),
    "parameters.travel_margin": 0.1,
    "parameters.end_stops.stiffness": 1.0,
    "parameters.end_stops.damping": 0.0,
    "parameters.axial.hysteresis_loss": 0.0,
    "parameters.axial.screw_friction": 0.0,
    "parameters.lateral.spring.first_preload": 0.0,
    "parameters.lateral.spring.unloading": 0.99999,
    "parameters.lateral.brake.torque": 0.0,
    "parameters.lateral.brake.stop_low": 0.2,
    "parameters.lateral.brake.stop_high": 2.9,
    "probe_cone.parameters.sensor.count": 0,
    "probe_cone.parameters.roller.count": 0,
    "probe_cone.parameters.limiter.pads": 0,
    "command.latches_armed": 0.0,
}
LEAD = 1e-6
"""m/rad, of the screw in the declaration: so fine that the nut does not twist the probe."""
STEP = 1e-3


@dataclass(frozen=True)
class Impact:
    """First impact: first and last step with a force, impulse on the target (N s), largest loads (N), state after."""

    first: int
    last: int
    impulse: np.ndarray
    peaks: np.ndarray
    angles: np.ndarray
    rates: np.ndarray


def strike(instance: Instance, place: np.ndarray, velocity: np.ndarray, stop: float) -> Impact:
    """Run an instance at a base that moves, to just after its first impact."""
    m, forces, loads = instance.m, [], []
    for k in range(round(stop / STEP)):
        m.base.position[:] = place + k * STEP * velocity
        instance.step(k * STEP, STEP)
        forces.append(m.target.force.copy())
        loads.append([m.load.compression, m.load.shear])
    forces = np.array(forces)
    touching = np.flatnonzero(np.abs(forces).max(axis=1) > 0.0)
    assert (np.diff(touching) == 1).all(), "one impact"
    if instance.component.name == "ProbeMechanism":
        # joints, and the travel by which the probe is shortened
        state = np.array([[*m.joint.angle, m.axial.travel], [*m.joint.rate, m.axial.rate]])
    else:
        shown = m.coordinate[:6]
        state = np.array([[c.position for c in shown], [c.rate for c in shown]]) * [1.0, 1.0, 1.0, 1.0, 1.0, -LEAD]
    return Impact(touching[0], touching[-1], forces.sum(axis=0) * STEP, np.max(loads, axis=0), *state)


def probe_mechanism(h: float, friction: float, **start: object) -> Instance:
    steps = {"parameters.micro_tolerance": 0.0, "parameters.micro_step": h}
    return Instance(component(), **LINEAR, **steps, **start, **{"probe_cone.parameters.law_head.friction": friction})


def twin(declared: Component, h: float, friction: float, **start: object) -> Instance:
    steps = {"parameters.stepping.micro_tolerance": 0.0, "parameters.stepping.micro_step": h}
    return Instance(declared, **steps, **start, **{"parameters.contact.head.friction": friction})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("offset", "sideways", "friction", "stop"),
    [((0.0, 0.10), (0.0, 0.12), 0.1, 0.131), ((0.05, 0.09), (0.07, 0.12), 0.0, 0.118)],
    ids=["in a plane, with friction", "oblique"],
)
def test_twin_of_the_probe_mechanism_strikes_the_cone_as_it_does(offset, sideways, friction, stop):
    """Time, impulse and peak loads of the first impact, and angles, travel and rates after it.

    The two have methods of their own. At 25 us they differ by less than each of them changes from 0.1 ms on, its
    micro-step error of some 1e-3, and by 1e-4 of the largest component (up to 7e-5, halved with the micro-step).
    """
    declared = interpreted(component_of(read_model(Path(__file__).parent / "probe.toml")))
    place, velocity = np.array([-0.70, *offset]), np.array([0.30, *sideways])
    start = {"base.position": place, "base.velocity": velocity, "target.position": (0.0, 0.0, 0.0)}
    found = {}
    for h in (1e-4, 2.5e-5):
        instances = probe_mechanism(h, friction, **start), twin(declared, h, friction, **start)
        found[h] = [strike(one, place, velocity, stop) for one in instances]
    (coarse, coarse_twin), (expected, other) = found.values()
    assert {(one.first, one.last) for one in found[2.5e-5]} == {(expected.first, expected.last)}
    assert 4.0 < np.linalg.norm(expected.impulse) < 5.0
    for name in ("impulse", "peaks", "angles", "rates"):
        ours, theirs = getattr(other, name), getattr(expected, name)
        size = np.abs(theirs).max()
        errors = np.abs(getattr(coarse, name) - theirs).max() + np.abs(getattr(coarse_twin, name) - ours).max()
        difference = np.abs(ours - theirs).max()
        assert difference < errors
        assert difference < 1e-4 * size
