"""Arguments that several sub-commands share: their types, names, and exit statuses."""

from __future__ import annotations

import argparse
import errno
import os
from collections.abc import Collection, Container, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockfmu.base.errors import DockfmuError
from dockfmu.base.given_files import accept_pipe
from dockfmu.base.messages import shown
from dockfmu.base.names import reading_among, split_list
from dockfmu.base.number_text import count_number, decimal_number
from dockfmu.base.numbers import LARGEST_COUNT, LARGEST_PORT
from dockfmu.base.units import UnitError, conversion, parse_quantity, parse_unit, round_conversion
from dockfmu.report.files import BUILD, recording, why_unrecorded

if TYPE_CHECKING:
    from dockfmu.declare.settings import Written

DONE, NO_SUCCESS, NOT_BALANCED = 0, 3, 4
"""Exit statuses beside those of errors, `dockfmu.base.errors.FAILED` and `WRONG`."""

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
        "--build",
        type=path,
        default=BUILD,
        metavar="DIR",
        help="folder of FMUs, .ssp and results for which no other is given; default: build",
    )


def path(text: str) -> Path:
    """Return the path of a file or a folder; refuse one that is empty or that no file can have."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty; name a file or a folder, `.` for the current folder")
    try:
        os.lstat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{shown(text)} cannot be a path ({error})") from error
    except OSError as error:
        # whether it exists is for the command to say
        if error.errno == errno.ENAMETOOLONG:
            raise argparse.ArgumentTypeError(
                f"{shown(text)} is longer than a file name can be; choose a shorter one"
            ) from error
    return Path(text)


def text_file(text: str) -> Path:
    """Return the path of a file of text; a pipe, such as `<(...)` of a shell, is read to its end here."""
    file = path(text)
    try:
        accept_pipe(file)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{shown(text)}: {error.strerror}") from error
    return file


def output_file(text: str) -> Path:
    """Return the path of a file to write; refuse a folder."""
    file = path(text)
    if file.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is a folder; give the name of a file")
    return file


def name_or_path(text: str) -> str:
    """Return the name of a system or the path of a file as typed; refuse what `path` refuses."""
    path(text)
    return text


def positive(text: str) -> float:
    """Return a positive finite number."""
    try:
        value = decimal_number(text)
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


def time(text: str) -> float:
    """Return a time in s of any sign, from a number of seconds or a number with a unit, such as -10ms."""
    sign, size = (-1.0, text[1:]) if text.startswith("-") else (1.0, text)
    value = _time(size)
    if not 0.0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time, such as 0.5 or 2min")
    return sign * value


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
    """Return a positive integer, `LARGEST_COUNT` at most."""
    number = count_number(text, LARGEST_COUNT)
    if not number:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a positive integer up to {LARGEST_COUNT}")
    return number


def port(text: str) -> int:
    """Return a port number, 0 for any free port."""
    number = count_number(text, LARGEST_PORT)
    if number is None:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a port, 0 to {LARGEST_PORT}")
    return number


def patterns(text: str) -> str:
    """Return a comma-separated list of patterns, for `split_patterns`; refuse one with an empty part."""
    if not all(split_list(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of patterns")
    return text


def split_patterns(lists: Sequence[str], names: Container[str]) -> list[str]:
    """Return the patterns of several lists; a list that is itself one of `names` is that name."""
    return [pattern for text in lists for pattern in split_list(text, names)]


def span(text: str) -> tuple[float, float]:
    """Return the times before and after an event, s."""
    times = [_time(part) for part in text.split(",")]
    if len(times) != 2 or not all(0.0 <= time < float("inf") for time in times):
        raise argparse.ArgumentTypeError(f"{text!r} is not a pair of times, such as 0.1,0.5 or 100ms,0.5s")
    return times[0], times[1]


def pairs(items: Sequence[str], option: str) -> dict[str, str]:
    """Return the names and values of NAME=VALUE, the last value for each name, for `readings` of the names.

    Raises CommandError.
    """
    values: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise CommandError(f"{option} {item}: must be NAME=VALUE")
        if "=" in value and "=" in values.get(name, ""):
            # names of variables may have equal signs: these may be two of them
            name, _, value = item.rpartition("=")
        values.pop(name, None)  # the last value counts, in its position
        values[name] = value.strip()
    return values


def written(settings: Sequence[str]) -> dict[str, Written]:
    """Return what --set gives, NAME=VALUE, by names. Raises CommandError."""
    from dockfmu.declare.settings import Written

    return {name: Written(value) for name, value in pairs(settings, "--set").items()}


def divided(given: Mapping[str, Path], elements: Collection[str]) -> dict[str, Path]:
    """Return files by elements, where names of elements that have equal signs were divided at the first of them.

    Raises CommandError for a text that means two elements.
    """
    found: dict[str, Path] = {}
    for name, file in given.items():
        pieces = f"{name}={file}".split("=")
        places = [
            (element, Path("=".join(pieces[k:]).strip()))
            for k in range(1, len(pieces))
            if (element := reading_among("=".join(pieces[:k]), elements)) is not None
        ]
        if len(places) > 1:
            meant = " or ".join(element for element, _ in places)
            raise CommandError(f"--swap {name}={file}: could replace {meant}; give the file another name")
        element, chosen = places[0] if places else (name.strip(), file)
        found[element] = chosen
    return found


def file_pairs(items: Sequence[str], option: str) -> dict[str, Path]:
    """Return the names and files of NAME=FILE, the last file for each name. Raises CommandError."""
    try:
        return {name: path(file) for name, file in pairs(items, option).items()}
    except argparse.ArgumentTypeError as error:
        raise CommandError(f"{option}: {error}") from error


def existing_recording(place: Path) -> Path:
    """Return the recording that a path names, results.h5 in a folder. Raises CommandError if there is none."""
    if not place.exists():
        raise CommandError(f"{place}: there is no such file or folder; give the folder of a run, or its results.h5")
    file = recording(place)
    if not file.is_file():
        raise CommandError(f"{file}: there is no such file; {why_unrecorded(file.parent)}")
    return file


def processes(items: Sequence[str], elements: Collection[str]) -> dict[str, float | None]:
    """Return time limits of a call in s, or None, by elements, from texts ELEMENT or ELEMENT=SECONDS.

    Names of elements may have equal signs. Raises CommandError for a text that means two elements, or no time.
    """
    found: dict[str, float | None] = {}
    for text in items:
        name, equals, limit = text.rpartition("=")
        whole, part = reading_among(text, elements), reading_among(name, elements)
        if whole is not None and part is not None:
            raise CommandError(f"--process {text}: could mean {whole} or {part}; rename one of them")
        if whole is not None or not equals:
            found[whole or text.strip()] = None
            continue
        try:
            found[part or name.strip()] = seconds(limit.strip())
        except argparse.ArgumentTypeError as error:
            raise CommandError(f"--process {text}: {error}") from error
    return found
