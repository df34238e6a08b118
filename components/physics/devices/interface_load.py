"""Loads of the interface of two docking units in the terms of the docking standards.

Theory: ruling R52, peripheral-docking 11.3.

The wrench on the passive unit, at the origin of its port: force along the axis x as compression or tension, the
resultant across it as shear, the torque about the axis as torsion, the resultant of the other two as bending. Each
output is the largest value in the step just done, over all its micro-steps, whose number follows the forces, not the
macro step. Sampled values miss peaks between the samples.
"""

from __future__ import annotations

from math import fabs, sqrt

from dockfmu.components.core.field import Group, output
from dockfmu.components.core.kernel import kernel

NAMES = ("compression", "tension", "shear", "torsion", "bending")


def loads() -> Group:
    """Return the group `load`."""
    return Group(
        "load",
        output("compression", "N", "force that presses the units together, largest in the step"),
        output("tension", "N", "force that pulls them apart, largest in the step"),
        output("shear", "N", "resultant of the force across the axis, largest in the step"),
        output("torsion", "N.m", "magnitude of the torque about the axis, largest in the step"),
        output(
            "bending",
            "N.m",
            "resultant of the torque across the axis, about the origin of the passive port, largest in the step",
        ),
        description="extremes of the interface loads over the micro-steps of the step, on the passive unit",
    )


@kernel
def clear(load):
    """Begin a step: no load yet."""
    load.compression = 0.0
    load.tension = 0.0
    load.shear = 0.0
    load.torsion = 0.0
    load.bending = 0.0


@kernel
def hold(load, force, torque):
    """Set the loads of a step over which a wrench on the passive unit holds; for the axis see `take`."""
    clear(load)
    take(load, force, torque)


@kernel
def take(load, force, torque):
    """Take a wrench on the passive unit into the extremes, its x axis pointing away from the active unit."""
    load.compression = max(load.compression, force[0])
    load.tension = max(load.tension, -force[0])
    load.shear = max(load.shear, sqrt(force[1] * force[1] + force[2] * force[2]))
    load.torsion = max(load.torsion, fabs(torque[0]))
    load.bending = max(load.bending, sqrt(torque[1] * torque[1] + torque[2] * torque[2]))
