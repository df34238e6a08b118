"""The mechanism on a base that moves uniformly, its contact in its own component or inside: the smallest coupling."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockfmu.components.contact_probe_cone import component as contact_component
from dockfmu.components.contact_probe_cone.kernel import step as step_contact
from dockfmu.components.core.component import Component
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.parameters import ParameterSet
from dockfmu.components.physics.mechanics.vector import axpy, load, store
from dockfmu.components.probe_mechanism import component as mechanism_component
from dockfmu.components.probe_mechanism.kernel import step as step_mechanism

# the head on the frustum of 40 deg, 0.05 mm deep, to the side of the axis
ON_CONE = (-0.640807, 0.095567, 0.0)
# the head in the socket, 0.05 mm in its wall
ON_WALL = (-0.48, 0.00205, 0.0)


@kernel
def hand_over(source, target):
    store(load(source.position), target.position)
    for i in range(4):
        target.quaternion[i] = source.quaternion[i]
    store(load(source.velocity), target.velocity)
    store(load(source.angular_velocity), target.angular_velocity)


@kernel
def tell_contact(c, m):
    """Ports, links and rollers of the mechanism to the contact."""
    hand_over(m.base, c.base)
    hand_over(m.target, c.target)
    for j in range(2):
        hand_over(m.link[j], c.link[j])
    c.link[0].tip_slope[0] = m.link[0].tip_slope[0]
    c.link[0].tip_slope[1] = m.link[0].tip_slope[1]
    for k in range(3):
        store(load(m.roller[k].position), c.roller[k].position)
        store(load(m.roller[k].velocity), c.roller[k].velocity)


@kernel
def tell_mechanism(c, m):
    """Wrenches of the contact to the mechanism."""
    for j in range(2):
        store(load(c.link[j].force), m.link[j].force)
        store(load(c.link[j].torque), m.link[j].torque)
    store(load(c.link[0].tip_torque), m.link[0].tip_torque)
    for k in range(3):
        store(load(c.roller[k].force), m.roller[k].force)
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
        store(axpy(h, load(m.base.velocity), load(m.base.position)), m.base.position)
    return 0


@kernel
def run_inside(m, h, steps):
    for k in range(steps):
        code = step_mechanism(m, k * h, h)
        if code:
            return code
        store(axpy(h, load(m.base.velocity), load(m.base.position)), m.base.position)
    return 0


def prepared(component: Component, *sets: ParameterSet, **values: Any) -> Any:
    m = component.record.view(component.start(*sets, **values))
    code = component.initialize(m)
    assert code == 0, component.explain(code, m)
    return m


def _of(component: Component, names: tuple[str, ...]) -> list[ParameterSet]:
    """Return the sets of these names that a component has, in their order."""
    known = {entry.name: entry for entry in component.parameter_sets}
    return [known[name] for name in names if name in known]


def smooth() -> dict[str, float]:
    """Contact laws without damping and friction."""
    laws = ("law_head", "law_bottom", "law_latch", "law_limiter")
    none = {f"probe_cone.parameters.{law}.{name}": 0.0 for law in laws for name in ("damping", "friction")}
    return none | {"probe_cone.parameters.sensor.friction": 0.0}


class Pair:
    """Target at rest in the origin, base at `position` with `velocity`; `laws` are parameters of the contact unit,
    `mechanism` of the mechanism, which is made with the options `build` and the parameter sets of these names.

    `h` is the step of both and the micro-step of the mechanism.
    """

    def __init__(
        self,
        position,
        velocity=(0.0, 0.0, 0.0),
        *,
        laws=None,
        mechanism=None,
        outside=True,
        h=1e-4,
        build=None,
        sets=(),
        **contact: Any,
    ):
        self.h = h
        micro = {"parameters.micro_step": h, "parameters.micro_tolerance": 0.0, **(mechanism or {})}
        ports = {"base.position": position, "base.velocity": velocity, "target.position": 0.0}
        laws = laws or {}
        self.contact = None
        where = "external" if outside else "internal"
        made = mechanism_component(where, **(build or {}))
        if not outside:
            self.m = prepared(made, *_of(made, sets), **ports, **micro, **laws)
            return
        self.m = prepared(made, *_of(made, sets), **ports, **micro)
        component = contact_component()
        c = component.record.view(component.start(*_of(component, sets), **laws, **contact))
        tell_contact(c, self.m)
        assert component.initialize(c) == 0
        tell_mechanism(c, self.m)
        self.contact = c
        assert made.initialize(self.m) == 0

    def run(self, steps: int) -> int:
        if self.contact is None:
            return run_inside(self.m, self.h, steps)
        return run_outside(self.contact, self.m, self.h, steps)

    @property
    def state(self) -> np.ndarray:
        """Coordinates of tree and probe."""
        return np.array([*self.m.tree.q, self.m.axial.travel])

    @property
    def energy(self) -> float:
        """Energies less the works from outside, J: constant but for errors."""
        parts = [self.m] if self.contact is None else [self.m, self.contact]
        total = 0.0
        for part in parts:
            audit = part.audit
            total += audit.kinetic_energy + audit.stored_energy + audit.dissipated_energy
            works = [name for name in audit.dtype.names if name.startswith("work_") and name != "work_contact"]
            total -= sum(audit[name] for name in works)
        return float(total)
