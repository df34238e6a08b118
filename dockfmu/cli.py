"""The command `dockfmu`: list, build, run, validate, ports, check-swap, diagram, report, export.

Exit status: 0 done (a run: with an outcome that its system declares as success), 1 the run (or a check) failed, 2 the
command was wrong, 3 the run was completed, but its outcome is no success, 128 + N ended by signal N (130 by Ctrl-C, 143
by a request to terminate).
"""

from __future__ import annotations

import argparse
import ctypes
import io
import json
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

DONE, FAILED, WRONG, NO_SUCCESS = 0, 1, 2, 3

BUILD = Path("build")


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dockfmu",
        description="Spacecraft docking as FMI 2.0 co-simulation FMUs: build, couple, run, report.",
        epilog="Exit status: 0 done, 1 the run or a check failed, 2 the command was wrong, 3 the run was completed,\n"
        "but its outcome is none that the system declares as success; 130 and 143: ended by Ctrl-C and by a\n"
        "request to terminate, with the results until then.\n"
        "dockfmu COMMAND --help tells more of each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")

    listing = _command(commands, "list", "list systems, components and parameter sets")
    listing.set_defaults(action=_list)

    build = _command(commands, "build", "export components as FMUs")
    build.add_argument("names", nargs="*", metavar="NAME", help="components; all of them by default")
    build.add_argument("--kind", choices=("native", "python"), default="native", help="default: native")
    build.add_argument(
        "--platform", default="linux64", metavar="NAMES",
        help="comma-separated: linux64 (default), win64, aarch64-linux, darwin64, aarch64-darwin, sources",
    )  # fmt: skip
    build.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE",
        help="of the component, e.g. modes=station.toml; may be repeated",
    )  # fmt: skip
    build.add_argument("-o", "--output", type=Path, metavar="DIR", help="default: build/fmus")
    _add_build_folder(build)
    build.set_defaults(action=_build)

    _add_run(commands)

    validate = _command(
        commands, "validate", "check an .fmu (schema, rules, its library at work) or .ssp (schemas, what it refers to)"
    )
    validate.add_argument("file", type=Path, metavar="FILE.fmu|FILE.ssp", help="of any origin")
    validate.set_defaults(action=_validate)

    _add_ports(commands)

    report = _command(commands, "report", "write report.html and plots from the results in a folder")
    report.add_argument("folder", type=Path, metavar="DIR", help="that a run left, e.g. build/results/atv_probe_cone")
    report.set_defaults(action=_report)

    export = _command(commands, "export", "write results as CSV or MATLAB file")
    export.add_argument("results", type=Path, metavar="RESULT", help="results.h5 or its folder")
    export.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: beside the results")
    form = export.add_mutually_exclusive_group(required=True)
    form.add_argument("--csv", action="store_true", help="columns with units in the header")
    form.add_argument("--mat", action="store_true", help="MATLAB 5 file")
    export.set_defaults(action=_export)
    return parser


def _command(commands: Any, name: str, does: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=does, description=f"{does[0].upper()}{does[1:]}.")
    return made


