"""`dockfmu validate`, `ports`, `check-swap` and `diagram`: inspect FMUs and systems without a run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dockfmu.base.errors import FAILED
from dockfmu.commands.arguments import DONE, CommandError, command, name_or_path, output_file, path
from dockfmu.commands.streams import say


def add_validate(commands: Any) -> None:
    """Add the parser of `validate`."""
    validate = command(
        commands, "validate", "check an .fmu (schema, rules, its library in use) or an .ssp (schemas, references)"
    )
    validate.add_argument("file", type=path, metavar="FILE.fmu|FILE.ssp", help="of any origin")
    validate.set_defaults(action=_validate)


def _validate(arguments: argparse.Namespace) -> int:
    if not arguments.file.is_file():
        raise CommandError(f"{arguments.file}: there is no such file")
    if arguments.file.suffix == ".ssp":
        from dockfmu.ssp.validate import examine

        problems, remarks = examine(arguments.file)
        failed = bool(problems)
        problems += [f"warning: {remark}" for remark in remarks]
    else:
        from dockfmu.fmus.check import validate as validate_fmu

        findings = validate_fmu(arguments.file)
        problems = [str(finding) for finding in findings]
        failed = any(finding.severity == "error" for finding in findings)
        if not failed:
            from dockfmu.declare.parameters import sets_of_fmu

            _, unreadable = sets_of_fmu(arguments.file)
            problems += unreadable
            failed = bool(unreadable)
    for problem in problems:
        print(problem)
    print(f"{arguments.file}: {'not valid' if failed else 'valid'}")
    return FAILED if failed else DONE


def add_ports(commands: Any) -> None:
    """Add the parser of `ports`."""
    ports = command(
        commands, "ports", "show the variables that an FMU needs to replace an element; write a skeleton of it"
    )
    ports.add_argument(
        "place",
        type=name_or_path,
        metavar="SYSTEM.ELEMENT|COMPONENT",
        help="e.g. atv_probe_cone.chaser, mine.ssp.left or Spacecraft",
    )
    ports.add_argument("--format", default="table", metavar="NAME", help="table, python, c, modelica or simulink")
    ports.add_argument("--name", metavar="NAME", help="name of the model in a skeleton")
    ports.add_argument(
        "-o", "--output", type=path, metavar="DIR", help="write the files to DIR instead of printing one"
    )
    ports.set_defaults(action=_ports)


def _ports(arguments: argparse.Namespace) -> int:
    from dockfmu.base.files import write_text
    from dockfmu.swap.interface import interface
    from dockfmu.swap.skeletons import FORMS, skeleton, table

    if arguments.format not in ("table", *FORMS):
        raise CommandError(f"--format: unknown {arguments.format}; choose from table, {', '.join(FORMS)}")
    if arguments.name is not None and not (arguments.name.isidentifier() and arguments.name.isascii()):
        raise CommandError(f"--name {arguments.name}: only letters, digits and _ are allowed")
    ports = interface(arguments.place)
    if arguments.format == "table":
        files = {"ports.txt": table(ports)}
    else:
        files = skeleton(ports, arguments.format, arguments.name)
    if arguments.output is None:
        print(next(iter(files.values())), end="")
        if len(files) > 1:
            say(f"dockfmu: {', '.join([*files][1:])} belongs to it: write both with -o DIR")
        return DONE
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        print(write_text(arguments.output / name, text))
    return DONE


def add_check_swap(commands: Any) -> None:
    """Add the parser of `check-swap`."""
    check = command(commands, "check-swap", "check whether an FMU can replace an element")
    check.add_argument(
        "place", type=name_or_path, metavar="SYSTEM.ELEMENT", help="e.g. atv_probe_cone.chaser or mine.ssp.left"
    )
    check.add_argument("file", type=path, metavar="FILE.fmu", help="the FMU that is to take its place")
    check.set_defaults(action=_check_swap)


def _check_swap(arguments: argparse.Namespace) -> int:
    from dockfmu.swap.interface import check_swap

    problems, notes = check_swap(arguments.place, arguments.file)
    for line in (*problems, *notes):
        print(line)
    print(f"{arguments.file} {'does not fit' if problems else 'fits'} in place of {arguments.place}")
    return FAILED if problems else DONE


def add_diagram(commands: Any) -> None:
    """Add the parser of `diagram`."""
    diagram = command(commands, "diagram", "draw a system")
    diagram.add_argument(
        "system", type=name_or_path, metavar="SYSTEM|FILE.ssp", help="name of a system, .ssp package, or .toml"
    )
    diagram.add_argument(
        "-o", "--output", type=output_file, metavar="FILE", help="SVG, PNG or PDF; default: SYSTEM.svg"
    )
    diagram.set_defaults(action=_diagram)


def _diagram(arguments: argparse.Namespace) -> int:
    from dockfmu.report.diagram import diagram, save

    figure, name = diagram(arguments.system)
    file = arguments.output or Path(f"{name}.svg")
    if file.suffix not in (".svg", ".png", ".pdf"):
        raise CommandError(f"{file}: .svg, .png and .pdf can be drawn")
    save(figure, file)
    print(file)
    return DONE
