"""`dockfmu linearise`: the state-space model of an FMU or a system at an operating point."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dockfmu.commands.arguments import (
    DONE,
    CommandError,
    command,
    count,
    output_file,
    patterns,
    positive,
    split_patterns,
    time,
    written,
)
from dockfmu.commands.operating_point import add_operating_point
from dockfmu.commands.streams import say

if TYPE_CHECKING:
    from dockfmu.statespace.model import StateSpace


def add_linearise(commands: Any) -> None:
    """Add the parser of `linearise`."""
    linearise = command(
        commands, "linearise", "linearise an FMU, an element or a whole system at a time: A, B, C, D, modes, damping"
    )
    add_operating_point(linearise)
    linearise.add_argument("--element", metavar="NAME", help="only this element, with its inputs as they are there")
    linearise.add_argument(
        "--inputs",
        action="append",
        default=[],
        type=patterns,
        metavar="PATTERN,...",
        help="inputs of the model; default: all continuous ones that no connection sets; may be repeated",
    )
    linearise.add_argument(
        "--outputs",
        action="append",
        default=[],
        type=patterns,
        metavar="PATTERN,...",
        help="outputs of the model, and with them the states that they show; default: all continuous ones except "
        "audit, status and validity; may be repeated",
    )
    linearise.add_argument(
        "--hold", action="append", default=[], type=patterns, metavar="PATTERN,...", help="hold these states"
    )
    linearise.add_argument(
        "--by",
        default="differences",
        choices=("differences", "directional", "impulses"),
        help="differences of the whole step (default); directional derivatives of the FMUs, put together; or answers "
        "to impulses, for FMUs that do not show their state",
    )
    linearise.add_argument(
        "--count",
        type=count,
        default=1,
        metavar="N",
        help="macro steps over which the model is taken, e.g. the period of a sampled controller; default: 1",
    )
    linearise.add_argument("--start", type=time, default=0.0, metavar="TIME", help="start of the run; default: 0")
    linearise.add_argument(
        "--samples",
        type=count,
        default=100,
        metavar="N",
        help="with --by impulses: macro steps after each; default 100",
    )
    linearise.add_argument(
        "--impulse",
        type=positive,
        default=1e-3,
        metavar="SIZE",
        help="with --by impulses: height in the unit of the input; default: 0.001",
    )
    linearise.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        type=output_file,
        metavar="FILE",
        help="write the model to a .npz or a .mat (MATLAB) file; may be repeated",
    )
    linearise.set_defaults(action=_linearise)


def _linearise(arguments: argparse.Namespace) -> int:
    from dockfmu.statespace.linearise import linearise

    for file in arguments.output:
        if file.suffix not in (".npz", ".mat"):
            raise CommandError(f"--output {file}: the name of the file must end in .npz or .mat")
    say(f"{arguments.source}: running to t = {arguments.at:g} s, then moving its states")
    model = linearise(
        arguments.source,
        arguments.at,
        element=arguments.element,
        settings=written(arguments.settings),
        inputs=split_patterns(arguments.inputs, ()) or ("*",),
        outputs=split_patterns(arguments.outputs, ()) or None,
        hold=split_patterns(arguments.hold, ()),
        by=arguments.by,
        step=arguments.step,
        count=arguments.count,
        start=arguments.start,
        samples=arguments.samples,
        impulse=arguments.impulse,
    )
    for line in table(model):
        print(line)
    for file in arguments.output:
        print(model.write(file))
    return DONE


def table(model: StateSpace) -> Iterator[str]:
    """Yield the lines that describe a model: its size, its modes, what was held, what to know."""
    yield f"{model.name} at t = {model.time:.9g} s, over {model.step:.6g} s, by {model.method}"
    yield f"{len(model.states)} states, {len(model.inputs)} inputs, {len(model.outputs)} outputs"
    if model.modes:
        yield ""
        yield f"{'eigenvalue [1/s]':>27}  {'error':>8}  {'frequency':>12}  {'damping':>9}              states"
    for mode in model.modes:
        value = mode.eigenvalue
        if value.imag < 0.0:
            continue
        shown = f"{value.real:.6g}" + (f" +- {value.imag:.6g}i" if value.imag > 0.0 else "")
        numbers = f"{shown:>27}  {mode.error:8.1e}  {mode.frequency:9.5g} Hz  {mode.damping:9.4g}"
        yield f"{numbers}  {mode.kind:10}  {', '.join(mode.states)}"
    by_reason: dict[str, list[str]] = {}
    for name, why in model.held.items():
        by_reason.setdefault(why, []).append(name)
    if by_reason:
        yield ""
        yield "held"
    for why, listed in by_reason.items():
        more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
        yield f"  {', '.join(listed[:3])}{more}: {why}"
    for note in model.notes:
        yield f"note: {note}"
