"""Skeletons of FMUs that replace an element: its ports written out for four tools, and as a table."""

from __future__ import annotations

import csv
import io
import re
import textwrap
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import jinja2

from dockfmu.base.fmi import DESCRIPTION_FILE
from dockfmu.master.fmi.description import Variable
from dockfmu.swap.interface import Interface, Signal

TEMPLATES = Path(__file__).parent / "templates"

_COMMENT = 110
"""Width of the comments in skeletons, which are indented: no line is longer than 120 characters."""


def table(interface: Interface) -> str:
    """Return a table for users: one line for each input and output, the connected ones first."""
    lines = [f"{interface.name}: {interface.title}"]
    rows = [(heading, _row(s)) for heading, group in _groups(interface) for s in group]
    widths = [max((len(row[k]) for _, row in rows), default=0) for k in range(5)]
    for heading, group in _groups(interface):
        if group:
            lines += ["", heading]
        for signal in group:
            cells = _row(signal)
            columns = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
            lines.append("  " + "  ".join([*columns, cells[5]]).rstrip())
    return "\n".join(lines) + "\n"


def _groups(interface: Interface) -> list[tuple[str, tuple[Signal, ...]]]:
    if not interface.optional:
        return [("inputs and outputs", interface.needed)]
    connected = tuple(signal for signal in interface.optional if signal.partners)
    return [
        ("needed: connected in the system", interface.needed),
        ("optional: connected, may be missing", connected),
        ("optional: not connected", tuple(signal for signal in interface.optional if not signal.partners)),
    ]


def _row(signal: Signal) -> tuple[str, ...]:
    variable = signal.first
    arrow = "<-" if variable.causality == "input" else "->"
    ends = [f"{arrow} {', '.join(signal.partners)}"] if signal.partners else []
    return (
        variable.causality,
        signal.name + (f"[{', '.join(map(str, signal.shape))}]" if signal.shape else ""),
        variable.type,
        variable.unit or "",
        variable.description,
        "; ".join([*ends, *signal.uses]),
    )


def skeleton(interface: Interface, form: str, identifier: str | None = None) -> dict[str, str]:
    """Return the files of a skeleton by name, the main one first.

    `form` is one of FORMS, and `identifier` names the model. Optional ports are included if they are connected
    or the run uses them.
    """
    name = identifier or "My" + re.sub(r"\W", "", interface.name.rpartition(".")[2].title())
    return FORMS[form](interface, name)


def _used(interface: Interface) -> list[Signal]:
    return [*interface.needed, *(signal for signal in interface.optional if signal.partners or signal.uses)]


def _variables(interface: Interface) -> list[Variable]:
    return [variable for signal in _used(interface) for variable in signal.variables]


def _select(variables: Iterable[Variable], causality: str) -> list[Variable]:
    return [variable for variable in variables if variable.causality == causality]


def _note(variable: Variable) -> str:
    unit = f"{variable.unit}, " if variable.unit else ""
    items = ", ".join(f"{number} {name}" for name, number in variable.items)
    return unit + variable.description + (f" ({items})" if items else "")


def _start(variable: Variable) -> float | int | bool:
    """Return the start value in the type of the variable.

    Outputs without one start as their description says ("-1 before"), quaternions as the identity.
    """
    unit_quaternion = variable.name.endswith("quaternion[1]")
    start = variable.start if variable.start is not None else (1.0 if unit_quaternion else 0.0)
    if variable.start is None and (said := re.search(r"; (-?\d+(?:\.\d+)?) before\b", variable.description)):
        start = float(said[1])
    if variable.items and variable.start is None:
        start = variable.items[0][1]
    return {"Real": float, "Boolean": bool}.get(variable.storage, int)(start)


def _xml(variable: Variable) -> str:
    start = _start(variable)
    return str(start).lower() if isinstance(start, bool) else repr(start)


