"""`dockfmu view`: replay a run on a page in the browser."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockfmu.base.number_text import count_number
from dockfmu.base.numbers import LARGEST_COUNT
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.commands.arguments import (
    DONE,
    CommandError,
    command,
    existing_recording,
    output_file,
    path,
    patterns,
    port,
    positive,
    split_patterns,
    time,
)
from dockfmu.report.files import RESULTS

if TYPE_CHECKING:
    from dockfmu.view.recording import Replay


def add_view(commands: Any) -> None:
    """Add the parser of `view`."""
    view = command(commands, "view", "replay a run in the browser: contact scene, dampers, drives, curves")
    view.add_argument(
        "source",
        type=path,
        metavar="RESULT",
        help="results.h5, the folder of a run, or an .ssp, which is shown in its initial state",
    )
    view.add_argument(
        "other",
        type=path,
        nargs="?",
        metavar="OTHER",
        help="a second run, drawn beneath the first in dashed violet",
    )
    view.add_argument("--port", type=port, default=0, help="port of the server on this machine; default: any free port")
    view.add_argument("--no-browser", action="store_true", help="print the address, but do not open a browser")
    view.add_argument(
        "--export",
        type=output_file,
        metavar="FILE.html",
        help="write one file that shows the run without dockfmu or a network, instead of serving a page",
    )
    view.add_argument(
        "--signals",
        action="append",
        default=[],
        type=patterns,
        metavar="PATTERN,...",
        help="with --export, add these variables to those that are drawn; '*' for all",
    )
    _add_pictures(view)
    view.set_defaults(action=_view)


def _add_pictures(view: argparse.ArgumentParser) -> None:
    """Add the arguments of pictures and films."""
    group = view.add_argument_group("pictures and films, drawn in the system's Chromium without a window")
    group.add_argument("--picture", type=output_file, metavar="FILE.png", help="write the picture at --from")
    group.add_argument(
        "--film",
        type=path,
        metavar="FILE",
        help="write a film: FILE.webm, FILE.mp4, or a folder of PNG files, which has no ending",
    )
    group.add_argument("--from", dest="start", type=time, metavar="S", help="first time, s; default: of the run")
    group.add_argument("--to", type=time, metavar="S", help="last time, s; default: of the run")
    group.add_argument("--speed", type=positive, metavar="X", help="times real time; by default a film takes 15 s")
    group.add_argument("--fps", type=int, choices=range(1, 61), default=25, metavar="N", help="frames per second; 25")
    group.add_argument("--size", type=_size, default=(1280, 720), metavar="WxH", help="pixels; default: 1280x720")
    group.add_argument("--scene", default="", metavar="NAME", help="element whose contact is shown, or craft")
    group.add_argument(
        "--camera",
        default="orbit",
        metavar="CAMERA",
        help="orbit, overview, 'orbit ELEMENT FRAME', 'aim ELEMENT FRAME'",
    )
    group.add_argument("--ground", choices=("none", "floor", "stars"), default="none", help="default: none")
    group.add_argument("--whole-page", action="store_true", help="show the whole page, and not the scene alone")


def _size(text: str) -> tuple[int, int]:
    across, _, down = text.partition("x")
    width, height = count_number(across, LARGEST_COUNT), count_number(down, LARGEST_COUNT)
    if width is None or height is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 1280x720")
    return width, height


def _view(arguments: argparse.Namespace) -> int:
    from dockfmu.master.observers.recording.results import read_results
    from dockfmu.view.recording import Replay

    if arguments.signals and arguments.export is None:
        raise CommandError("--signals goes with --export: the page in the browser has all variables")
    with ExitStack() as stack:
        sources = [source for source in (arguments.source, arguments.other) if source is not None]
        files = [stack.enter_context(_recording(source)) for source in sources]
        opened = [stack.enter_context(read_results(file)) for file in files]
        replays = [Replay(results, file.parent) for results, file in zip(opened, files, strict=True)]
        if arguments.export is not None:
            from dockfmu.view.export import write_page

            more = opened[0].select(*split_patterns(arguments.signals, opened[0].variables))
            print(write_page(replays, arguments.export, more))
            return DONE
        if arguments.picture is not None or arguments.film is not None:
            return _pictures(arguments, replays)
        from dockfmu.view.address import close_opening, open_in_browser
        from dockfmu.view.server import serve

        def ready(address: str) -> None:
            print(f"{files[0]}: {address}\nCtrl-C stops the server", flush=True)
            if not arguments.no_browser:
                stack.callback(close_opening, open_in_browser(address))

        with suppress(KeyboardInterrupt):
            serve(replays, files[0].parent, arguments.port, ready)
    return DONE


def _pictures(arguments: argparse.Namespace, replays: list[Replay]) -> int:
    """Write the picture and the film that are requested."""
    from dockfmu.view.film import Shot, write_film, write_picture

    shot = Shot(
        arguments.scene,
        arguments.camera,
        arguments.size,
        arguments.whole_page,
        arguments.start,
        arguments.to,
        arguments.speed,
        arguments.fps,
        "" if arguments.ground == "none" else arguments.ground,
    )
    if arguments.picture is not None:
        print(write_picture(replays, arguments.picture, shot))
    if arguments.film is not None:
        print(write_film(replays, arguments.film, shot, lambda text: print(text, file=sys.stderr, flush=True)))
    return DONE


@contextmanager
def _recording(source: Path) -> Iterator[Path]:
    """Yield the recording to show; for an .ssp, that of its first step. Raises CommandError."""
    if source.suffix.lower() == ".ssp" and source.is_file():
        from dockfmu.system import System

        with TemporaryFolder("view") as folder:
            system = System.load(source)
            summary = system.record(folder, stop=system.plan.step, report=False).summary
            if summary["status"] == "failed":
                raise CommandError(f"{source}: its first step failed: {summary['message']}")
            yield folder / RESULTS
        return
    yield existing_recording(source)
