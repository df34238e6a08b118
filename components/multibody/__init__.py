"""Any mechanism as a declaration: bodies, joints and forces in a file become a component (multibody-formulations)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dockfmu.components.core.component import Component
from dockfmu.components.core.part_names import PartsComponent
from dockfmu.components.multibody.declaration import Declared, origin, read_model, read_text
from dockfmu.components.multibody.kernel import initialize, step
from dockfmu.components.multibody.layout import layout
from dockfmu.components.multibody.link_data import lay_out
from dockfmu.components.multibody.messages import messages_of
from dockfmu.components.multibody.model import Model
from dockfmu.components.multibody.model.elastic import expanded
from dockfmu.components.multibody.ports import record_of
from dockfmu.components.multibody.reference.impulse import ClosureError
from dockfmu.components.multibody.scene import scene_of

EXAMPLE = Path(__file__).parent / "models" / "pendulum.toml"


@dataclass(frozen=True)
class MultibodyComponent(PartsComponent):
    """A component with a scene of its own, which follows from its declaration."""

    scene: Mapping[str, Any] = field(default_factory=dict)
    model: Model | None = None
    declared: Declared | None = None

    def origin(self, parameter: str) -> str:
        """Return the key of the declaration that gives a start value, or that it is left out there."""
        given = self.declared and origin(parameter, self.declared.content, Path(self.declared.file).name)
        return given or super().origin(parameter)

    def remarks(self) -> tuple[str, ...]:
        """Return the degrees of freedom of closed loops, with their redundant constraints, or why they do not close."""
        if self.model is None or not self.model.cuts:
            return ()
        from dockfmu.components.multibody.analysis import Multibody

        try:
            return (f"closed loops: {Multibody(self.model).freedoms()}",)
        except ClosureError as error:
            return (f"closed loops: {error}",)


def component(model: str | Path = EXAMPLE) -> Component:
    """Return the component of the multibody system that a TOML file declares, or its text. Raises ModelError."""
    if isinstance(model, str) and "\n" in model:
        return component_of(read_text(model))
    return component_of(read_model(Path(model)))


def component_of(declared: Declared) -> Component:
    """Return the component of a multibody system that has been read; its option `model` is the text."""
    model = expanded(declared.model)
    made = lay_out(model)
    return MultibodyComponent(
        name=model.name,
        description=model.description or f"multibody system of {len(model.bodies)} bodies",
        record=record_of(model, made, layout(model, made)),
        initialize=initialize,
        step=step,
        messages=messages_of(model, made),
        module=Path(__file__),
        options={"model": declared.text} if declared.text else {},
        scene=scene_of(model, declared.solids),
        called_apart=True,
        model=model,
        declared=declared,
    )
