"""`dockfmu run`: run a system and record its results."""

from __future__ import annotations

import argparse
import json
import signal
from pathlib import Path
from typing import Any

from dockfmu.base.errors import FAILED
from dockfmu.commands.arguments import (
    DONE,
    NO_SUCCESS,
    NOT_BALANCED,
    CommandError,
    add_build_folder,
    count,
    divided,
    file_pairs,
    name_or_path,
    path,
    port,
    positive,
    processes,
    seconds,
    span,
    text_file,
    written,
)
from dockfmu.commands.streams import own_output, say
from dockfmu.commands.summary import print_summary


def add_run(commands: Any) -> None:
    """Add the parser of `run`."""
    run = commands.add_parser(
        "run",
        help="run a system of dockfmu or an .ssp",
        usage="dockfmu run SYSTEM|FILE.ssp [options]",
        description="Run a system by its name (see dockfmu list) or from an .ssp, and write results.h5, events.json,\n"
        "summary.json and report.html to a folder. The outcome is printed first: docked, captured, retreated, ...",
        epilog="examples:\n"
        "  dockfmu run atv_probe_cone\n"
        "  dockfmu run atv_probe_cone --set chaser.parameters.mass=18t --set initial_conditions.yaw=1deg\n"
        "  dockfmu run build/ssp/atv_probe_cone.ssp --swap chaser=MyCraft.fmu --stop 20 -o build/results/mine\n"
        "\n"
        "exit status:\n"
        "  0  completed, with an outcome that the system declares as a success; a system that declares none has\n"
        "     the outcome `completed`, which is a success\n"
        "  1  failed, or stopped: the message says why\n"
        "  2  the command was invalid: nothing was run\n"
        "  3  completed, but the outcome is not a success of the system: e.g. retreated, timed_out, captured if\n"
        "     docked is the aim, unknown if the output that reports it is lost; or interface loads exceed limits\n"
        "     that the system declares to decide\n"
        "  4  completed, but a line of the audit is beyond its limit, whatever the outcome: momentum or energy is lost",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.add_argument(
        "system",
        type=name_or_path,
        metavar="SYSTEM|FILE.ssp",
        help="name of a system, .ssp package or .toml declaration; FILE.ssp#VARIANT.ssd uses another description of a "
        "package than SystemStructure.ssd",
    )
    values = run.add_argument_group("values", "each may be repeated; --set takes precedence over --parameters")
    values.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="ELEMENT.VARIABLE=VALUE",
        dest="settings",
        help="parameter or start value: a number in SI or with a unit (1deg, 20t), true, false, an item of an "
        "enumeration, or 1,2,3 and [[1,0],[0,1]] for arrays; initial_conditions.NAME for a system by name",
    )
    values.add_argument(
        "--parameters",
        action="append",
        default=[],
        type=text_file,
        metavar="FILE.ssv",
        help="SSP parameter set with names ELEMENT.VARIABLE",
    )
    values.add_argument(
        "--swap",
        action="append",
        default=[],
        metavar="ELEMENT=FILE.fmu",
        help="replace the FMU of an element by another one with the same ports",
    )
    how = run.add_argument_group("how it is run", "by default as the system declares")
    how.add_argument("--algorithm", metavar="NAME", help="coupling algorithm; docs/guide/algorithms.md lists all")
    how.add_argument("--step", type=seconds, metavar="H", help="macro step: a number of seconds, or with a unit (10ms)")
    steps = how.add_mutually_exclusive_group()
    steps.add_argument(
        "--adaptive",
        type=positive,
        nargs="?",
        const=0.0,
        metavar="TOLERANCE",
        help="vary the step as the system declares; default: with its declared tolerance",
    )
    steps.add_argument(
        "--retry",
        type=seconds,
        metavar="SHORTEST",
        help="retry a step that an FMU discards with smaller steps, down to SHORTEST",
    )
    how.add_argument(
        "--stop", type=seconds, metavar="T", help="end of the run: a number of seconds, or with a unit (2min)"
    )
    how.add_argument(
        "--resume",
        type=path,
        metavar="FILE",
        help="continue from the run.checkpoint of an earlier run of the same system with the same values; in the same "
        "folder, the recording of that run is kept as results-until-Ts.h5",
    )
    how.add_argument(
        "--force",
        action="store_true",
        help="with --resume: continue although the system differs; inputs and tunable parameters take the values given "
        "now, everything else those of the checkpoint",
    )
    how.add_argument(
        "--process",
        action="append",
        default=[],
        metavar="ELEMENT[=SECONDS]",
        dest="processes",
        help="run the FMU of an element in a separate process: if it crashes, or a call takes longer than SECONDS "
        "(default: 60), the results of the run so far are kept; may be repeated",
    )
    how.add_argument(
        "--threads",
        type=count,
        default=1,
        metavar="N",
        help="step elements that do not need each other's newest values in parallel, if as many cores are free",
    )
    live = run.add_argument_group("while it runs")
    live.add_argument(
        "--realtime",
        type=positive,
        nargs="?",
        const=1.0,
        metavar="FACTOR",
        help="hold the run to the clock; default: 1",
    )
    live.add_argument(
        "--late",
        choices=("slip", "skip", "stop"),
        default="slip",
        help="on a late step: slip moves all later deadlines, skip catches up, stop ends the run; default: slip",
    )
    live.add_argument("--stream", type=port, metavar="PORT", help="send rows as lines of JSON to TCP subscribers")
    live.add_argument("--receive", type=port, metavar="PORT", help="receive unconnected inputs as JSON objects by UDP")
    live.add_argument(
        "--view",
        type=port,
        nargs="?",
        const=0,
        metavar="PORT",
        help="show the run live in the browser; with --realtime it can be operated there. PORT is the port of the page "
        "on this machine; default: any free port",
    )
    live.add_argument(
        "--no-browser", action="store_true", help="with --view: print the address, but do not open a browser"
    )
    live.add_argument(
        "--inputs",
        type=path,
        metavar="FILE",
        help="replay the inputs of an operator: inputs.jsonl in the folder of that session",
    )
    what = run.add_argument_group("what is recorded")
    what.add_argument("--every", type=count, metavar="N", help="record one macro step in N")
    what.add_argument(
        "--around",
        type=span,
        metavar="BEFORE,AFTER",
        help="record all steps within these times around each event (0.1,0.5 or 100ms,0.5s)",
    )
    what.add_argument("-o", "--output", type=path, metavar="DIR", help="default: build/results/SYSTEM")
    what.add_argument("--json", action="store_true", help="print only summary.json on standard output")
    what.add_argument("--no-report", action="store_true", help="leave out the report")
    add_build_folder(run)
    run.set_defaults(action=_run)


