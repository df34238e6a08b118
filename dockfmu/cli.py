"""The command `dockfmu`: list, new, build, run, parameters, validate, ports, check-swap, ...

Exit status: 0 success (of a run: with an outcome that its system declares as a success), 1 a run or a check failed,
2 the command was invalid, 3 a run completed with an outcome that is not a success, 4 a balance of its audit does not
close, 128 + N ended by signal N (130 by Ctrl-C, 143 by a request to terminate).
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import re
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from pathlib import Path

from dockfmu.base.cache import elsewhere
from dockfmu.base.errors import FAILED, DockfmuError
from dockfmu.base.names import did_you_mean
from dockfmu.base.temporary import room_left
from dockfmu.commands.arguments import DONE
from dockfmu.commands.campaign import add_campaign
from dockfmu.commands.catalogue import add_build, add_list, add_new
from dockfmu.commands.compare import add_compare
from dockfmu.commands.completion import add_completion, complete
from dockfmu.commands.import_robot import add_import
from dockfmu.commands.inspect import add_check_swap, add_diagram, add_ports, add_validate
from dockfmu.commands.life import add_life
from dockfmu.commands.linearise import add_linearise
from dockfmu.commands.mobility import add_mobility
from dockfmu.commands.parameters import add_parameters
from dockfmu.commands.reconstruct import add_reconstruct
from dockfmu.commands.reduce import add_reduce
from dockfmu.commands.results import add_export, add_report
from dockfmu.commands.run import add_run
from dockfmu.commands.streams import open_standard_streams, plain_warnings, printable_streams, say
from dockfmu.commands.telemetry import add_telemetry
from dockfmu.commands.terminal import styled
from dockfmu.commands.view import add_view

COMMANDS = (
    add_list, add_new, add_import, add_build, add_run, add_campaign, add_linearise, add_mobility, add_reduce,
    add_parameters, add_validate, add_ports, add_check_swap, add_diagram, add_report, add_view, add_compare, add_life,
    add_telemetry, add_reconstruct, add_export, add_completion,
)  # fmt: skip
"""Functions that each add the parser of a sub-command, in the order of the help."""


def argument_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line with all its sub-commands."""
    parser = argparse.ArgumentParser(
        prog="dockfmu",
        description="Spacecraft docking as FMI 2.0 co-simulation FMUs: build, couple, run, report.",
        epilog="Exit status: 0 success, 1 a run or a check failed, 2 the command was invalid, 3 the run completed,\n"
        "but its outcome is not one that the system declares as a success, 4 a balance of its audit does not close,\n"
        "130 and 143 ended by Ctrl-C and by a request to terminate, with the results up to then.\n"
        "dockfmu COMMAND --help describes each command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for add in COMMANDS:
        add(commands)
    return parser


def _parsed(parser: argparse.ArgumentParser, typed: Sequence[str]) -> argparse.Namespace:
    """Parse the typed words; exit with near matches if a command or an option does not exist."""
    names = [add.__name__.removeprefix("add_").replace("_", "-") for add in COMMANDS]
    first = next((word for word in typed if not word.startswith("-")), None)
    if first is not None and first not in names:
        parser.error(f"there is no command {first!r}{did_you_mean(first, names)}")
    parsed, unknown = parser.parse_known_args(typed)
    if unknown:
        shown = io.StringIO()
        with suppress(SystemExit), redirect_stdout(shown):
            parser.parse_args([first or "--help", "--help"])
        options = dict.fromkeys(re.findall(r"--[a-z][a-z-]*", shown.getvalue()))
        hints = (did_you_mean(word.partition("=")[0], options) for word in unknown if word.startswith("--"))
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{''.join(hints)}")
    return parsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; errors become one clear message on standard error and an exit status."""
    open_standard_streams()
    with printable_streams():
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    parser = argument_parser()
    complete(parser)
    typed = [*(sys.argv[1:] if arguments is None else arguments)]
    parsed = _parsed(parser, typed)
    parsed.typed = shlex.join(["dockfmu", *typed])
    if parsed.command is None and not parsed.version:
        parser.error("a COMMAND is needed")
    prefix = styled("dockfmu:", "red", sys.stderr)
    try:
        os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        say(f"{prefix} the current folder no longer exists: change to another one")
        return FAILED
    try:
        if parsed.version:
            from dockfmu import __version__

            print(f"dockfmu {__version__}", flush=True)
            return DONE
        from dockfmu.master.run.interruption import orderly

        with orderly(), plain_warnings():
            status: int = parsed.action(parsed)
            sys.stdout.flush()
            return status
    except KeyboardInterrupt as error:
        from dockfmu.master.run.interruption import signal_of

        number = signal_of(error)
        say(f"{prefix} ended by {signal.Signals(number).name}")
        return 128 + number
    except BrokenPipeError:
        # stdout is closed: suppress the flush error at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except DockfmuError as error:
        say(f"{prefix} {error}")
        return error.exit_status
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        say(f"{prefix} {where}{error.strerror or error}{_advice(error)}")
        return FAILED


def _advice(error: OSError) -> str:
    """Return what to do about an error, where that is known."""
    if error.errno == errno.EBADF:
        return ": a file of this process has been closed, perhaps by an FMU; --process ELEMENT keeps an FMU apart"
    return room_left(error) or (elsewhere(Path(error.filename)) if isinstance(error.filename, str) else "")


if __name__ == "__main__":
    raise SystemExit(main())
