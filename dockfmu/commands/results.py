"""`dockfmu report` and `dockfmu export`: reports and other files made from the results of a run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dockfmu.commands.arguments import (
    DONE,
    CommandError,
    command,
    count,
    existing_recording,
    output_file,
    path,
    patterns,
    split_patterns,
)


def add_report(commands: Any) -> None:
    """Add the parser of `report`."""
    report = command(commands, "report", "write report.html from the results in a folder")
    report.add_argument("folder", type=path, metavar="DIR", help="results of a run, e.g. build/results/atv_probe_cone")
    report.add_argument(
        "--png",
        action="store_true",
        help="also write the plots as overview.png and, for runs longer than 15 s, impact.png",
    )
    report.set_defaults(action=_report)


def _report(arguments: argparse.Namespace) -> int:
    from dockfmu.report.page import write_report

    for file in write_report(arguments.folder, png=arguments.png):
        print(file)
    return DONE


def add_export(commands: Any) -> None:
    """Add the parser of `export`."""
    export = command(commands, "export", "write results as a CSV, MATLAB or Parquet file, or an animated 3-D scene")
    export.add_argument("results", type=path, metavar="RESULT", help="results.h5 or its folder")
    export.add_argument("-o", "--output", type=output_file, metavar="FILE", help="default: beside the results")
    form = export.add_mutually_exclusive_group(required=True)
    form.add_argument("--csv", action="store_true", help="columns with units in the header")
    form.add_argument("--fmi-csv", action="store_true", help="CSV as FMI tools exchange it: quoted names, no units")
    form.add_argument(
        "--parquet", action="store_true", help="columns in their own types, units as metadata; needs dockfmu[campaign]"
    )
    form.add_argument("--mat", action="store_true", help="MATLAB 5 file")
    form.add_argument("--gltf", action="store_true", help="animated GLB (glTF 2.0) of craft and mechanisms")
    export.add_argument(
        "--signals",
        action="append",
        default=[],
        type=patterns,
        metavar="PATTERN,...",
        help="only these variables: * matches any text, the name of a group or array all its members, e.g. "
        "'mechanism.target,*.audit.*'; a variable with commas in its name is given alone; may be repeated",
    )
    export.add_argument("--every", type=count, default=1, metavar="N", help="write one row in N")
    export.set_defaults(action=_export)


def _export(arguments: argparse.Namespace) -> int:
    from dockfmu.master.observers.recording.results import read_results
    from dockfmu.report.export import write_csv, write_fmi_csv, write_mat, write_parquet

    file = existing_recording(arguments.results)
    if arguments.gltf:
        return _export_gltf(file, arguments)
    write, suffix = next(
        form
        for chosen, form in (
            (arguments.csv, (write_csv, ".csv")),
            (arguments.fmi_csv, (write_fmi_csv, ".csv")),
            (arguments.parquet, (write_parquet, ".parquet")),
            (arguments.mat, (write_mat, ".mat")),
        )
        if chosen
    )
    output = arguments.output or file.with_suffix(suffix)
    with read_results(file) as content:
        signals = split_patterns(arguments.signals, content.variables) or ["*"]
    print(write(file, output, signals, arguments.every))
    return DONE


def _export_gltf(file: Path, arguments: argparse.Namespace) -> int:
    from dockfmu.master.observers.recording.results import read_results
    from dockfmu.view.gltf import write_gltf
    from dockfmu.view.recording import Replay

    if arguments.signals:
        raise CommandError("--signals: a GLB always holds what the scenes show")
    with read_results(file) as results:
        print(write_gltf(Replay(results, file.parent), arguments.output or file.with_suffix(".glb"), arguments.every))
    return DONE
