"""ContactRing with PeripheralMechanismExternal: equal to the mechanism that has the rings' contact inside."""

from __future__ import annotations

import numpy as np

from dockfmu.components.contact_ring import component as contact_component
from dockfmu.components.contact_ring.kernel import step as step_contact
from dockfmu.components.core.kernel import kernel
from dockfmu.components.peripheral_mechanism import component as mechanism_component
from dockfmu.components.peripheral_mechanism.kernel import step as step_mechanism
from dockfmu.components.physics.mechanics.rotation import from_angles, quaternion
from dockfmu.components.physics.mechanics.vector import load, store

# frame 0 behind the ring at its ready position (peripheral-docking 11.4: 0.43447 m), 4 mm off the axis and turned a
# little
GAP, HEIGHT = 4e-3, 0.434466
A = from_angles(0.003, -0.002, 0.004)
START = {
    "base.position": np.array([-GAP, 0.004, 0.002]) - HEIGHT * np.array(A[0]),
    "base.quaternion": quaternion(A),
    "base.velocity": (0.05, 0.01, 0.0),
    "target.position": 0.0,
}


def prepared(component, **values):
    m = component.record.view(component.start(**values))
    code = component.initialize(m)
    assert code == 0, component.explain(code, m)
    return m


@kernel
def _tell_port(port, copy):
    store(load(port.position), copy.position)
    store(load(port.velocity), copy.velocity)
    store(load(port.angular_velocity), copy.angular_velocity)
    for i in range(4):
        copy.quaternion[i] = port.quaternion[i]


@kernel
def tell_contact(c, m):
    _tell_port(m.base, c.base)
    _tell_port(m.target, c.target)
    _tell_port(m.link[0], c.link[0])


@kernel
def tell_mechanism(c, m):
    store(load(c.link[0].force), m.link[0].force)
    store(load(c.link[0].torque), m.link[0].torque)
    store(load(c.target.force), m.target.contact_force)
    store(load(c.target.torque), m.target.contact_torque)


@kernel
def run_outside(c, m, h, steps):
    for k in range(steps):
        tell_contact(c, m)
        code = step_contact(c, k * h, h)
        if code:
            return code
        tell_mechanism(c, m)
        code = step_mechanism(m, k * h, h)
        if code:
            return code
    return 0


@kernel
def run_inside(m, h, steps):
    for k in range(steps):
        code = step_mechanism(m, k * h, h)
        if code:
            return code
    return 0


def outside():
    component = mechanism_component("external")
    m = component.record.view(component.start(**START))
    assert component.initialize(m) == 0
    contact = contact_component()
    c = contact.record.view(contact.start(**{"target.position": 0.0}))
    tell_contact(c, m)
    assert contact.initialize(c) == 0
    return c, m


def test_one_evaluation_equals_that_inside():
    """Wrenches on ring and passive unit, rims and latches touching; to rounding: links go as quaternions."""
    c, _ = outside()
    inside = prepared(mechanism_component(), **START)
    assert c.flag.contact == 1.0
    assert np.linalg.norm(c.target.force_now) > 100.0
    own = inside.ring_pair.output
    for found, expected in (
        (c.target.force_now, own.target.force),
        (c.target.torque_now, own.target.torque),
        (c.link[0].force_now, own.link.force),
        (c.link[0].torque_now, own.link.torque),
    ):
        assert np.allclose(found, expected, rtol=1e-6, atol=1e-4)
    assert np.allclose(c.link[0].position, inside.link[0].position, atol=1e-12)


def test_outside_converges_to_inside():
    """The ring between its legs and the passive ring, frame 0 at rest: after 20 ms, as the step falls."""
    inside = prepared(mechanism_component(), **START)
    assert run_inside(inside, 2.5e-5, 800) == 0
    assert inside.flag.contact == 1.0
    errors = []
    for h in (1e-4, 5e-5, 2.5e-5):
        c, m = outside()
        assert run_outside(c, m, h, round(2e-2 / h)) == 0
        errors.append(float(np.abs(m.link[0].position - inside.link[0].position).max()))
    moved = float(np.abs(inside.link[0].position - np.array([HEIGHT, 0.0, 0.0])).max())
    assert moved > 1e-4
    assert errors[2] < 0.05 * moved
    assert errors[2] < errors[0] + 1e-7
