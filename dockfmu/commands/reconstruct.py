"""`dockfmu reconstruct`: loads of a docking from its telemetry."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockfmu.base.numbers import as_json
from dockfmu.commands.arguments import DONE, path
from dockfmu.commands.streams import say
from dockfmu.commands.terminal import table, width
from dockfmu.report.files import BUILD, REPORT

if TYPE_CHECKING:
    from dockfmu.reconstruct.result import Reconstruction


def add_reconstruct(commands: Any) -> None:
    """Add the parser of `reconstruct`."""
    parser = commands.add_parser(
        "reconstruct",
        help="restore the loads of a docking from telemetry",
        description="Restore the loads at the interface of a docking from telemetry: accelerations and rates\n"
        "of the craft, strokes of the absorbers, times of the contact sensors. The direct method takes\n"
        "the wrench as the unknown input of rigid or modal craft; the classical one finds the speed and\n"
        "the miss of the first contact. Loads have 90 % bands, residuals are tested, life is counted.",
        epilog="exit status:\n"
        "  0  the loads were restored; notes say what is wrong with the telemetry\n"
        "  1  the sensors cannot tell what is asked: the message says what they can\n"
        "  2  the command was invalid: a file, column, signal or unit that does not fit",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=path, metavar="FILE.toml", help="system, telemetry and methods")
    parser.add_argument("-o", "--output", type=path, metavar="DIR", help="default: build/reconstructions/FILE")
    parser.add_argument(
        "--ensemble",
        action="store_true",
        help="estimate by runs of the model, as the table [ensemble] says; repeat it to continue",
    )
    parser.add_argument("--workers", type=int, metavar="N", help="processes of --ensemble; default: one for each core")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(action=_reconstruct)


def _reconstruct(arguments: argparse.Namespace) -> int:
    from dockfmu.reconstruct.reconstruction import reconstruct_loads
    from dockfmu.reconstruct.result import described

    folder = arguments.output or BUILD / "reconstructions" / arguments.file.stem
    if arguments.ensemble:
        return _by_model(arguments, folder)
    result = reconstruct_loads(arguments.file, folder, lambda text: say(f"reconstruct: {text}"))
    for note in result.notes:
        say(f"dockfmu: {note}")
    if arguments.json:
        print(as_json(described(result)))
        return DONE
    _print(result)
    print(f"  {folder / REPORT}")
    return DONE


def _by_model(arguments: argparse.Namespace, folder: Path) -> int:
    from dockfmu.reconstruct.model_result import reconstruct_by_model, summary

    found = reconstruct_by_model(
        arguments.file, folder, workers=arguments.workers, progress=lambda text: say(f"reconstruct: {text}")
    )
    for label, said in found.findings.items():
        for warning in said.warnings:
            say(f"dockfmu: {label + ': ' if label else ''}{warning}")
    if arguments.json:
        print(as_json({label: summary(found.estimates[label], said) for label, said in found.findings.items()}))
        return DONE
    for label, said in found.findings.items():
        print(f"{label}: probability {found.probabilities[label]:.3g}" if label else str(arguments.file))
        _table(
            ("peak", "median", "5 %", "95 %", "unit"),
            [(p.name, f"{p.middle:.4g}", f"{p.low:.4g}", f"{p.high:.4g}", p.unit) for p in said.peaks],
        )
        print(f"  {folder / label / REPORT}")
    return DONE


def _print(result: Reconstruction) -> None:
    telemetry = result.telemetry
    print(f"{telemetry.system}: {int(telemetry.mask.sum())} readings of {len(telemetry.signals)} signals")
    if result.peaks:
        _table(
            ("peak", "port", "median", "5 %", "95 %", "unit", "at"),
            [(p.load, p.port, f"{p.value:.4g}", f"{p.low:.4g}", f"{p.high:.4g}", p.unit, f"{p.time:.3f} s")
             for p in result.peaks],
        )  # fmt: skip
    if result.conditions is not None:
        _table(
            ("first contact", "value", "deviation", "unit"),
            [(name, f"{value:.4g}", f"{sigma:.2g}", unit) for name, value, sigma, unit in result.conditions.lines()],
        )
    if result.life:
        _table(
            ("section", "peak", "5 %", "95 %", "damage", "5 %", "95 %"),
            [(one.section.name, *(f"{1e-6 * one.peak[k]:.4g} MPa" for k in (1, 0, 2)),
              *(f"{one.damage[k]:.3g}" for k in (1, 0, 2))) for one in result.life],
        )  # fmt: skip
    if result.residuals:
        _table(
            ("residuals", "verdict", "mean square", "correlation"),
            [(test.signal, test.verdict, f"{test.mean_square:.3g}", f"{test.correlation:.2f}")
             for test in result.residuals],
        )  # fmt: skip


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    for line in table([head, *rows], width(sys.stdout), [None] * len(head)):
        print(f"  {line}")
