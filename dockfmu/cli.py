"""The command `dockfmu`: list, build, run, validate, report, export.

Exit status: 0 done, 1 the run (or a check) failed, 2 the command was wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DONE, FAILED, WRONG = 0, 1, 2

BUILD = Path("build")


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dockfmu", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    listing = commands.add_parser("list", help="systems, components and parameter sets")
    listing.set_defaults(action=_list)

    build = commands.add_parser("build", help="export components as FMUs")
    build.add_argument("names", nargs="*", metavar="NAME", help="components; all of them by default")
    build.add_argument("--kind", choices=("native", "python"), default="native")
    build.add_argument("--platform", default="linux64", help="comma-separated, e.g. linux64,win64")
    build.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="build option")
    build.add_argument("-o", "--output", type=Path, default=BUILD / "fmus", metavar="DIR")
    build.set_defaults(action=_build)

    run = commands.add_parser("run", help="run a system of dockfmu or an .ssp")
    run.add_argument("system", metavar="SYSTEM|FILE.ssp")
    run.add_argument("--set", action="append", default=[], metavar="ELEMENT.VARIABLE=VALUE", dest="settings")
    run.add_argument("--parameters", action="append", default=[], type=Path, metavar="FILE.ssv")
    run.add_argument("--swap", action="append", default=[], metavar="ELEMENT=FILE.fmu")
    run.add_argument("--algorithm")
    run.add_argument("--step", type=_positive, metavar="H", help="macro step, s")
    run.add_argument("--stop", type=_positive, metavar="T", help="end of the run, s")
    run.add_argument("-o", "--output", type=Path, metavar="DIR", help="default: build/results/SYSTEM")
    run.add_argument("--json", action="store_true", help="print summary.json alone on standard output")
    run.add_argument("--no-report", action="store_true", help="leave out the report and the plots")
    run.set_defaults(action=_run)

    validate = commands.add_parser("validate", help="check an .fmu or .ssp")
    validate.add_argument("file", type=Path, metavar="FILE.fmu|FILE.ssp")
    validate.set_defaults(action=_validate)

    report = commands.add_parser("report", help="write report.html and plots from the results in a folder")
    report.add_argument("folder", type=Path, metavar="DIR")
    report.set_defaults(action=_report)

    export = commands.add_parser("export", help="write results as CSV or MATLAB file")
    export.add_argument("results", type=Path, metavar="RESULT", help="results.h5 or its folder")
    export.add_argument("-o", "--output", type=Path, metavar="FILE")
    form = export.add_mutually_exclusive_group(required=True)
    form.add_argument("--csv", action="store_true")
    form.add_argument("--mat", action="store_true")
    export.set_defaults(action=_export)
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no positive number")
    return value


def parse_value(text: str) -> Any:
    """A number, true/false, or a list of them ("1,2,3" or "[1, 2, 3]"), else the text itself."""
    words = {"true": 1.0, "false": 0.0}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return float(text)
    except ValueError:
        pass
    if "," in text:
        return [parse_value(item.strip()) for item in text.strip("[]() ").split(",")]
    return text


def _pairs(items: Sequence[str], option: str) -> dict[str, str]:
    found = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            raise WrongCommand(f"{option} {item}: needs NAME=VALUE")
        found[name.strip()] = value.strip()
    return found


class WrongCommand(ValueError):
    """The command line asks for something that does not exist."""


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _list(_: argparse.Namespace) -> int:
    from dockfmu import declaration
    from fmus import catalogue

    print("systems")
    for name in declaration.names():
        print(f"  {name:24} {declaration.read(name).description}")
    print("components")
    for name in catalogue.names():
        component = catalogue.component(name)
        print(f"  {name:24} {component.description}")
        for entry in component.parameter_sets:
            print(f"    {entry.name:22} {entry.description}")
    return DONE


def _build(arguments: argparse.Namespace) -> int:
    from fmus import build, catalogue

    options = {name: parse_value(value) for name, value in _pairs(arguments.option, "--option").items()}
    platforms = tuple(arguments.platform.split(","))
    for name in arguments.names or catalogue.names():
        component = catalogue.component(name, **options)
        file = build(component, arguments.output, kind=arguments.kind, platforms=platforms, progress=_say)
        print(file)
    return DONE


def _run(arguments: argparse.Namespace) -> int:
    from dockfmu.run import Request, execute

    request = Request(
        system=arguments.system,
        settings={name: parse_value(value) for name, value in _pairs(arguments.settings, "--set").items()},
        parameters=tuple(arguments.parameters),
        swaps={name: Path(value) for name, value in _pairs(arguments.swap, "--swap").items()},
        algorithm=arguments.algorithm,
        step=arguments.step,
        stop=arguments.stop,
        output=arguments.output,
        report=not arguments.no_report,
    )
    summary, folder = execute(request, BUILD, _say)
    if arguments.json:
        print(json.dumps(summary))
    else:
        _print_summary(summary, folder)
    return DONE if summary["status"] == "completed" else FAILED


def _print_summary(summary: dict[str, Any], folder: Path) -> None:
    print(f"{summary['system']}: {summary['status']} at {summary['t_end']:.3f} s after {summary['wall_s']:.2f} s,")
    print(f"  {summary['real_time_factor']:.1f} times real time, {summary['macro_steps']} macro steps")
    if summary["message"]:
        print(f"  {summary['message']}")
    seen: set[str] = set()
    for event in summary["events"]:
        if event["name"] not in seen:
            print(f"  {event['t']:10.3f} s  {event['name'].replace('_', ' ')}")
            seen.add(event["name"])
    for name, value in summary["audit"].items():
        print(f"  {name.replace('_', ' '):24} {value:.3g}")
    print(f"  {folder}")


def _validate(arguments: argparse.Namespace) -> int:
    if arguments.file.suffix == ".ssp":
        from ssp.validate import validate as validate_ssp

        problems = [str(problem) for problem in validate_ssp(arguments.file)]
        failed = bool(problems)
    else:
        from fmus.validate import validate as validate_fmu

        findings = validate_fmu(arguments.file)
        problems = [str(finding) for finding in findings]
        failed = any(finding.severity == "error" for finding in findings)
    for problem in problems:
        print(problem)
    print(f"{arguments.file}: {'not valid' if failed else 'valid'}")
    return FAILED if failed else DONE


def _report(arguments: argparse.Namespace) -> int:
    from dockfmu.report import write_report

    print(write_report(arguments.folder))
    return DONE


def _export(arguments: argparse.Namespace) -> int:
    from dockfmu.export import write_csv, write_mat

    file = arguments.results / "results.h5" if arguments.results.is_dir() else arguments.results
    write = write_csv if arguments.csv else write_mat
    print(write(file, arguments.output or file.with_suffix(".csv" if arguments.csv else ".mat")))
    return DONE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; errors become one clear message on standard error and an exit status."""
    from components.core.parameters import ParameterError
    from dockfmu.declaration import DeclarationError
    from dockfmu.report import ReportError
    from master.errors import FmuError, MasterError

    parsed = _arguments().parse_args(arguments)
    try:
        return parsed.action(parsed)
    except FmuError as error:
        _say(f"dockfmu: {error}")
        return FAILED
    except (WrongCommand, DeclarationError, ParameterError, ReportError, MasterError) as error:
        _say(f"dockfmu: {error}")
        return WRONG
    except KeyboardInterrupt:
        _say("dockfmu: interrupted")
        return FAILED
