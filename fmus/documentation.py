"""The folder `documentation` of an FMU: one HTML page with all that is needed to connect it, and the licence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader

from dockfmu.base.cache import ROOT
from dockfmu.components.core.component import Component
from dockfmu.components.core.field import Field, Group
from dockfmu.fmus.description import package_version, value_text

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
)


def public_arrays(members: Sequence[Field | Group], prefix: str) -> Iterator[tuple[str, Field]]:
    """Yield the structured name of each public array or scalar, with the ranges of its indices, and its field."""
    for member in members:
        if isinstance(member, Group):
            subscript = "" if member.count is None else f"[1..{member.count}]"
            yield from public_arrays(member.members, f"{prefix}{member.name}{subscript}.")
        elif member.public:
            subscript = f"[{', '.join(f'1..{n}' for n in member.shape)}]" if member.shape else ""
            yield f"{prefix}{member.name}{subscript}", member


def start_text(field: Field) -> str:
    """Return the start values as text: one if all are equal, all if they are few."""
    values = [value_text(field, float(value)) for value in np.ravel(np.asarray(field.start, float))]
    if len(set(values)) == 1:
        return values[0]
    return ", ".join(values) if len(values) <= 9 else "see the model description"


def _licence(component: Component) -> str:
    """Return the text of the licence: of the component's own one, or that of dockfmu."""
    own = component.module.parent / "LICENSE"
    return (own if own.is_file() else ROOT / "LICENSE").read_text(encoding="utf-8")


def documentation(component: Component, kind: str, platforms: Sequence[str]) -> dict[str, bytes]:
    """Return the files of the folder by their path in the FMU; `kind` and `platforms` are named on the page."""
    readme = component.module.parent / "README.md"
    page = _TEMPLATES.get_template("index.html").render(
        component=component,
        start=start_text,
        kind=kind,
        platforms=platforms,
        version=package_version(),
        ports={
            causality: [
                (name, field)
                for name, field in public_arrays(component.record.members, "")
                if field.causality == causality
            ]
            for causality in ("input", "output", "parameter", "local")
        },
        readme=readme.read_text(encoding="utf-8") if readme.is_file() else "",
    )
    return {
        "documentation/index.html": page.encode(),
        "documentation/licenses/license.txt": _licence(component).encode(),
    }
