"""The balance of momentum and energy over the audited elements of a system."""

from __future__ import annotations

from dockfmu.base.names import vector
from dockfmu.declare.plan import Plan
from dockfmu.master.observers.audit import Audit
from dockfmu.master.system import Structure


def audit(system: Structure, plan: Plan) -> Audit:
    """Return the balance over the audited elements, from the `audit` outputs that they have.

    Energies are those in the frame that moves as the last audited craft does at the start. If an element stands still
    in I (its `parameters.fixed`), or what stands still holds a declared system (`audit.grounded`), momenta are not
    balanced: what holds it takes them up. Nor are they in a field of gravity (`parameters.gravity`), which gives them.
    """
    held = any(_is_held(system, element) or _has_weight(system, element) for element in plan.audited)

    def present(*names: str) -> list[str]:
        known = {element: system.description(element).variables for element in plan.audited}
        return [
            f"{element}.audit.{name}"
            for element in plan.audited
            for name in names
            if f"audit.{name}" in known[element] or f"audit.{name}[1]" in known[element]
        ]

    def own(kind: str) -> list[str]:
        """Return the momenta from the elements' own states; for an element without one, its `audit` momentum."""
        own_outputs = present(f"own_{kind}")
        return own_outputs and [
            *own_outputs,
            *(name for name in present(kind) if f"{name.removesuffix(kind)}own_{kind}" not in own_outputs),
        ]

    bodies = [
        element
        for element in plan.audited
        if {"body.velocity[1]", "body.quaternion[1]"} <= system.description(element).variables.keys()
    ]
    frame = (f"{bodies[-1]}.body.velocity", f"{bodies[-1]}.body.quaternion") if bodies else None
    own_momenta = [] if held else own("momentum")
    ports = [
        f"{connection.source}.{connection.output.removesuffix('[1]')}"
        for connection in system.connections
        if connection.input == "base.position[1]" and f"{connection.target}.audit.own_momentum" in own_momenta
    ]
    return Audit(
        momentum=[] if held else present("momentum"),
        angular_momentum=[] if held else present("angular_momentum"),
        impulse=present("impulse_control"),
        angular_impulse=present("angular_impulse_control"),
        owed=present("impulse_response"),
        angular_owed=present("angular_impulse_response"),
        own_momentum=own_momenta,
        own_angular_momentum=[] if held else own("angular_momentum"),
        own_pole=ports[0] if ports else None,
        impulse_errors=present("base_impulse_error"),
        angular_impulse_errors=present("base_angular_impulse_error"),
        kinetic=present("kinetic_energy"),
        stored=present("stored_energy"),
        dissipated=present("dissipated_energy"),
        supplied=plan.supplied,
        late=present("work_response"),
        late_losses=present("loss_response"),
        late_momentum=[] if held else present("momentum_response"),
        frame=frame,
        reference_energy=plan.approach_energy or None,
        reference_momentum=plan.approach_momentum,
    )


def _is_held(system: Structure, element: str) -> bool:
    """Return whether a craft is told to stand still in I, or what stands still holds a declared system."""
    if "audit.grounded" in system.description(element).variables:
        return True
    variable = system.description(element).variables.get("parameters.fixed")
    if variable is None or variable.type != "Boolean":
        return False
    return bool(system.start_value(element, "parameters.fixed"))


def _has_weight(system: Structure, element: str) -> bool:
    """Return whether a field of gravity acts on an element at the start."""
    known = system.description(element).variables
    names = [name for name in vector("parameters.gravity") if name in known]
    return any(system.start_value(element, name) != 0.0 for name in names)
