"""Loads at sections of the elastic craft by mode acceleration, against whole finite-element models (flexible 3.2)."""

from dataclasses import replace

import numpy as np
import pytest

import dockfmu
from dockfmu.components import spacecraft
from dockfmu.components.core.component import Instance
from dockfmu.components.spacecraft.modes.reduced import appendage_modes, whole_model
from tests.dockfmu.elastic import models
from tests.dockfmu.elastic.whole_rod import SECTION, section_loads

STEP = 2.5e-4
FORCE = np.array([3.0, 20.0, -10.0])


def pulse(k):
    """Return the force of step k: a smooth pulse of 0.12 s, as of a contact."""
    return FORCE * np.sin(np.pi * (k + 0.5) / 480.0) ** 2 if k < 480 else np.zeros(3)


def free_rod(folder, modes, coupling="one_way"):
    """Return the rod as a craft, with its section; by the consistent masses of the elements."""
    body = dockfmu.reduce(models.beam(folder), interface=[1, 21], modes=modes, mass="matrix", sections={"cut": SECTION})
    chosen = whole_model(body).select([21], [1])
    chosen = replace(chosen, decrement=np.zeros(len(chosen.frequency)))
    inertia = body.invariants.inertia
    craft = Instance(
        spacecraft.component(chosen, coupling=coupling),
        **{
            "parameters.mass": 20.0,
            "parameters.inertia": inertia,
            "parameters.port[1].position": (5.0, 0.0, 0.0),
            "parameters.rotation_limit": 1.0,
        },
    )
    return craft, body


def histories(folder, modes, steps, coupling="one_way"):
    """Return the loads at the section by mode acceleration, and by the displacements of the shapes."""
    craft, body = free_rod(folder, modes, coupling)
    found, displaced = [], []
    for k in range(steps):
        craft.m.port[0].force[:] = pulse(k)
        craft.step(k * STEP, STEP)
        found.append([*craft.m.section[0].force, *craft.m.section[0].torque])
        displaced.append(body.sections.displaced[0] @ craft.m.elastic.coordinate)
    return np.array(found), np.array(displaced)


@pytest.mark.slow
def test_section_loads_are_those_of_the_whole_model(tmp_path):
    """Shear and moment after a pulse: errors of mode acceleration and of mode displacement, root mean square.

    The reference is the exact motion of all 126 freedoms. The craft differs by its turn, 1e-3 rad, in the second order.
    """
    forces = np.array([pulse(k) for k in range(800)])
    exact = section_loads(np.zeros_like(forces), forces, STEP)
    size = np.abs(exact).max(axis=0)
    assert np.all(size[[0, 1, 2, 4, 5]] > 1.0)
    acting = [1, 2, 4, 5]
    errors = np.array(
        [
            [(np.sqrt(np.mean((one - exact) ** 2, axis=0)) / size)[acting] for one in histories(tmp_path, modes, 800)]
            for modes in (4, 16)
        ]
    )  # modes, method, component
    few, many = errors
    assert np.all(few[0] < 0.03)
    assert np.all(many[0] < [7e-3, 1e-3, 1e-3, 1e-3])
    # what the displacement of as many shapes gives is several times as wrong
    assert np.all(errors[:, 1, :2] > 5.0 * errors[:, 0, :2])
    assert np.all(errors[:, 1] > errors[:, 0])
    assert np.all(many[0] < 0.4 * few[0])


def hub_with_rod(folder, mass=1000.0, **values):
    """Return a hub at the root of the rod, one craft in two-way coupling, and the place of its centre from the root."""
    body = dockfmu.reduce(models.beam(folder), interface=[1, 21], modes=4, frame=1, sections={"root": [(1, 21)]})
    own = body.invariants
    whole = mass + own.mass
    centre = own.static_moment / whole  # the hub's centre is at the root
    inertia = own.inertia + mass * np.diag([0.8, 0.6, 0.6])
    inertia = inertia - whole * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    modes = appendage_modes([(body, -centre, (0.0, 0.0, 0.0))], [-centre], [-centre])
    craft = Instance(
        spacecraft.component(modes, coupling="two_way"),
        **{
            "parameters.mass": whole,
            "parameters.inertia": inertia,
            "parameters.port[1].position": -centre,
            "parameters.thruster[1].position": -centre,
            "parameters.rotation_limit": 10.0,
            **values,
        },
    )
    return craft, centre


def test_the_load_at_the_root_of_an_appendage_is_what_moves_its_hub(tmp_path):
    """Newton for the hub, which the outputs of the port tell: a spinning craft under a force, two-way.

    Changes of levers by the deformation and rates of the modes times the spin are left out: some 1e-3 of the load.
    """
    h = 1e-3
    craft, _ = hub_with_rod(tmp_path, **{"parameters.initial.angular_velocity": (0.005, 0.01, 0.03)})
    worst, largest, before = 0.0, 0.0, None
    for k in range(400):
        force = np.array([30.0, 200.0, -100.0]) * np.sin(np.pi * k / 200.0) ** 2
        craft.m.port[0].force[:] = force
        craft.step(k * h, h)
        load = np.array(craft.m.section[0].force)
        if k >= 2:
            # mean acceleration of the root, axes of the port: those of the craft
            moved = 1000.5 * np.array(craft.m.port[0].acceleration)
            turning = np.array(craft.m.body.angular_velocity)
            lump = 0.5 * np.cross(turning, np.cross(turning, (0.125, 0.0, 0.0)))
            error = np.abs(moved + lump - force - 0.5 * (load + before)).max()
            worst, largest = max(worst, error), max(largest, np.abs(load).max())
        before = load
    assert largest > 2.5
    assert worst < 5e-3 * largest


@pytest.mark.parametrize(("mass", "h"), [(1000.0, 0.4), (1.0, 0.02), (1.0, 0.4)])
def test_heavy_appendages_limit_no_step(tmp_path, mass, h):
    """After a push the energy does not grow: modes with w h from 0.1 to 1000, hubs of 1 t and 1 kg with a rod of 20 kg.

    With the exact step of all modes the craft turned by half a radian in a step after some tens of steps.
    """
    craft, _ = hub_with_rod(tmp_path, mass)
    energies = []
    for k in range(60):
        craft.m.port[0].force[:] = (0.0, 0.2, 0.1) if k < 5 else (0.0, 0.0, 0.0)
        craft.step(k * h, h)
        energies.append(craft.m.audit.kinetic_energy + craft.m.audit.stored_energy)
    free = np.array(energies[5:])
    assert np.all(np.diff(free) < 1e-3 * free[0])
    assert free[-1] == pytest.approx(sum(craft.m.audit.work_port) - craft.m.audit.dissipated_energy, rel=5e-3)
    assert np.all(free < 1.02 * free[0])


def test_the_modes_of_a_light_appendage_stay_exact(tmp_path):
    """A light rod on a heavy hub at a step of docking: its modes are advanced exactly, as without the limit."""
    craft, _ = hub_with_rod(tmp_path)
    craft.step(0.0, 1e-3)
    w, e = craft.m.modes.frequency, craft.m.elastic
    slow = w * 1e-3 < 1.0
    assert 4 <= slow.sum() < len(w)
    ratio = 0.005
    own = w * np.sqrt(1.0 - ratio**2)
    exact = np.exp(-ratio * w * 1e-3) * np.sin(own * 1e-3) / own
    assert e.from_rate[slow] == pytest.approx(exact[slow], rel=1e-12)
    # the others follow their loads: static after few steps
    assert np.all(e.from_rate[~slow] < 0.5e-3)
