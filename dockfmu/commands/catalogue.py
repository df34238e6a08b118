"""`dockfmu list`, `new` and `build`: list systems and components, begin a component, export components as FMUs."""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path
from typing import Any

from dockfmu.commands.arguments import DONE, CommandError, add_build_folder, command, pairs, path
from dockfmu.commands.streams import say
from dockfmu.commands.terminal import width

NAMES = 27
"""Width of the column of names in a list, with its indent."""


def add_list(commands: Any) -> None:
    """Add the parser of `list`."""
    listing = command(commands, "list", "list systems, components and parameter sets")
    listing.set_defaults(action=_list)


def _list(_: argparse.Namespace) -> int:
    from dockfmu.declare.toml import files
    from dockfmu.fmus import catalogue

    columns = width(sys.stdout)
    print("systems")
    for name in files.names():
        _print_entry(f"  {name:24} ", files.description(name), columns)
    print("components")
    described: dict[tuple[str, str], str] = {}
    for name in catalogue.names():
        _print_entry(f"  {name:24} ", catalogue.entry(name).summary, columns)
        again: dict[str, list[str]] = {}
        for entry in catalogue.parameter_sets(name):
            first = described.setdefault((entry.name, entry.description), name)
            if first == name:
                _print_entry(f"    {entry.name:22} ", entry.description, columns)
            else:
                again.setdefault(first, []).append(entry.name)
        for first, sets in again.items():
            _print_entry(f"    {f'those of {first}':22} ", ", ".join(sets), columns)
    return DONE


def _print_entry(name: str, text: str, columns: int | None) -> None:
    """Print a name and its description, which is wrapped below itself on a terminal and whole in a pipe."""
    if columns is None:
        print(name + text)
        return
    indent = " " * NAMES
    start = name
    if len(name) > NAMES:
        print(name.rstrip())
        start = indent
    print("\n".join(textwrap.wrap(text, max(columns, 50), initial_indent=start, subsequent_indent=indent)))


def add_new(commands: Any) -> None:
    """Add the parser of `new`."""
    new = command(commands, "new", "begin a component of your own: a folder that builds and passes its test")
    new.add_argument("what", choices=("component",), help="what to begin")
    new.add_argument("name", metavar="NAME", help="in lower case, such as hinge: folder and module bear it")
    new.add_argument("-o", "--output", type=path, default=Path(), metavar="DIR", help="default: the current folder")
    new.set_defaults(action=_new)


def _new(arguments: argparse.Namespace) -> int:
    from dockfmu.new import new_component

    for file in new_component(arguments.name, arguments.output):
        print(file)
    home = arguments.output / arguments.name
    say(f"dockfmu: next: dockfmu build {'' if home.is_absolute() else './'}{home}, then pytest {home}")
    return DONE


def add_build(commands: Any) -> None:
    """Add the parser of `build`."""
    build = command(commands, "build", "export components as FMUs")
    build.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="components, folders of yours (./hinge), or .toml files of multibody systems; default: all",
    )
    build.add_argument("--kind", choices=("native", "python"), default="native", help="default: native")
    build.add_argument(
        "--platform",
        default="linux64",
        metavar="NAMES",
        help="comma-separated: linux64 (default), win64, aarch64-linux, darwin64, aarch64-darwin, sources",
    )
    build.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="option of the component, e.g. modes=station.toml; may be repeated",
    )
    build.add_argument("-o", "--output", type=path, metavar="DIR", help="default: build/fmus")
    add_build_folder(build)
    build.set_defaults(action=_build)


def _build(arguments: argparse.Namespace) -> int:
    from dockfmu.declare.packages.assembly import build_fmu, make_component
    from dockfmu.declare.settings import parse_value
    from dockfmu.fmus import catalogue
    from dockfmu.fmus.toolchain.targets import SOURCES, TARGETS

    options = {name.strip(): parse_value(value) for name, value in pairs(arguments.option, "--option").items()}
    platforms = tuple(arguments.platform.split(","))
    if unknown := [name for name in platforms if name not in (*TARGETS, SOURCES)]:
        raise CommandError(f"--platform: unknown {', '.join(unknown)}; choose from {', '.join((*TARGETS, SOURCES))}")
    for component in [make_component(n, f"build {n}", options) for n in arguments.names or catalogue.names()]:
        print(
            build_fmu(
                component, arguments.output or arguments.build / "fmus", say, kind=arguments.kind, platforms=platforms
            )
        )
    return DONE
