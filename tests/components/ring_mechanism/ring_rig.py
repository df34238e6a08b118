"""Two free rigid craft coupled through a ring mechanism of any law of its legs, in one compiled loop."""

from __future__ import annotations

import numpy as np

from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.physics.mechanics.rotation import from_angles, quaternion
from dockfmu.components.physics.ring_on_legs.platform import height
from dockfmu.components.ring_mechanism import component
from dockfmu.components.ring_mechanism.kernel import initialize, step
from dockfmu.components.ring_mechanism.legs import cranked
from tests.components.probe_mechanism.rig import CRAFT, add_momentum, craft_energy, move, put_acceleration, put_port

# of ring, housings and rods of PM-1, kg
MASS_OF_MECHANISM = 94.0
# columns behind those of the slots
MOMENTUM, ANGULAR_MOMENTUM, ENERGY = slice(-7, -4), slice(-4, -1), -1


@kernel
def _commanded(m):
    m.command.attenuate = max(m.command.attenuate, m.sensor.capture)
    return m.audit.work_drive


@kernel
def _passive(m):
    return 0.0


command = variant("servo", _commanded, _passive)


@kernel
def run(m, active, passive, h, steps, slots, block, out):
    """`steps` steps of h; electric legs damp from capture on."""
    for k in range(steps):
        work = command(m)
        code = step(m, k * h, h)
        if code:
            return code
        move(active, m.base, h)
        move(passive, m.target, h)
        put_port(active, m.base)
        put_port(passive, m.target)
        put_acceleration(active, m.base)
        put_acceleration(passive, m.target)
        n = len(slots)
        for i in range(n):
            out[k, i] = block[slots[i]]
        for i in range(3):
            out[k, n + i] = m.audit.own_momentum[i]
            out[k, n + 3 + i] = m.audit.own_angular_momentum[i]
        add_momentum(active, out[k], n)
        add_momentum(passive, out[k], n)
        work = command(m)
        energy = m.audit.kinetic_energy + m.audit.stored_energy + m.audit.dissipated_energy - work
        out[k, n + 6] = energy + craft_energy(active) + craft_energy(passive)
    return 0


class RingPair:
    """`gap` between the ring planes at the start, m; misalignment of the active craft, its velocity and its rates."""

    def __init__(
        self,
        legs,
        gap=0.0127,
        miss=(0.0, 0.0),
        angles=(0.0, 0.0, 0.0),
        velocity=(0.1, 0.0, 0.0),
        rate=(0.0, 0.0, 0.0),
        mass=5e3,
        inertia=(4e3, 1.2e4, 1.2e4),
        port=(2.5, 0.0, 0.0),
        thrust=0.0,
        **parameters,
    ):
        self.component = component(legs)
        self.block = self.component.start(**{f"parameters.{name}": value for name, value in parameters.items()})
        self.m = self.component.record.view(self.block)
        a, p = self.active, self.passive = CRAFT.memory(), CRAFT.memory()
        a.mass, a.inertia[:], a.port[:] = mass - MASS_OF_MECHANISM, inertia, port
        a.thrust = thrust
        p.mass, p.inertia[:], p.port[:] = 400e3, (1.2e8, 1.0e8, 2.0e8), (-20.0, 0.0, 0.0)
        p.position[:] = 20.0, 0.0, 0.0
        A = np.array(from_angles(*angles))
        a.quaternion[:] = quaternion(tuple(map(tuple, A)))
        chosen = self.m.parameters
        if legs == "cranked":
            reach = cranked.height(chosen.legs, float(chosen.initial_angle))
        else:
            reach = height(chosen.legs, float(chosen.initial_stroke))
        a.position[:] = np.array([-gap, *miss]) - A.T @ np.add(port, (reach, 0.0, 0.0))
        a.velocity[:] = velocity
        a.spin[:] = A.T @ (np.array(inertia) * rate)
        put_port(a, self.m.base)
        put_port(p, self.m.target)
        code = initialize(self.m)
        assert code == 0, self.component.explain(code, self.block)

    def run(self, duration, names=(), h=1e-3):
        """Histories, rows at the ends of steps: the named scalars, then momenta and energy of all."""
        steps = round(duration / h)
        slots = np.array([self.component.record.index[name] for name in names], np.int64)
        out = np.zeros((steps, len(slots) + 7))
        code = run(self.m, self.active, self.passive, h, steps, slots, self.block, out)
        assert code == 0, self.component.explain(code, self.block)
        return out
