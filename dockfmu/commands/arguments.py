"""Arguments that several sub-commands share: their types, names, and exit statuses."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from base.errors import DockfmuError
from base.units import UnitError, conversion, parse_quantity, parse_unit, round_conversion
from dockfmu.report.files import BUILD

DONE, NO_SUCCESS = 0, 3
"""Exit statuses beside those of errors, `base.errors.FAILED` and `WRONG`."""

SECOND = parse_unit("s")


class CommandError(DockfmuError, ValueError):
    """An argument of the command line is invalid, or names something that does not exist."""


def command(commands: Any, name: str, does: str) -> argparse.ArgumentParser:
    """Add the parser of a sub-command, whose help and description say what it `does`."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.")
    return parser


def add_build_folder(command: argparse.ArgumentParser) -> None:
    """Add the option --build."""
    command.add_argument(
        "--build", type=Path, default=BUILD, metavar="DIR",
        help="folder of FMUs, .ssp and results for which no other is given; default: build",
    )  # fmt: skip


def positive(text: str) -> float:
    """Return a positive finite number."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def seconds(text: str) -> float:
    """Return a positive time in s, from a number of seconds or a number with a unit, such as 10ms."""
    value = _time(text)
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive time, such as 0.5 or 10ms")
    return value


def _time(text: str) -> float:
    """Return a time in s; -1 for text that is not a time."""
    try:
        quantity = parse_quantity(text)
        if quantity is None:
            return -1.0
        number, unit = quantity
        return number if unit is None else round_conversion(number * conversion(unit, SECOND)[0])
    except UnitError:
        return -1.0


def count(text: str) -> int:
    """Return a positive integer."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


def port(text: str) -> int:
    """Return a port number, 0 for any free port."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port")
    return int(text)


def patterns(text: str) -> list[str]:
    """Return the patterns of a comma-separated list; a comma in brackets belongs to a name, `inertia[1,2]`."""
    stripped = [pattern.strip() for pattern in re.split(r",(?![^\[]*\])", text)]
    if not all(stripped):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of patterns")
    return stripped


def span(text: str) -> tuple[float, float]:
    """Return the times before and after an event, s."""
    times = [_time(part) for part in text.split(",")]
    if len(times) != 2 or not all(0.0 <= time < float("inf") for time in times):
        raise argparse.ArgumentTypeError(f"{text!r} is not a pair of times, such as 0.1,0.5 or 100ms,0.5s")
    return times[0], times[1]


def pairs(items: Sequence[str], option: str) -> dict[str, str]:
    """Return the names and values of NAME=VALUE, the last value for each name. Raises CommandError."""
    values: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            raise CommandError(f"{option} {item}: must be NAME=VALUE")
        values.pop(name.strip(), None)  # the last value counts, in its position
        values[name.strip()] = value.strip()
    return values


def process(text: str) -> tuple[str, float | None]:
    """Return (element, time limit of a call in s) from ELEMENT or ELEMENT=SECONDS."""
    name, equals, time = text.partition("=")
    try:
        return name, seconds(time) if equals else None
    except argparse.ArgumentTypeError as error:
        raise CommandError(f"--process {text}: {error}") from error
