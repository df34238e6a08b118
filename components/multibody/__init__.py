"""Any mechanism as a declaration: bodies, joints and forces in a file become a component (multibody-formulations)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dockfmu.components.core.component import Component
from dockfmu.components.multibody.contacts.ports import pair_rows
from dockfmu.components.multibody.declaration import Declared, read_model, read_text
from dockfmu.components.multibody.kernel import initialize, messages_of, step
from dockfmu.components.multibody.layout import layout
from dockfmu.components.multibody.link_data import lay_out
from dockfmu.components.multibody.ports import record_of
from dockfmu.components.multibody.scene import scene_of

EXAMPLE = Path(__file__).parent / "models" / "pendulum.toml"


@dataclass(frozen=True)
class MultibodyComponent(Component):
    """A component with a scene of its own, which follows from its declaration."""

    scene: Mapping[str, Any] = field(default_factory=dict)


def component(model: str | Path = EXAMPLE) -> Component:
    """Return the component of the multibody system that a TOML file declares, or its text. Raises ModelError."""
    if isinstance(model, str) and "\n" in model:
        return component_of(read_text(model))
    return component_of(read_model(Path(model)))


def component_of(declared: Declared) -> Component:
    """Return the component of a multibody system that has been read; its option `model` is the text."""
    model = declared.model
    made = lay_out(model)
    return MultibodyComponent(
        name=model.name,
        description=model.description or f"multibody system of {len(model.bodies)} bodies",
        record=record_of(model, made, layout(model, made)),
        initialize=initialize,
        step=step,
        messages=messages_of(
            [contact.name for contact in model.contacts],
            [f"{row.first.name} on {row.second.name}" for row in pair_rows(model)],
        ),
        module=Path(__file__),
        options={"model": declared.text} if declared.text else {},
        scene=scene_of(model, declared.solids),
    )
