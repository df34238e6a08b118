"""Checks of a system: its parameters and inputs, the inertia that its joints feel, and its motion."""

from __future__ import annotations

from math import isfinite

from dockfmu.components.core import check
from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.ports import SOURCE
from dockfmu.components.multibody import failures, forces
from dockfmu.components.physics.mechanics.inertia import asymmetry, possible
from dockfmu.components.physics.mechanics.rotation import load_matrix
from dockfmu.components.physics.mechanics.vector import ZERO
from dockfmu.components.physics.tree.links import SPHERICAL

# rad, rad/s and their like: the smallest inertia of a coordinate that is not taken for zero
LEAST_INERTIA = 1e-12
# largest over least inertia that a spherical joint feels, of which the least is not taken for zero
MOST_UNEQUAL = 1e12
# distance of the ends of a spring over its length, below which rounding would give the direction
NOWHERE = 1e-9


@kernel
def check_masses(mass, status):
    """Return 0 if all bodies are possible, else a code."""
    for k in range(len(mass)):
        inertia = load_matrix(mass[k].inertia)
        if asymmetry(mass[k].inertia)[0] != 0.0 or not possible(mass[k].mass, ZERO, inertia):
            return fail(status, failures.INERTIA, 0.0, k + 1)
    return 0


@kernel
def check_laws(law, run, status):
    """Return 0 if the laws of all coordinates are possible, else a code."""
    for k in range(int(run.coordinates)):
        p = law[k]
        if not p.lower < p.upper:
            return fail(status, failures.STOPS, p.lower, k + 1)
        if p.friction > 0.0 and not p.friction_stiffness > 0.0:
            return fail(status, failures.NO_STIFFNESS, p.friction, k + 1)
        if (p.lower > -forces.FAR or p.upper < forces.FAR) and not p.stop_stiffness > 0.0:
            return fail(status, failures.NO_STIFFNESS, p.upper, k + 1)
    return 0


@kernel
def check_springs(spring, strength, run, status):
    """Return 0 if the forces of all springs have a direction at the start, else a code."""
    for k in range(int(run.springs)):
        p = strength[k]
        if p.tether <= 0.0 and p.stiffness > 0.0 and spring[k].length < NOWHERE * p.length:
            return fail(status, failures.NO_DIRECTION, p.length, k + 1)
    return 0


@kernel
def check_joints(link, coordinate, rotation, run, status):
    """Return 0 if every free coordinate feels an inertia, else a code, after `links.accelerate`."""
    for k in range(int(run.coordinates)):
        b = link[int(coordinate[k].link)]
        if b.held == 0.0:
            inertia = 1.0 / b.mobility
            if not (inertia > LEAST_INERTIA and isfinite(inertia)):
                return fail(status, failures.SINGULAR, inertia, k + 1)
    # what is not finite goes from the outer links to the inner ones: the outermost is the cause
    for k in range(int(run.rotations) - 1, -1, -1):
        b = link[int(rotation[k].link)]
        if b.kind == SPHERICAL and b.held == 0.0:
            felt = max(b.rr[0], b.rr[3], b.rr[5])
            mobility = max(b.inverse[0], b.inverse[3], b.inverse[5])
            if not felt * mobility < MOST_UNEQUAL:
                return fail(status, failures.NO_INERTIA, 0.0, k + 1)
    for k in range(int(run.rotations)):
        b = link[int(rotation[k].link)]
        if not isfinite(b.spin_rate[0] + b.spin_rate[1] + b.spin_rate[2]):
            return fail(status, failures.NO_INERTIA, 0.0, k + 1)
    return 0


@kernel
def check_motion(link, run, status):
    """Return 0 if no part has failed and all links move with finite accelerations, else a code."""
    if run.failure == 0.0:
        failures.check(link, run)
    if run.failure != 0.0:
        return fail(status, int(run.failure), run.amount, run.culprit)
    return 0


@kernel
def check_ports(mount, run, status):
    """Return 0 if no port has base motion SOURCE, else a code."""
    for k in range(int(run.ports)):
        if mount[k].base_motion == SOURCE:
            return fail(status, failures.SOURCE_PORT, 0.0, k + 1)
    return 0


@kernel
def check_inputs(g, base_motion, status):
    """Return 0 if the inputs are valid, else a code."""
    base, target, coordinate, drive, run = g.base, g.target, g.coordinate, g.drive, g.run
    for k in range(int(run.coordinates)):
        if not isfinite(coordinate[k].drive):
            return fail(status, failures.INPUT, coordinate[k].drive, k + 1)
    for k in range(int(run.drive_count)):
        if not isfinite(drive[k].command):
            return fail(status, failures.COMMAND, drive[k].command, k + 1)
    for k in range(int(run.ports)):
        p = g.port[k]
        total = p.force[0] + p.force[1] + p.force[2] + p.torque[0] + p.torque[1] + p.torque[2]
        for i in range(21):
            total += p.affine_mass[i]
        if not isfinite(total):
            return fail(status, failures.PORT_INPUT, total, k + 1)
    if run.has_target != 0.0:
        code = check.check_port(target, 2, status)
        if code == 0:
            code = check.check_acceleration(target, 2, status)
        if code:
            return code
    if run.carried != 0.0:
        if base_motion == SOURCE:
            return fail(status, failures.SOURCE_BASE, 0.0, 0)
        code = check.check_port(base, 1, status)
        if code:
            return code
        return check.check_acceleration(base, 1, status)
    return 0
