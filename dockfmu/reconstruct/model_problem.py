"""What is estimated by the model, from the table `[ensemble]` of telemetry: runs, unknowns, windows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.file_names import file_name_problem
from dockfmu.base.messages import shown
from dockfmu.campaign.campaign import Campaign
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.reconstruct.ensemble import REFINEMENTS, SmootherOptions
from dockfmu.reconstruct.readings_runner import Instruments
from dockfmu.reconstruct.spent import sections_of
from dockfmu.reconstruct.telemetry import Telemetry
from dockfmu.reconstruct.unknowns import Unknowns, check_laws, read_start, sensor_laws

ENTRIES = (
    "members", "seed", "start", "windows", "steps", "refinements", "unknown", "sensor", "values", "parameters", "swap",
    "run", "measures", "model", "model_error",
)  # fmt: skip
MODEL_ERROR = 0.02
"""Deviation of the model, as a share of the root mean square of each signal, if none is given."""
MEMBERS = 60
FEWEST_MEMBERS = 10
INTERVALS = 400
"""Intervals of time in which the largest loads of members are kept."""


@dataclass(frozen=True)
class ModelProblem:
    """State what is estimated from which readings, by which runs.

    Attributes
    ----------
    telemetry : Telemetry
        The readings.
    campaign : Campaign
        The runs: system, their values and options, measures.
    unknowns : Unknowns
        What is estimated.
    instruments : Instruments
        What is read of each run.
    members, seed : int
        Size of the ensemble, and seed of everything that is drawn.
    windows : tuple of float
        Ends of windows, true time, s; the last window goes to the end. None for windows that grow.
    options : SmootherOptions
        How the smoother works.
    model_error : float
        Deviation of the model, as a share of the root mean square of each signal.
    """

    telemetry: Telemetry
    campaign: Campaign
    unknowns: Unknowns
    instruments: Instruments
    members: int
    seed: int
    windows: tuple[float, ...]
    options: SmootherOptions
    model_error: float


def read_problem(telemetry: Telemetry, folder: Path, label: str = "") -> ModelProblem:
    """Read the table `[ensemble]` of telemetry; its runs are kept in a folder.

    `label` names one of the tables `[[ensemble.model]]`, whose values are laid over those of the system. Raises
    DeclarationError, OptionError, StructureError; messages name file, place and value.
    """
    table = telemetry.table.table("ensemble", ENTRIES)
    if not telemetry.system:
        raise DeclarationError(f"{table.where}: `system` is missing: an ensemble needs a model")
    base = Path(telemetry.table.where).parent.absolute()
    model = _model(table, label)
    content = {
        "name": "ensemble",
        "system": _absolute(telemetry.system, Path()),
        "values": {**telemetry.settings, **dict(table.table("values").content), **model},
        "seed": table.whole("seed", 1, least=0),
        "keep": {"peaks": False},
        "parameters": [_absolute(file, base) for file in table.texts("parameters", ())],
        "swap": {name: _absolute(str(file), base) for name, file in table.table("swap").content.items()},
        **({"measures": table.content["measures"]} if "measures" in table.content else {}),
        "vary": [dict(row.content) for row in table.rows("unknown")],
    }
    run = dict(table.table("run").content)
    campaign = Campaign({**content, "run": run}, folder, where=table.where)
    start = read_start(table, telemetry, tuple(campaign.system.plan.events))
    if "stop" not in run:
        # the last reading, and what the run needs until the event with which it begins
        plan = campaign.system.plan
        last = max([*telemetry.time[telemetry.mask].tolist(), *(event.by for event in telemetry.events)], default=0.0)
        stop = min(plan.stop or math.inf, last - start.low + 2.0 * plan.step)
        if not stop > 0.0:
            raise DeclarationError(f"{table.where}: no reading is later than the start of the run at {start.low:g} s")
        campaign = Campaign({**content, "run": {**run, "stop": round(stop, 6)}}, folder, where=table.where)
    laws = (*campaign.study.draws.laws, *sensor_laws(table.rows("sensor"), telemetry), *start.law())
    check_laws(laws, table.where)
    if not laws:
        raise DeclarationError(f"{table.where}: has no [[ensemble.unknown]], and so nothing to estimate")
    members = table.whole("members", MEMBERS, least=FEWEST_MEMBERS, most=100_000)
    begin, end = start.low, start.high + (campaign.study.options.stop or 0.0)
    return ModelProblem(
        telemetry,
        campaign,
        Unknowns(laws),
        Instruments(
            telemetry,
            start,
            _loads(campaign),
            np.linspace(begin, end, INTERVALS + 1),
            _model_error(table),
            sections_of(telemetry),
        ),
        members,
        campaign.study.draws.seed,
        _windows(table, telemetry),
        SmootherOptions(table.whole("steps", 0, least=0), refinements=table.whole("refinements", REFINEMENTS, least=0)),
        _model_error(table),
    )


def _model_error(table: Table) -> float:
    share = float(table.number("model_error", MODEL_ERROR))
    if not 0.0 <= share < 1.0:
        raise DeclarationError(f"{table.where}: model_error = {share:g}: must be a share from 0 to below 1")
    return share


def models(telemetry: Telemetry) -> tuple[str, ...]:
    """Return the labels of the models to compare, from `[[ensemble.model]]`; one empty label if there are none."""
    rows = telemetry.table.table("ensemble", ENTRIES).rows("model", ("label", "values"))
    labels = tuple(row.text("label") for row in rows)
    if bad := next((label for label in labels if file_name_problem(label)), None):
        raise DeclarationError(f"{telemetry.table.where}: ensemble.model: {shown(bad)} {file_name_problem(bad)}")
    if len(set(labels)) < len(labels):
        raise DeclarationError(f"{telemetry.table.where}: ensemble.model: labels must differ, not {', '.join(labels)}")
    return labels or ("",)


def _model(table: Table, label: str) -> dict[str, Any]:
    for row in table.rows("model", ("label", "values")):
        if row.text("label") == label:
            return dict(row.table("values").content)
    return {}


def _absolute(file: str, base: Path) -> str:
    """Return the absolute path of a file, and anything else as it is: the name of a system."""
    place = base / file.partition("#")[0]
    return str(base.absolute() / file) if place.is_file() else file


def _loads(campaign: Campaign) -> tuple[str, ...]:
    """Return the signals whose histories are kept: those of the measures that are the largest value of one."""
    return tuple(
        m.signals[0] for m in campaign.study.measures if m.kind in ("max", "magnitude") and len(m.signals) == 1
    )


def _windows(table: Table, telemetry: Telemetry) -> tuple[float, ...]:
    """Return the ends of windows: times, or events that are told; none if the table has none."""
    given = table.content.get("windows")
    if given is None:
        return ()
    first: dict[str, float] = {}
    for event in telemetry.events:
        first.setdefault(event.name, event.by)
    found = []
    for end in given if isinstance(given, list | tuple) else [given]:
        if isinstance(end, str) and end in first:
            found.append(first[end])
        elif isinstance(end, int | float) and not isinstance(end, bool):
            found.append(float(end))
        else:
            raise DeclarationError(
                f"{table.where}: windows = {shown(given)}: must be times, s, or events that are told: "
                f"{', '.join(first) or 'none'}"
            )
    return tuple(sorted(set(found)))
