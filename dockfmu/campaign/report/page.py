"""The report of a campaign: one HTML file with interactive figures, and each figure as PNG."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import jinja2
from markupsafe import Markup

from dockfmu.base.files import write_text
from dockfmu.base.numbers import figure_text
from dockfmu.campaign.answers.answer import Answer, plain
from dockfmu.campaign.answers.chart import Scatter
from dockfmu.campaign.folder import ANSWERS, CampaignFolder
from dockfmu.campaign.report.picture import write_picture
from dockfmu.campaign.report.plotly import layout, traces
from dockfmu.report.figures import plotly_js
from dockfmu.report.files import REPORT


def write_campaign_report(campaign: CampaignFolder, answers: list[Answer]) -> list[Path]:
    """Write `report.html` and answers/NAME.png, and return their paths. Raises WriteError."""
    written = [write_text(campaign.folder / REPORT, _page(campaign, answers))]
    for answer in answers:
        if answer.chart is not None:
            file = campaign.folder / ANSWERS / f"{answer.name.replace(' ', '_')}.png"
            write_picture(answer.chart, answer.question, file)
            written.append(file)
    return written


def _page(campaign: CampaignFolder, answers: list[Answer]) -> str:
    loader = jinja2.ChoiceLoader(
        [jinja2.PackageLoader("dockfmu", "campaign/report"), jinja2.PackageLoader("dockfmu", "report")]
    )
    environment = jinja2.Environment(loader=loader, autoescape=True)
    charts = [
        (f"plot{k}", traces(answer.chart), layout(answer.chart))
        for k, answer in enumerate(answers, 1)
        if answer.chart is not None
    ]
    study = campaign.study
    # escaped, so that no text in it can close the script element, or open another
    text = json.dumps(plain(charts), allow_nan=False).replace("<", "\\u003c")
    return environment.get_template("report.html.j2").render(
        name=study.name,
        description=study.description,
        system=study.system,
        runs=len(campaign.runs(["status"])),
        sampling=study.draws.sampling,
        seed=study.draws.seed,
        folder=campaign.folder,
        answers=answers,
        plotly=Markup(plotly_js()),
        charts=Markup(text),
        version=version("dockfmu"),
        figure=figure_text,
        axes={
            answer.name: [part.name for part in answer.chart.parts]
            for answer in answers
            if isinstance(answer.chart, Scatter)
        },
    )