def _render(template: str, **content: object) -> str:
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(
        loader=loader, undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    return environment.get_template(template).render(**content)


def _python(interface: Interface, identifier: str) -> dict[str, str]:
    variables = _variables(interface)
    text = _render(
        "python.py.j2",
        interface=interface,
        identifier=identifier,
        inputs=_select(variables, "input"),
        outputs=_select(variables, "output"),
        python=lambda variable: repr(_start(variable)),
        comment=lambda variable: textwrap.wrap(_note(variable), _COMMENT, break_long_words=False),
        title=interface.title.strip().rstrip(".").replace('"', "'"),
    )
    return {f"{identifier}.py": text}


def _c(interface: Interface, identifier: str) -> dict[str, str]:
    variables = _variables(interface)
    kinds = {kind.lower(): [v for v in variables if v.storage == kind] for kind in ("Real", "Integer", "Boolean")}
    ordered = [variable for group in kinds.values() for variable in group]
    units = {variable.unit: interface.description.unit(variable) for variable in ordered if variable.storage == "Real"}
    content: dict[str, object] = {
        "interface": interface,
        "identifier": identifier,
        "guid": str(uuid.uuid5(uuid.NAMESPACE_URL, interface.name + repr(ordered))),
        "kinds": kinds,
        "note": _note,
        "constant": lambda variable: re.sub(r"\W+", "_", variable.name).strip("_").upper(),
        "c": lambda variable: repr(_start(variable) + 0) if _start(variable) else "",
        "xml": _xml,
        "units": [unit for unit in units.values() if unit is not None],
        "outputs_at": [k for k, variable in enumerate(ordered, 1) if variable.causality == "output"],
    }
    return {
        f"{identifier}.c": _render("c.c.j2", **content),
        DESCRIPTION_FILE: _render("modelDescription.xml.j2", **content),
    }


@dataclass
class _Node:
    """A component of a Modelica model: a connector with `children`, or a signal with its `declaration`."""

    name: str = ""
    indices: set[int] = field(default_factory=set)
    children: dict[str, _Node] = field(default_factory=dict)
    declaration: str = ""

    @property
    def identifier(self) -> str:
        return _modelica_name(self.name)

    @property
    def type(self) -> str:
        return self.name.title().replace("_", "")

    @property
    def dimensions(self) -> str:
        return f"[{max(self.indices)}]" if self.indices else ""


# keywords of Modelica that might be the name of a port
_KEYWORDS = {"block", "connector", "end", "false", "flow", "input", "model", "output", "stream", "time", "true", "when"}


def _modelica_name(name: str) -> str:
    return f"'{name}'" if name in _KEYWORDS else name


def _modelica(interface: Interface, identifier: str) -> dict[str, str]:
    root = _Node()
    for signal in _used(interface):
        node = root
        *path, last = signal.name.split(".")
        for part in path:
            match = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", part)
            assert match is not None, part
            node = node.children.setdefault(match[1], _Node(match[1]))
            if match[2]:
                node.indices.add(int(match[2]))
        node.children[last] = _Node(last, declaration=_modelica_declaration(last, signal))
    return {f"{identifier}.mo": _render("modelica.mo.j2", interface=interface, identifier=identifier, root=root)}


def _modelica_declaration(name: str, signal: Signal) -> str:
    variable = signal.first
    dimensions = f"[{', '.join(map(str, signal.shape))}]" if signal.shape else ""
    each = "each " if signal.shape else ""
    unit = f'({each}unit="{variable.unit}")' if variable.unit and variable.type == "Real" else ""
    text = variable.description.replace('"', "'")
    return f'{variable.causality} {variable.storage} {_modelica_name(name)}{dimensions}{unit} "{text}";'


def _simulink(interface: Interface, identifier: str) -> dict[str, str]:
    """Return a list of ports: block, name in the FMU, dimension, data type, unit, bounds, description."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["block", "port", "name", "dimensions", "type", "unit", "min", "max", "description"])
    numbers = {"input": 0, "output": 0}
    for signal in _used(interface):
        variable = signal.first
        numbers[variable.causality] += 1
        writer.writerow(
            [
                "Inport" if variable.causality == "input" else "Outport",
                numbers[variable.causality],
                signal.name,
                "x".join(map(str, signal.shape)) or "1",
                {"Real": "double", "Integer": "int32", "Boolean": "boolean"}.get(variable.storage, "string"),
                variable.unit or "",
                "" if variable.minimum is None else variable.minimum,
                "" if variable.maximum is None else variable.maximum,
                variable.description,
            ]
        )
    return {f"{identifier}.csv": stream.getvalue()}


FORMS: dict[str, Callable[[Interface, str], dict[str, str]]] = {
    "python": _python,
    "c": _c,
    "modelica": _modelica,
    "simulink": _simulink,
}
