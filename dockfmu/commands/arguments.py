"""Arguments that several sub-commands share: their types, names, and exit statuses."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from base.errors import DockfmuError

DONE, NO_SUCCESS = 0, 3
"""Exit statuses beside those of errors, `base.errors.FAILED` and `WRONG`."""

BUILD = Path("build")


class CommandError(DockfmuError, ValueError):
    """The command line asks for something that does not exist."""


def command(commands: Any, name: str, does: str) -> argparse.ArgumentParser:
    """Add the parser of a sub-command, whose help and description say what it `does`."""
    made: argparse.ArgumentParser = commands.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.")
    return made


def add_build_folder(command: argparse.ArgumentParser) -> None:
    """Add the option --build."""
    command.add_argument(
        "--build", type=Path, default=BUILD, metavar="DIR",
        help="where FMUs, .ssp and results go that have no place of their own; default: build",
    )  # fmt: skip


def positive(text: str) -> float:
    """Return a positive finite number."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return value


def count(text: str) -> int:
    """Return a positive whole number."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive whole number")
    return int(text)


def port(text: str) -> int:
    """Return the number of a port, 0 for any that is free."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port")
    return int(text)


def patterns(text: str) -> list[str]:
    """Return the patterns of a comma-separated list; a comma within brackets belongs to a name, `inertia[1,2]`."""
    found = [pattern.strip() for pattern in re.split(r",(?![^\[]*\])", text)]
    if not all(found):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of patterns")
    return found


def span(text: str) -> tuple[float, float]:
    """Return the seconds before and after an event."""
    try:
        before, after = map(float, text.split(","))
    except ValueError:
        before = after = -1.0
    if not (0.0 <= before < float("inf") and 0.0 <= after < float("inf")):
        raise argparse.ArgumentTypeError(f"{text!r} is no pair of seconds, such as 0.1,0.5")
    return before, after


def pairs(items: Sequence[str], option: str) -> dict[str, str]:
    """Return names and values of NAME=VALUE, the last value of each. Raises CommandError."""
    found: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            raise CommandError(f"{option} {item}: needs NAME=VALUE")
        found.pop(name.strip(), None)  # the last one counts, in its place
        found[name.strip()] = value.strip()
    return found


def process(text: str) -> tuple[str, float | None]:
    """Return (element, longest call in s) of ELEMENT or ELEMENT=SECONDS."""
    name, equals, seconds = text.partition("=")
    try:
        return name, positive(seconds) if equals else None
    except argparse.ArgumentTypeError as error:
        raise CommandError(f"--process {text}: {error}") from error
