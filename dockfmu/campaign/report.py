"""The report of a campaign: one HTML file with interactive figures, and each figure as PNG."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from dockfmu.base.files import atomic_file, write_file
from dockfmu.campaign.answers.answer import Answer, figure_text, plain
from dockfmu.campaign.storage.folder import ANSWERS, CampaignFolder
from dockfmu.report.figures import plotly_js
from dockfmu.report.files import REPORT

DPI = 160
_COLOURS, _LINE = ("#1f77b4", "#ff7f0e"), "#808080"
_SENSITIVITY = "correlation, share of variance"


def write_campaign_report(campaign: CampaignFolder, answers: list[Answer]) -> list[Path]:
    """Write `report.html` and answers/NAME.png, and return their paths. Raises WriteError."""
    written = [write_file(campaign.folder / REPORT, _page(campaign, answers).encode())]
    for answer in answers:
        if answer.figure:
            file = campaign.folder / ANSWERS / f"{answer.name.replace(' ', '_')}.png"
            _write_png(answer, file)
            written.append(file)
    return written


def _page(campaign: CampaignFolder, answers: list[Answer]) -> str:
    environment = jinja2.Environment(loader=jinja2.PackageLoader("dockfmu", "campaign"), autoescape=True)
    css = (Path(__file__).parents[1] / "report" / "report.css").read_text(encoding="utf-8")
    figures = [(f"plot{k}", _traces(answer), _layout(answer)) for k, answer in enumerate(answers, 1) if answer.figure]
    study = campaign.study
    # escaped, so that no text in it can close the script element, or open another
    text = json.dumps(plain(figures), allow_nan=False).replace("<", "\\u003c")
    return environment.get_template("report.html.j2").render(
        name=study.name,
        description=study.description,
        system=study.system,
        runs=len(campaign.runs(["status"])),
        sampling=study.draws.sampling,
        seed=study.draws.seed,
        folder=campaign.folder,
        answers=answers,
        css=Markup(css),
        plotly=Markup(plotly_js()),
        figures=Markup(text),
        version=version("dockfmu"),
        figure=figure_text,
    )


def _words(name: str) -> str:
    return name.replace("_", " ")


def _traces(answer: Answer) -> list[dict[str, Any]]:
    """Return the traces of plotly.js."""
    data = answer.figure
    if answer.kind == "outcomes":
        up = (np.array(data["high"]) - data["y"]).tolist()
        down = (np.array(data["y"]) - data["low"]).tolist()
        bars = {"type": "data", "symmetric": False, "array": up, "arrayminus": down}
        return [{"type": "bar", "x": [_words(name) for name in data["x"]], "y": data["y"], "error_y": bars}]
    if answer.kind == "loads":
        line = {"type": "scatter", "mode": "lines", "x": data["x"]}
        return [
            {**line, "y": data["low"], "line": {"width": 0}, "showlegend": False, "hoverinfo": "skip"},
            {**line, "y": data["high"], "line": {"width": 0}, "fill": "tonexty", "name": "95 % interval",
             "fillcolor": "rgba(31, 119, 180, 0.25)"},
            {**line, "y": data["y"], "name": "runs", "line": {"color": _COLOURS[0]}},
            *([{"type": "scatter", "mode": "markers", "x": data["x_fine"], "y": data["y_fine"],
                "name": "at a tenth of the step", "marker": {"color": _COLOURS[1]}}] if "x_fine" in data else ()),
        ]  # fmt: skip
    if answer.kind == "sensitivity":
        return [
            {"type": "bar", "x": data["x"], "y": data[key], "name": name}
            for key, name in (("y", "rank correlation"), ("z", "first-order share"))
        ]
    if answer.kind == "domain":
        points = [
            {
                "type": "scatter",
                "mode": "markers",
                "x": group.x,
                "y": group.y,
                "name": group.name,
                "customdata": group.margins,
                "marker": {"size": 7, "color": group.colour, "symbol": group.symbol},
                "hovertemplate": "%{x:.4g}, %{y:.4g}: %{customdata:.4g}<extra></extra>",
            }
            for group in _domain_points(data)
            if group.x
        ]
        ends = [[value for line in data["lines"] for value in (line[0][k], line[1][k], None)] for k in (0, 1)]
        return [*points, {"type": "scatter", "mode": "lines", "x": ends[0], "y": ends[1], "name": "boundary",
                          "line": {"color": _LINE}}]  # fmt: skip
    return []


@dataclass(frozen=True)
class _DomainPoints:
    """Points of a domain that are drawn alike; `symbol` is that of plotly, `mark` that of matplotlib."""

    name: str
    colour: str
    symbol: str
    mark: str
    x: list[float]
    y: list[float]
    margins: list[float]


def _domain_points(data: Mapping[str, Any]) -> list[_DomainPoints]:
    """Return the points of a domain in three groups: inside, outside, and undecided."""
    margin, x, y, left_open = (np.array(data[key]) for key in ("z", "x", "y", "open"))
    return [
        _DomainPoints(name, colour, symbol, mark, x[mask].tolist(), y[mask].tolist(), margin[mask].tolist())
        for name, colour, symbol, mark, mask in (
            ("below 0", _COLOURS[0], "circle", "o", margin < 0.0),
            ("0 or above", _COLOURS[1], "diamond", "D", (margin >= 0.0) & ~left_open),
            ("undecided", _LINE, "x", "x", (margin >= 0.0) & left_open),
        )
    ]


def _layout(answer: Answer) -> dict[str, Any]:
    data = answer.figure
    if answer.kind == "loads":
        return {"xaxis": {"title": {"text": data["label"]}},
                "yaxis": {"type": "log", "dtick": 1, "exponentformat": "power",
                          "title": {"text": data["side"]}}}  # fmt: skip
    if answer.kind == "domain":
        # a line at zero would look like a boundary
        return {
            f"{axis}axis": {"title": {"text": label}, "zeroline": False}
            for axis, label in zip("xy", data["labels"], strict=True)
        }
    return {
        "xaxis": {"showgrid": False},
        "yaxis": {"title": {"text": "probability" if answer.kind == "outcomes" else _SENSITIVITY}},
    }


def _write_png(answer: Answer, file: Path) -> None:
    """Draw the figure of an answer with matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    axis = figure.subplots()
    data = answer.figure
    if answer.kind == "outcomes":
        bars = np.abs(np.array([data["low"], data["high"]]) - np.array(data["y"]))
        axis.bar([_words(name) for name in data["x"]], data["y"], yerr=bars, capsize=4)
        axis.set_ylabel("probability")
    elif answer.kind == "loads":
        axis.fill_between(data["x"], data["low"], data["high"], alpha=0.3, label="95 % interval")
        axis.plot(data["x"], data["y"], label="runs")
        if "x_fine" in data:
            axis.plot(data["x_fine"], data["y_fine"], "o", label="at a tenth of the step")
        axis.set(yscale="log", xlabel=data["label"], ylabel=data["side"])
    elif answer.kind == "sensitivity":
        places = np.arange(len(data["x"]))
        axis.bar(places - 0.2, data["y"], 0.4, label="rank correlation")
        axis.bar(places + 0.2, data["z"], 0.4, label="first-order share")
        axis.set_xticks(places, data["x"], rotation=40, ha="right")
        axis.set_ylabel(_SENSITIVITY)
    else:
        for group in _domain_points(data):
            if group.x:
                axis.plot(group.x, group.y, group.mark, ms=4, color=group.colour, label=group.name)
        for line in data["lines"]:
            axis.plot(*np.array(line).T, color="0.2", lw=1.0)
        axis.set(xlabel=data["labels"][0], ylabel=data["labels"][1])
    if answer.kind != "outcomes":
        # beside the axes: within them it would lie over points
        figure.legend(loc="outside right upper", frameon=False)
    axis.set_title(answer.question, fontsize=10)
    axis.grid(alpha=0.3)
    with atomic_file(file) as unfinished:
        figure.savefig(unfinished, dpi=DPI, format="png")
