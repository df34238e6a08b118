"""Start states of both craft: the active unit just touches the passive one, misaligned (spacecraft section 8)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dockfmu.components.core.component import Component
from dockfmu.components.physics.contact import probe_cone, ring_pair
from dockfmu.components.physics.contact.first_contact import (
    CraftState,
    Misalignment,
    Mount,
    NoContactError,
    Penetration,
    place,
    probe_cone_penetration,
    ring_penetration,
    rotation_matrix,
)
from dockfmu.components.physics.mechanics.rotation import from_quaternion, from_rotation_vector
from dockfmu.components.physics.ring_on_legs.platform import height
from dockfmu.components.ring_mechanism.legs import cranked
from dockfmu.declare.conditions.arm_placement import place_arm
from dockfmu.declare.conditions.initial_conditions import InitialConditions
from dockfmu.declare.toml.tables import DeclarationError


@dataclass(frozen=True)
class Start:
    """Start values by element, and what the audit is relative to at least.

    These are the kinetic energy of approach in J, and its momentum in N s with the angular momentum in N m s that it
    has at the port of the approaching craft, about the centre of mass of that craft.
    """

    values: Mapping[str, Mapping[str, float]]
    approach_energy: float
    approach_momentum: tuple[float, float] = (0.0, 0.0)


def place_crafts(
    conditions: InitialConditions, components: Mapping[str, Component], values: Mapping[str, Mapping[str, Any]]
) -> Start:
    """Return start values of the two craft at which the mechanism's head or ring first touches the passive unit.

    With `start` "docked" they are those at which the docking planes meet. For a berthing they are those of the arm; see
    `arm_placement`.

    `values` are the start values of each element so far. Raises DeclarationError if the elements are not two craft
    and a mechanism, or if these misalignments lead to no contact.
    """
    if conditions.arm:
        return Start(place_arm(conditions, components, values), 0.0)
    contact = conditions.contact or conditions.mechanism
    for name in (conditions.mechanism, contact):
        if name not in components:
            raise DeclarationError(f"initial conditions: the system has no element {name!r}")
    active, active_mount = _mount(conditions.active, components, values)
    target, target_mount = _mount(conditions.target, components, values)
    link = _main_link(conditions.mechanism, components[conditions.mechanism], values[conditions.mechanism])
    if conditions.start == "docked":
        penetration = _plane_penetration(components[conditions.mechanism], values[conditions.mechanism])
    else:
        penetration = _penetration(contact, components[contact], values[contact], link)
    misalignment = Misalignment(conditions.miss, conditions.angles, conditions.velocity, conditions.angular_velocity)
    try:
        placement = place(
            penetration,
            misalignment,
            active_mount,
            target_mount,
            link,
            moving=conditions.moving,
            start_gap=conditions.start_gap,
            velocity_point=conditions.velocity_point,
            orbital_rate=conditions.orbital_rate,
        )
    except (NoContactError, ValueError) as error:
        raise DeclarationError(f"initial conditions: {error}; reduce the miss or the angles") from error
    masses = [_mass(components[name], values[name]) for name in (active, target)]
    speed = np.linalg.norm(conditions.velocity)
    reduced = masses[0] * masses[1] / (masses[0] + masses[1])
    mount = active_mount if conditions.moving == "active" else target_mount
    momentum = float(reduced * speed)
    return Start(
        {active: _initial(placement.active), target: _initial(placement.passive)},
        float(0.5 * reduced * speed**2),
        (momentum, momentum * float(np.linalg.norm(mount.position))),
    )


def _main_link(name: str, component: Component, values: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return the position of a mechanism's probe head or ring plane at the start, in frame 0 (ruling R31).

    Raises DeclarationError if it has neither.
    """
    mechanism = component.record.view(component.start(**values))
    parameters = mechanism.parameters
    if hasattr(parameters, "probe"):
        reach = parameters.probe.bearing_distance + parameters.probe.free_length - parameters.initial_travel
    elif hasattr(parameters, "initial_angle"):
        reach = cranked.height(parameters.legs, parameters.initial_angle) + parameters.ring.plane_offset
    elif hasattr(parameters, "legs"):
        reach = height(parameters.legs, parameters.initial_stroke) + parameters.ring.plane_offset
    else:
        raise DeclarationError(f"initial conditions: {name} ({component.name}) is not a docking mechanism")
    return float(reach), 0.0, 0.0


def _plane_penetration(component: Component, values: Mapping[str, Any]) -> Penetration:
    """Return the distance by which the centre of a mechanism's docking plane is past that of the passive unit."""
    plane = float(component.record.view(component.start(**values)).parameters.docking_plane_x)
    return lambda position, rotation: float(position[0] + rotation[0][0] * plane)


def _penetration(
    name: str, component: Component, values: Mapping[str, Any], link: tuple[float, float, float]
) -> Penetration:
    """Return the penetration of a component's contact, with its link at `link` in frame 0.

    Raises DeclarationError if it has no contact, or if its contact parameters are invalid.
    """
    block = component.start(**values)
    m = component.record.view(block)
    if hasattr(m, "probe_cone"):
        unit = m.probe_cone
        code, penetration = probe_cone.initialize(unit), probe_cone_penetration
    elif hasattr(m, "ring_pair"):
        unit = m.ring_pair
        code, penetration = ring_pair.initialize(unit), ring_penetration
    else:
        raise DeclarationError(f"initial conditions: {name} ({component.name}) has no contact")
    if code:
        m.status.index = unit.status.index
        raise DeclarationError(f"{name}: {component.explain(code, block)}")
    return penetration(unit, link)


def _mount(
    port: str, components: Mapping[str, Component], values: Mapping[str, Mapping[str, Any]]
) -> tuple[str, Mount]:
    """Return the element of "element.port[k]", and its port relative to frame C, deformed by the initial modes."""
    match = re.fullmatch(r"(\w+)\.port\[(\d+)\]", port)
    if match is None or match[1] not in components:
        raise DeclarationError(f"initial conditions: {port} is not ELEMENT.port[K] of an element of the system")
    element, k = match[1], int(match[2])
    component = components[element]
    m = component.record.view(component.start(**values[element]))
    parameters = m.parameters
    if not 1 <= k <= len(parameters.port):
        raise DeclarationError(f"initial conditions: {element} has {len(parameters.port)} ports, no port[{k}]")
    to_body = rotation_matrix(*parameters.axes)
    to_port = rotation_matrix(*parameters.port[k - 1].angles)
    place = parameters.port[k - 1].position - parameters.center_of_mass
    turn = np.zeros(3)
    if hasattr(m, "modes"):
        n = int(parameters.modes_used)
        deformation = m.modes.initial_coordinate[:n] @ m.modes.port[k - 1, :n]
        place = place + deformation[:3]
        turn = to_port @ deformation[3:]
    bent = np.array(from_quaternion(from_rotation_vector(tuple(turn))))
    return element, Mount(to_body @ place, bent @ to_port @ to_body.T)


def _mass(component: Component, values: Mapping[str, Any]) -> float:
    return float(component.record.view(component.start(**values)).parameters.mass)


def _initial(state: CraftState) -> dict[str, float]:
    arrays = {
        "position": state.position,
        "quaternion": state.quaternion,
        "velocity": state.velocity,
        "angular_velocity": state.angular_velocity,
    }
    return {
        f"parameters.initial.{name}[{i}]": float(x) for name, array in arrays.items() for i, x in enumerate(array, 1)
    }
