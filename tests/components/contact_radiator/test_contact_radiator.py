"""ContactRadiator: evaluation in the step, energy, capture, bad input (berthing 4.4)."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
import pytest

from dockfmu.components.contact_radiator import component as contact_component
from dockfmu.components.contact_radiator.kernel import step as step_contact
from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.evaluation import EVALUATION
from tests.components.ball import carry, kinetic_energy

MASS, INERTIA = 570.0, 400.0
QUIET = {
    f"radiator_pair.parameters.law_{law}.{name}": 0.0 for law in ("device", "plane") for name in ("damping", "friction")
}


def radiator(**values) -> Instance:
    """A contact whose passive unit stands in the origin."""
    return Instance(contact_component(), **{"target.position": 0.0, "base.position": (-0.065, 0.0, 0.0), **values})


@kernel
def run(c, h, steps, push):
    """Let a ball of MASS and INERTIA carry the active unit, pushed along x of I."""
    for k in range(steps):
        code = step_contact(c, k * h, h)
        if code:
            return code
        carry(c.base, MASS, INERTIA, push, h)
    return 0


def energy(c) -> float:
    return kinetic_energy(c.m.base, MASS, INERTIA) + float(c.m.audit.stored_energy + c.m.audit.dissipated_energy)


APPROACH = {
    "base.position": (-0.050, 0.002, -0.001),
    "base.velocity": (0.08, 0.0, 0.0),
    "base.quaternion": (1.0, 0.0002, 0.0004, -0.0003),
}


def test_a_radiator_with_speed_is_captured():
    """1.8 J at 2.2 mm aside: cone, bore, ball, capture, planes, in this order; then the ball holds it."""
    c = radiator(**APPROACH)
    times = {}
    for k in range(3000):
        assert run(c.m, 1e-3, 1, 0.0) == 0
        flags = {"plug": c.m.flag.plug_contact, "bore": c.m.flag.in_socket, "capture": c.m.sensor.capture,
                 "planes": c.m.flag.plane_contact}  # fmt: skip
        for name, value in flags.items():
            if value and name not in times:
                times[name] = k
    assert list(times) == ["plug", "bore", "capture", "planes"]
    assert c.m.sensor.capture == 1.0
    assert -0.004 < c.m.base.position[0] < 0.001


@pytest.mark.parametrize("lossy", [False, True])
def test_energy_closes(lossy):
    """Over cone, bore, ball and planes: the residual falls with the step."""
    found = []
    for h in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
        c = radiator(**APPROACH, **({} if lossy else QUIET))
        before = energy(c)
        assert run(c.m, h, round(1.5 / h), 0.0) == 0
        found.append(abs(energy(c) - before) / before)
    assert max(found) < 0.05, found
    assert found[3] < 0.01, found
    assert c.m.audit.dissipated_ball == pytest.approx(40.0 * 0.016, rel=1e-12)


@pytest.mark.parametrize(("evaluation", "ahead"), [("start", 0.0), ("midpoint", 0.5), ("delayed_midpoint", 1.5)])
def test_where_in_the_step_contact_is_evaluated(evaluation, ahead):
    h, v = 1e-3, 0.01
    pressed = {"base.position": (0.0001, 0.0, 0.0), "base.velocity": (v, 0.0, 0.0)}
    c = radiator(**QUIET, **pressed, **{"parameters.evaluation": EVALUATION.codes[evaluation]})
    c.step(0.0, h)
    assert c.m.sensor.capture == 1.0
    for force, time in ((c.m.target.force, ahead * h), (c.m.target.force_now, h)):
        assert force[0] == pytest.approx(1e7 * (1e-4 + v * time), rel=1e-9)
    assert c.m.base.force == pytest.approx(-c.m.target.force)


def test_a_plug_beside_its_socket_only_builds_up_force():
    """Guided along x, 26 mm aside: on the plane, force growing with the way, no capture (fig. 8.4.7)."""
    c = radiator(**{"base.position": (-0.0605, 0.026, 0.0), "base.velocity": (1.5e-3, 0.0, 0.0)})
    forces = []
    for k in range(1500):
        c.step(k * 1e-3, 1e-3)
        c.m.base.position[0] += 1.5e-6
        forces.append(float(c.m.target.force[0]))
    assert c.m.sensor.capture == 0.0
    assert c.m.flag.plug_contact == 1.0
    assert np.all(np.diff(forces) >= -1e-9)
    assert forces[-1] > 1000.0


def test_what_comes_in_is_checked():
    c = radiator()
    c.m.base.velocity[1] = np.inf
    with pytest.raises(ComponentError, match=r"port 1 .* is not finite"):
        c.step(0.0, 1e-3)
    with pytest.raises(ComponentError, match=r"quaternion of port 2 .* has norm 0"):
        radiator(**{"target.quaternion": (0.0, 0.0, 0.0, 0.0)})
    with pytest.raises(ComponentError, match=r"penetration 0.01 m of the plug on its socket exceeds its limit"):
        radiator(**{"base.position": (-0.05, 0.05, 0.0), "radiator_pair.parameters.pin.x": (0.03, 0.03)})
    limits = {f"radiator_pair.parameters.law_{law}.penetration_limit": 1.0 for law in ("device", "plane")}
    with pytest.raises(ComponentError, match=r"rad off that of the passive one"):
        radiator(**limits, **{"base.quaternion": (cos(pi / 8), 0.0, sin(pi / 8), 0.0)})
    with pytest.raises(ComponentError, match=r"check 4 of the radiator's units .* ball.rise"):
        radiator(**{"radiator_pair.parameters.ball.rise": 0.1})


def test_state_is_saved_whole():
    """A copy of the record before the capture goes on alike, bit by bit."""
    c = radiator(**APPROACH)
    assert run(c.m, 1e-3, 100, 0.0) == 0
    kept = c.block.copy()
    assert run(c.m, 1e-3, 1000, 0.0) == 0
    first = c.block.copy()
    assert c.m.sensor.capture == 1.0
    c.block[:] = kept
    assert run(c.m, 1e-3, 1000, 0.0) == 0
    assert np.array_equal(first, c.block)
