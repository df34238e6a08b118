"""Two free rigid craft coupled through the peripheral mechanism, in one compiled loop, without cyclogram."""

from __future__ import annotations

import numpy as np

from dockfmu.components.core.kernel import kernel
from dockfmu.components.peripheral_mechanism import component
from dockfmu.components.peripheral_mechanism.kernel import initialize, step
from dockfmu.components.physics.mechanics.rotation import from_angles, quaternion
from tests.components.probe_mechanism.rig import CRAFT, add_momentum, craft_energy, move, put_acceleration, put_port

# of ring, housings and rods of PM-1, kg
MASS_OF_MECHANISM = 94.0
# columns behind those of the slots
MOMENTUM, ANGULAR_MOMENTUM, ENERGY = slice(-7, -4), slice(-4, -1), -1


@kernel
def run(m, active, passive, h, steps, unlock, slots, block, out):
    """`steps` steps of h: unlock the recoil when a leg leaves IP before capture (if `unlock`), lock it at capture."""
    for k in range(steps):
        if m.sensor.capture != 0.0:
            unlock = 0.0
        free = unlock != 0.0 and m.sensor.initial_position_lost != 0.0
        for i in range(6):
            if free:
                m.command.recoil_lock[i] = 0.0
            elif unlock == 0.0:
                m.command.recoil_lock[i] = 1.0
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
        energy = m.audit.kinetic_energy + m.audit.stored_energy + m.audit.dissipated_energy - m.audit.work_drive
        out[k, n + 6] = energy + craft_energy(active) + craft_energy(passive)
    return 0


class Pair:
    """`gap` between the ring planes at the start, m; misalignment of the active craft, its velocity and its rates.

    `rings` are parameters of the pair of rings, others those of the mechanism.
    """

    def __init__(
        self,
        gap,
        miss=(0.0, 0.0),
        angles=(0.0, 0.0, 0.0),
        velocity=(0.1, 0.0, 0.0),
        rate=(0.0, 0.0, 0.0),
        mass=25e3,
        inertia=(0.63e5, 2.4e5, 2.4e5),
        port=(5.0, 0.0, 0.0),
        rings=None,
        **parameters,
    ):
        self.component = component()
        values = {f"parameters.{name}": value for name, value in parameters.items()}
        values |= {f"ring_pair.parameters.{name}": value for name, value in (rings or {}).items()}
        self.block = self.component.start(**values)
        self.m = self.component.record.view(self.block)
        a, p = self.active, self.passive = CRAFT.memory(), CRAFT.memory()
        a.mass, a.inertia[:], a.port[:] = mass - MASS_OF_MECHANISM, inertia, port
        p.mass, p.inertia[:], p.port[:] = 400e3, (1.2e8, 1.0e8, 2.0e8), (-20.0, 0.0, 0.0)
        p.position[:] = 20.0, 0.0, 0.0
        A = np.array(from_angles(*angles))
        a.quaternion[:] = quaternion(tuple(map(tuple, A)))
        a.position[:] = np.array([-gap, *miss]) - A.T @ np.add(port, (0.4344657138, 0.0, 0.0))
        a.velocity[:] = velocity
        a.spin[:] = A.T @ (np.array(inertia) * rate)
        put_port(a, self.m.base)
        put_port(p, self.m.target)
        code = initialize(self.m)
        assert code == 0, self.component.explain(code, self.block)

    def run(self, duration, names=(), h=1e-3, unlock=True):
        """Histories, rows at the ends of steps: the named scalars, then momenta and energy of all."""
        steps = round(duration / h)
        slots = np.array([self.component.record.index[name] for name in names], np.int64)
        out = np.zeros((steps, len(slots) + 7))
        code = run(self.m, self.active, self.passive, h, steps, float(unlock), slots, self.block, out)
        assert code == 0, self.component.explain(code, self.block)
        return out
