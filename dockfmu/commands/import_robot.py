"""`dockfmu import`: a declaration of a multibody system from URDF or MJCF."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from dockfmu.base.errors import DockfmuError
from dockfmu.commands.arguments import DONE, output_file, path
from dockfmu.commands.streams import say


def add_import(commands: Any) -> None:
    """Add the parser of `import`."""
    parser = commands.add_parser(
        "import",
        help="make a declaration of a multibody system from a URDF or MJCF file",
        description="Read a robot description, URDF or MJCF, by MuJoCo's compiler and write it as a\n"
        "declaration: bodies, joints, springs, dampers, limits and constraints. What a\n"
        "declaration has no place for is listed, here and at the top of the file.",
        epilog="exit status:\n  0  written\n  2  the file cannot be read, or MuJoCo is not installed",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("robot", type=path, metavar="FILE", help="robot.urdf or model.xml")
    parser.add_argument(
        "-o",
        "--output",
        type=output_file,
        metavar="FILE.toml",
        help="default: the name of FILE with .toml, in this folder",
    )
    parser.add_argument("--name", metavar="NAME", default="", help="name of the system; default: that of the file")
    parser.add_argument(
        "--pose",
        metavar="NAME",
        default="",
        help="keyframe in which it starts; default: the pose of the description",
    )
    parser.set_defaults(action=_import)


def _import(arguments: argparse.Namespace) -> int:
    from dockfmu.base.files import write_text
    from dockfmu.components.multibody.declaration import read_text
    from dockfmu.components.multibody.importing import RobotError, declaration_text, read_robot

    robot = read_robot(arguments.robot, arguments.name, arguments.pose)
    file: Path = arguments.output or Path(arguments.robot.with_suffix(".toml").name)
    left_out = [f"  {sentence}" for sentence in robot.left_out] or ["  nothing"]
    comments = [f"Imported from {arguments.robot.name} by dockfmu import. Left out:", *left_out, ""]
    text = declaration_text(robot.model, comments=comments, assumed=robot.assumed)
    try:
        read_text(text)
    except DockfmuError as error:
        raise RobotError(f"{arguments.robot}: makes no declaration that can be run: {error}") from error
    write_text(file, text)
    print(f"{file}: {len(robot.model.bodies)} bodies, {len(robot.model.joints)} joints", file=sys.stdout)
    if robot.left_out:
        say("left out:")
        for sentence in robot.left_out:
            say(f"  {sentence}")
    return DONE
