"""`dockfmu parameters`: values, units, ranges, sources, and what set each value."""

from __future__ import annotations

import argparse
import json
import math
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dockfmu.base.numbers import finite
from dockfmu.commands.arguments import DONE, name_or_path, text_file, written
from dockfmu.commands.streams import say
from dockfmu.commands.terminal import cut, styled, table, width

if TYPE_CHECKING:
    from dockfmu.declare.parameters import Parameter

INDENT = "    "
"""Of the lines below the name of a parameter on a terminal."""


def add_parameters(commands: Any) -> None:
    """Add the parser of `parameters`."""
    parser = commands.add_parser(
        "parameters",
        help="list parameters: value, unit, range, default, source, what set them",
        description="List parameters: on a terminal name, value, unit and what set it, and below them the\n"
        "description, default and range; in a pipe one line each, with the source as last\n"
        "column. A single parameter is shown in full.",
        epilog="examples:\n"
        "  dockfmu parameters atv_probe_cone.chaser\n"
        "  dockfmu parameters atv_probe_cone.chaser.parameters.mass\n"
        "  dockfmu parameters atv_probe_cone --changed\n"
        "  dockfmu parameters 'atv_probe_cone.*.mass' --set chaser.parameters.mass=18t\n"
        "  dockfmu parameters mine.fmu | grep assumed",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "name",
        type=name_or_path,
        metavar="SYSTEM[.ELEMENT[.PATTERN]]",
        help="SYSTEM is a name, a .toml or an .ssp; COMPONENT[.PATTERN] and FILE.fmu[.PATTERN] work too; `*` matches "
        "any text, the name of a group all its members",
    )
    parser.add_argument("--changed", action="store_true", help="list only those that differ from the FMU's defaults")
    parser.add_argument("--long", action="store_true", help="show everything that is known about each parameter")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print a list of objects, values in SI units; those that are not finite are the texts inf, -inf and nan",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="ELEMENT.VARIABLE=VALUE",
        dest="settings",
        help="as for dockfmu run",
    )
    parser.add_argument(
        "--parameters", action="append", default=[], type=text_file, metavar="FILE.ssv", help="as for dockfmu run"
    )
    parser.set_defaults(action=_parameters)


def _parameters(arguments: argparse.Namespace) -> int:
    from dockfmu.declare.parameters import parameters

    settings = written(arguments.settings)
    listed = parameters(arguments.name, settings, arguments.parameters)
    if arguments.changed:
        listed = [parameter for parameter in listed if parameter.changed]
    if arguments.json:
        print(json.dumps([_as_json(parameter) for parameter in listed], indent=1, allow_nan=False))
    elif arguments.long or len(listed) == 1:
        print("\n\n".join(_block(parameter) for parameter in listed))
    else:
        _print_table(listed)
    return DONE


def _as_json(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.full_name,
        "value": _finite(parameter.value),
        "unit": parameter.unit,
        "display_unit": parameter.display[0],
        "default": _finite(parameter.default),
        "changed": parameter.changed,
        "set_by": parameter.set_by,
        "source": parameter.source,
        # an infinite bound is none
        "minimum": finite(parameter.minimum),
        "maximum": finite(parameter.maximum),
        "items": list(parameter.items),
        "type": parameter.type,
        "tunable": parameter.tunable,
        "description": parameter.description,
    }


def _finite(value: Any) -> Any:
    """Return a value for JSON, which knows no infinities: as the text "inf", "-inf" or "nan"."""
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _print_table(listed: Sequence[Parameter]) -> None:
    """Print one line a parameter into a pipe; on a terminal wrap what does not fit into its columns."""
    columns = width(sys.stdout)
    if columns is not None:
        for parameter in listed:
            _print_entry(parameter, columns)
        changed = sum(parameter.changed for parameter in listed)
        say(f"{len(listed)} parameters, {changed} changed (bold); --long shows sources and whole arrays")
        return
    rows = [
        [
            _name(parameter),
            *_value(parameter, parameter.value),
            parameter.set_by or "default",
            parameter.description,
            _was(parameter),
            _range(parameter),
            parameter.source,
        ]
        for parameter in listed
    ]
    for line, parameter in zip(table(rows), listed, strict=True):
        size = len(_name(parameter))
        print(styled(line[:size], "bold" if parameter.changed else "dim", sys.stdout) + line[size:])


def _print_entry(parameter: Parameter, columns: int) -> None:
    """Print a parameter within the columns of a terminal: only a long array is cut, descriptions are wrapped."""
    name, (value, unit) = _name(parameter), _value(parameter, parameter.value)
    end = " ".join(part for part in ("", unit, f"({parameter.set_by or 'default'})") if part)
    room = columns - len(name) - len(" = ")
    head = f" = {cut(value, max(room - len(end) - 1, 12))} {end}"
    if len(name) + len(head) > columns:
        head = f"\n{INDENT}= {cut(value, max(columns - len(INDENT) - len(end) - 3, 12))} {end}"
    print(styled(name, "bold" if parameter.changed else "dim", sys.stdout) + head)
    below = "; ".join(part for part in (parameter.description, _was(parameter), _range(parameter)) if part)
    print("\n".join(textwrap.wrap(below, columns, initial_indent=INDENT, subsequent_indent=INDENT)))


def _was(parameter: Parameter) -> str:
    return f"was {_value(parameter, parameter.default)[0]}" if parameter.changed else ""


def _block(parameter: Parameter) -> str:
    """Return everything about one parameter, as text for users."""
    converted = parameter.display[0] != parameter.unit and parameter.value is not None
    facts = [
        ("", parameter.description),
        ("in SI", f"{_text(parameter.value, 1.0)} {parameter.unit}" if converted else ""),
        ("set by", parameter.set_by or "nothing: the default"),
        ("default", _with_unit(parameter, parameter.default) if parameter.changed else ""),
        ("range", _range(parameter)),
        ("source", parameter.source or ("" if parameter.set_by.startswith("--") else "not stated")),
        ("changes", "between steps too" if parameter.tunable else ""),
    ]
    lines = [f"{styled(_name(parameter), 'bold', sys.stdout)} = {_with_unit(parameter, parameter.value)}"]
    for heading, text in facts:
        if text:
            start = f"  {heading:8} " if heading else "  "
            columns = width(sys.stdout) or 10_000
            lines += textwrap.wrap(text, columns, initial_indent=start, subsequent_indent=" " * len(start))
    return "\n".join(lines)


def _name(parameter: Parameter) -> str:
    return parameter.full_name + (f"[{','.join(map(str, parameter.shape))}]" if parameter.shape else "")


def _value(parameter: Parameter, value: Any) -> tuple[str, str]:
    """Return a value in its display unit, and the unit, which is empty for a plain number."""
    unit, factor = parameter.display
    if value is None or (isinstance(value, list) and None in value):
        return "computed", ""
    return _text(value, factor), "" if unit == "1" else unit


def _with_unit(parameter: Parameter, value: Any) -> str:
    return " ".join(_value(parameter, value)).rstrip()


def _text(value: Any, factor: float) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_text(item, factor) for item in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return format(factor * value, ".6g") if isinstance(value, float) else str(value)


def _range(parameter: Parameter) -> str:
    if parameter.items:
        return ", ".join(parameter.items)
    unit, factor = parameter.display
    low, high = (None if v is None else _text(float(v), factor) for v in (parameter.minimum, parameter.maximum))
    unit = "" if unit == "1" else f" {unit}"
    if low is not None and high is not None:
        return f"{low} to {high}{unit}"
    return f"from {low}{unit}" if low is not None else f"to {high}{unit}" if high is not None else ""
