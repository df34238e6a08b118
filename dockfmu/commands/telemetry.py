"""`dockfmu telemetry`: what sensors would tell of a recorded run."""

from __future__ import annotations

import argparse
from typing import Any

from dockfmu.commands.arguments import DONE, count, existing_recording, path, text_file


def add_telemetry(commands: Any) -> None:
    """Add the parser of `telemetry`."""
    parser = commands.add_parser(
        "telemetry",
        help="write telemetry of a run: what sensors with clocks, noise and losses tell of it",
        description="Write what sensors would tell of a recorded run: a CSV file for each frame of\n"
        "signals that share a clock, and the intervals in which events fell. Sensors have\n"
        "rate, delay, clock error, scale, bias, noise, range, resolution and losses.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("results", type=path, metavar="DIR", help="folder of a run, or its results.h5")
    parser.add_argument(
        "--sensors", type=text_file, required=True, metavar="FILE.toml", help="frames, signals and events"
    )
    parser.add_argument("--seed", type=count, default=1, metavar="N", help="seed of noise and losses; default: 1")
    parser.add_argument("-o", "--output", type=path, metavar="DIR", help="default: telemetry beside the results")
    parser.set_defaults(action=_telemetry)


def _telemetry(arguments: argparse.Namespace) -> int:
    from dockfmu.telemetry.make import write_telemetry

    file = existing_recording(arguments.results)
    folder = arguments.output or file.with_name("telemetry")
    for written in write_telemetry(file, arguments.sensors, folder, arguments.seed):
        print(written)
    return DONE
