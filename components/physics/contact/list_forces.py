"""Forces of the listed contacts, by the laws of their pairs and the velocities of their bodies.

`link` is the array of motions of the bodies, groups like `force.motion`, all in the passive frame.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import (
    friction_force,
    normal_force,
    point_velocity,
    spring_force,
    stored_energy,
)
from dockfmu.components.physics.contact.pairs import kind_of
from dockfmu.components.physics.mechanics.vector import ZERO, axpy, dot, load, norm, scale, store, subtract


@kernel
def set_velocities(tally, first, link):
    """Set the velocities of all listed contacts from number `first` on, from 0, with the motions of the bodies."""
    for k in range(int(first), int(tally.count)):
        item = tally.contact[k]
        motion = link[int(item.link)]
        n = load(item.normal)
        point = load(item.position)
        v = point_velocity(motion, point)
        spin = dot(n, load(motion.angular_velocity))
        if item.other >= 0.0:
            passive = link[int(item.other)]
            v = subtract(v, point_velocity(passive, point))
            spin -= dot(n, load(passive.angular_velocity))
        store(v, item.velocity)
        item.spin = spin


@kernel
def make_forces(tally, first, kinds, sliding):
    """Set the forces of all listed contacts from number `first` on, from 0, with their velocities.

    `sliding`: with friction; without, it may be held over a step, see `held_friction`. Friction on the passive unit is
    along the sliding of the link (Yaskevich 2018, eq. (7); erratum E18: the printed sign drives both bodies the same
    way).
    """
    for k in range(int(first), int(tally.count)):
        item = tally.contact[k]
        n = load(item.normal)
        friction = ZERO
        if item.sprung > 0.0:
            item.spring = item.push
            item.stored_energy = 0.0
            item.normal_force = item.push
            force = scale(item.push, n)
        else:
            law = kind_of(kinds, item.pair)
            v = load(item.velocity)
            rate = dot(n, v)
            item.spring = spring_force(law, item.gain, item.penetration)
            item.stored_energy = stored_energy(law, item.penetration)
            item.normal_force = normal_force(law, rate + item.moment * item.spin, item.gain, item.penetration)
            if sliding:
                friction = friction_force(law, item.normal_force, axpy(-rate, n, v), 0.0)
            force = axpy(item.normal_force, n, friction)
        item.friction_force = norm(friction)
        store(friction, item.friction)
        store(force, item.force)
