"""The operating point of a system or an FMU, as arguments of the commands that move states about it."""

from __future__ import annotations

import argparse

from dockfmu.commands.arguments import name_or_path, seconds, time


def add_operating_point(parser: argparse.ArgumentParser) -> None:
    """Add the source, --at, --step and --set."""
    parser.add_argument(
        "source", type=name_or_path, metavar="SYSTEM|FILE", help="a system by name, or a .toml, .ssp or .fmu file"
    )
    parser.add_argument(
        "--at",
        type=time,
        default=0.0,
        metavar="TIME",
        help="time of the operating point, to which the system runs: seconds, or with a unit (2min); default: 0",
    )
    parser.add_argument("--step", type=seconds, metavar="H", help="macro step; default: that of the system or FMU")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="as of `dockfmu run`; of an FMU without the name of an element",
    )