def _add_run(commands: Any) -> None:
    run = commands.add_parser(
        "run",
        help="run a system of dockfmu or an .ssp",
        usage="dockfmu run SYSTEM|FILE.ssp [options]",
        description="Run a system by its name (see dockfmu list) or from an .ssp, and leave results.h5, events.json,\n"
        "summary.json, report.html and plots in a folder. The outcome comes first: docked, captured, retreated, ...",
        epilog="examples:\n"
        "  dockfmu run atv_probe_cone\n"
        "  dockfmu run atv_probe_cone --set chaser.parameters.mass=18000 --set initial_conditions.miss=0.1,0\n"
        "  dockfmu run build/ssp/atv_probe_cone.ssp --swap chaser=MyCraft.fmu --stop 20 -o build/results/mine\n"
        "\n"
        "exit status:\n"
        "  0  completed, with an outcome that the system declares as its success; a system that declares nothing\n"
        "     has the outcome `completed`, which is success\n"
        "  1  failed, or stopped: the message says why\n"
        "  2  the command was wrong: nothing was run\n"
        "  3  completed, but the outcome is no success of the system: e.g. retreated, timed_out, captured where\n"
        "     docked is wanted, unknown where the output that tells it is lost",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.add_argument(
        "system", metavar="SYSTEM|FILE.ssp",
        help="name of a system, .ssp package or .toml declaration; FILE.ssp#VARIANT.ssd takes another description of a "
        "package than SystemStructure.ssd",
    )  # fmt: skip
    values = run.add_argument_group("values", "each may be repeated; --set goes before --parameters")
    values.add_argument(
        "--set", action="append", default=[], metavar="ELEMENT.VARIABLE=VALUE", dest="settings",
        help="parameter or start value: a number, true, false, the name of an enumeration's item, or 1,2,3 and "
        "[[1,0],[0,1]] for whole arrays; initial_conditions.NAME in SI for a system by name",
    )  # fmt: skip
    values.add_argument(
        "--parameters", action="append", default=[], type=Path, metavar="FILE.ssv",
        help="parameter set of SSP with names ELEMENT.VARIABLE",
    )  # fmt: skip
    values.add_argument(
        "--swap", action="append", default=[], metavar="ELEMENT=FILE.fmu",
        help="take another FMU with the same ports in the place of an element",
    )  # fmt: skip
    how = run.add_argument_group("how it is run", "by default as the system says")
    how.add_argument("--algorithm", metavar="NAME", help="coupling algorithm; docs/guide/algorithms.md has all")
    how.add_argument("--step", type=_positive, metavar="H", help="macro step, s")
    steps = how.add_mutually_exclusive_group()
    steps.add_argument(
        "--adaptive", type=_positive, nargs="?", const=0.0, metavar="TOLERANCE",
        help="steps vary as the system declares; default: with its own tolerance",
    )  # fmt: skip
    steps.add_argument(
        "--retry", type=_positive, metavar="SHORTEST",
        help="a step that an FMU discards is gone back from and made of shorter ones, none below SHORTEST s",
    )  # fmt: skip
    how.add_argument("--stop", type=_positive, metavar="T", help="end of the run, s")
    how.add_argument(
        "--resume", type=Path, metavar="FILE",
        help="go on from the run.checkpoint that an earlier run of the same system, with the same values, left; in the "
        "same folder the recording of that run is kept as results-until-Ts.h5",
    )  # fmt: skip
    how.add_argument(
        "--force", action="store_true",
        help="with --resume: go on although the system differs; inputs and tunable parameters act as they are given "
        "now, all else as the checkpoint has it",
    )  # fmt: skip
    how.add_argument(
        "--process", action="append", default=[], metavar="ELEMENT[=SECONDS]", dest="processes",
        help="run the FMU of an element in a process of its own, which may crash or take longer than SECONDS (default: "
        "60) for a call without taking the run's data with it; may be repeated",
    )  # fmt: skip
    how.add_argument(
        "--threads", type=_count, default=1, metavar="N",
        help="step elements that do not need each other's newest values side by side, if as many cores are free",
    )  # fmt: skip
    live = run.add_argument_group("while it runs")
    live.add_argument(
        "--realtime", type=_positive, nargs="?", const=1.0, metavar="FACTOR", help="hold it to the clock; default: 1"
    )
    live.add_argument(
        "--late", choices=("slip", "skip", "stop"), default="slip",
        help="a step that is late: slip moves all later deadlines, skip catches up, stop ends the run; default: slip",
    )  # fmt: skip
    live.add_argument("--stream", type=_port, metavar="PORT", help="rows as lines of JSON to who connects by TCP")
    live.add_argument(
        "--receive", type=_port, metavar="PORT", help="inputs that nothing sets, as objects of JSON by UDP"
    )
    what = run.add_argument_group("what it leaves")
    what.add_argument("--every", type=_count, metavar="N", help="record one macro step in N")
    what.add_argument(
        "--around", type=_span, metavar="BEFORE,AFTER", help="record all steps so many seconds around each event"
    )
    what.add_argument("-o", "--output", type=Path, metavar="DIR", help="default: build/results/SYSTEM")
    what.add_argument("--json", action="store_true", help="print summary.json alone on standard output")
    what.add_argument("--no-report", action="store_true", help="leave out the report and the plots")
    _add_build_folder(run)
    run.set_defaults(action=_run)


def _add_build_folder(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--build", type=Path, default=BUILD, metavar="DIR",
        help="where FMUs, .ssp and results go that have no place of their own; default: build",
    )  # fmt: skip


def _add_ports(commands: Any) -> None:
    ports = _command(commands, "ports", "tell what an FMU must have in the place of one of ours; a skeleton of it")
    ports.add_argument(
        "place", metavar="SYSTEM.ELEMENT|COMPONENT", help="e.g. atv_probe_cone.chaser, mine.ssp.left or Spacecraft"
    )
    ports.add_argument("--format", default="table", metavar="NAME", help="table, python, c, modelica or simulink")
    ports.add_argument("--name", metavar="NAME", help="of the model in a skeleton")
    ports.add_argument("-o", "--output", type=Path, metavar="DIR", help="write the files there instead of printing one")
    ports.set_defaults(action=_ports)

    check = _command(commands, "check-swap", "tell whether an FMU fits in the place of an element")
    check.add_argument("place", metavar="SYSTEM.ELEMENT", help="e.g. atv_probe_cone.chaser or mine.ssp.left")
    check.add_argument("file", type=Path, metavar="FILE.fmu", help="the FMU that is to take its place")
    check.set_defaults(action=_check_swap)

    diagram = _command(commands, "diagram", "draw a system")
    diagram.add_argument("system", metavar="SYSTEM|FILE.ssp", help="name of a system, .ssp package, or .toml")
    diagram.add_argument("-o", "--output", type=Path, metavar="FILE", help="SVG, PNG or PDF; default: SYSTEM.svg")
    diagram.set_defaults(action=_diagram)


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return value


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no positive whole number")
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port")
    return int(text)


def _span(text: str) -> tuple[float, float]:
    try:
        before, after = map(float, text.split(","))
    except ValueError:
        before = after = -1.0
    if not (0.0 <= before < float("inf") and 0.0 <= after < float("inf")):
        raise argparse.ArgumentTypeError(f"{text!r} is no pair of seconds, such as 0.1,0.5")
    return before, after


def _pairs(items: Sequence[str], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            raise WrongCommand(f"{option} {item}: needs NAME=VALUE")
        found.pop(name.strip(), None)  # the last one counts, in its place
        found[name.strip()] = value.strip()
    return found


def _process(text: str) -> tuple[str, float | None]:
    """(element, longest call in s) of ELEMENT or ELEMENT=SECONDS."""
    name, equals, seconds = text.partition("=")
    try:
        return name, _positive(seconds) if equals else None
    except argparse.ArgumentTypeError as error:
        raise WrongCommand(f"--process {text}: {error}") from error


class WrongCommand(ValueError):
    """The command line asks for something that does not exist."""


def _say(text: str) -> None:
    # a run does not end because nobody reads what it says
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print what this program warns of as a sentence, without the line of its source."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def sentence(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if category.__module__.startswith("master."):
                _say(f"warning: {message}")
            else:
                show(message, category, *where, **more)

        warnings.showwarning = sentence
        yield


def _open_standard_streams() -> None:
    """Have something behind the three standard streams, and every name printable.

    Where one is closed, the next file that is opened gets its number, and with it what libraries of FMUs print.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _list(_: argparse.Namespace) -> int:
    from dockfmu.declare import declaration
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
    from dockfmu.declare.assembly import build_fmu, make_component
    from dockfmu.declare.settings import parse_value
    from fmus import catalogue
    from fmus.native.targets import SOURCES, TARGETS

    options = {name: parse_value(value) for name, value in _pairs(arguments.option, "--option").items()}
    platforms = tuple(arguments.platform.split(","))
    if unknown := [name for name in platforms if name not in (*TARGETS, SOURCES)]:
        raise WrongCommand(f"--platform {', '.join(unknown)}: there are {', '.join((*TARGETS, SOURCES))}")
    for component in [make_component(n, f"build {n}", options) for n in arguments.names or catalogue.names()]:
        print(
            build_fmu(
                component, arguments.output or arguments.build / "fmus", _say, kind=arguments.kind, platforms=platforms
            )
        )
    return DONE


def _run(arguments: argparse.Namespace) -> int:
    from dockfmu.declare.settings import parse_value
    from dockfmu.run import Request, execute
    from dockfmu.watch.live import Live

    if arguments.force and arguments.resume is None:
        raise WrongCommand("--force: goes with --resume FILE")
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
        live=Live(arguments.realtime, arguments.late, arguments.stream, arguments.receive),
        every=arguments.every,
        around=arguments.around,
        adaptive=arguments.adaptive,
        retry=arguments.retry,
        processes=dict(map(_process, arguments.processes)),
        resume=arguments.resume,
        force=arguments.force,
        threads=arguments.threads,
    )
    with _own_output():
        summary, folder = execute(request, arguments.build, _say)
    if arguments.json:
        print(json.dumps(summary))
    else:
        _print_summary(summary, folder)
    if summary["status"] == "completed":
        if summary["success"]:
            return DONE
        _say(f"dockfmu: {summary['system']}: the outcome {summary['outcome']} is no success of this system")
        return NO_SUCCESS
    _say(f"dockfmu: {summary['system']} {summary['status']}: {summary['message']}")
    return 128 + signal.Signals[summary["signal"]] if "signal" in summary else FAILED


@contextmanager
def _own_output() -> Iterator[None]:
    """Standard output is for this program alone: what libraries of FMUs print meanwhile goes to standard error."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        ctypes.CDLL("msvcrt" if sys.platform == "win32" else None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)


def _print_summary(summary: dict[str, Any], folder: Path) -> None:
    print(f"{summary['system']}: {summary['outcome'].replace('_', ' ')}")
    print(f"  {summary['status']} at {summary['t_end']:.3f} s after {summary['wall_s']:.2f} s,")
    print(f"  {summary['real_time_factor']:.1f} times real time, {summary['macro_steps']} macro steps")
    failure = summary.get("failure", {})
    if failure.get("says"):
        print(f"  {failure['element']}: {failure['says']}")
    if "craft" in failure:
        print(f"  {failure['craft']}")
    if resumed := summary.get("resumed"):
        print(f"  gone on from a checkpoint at {resumed['t']:.3f} s: what follows is of the time since")
    if summary["status"] == "completed" and summary["message"]:
        print(f"  {summary['message']}")
    seen: set[str] = set()
    for event in summary["events"]:
        if event["name"] not in seen:
            print(f"  {event['t']:10.3f} s  {event['name'].replace('_', ' ')}")
            seen.add(event["name"])
    if real := summary.get("realtime"):
        _print_pace(real)
    for name, value in summary["audit"].items():
        _print_balance(name, value, summary["audit_checks"].get(name))
    for name, counter in summary["validity"].items():
        if counter["count"]:
            print(f"  NOT VALID {name} = {counter['count']} from {counter['t_first']:.3f} s on")
    print(f"  {folder}")


def _print_balance(name: str, value: float | None, check: dict[str, Any] | None) -> None:
    found = "not finite" if value is None else format(value, ".3g")
    judged = ""
    if check and check["ok"] is not None:
        judged = f"  {'ok' if check['ok'] else 'NOT OK'}, limit {check['limit']:.3g}, tests the {check['tests']}"
    print(f"  {name.replace('_', ' '):24} {found:10}{judged}".rstrip())


def _print_pace(real: dict[str, Any]) -> None:
    lost = f"; the deadlines moved by {real['slipped_s']:.3g} s" if real["slipped_s"] else ""
    print(f"  {real['overruns']} of {real['steps']} steps late, by {1e3 * real['late_max_s']:.3g} ms at most{lost}")
    for what, key in (("work of a step", "step"), ("late end of a wait", "jitter")):
        # without a single wait there is no jitter
        if f"{key}_mean_s" in real:
            mean, most, worst = (f"{1e3 * real[f'{key}_{of}_s']:.2g} ms" for of in ("mean", "99", "max"))
            print(f"  {what:24} {mean}, 99 % within {most}, worst {worst}")


def _validate(arguments: argparse.Namespace) -> int:
    if not arguments.file.is_file():
        raise WrongCommand(f"{arguments.file}: there is no such file")
    if arguments.file.suffix == ".ssp":
        from ssp.validate import examine

        problems, remarks = examine(arguments.file)
        failed = bool(problems)
        problems += [f"warning: {remark}" for remark in remarks]
    else:
        from fmus.check import validate as validate_fmu

        findings = validate_fmu(arguments.file)
        problems = [str(finding) for finding in findings]
        failed = any(finding.severity == "error" for finding in findings)
    for problem in problems:
        print(problem)
    print(f"{arguments.file}: {'not valid' if failed else 'valid'}")
    return FAILED if failed else DONE


def _ports(arguments: argparse.Namespace) -> int:
    from dockfmu.swap.interface import interface
    from dockfmu.swap.skeletons import FORMS, skeleton, table
    from master.files import write_whole

    if arguments.format not in ("table", *FORMS):
        raise WrongCommand(f"--format {arguments.format}: there are table, {', '.join(FORMS)}")
    if arguments.name is not None and not (arguments.name.isidentifier() and arguments.name.isascii()):
        raise WrongCommand(f"--name {arguments.name}: letters, digits and _ are wanted")
    found = interface(arguments.place)
    if arguments.format == "table":
        files = {"ports.txt": table(found)}
    else:
        files = skeleton(found, arguments.format, arguments.name)
    if arguments.output is None:
        print(next(iter(files.values())), end="")
        if len(files) > 1:
            _say(f"dockfmu: {', '.join([*files][1:])} goes with it: write both with -o DIR")
        return DONE
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        print(write_whole(arguments.output / name, text.encode()))
    return DONE


def _check_swap(arguments: argparse.Namespace) -> int:
    from dockfmu.swap.interface import check_swap

    problems, notes = check_swap(arguments.place, arguments.file)
    for line in (*problems, *notes):
        print(line)
    print(f"{arguments.file} {'does not fit' if problems else 'fits'} in the place of {arguments.place}")
    return FAILED if problems else DONE


def _diagram(arguments: argparse.Namespace) -> int:
    from dockfmu.report.diagram import diagram, save

    figure, name = diagram(arguments.system)
    file = arguments.output or Path(f"{name}.svg")
    if file.suffix not in (".svg", ".png", ".pdf"):
        raise WrongCommand(f"{file}: .svg, .png and .pdf can be drawn")
    save(figure, file)
    print(file)
    return DONE


def _report(arguments: argparse.Namespace) -> int:
    from dockfmu.report.page import write_report

    print(write_report(arguments.folder))
    return DONE


def _export(arguments: argparse.Namespace) -> int:
    from dockfmu.report.export import write_csv, write_mat

    file = arguments.results / "results.h5" if arguments.results.is_dir() else arguments.results
    if not file.is_file():
        raise WrongCommand(f"{file}: there is no such file; run a system with -o {file.parent} first")
    write = write_csv if arguments.csv else write_mat
    print(write(file, arguments.output or file.with_suffix(".csv" if arguments.csv else ".mat")))
    return DONE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; errors become one clear message on standard error and an exit status."""
    _open_standard_streams()
    parser = _arguments()
    parsed = parser.parse_args(arguments)
    if parsed.version:
        from dockfmu import __version__

        print(f"dockfmu {__version__}")
        return DONE
    if parsed.command is None:
        parser.error("a COMMAND is needed")
    from master.run.interruption import orderly, signal_of

    try:
        with orderly(), _plain_warnings():
            done: int = parsed.action(parsed)
            sys.stdout.flush()
            return done
    except KeyboardInterrupt as error:
        number = signal_of(error)
        _say(f"dockfmu: ended by {signal.Signals(number).name}")
        return 128 + number
    except BrokenPipeError:
        # who read our output has gone; nothing is left to say, at the end of the process either
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except Exception as error:
        status = _status(error)
        if status is None:
            raise
        _say(f"dockfmu: {error}")
        return status


def _status(error: Exception) -> int | None:
    """Exit status of the errors whose message is for the user; None for faults of this program."""
    from base.units import UnitError
    from components.core.parameters import ParameterError
    from dockfmu.declare.declaration import DeclarationError
    from dockfmu.report.export import ExportError
    from dockfmu.report.page import ReportError
    from dockfmu.run import RequestError
    from fmus.catalogue import CatalogueError
    from fmus.native.link import LinkError
    from fmus.native.symbols import LibraryError
    from master.errors import FmuError, MasterError
    from master.files import WriteError

    wrong = (WrongCommand, RequestError, DeclarationError, ParameterError, CatalogueError, ReportError, ExportError)
    if isinstance(error, FmuError | LinkError | LibraryError | UnitError | WriteError | OSError):
        return FAILED
    return WRONG if isinstance(error, (*wrong, MasterError)) else None