def _run(arguments: argparse.Namespace) -> int:
    from dockfmu.master.step_control import Retry
    from dockfmu.options import RunOptions
    from dockfmu.record import check_writable
    from dockfmu.system import System
    from dockfmu.watch.live import Live

    if arguments.force and arguments.resume is None:
        raise CommandError("--force: needs --resume FILE")
    if arguments.no_browser and arguments.view is None:
        raise CommandError("--no-browser: needs --view")
    options = RunOptions(
        step=arguments.step,
        stop=arguments.stop,
        algorithm=arguments.algorithm,
        control=None if arguments.retry is None else Retry(arguments.retry),
        adaptive=arguments.adaptive,
        resume=arguments.resume,
        force=arguments.force,
        threads=arguments.threads,
        every=arguments.every,
        around=arguments.around,
        live=Live(
            realtime=arguments.realtime,
            late=arguments.late,
            stream=arguments.stream,
            receive=arguments.receive,
            view=arguments.view,
            browser=not arguments.no_browser,
            inputs=arguments.inputs,
        ),
    )
    settings = written(arguments.settings)
    swaps = file_pairs(arguments.swap, "--swap")
    if arguments.output is not None:
        check_writable(arguments.output)
    with own_output():
        system = System.load(arguments.system, settings, parameters=arguments.parameters, progress=say)
        for element, fmu in divided(swaps, system.structure.elements).items():
            system.swap(element, fmu)
        for element, timeout in processes(arguments.processes, system.structure.elements).items():
            system.isolate(element, timeout)
        recorded = system.record(
            arguments.output,
            options,
            build=arguments.build,
            report=not arguments.no_report,
            command=arguments.typed,
            progress=say,
        )
    return _conclude(recorded.summary, recorded.folder, as_json=arguments.json)


def _conclude(summary: dict[str, Any], folder: Path, *, as_json: bool) -> int:
    """Print the summary of a run; return the exit status."""
    if as_json:
        print(json.dumps(summary))
    else:
        print_summary(summary, folder)
    if summary["status"] == "completed":
        open_lines = [name for name, check in summary["audit_checks"].items() if check["ok"] is False]
        if open_lines:
            listed = ", ".join(name.replace("_", " ") for name in open_lines)
            say(f"dockfmu: {summary['system']}: the balance does not close: {listed}; the results cannot be relied on")
            return NOT_BALANCED
        if summary["success"]:
            return DONE
        loads = summary.get("loads", {})
        if loads.get("decides") and loads["exceeded"]:
            listed = ", ".join(loads["exceeded"])
            say(f"dockfmu: {summary['system']}: the loads exceed their limits: {listed}, so that this is no success")
        else:
            say(f"dockfmu: {summary['system']}: the outcome {summary['outcome']} is not a success of this system")
        return NO_SUCCESS
    say(f"dockfmu: {summary['system']} {summary['status']}: {summary['message']}")
    return 128 + signal.Signals[summary["signal"]] if "signal" in summary else FAILED
