"""The report of a campaign: its pictures, and its page in a browser, legible in both colour schemes."""

import re
from types import SimpleNamespace

import numpy as np
import pandas
import pytest

from dockfmu.base.numbers import figure_text
from dockfmu.campaign.answers.answer import Answer
from dockfmu.campaign.answers.chart import Chart, Points, Polyline
from dockfmu.campaign.answers.compare import compare
from dockfmu.campaign.answers.measures import values_of
from dockfmu.campaign.answers.outcomes import outcomes
from dockfmu.campaign.answers.sensitivities import sensitivities
from dockfmu.campaign.answers.worst_runs import worst_runs
from dockfmu.campaign.description import Measure
from dockfmu.campaign.report.page import write_campaign_report
from tests.dockfmu.axe import violations
from tests.dockfmu.view.browser import eventually

RUNS = 400
FORCE = Measure("force", ("mechanism.target.force_now[1]", "mechanism.target.force_now[2]"), "resultant", "N")
MARGIN = Measure("margin", ("mechanism.capture.margin",), "min", "m")
NAMES = ("initial_conditions.miss[1]", "initial_conditions.angular_velocity[3]", "chaser.parameters.mass", "fault")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report with every kind of answer."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "answers").mkdir()
    generator = np.random.Generator(np.random.PCG64(1))
    x = generator.normal(size=(3, RUNS))
    table = pandas.DataFrame(
        {
            "index": range(RUNS),
            "status": "completed",
            "outcome": np.where(x[0] > 1.5, "limit_exceeded", "docked"),
            "reason": "",
            "force": 2e4 + 5e3 * x[0] + 1e3 * x[1],
            "t_force": 0.5,
            "margin": 0.01 * x[0],
            "t_margin": 1.0,
            "miss[1]": x[0],
            "angular_velocity[3]": x[1],
            "chaser.parameters.mass": x[2],
            "t_capture": 0.2,
            "fault": np.where(x[1] > 0.0, "none", "lateral_brakes_dead"),
        }
    )
    table.loc[:2, ["outcome", "status", "reason"]] = "failed", "failed", "output became nan"
    study = SimpleNamespace(
        name="a_campaign_with_a_long_name",
        description="",
        system="atv_probe_cone",
        measures=(FORCE, MARGIN),
        draws=SimpleNamespace(sampling="random", seed=1),
        choices=(SimpleNamespace(name="fault"),),
    )
    structure = SimpleNamespace(resolve=lambda name: ("chaser", SimpleNamespace(unit="kg")))
    system = SimpleNamespace(plan=SimpleNamespace(events=("capture",)), structure=structure)
    worst = int(table["force"].nlargest(2).index[0])
    (folder / "series" / f"{worst:06d}").mkdir(parents=True)
    (folder / "series" / f"{worst:06d}" / "results.h5").touch()
    campaign = SimpleNamespace(folder=folder, study=study, system=system, names=NAMES, runs=lambda columns=None: table)
    grid = np.stack(np.meshgrid(np.linspace(-0.3, 0.3, 9), np.linspace(0.01, 0.15, 9)), -1).reshape(-1, 2)
    margins = np.hypot(grid[:, 0], grid[:, 1]) - 0.2
    marks = {
        "inside": ("circle", margins < 0.0),
        "outside": ("diamond", (margins >= 0.0) & (grid[:, 0] <= 0.25)),
        "open": ("cross", grid[:, 0] > 0.25),
    }
    points = [Points(name, *grid[at].T.tolist(), form, margins[at].tolist()) for name, (form, at) in marks.items()]
    border = Polyline("boundary", [-0.2, -0.1, np.nan], [0.01, 0.15, np.nan], border=True)
    domain = Chart([*points, border], "miss[1], m", "velocity[1], m/s")
    fine = table.set_index("index").loc[[int(table["force"].idxmax())]]
    answers = [
        outcomes(campaign, table),
        values_of(campaign, table, FORCE, fine),
        *worst_runs(campaign, table, FORCE),
        values_of(campaign, table, MARGIN, table.head(0)),
        sensitivities(campaign, table, FORCE),
        Answer("where", "Where margin is below 0", chart=domain),
        compare(table, table, "same", ["force"], ["miss[1]"]),
    ]
    return write_campaign_report(campaign, answers)


@pytest.mark.slow
def test_figures_are_written_as_png(report):
    page, *pictures = report
    assert [file.name for file in pictures] == [
        "outcomes.png",
        "force.png",
        "worst_runs_of_force.png",
        "margin.png",
        "sensitivity_of_force.png",
        "where.png",
    ]
    assert all(file.read_bytes()[:4] == b"\x89PNG" for file in pictures)
    text = page.read_text()
    assert "left out: 3 failed. The largest value that these had reached was" in text
    assert "that exceeded a limit of the model, with their values until then" in text


COLLISIONS = """() => [...document.querySelectorAll(".plot")].flatMap((plot) => {
  const box = (found) => found.getBoundingClientRect();
  const ticks = [...plot.querySelectorAll(".yaxislayer-above text")].map(box);
  const title = plot.querySelector(".ytitle");
  return title === null ? [] : ticks.filter((tick) => box(title).right > tick.left - 4).map(() => plot.id);
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420])
def test_the_report_is_legible(report, browser, width, scheme):
    page, faults = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(report[0].as_uri())
    page.wait_for_function("document.querySelectorAll('.plot .main-svg').length >= 5")
    # figures are laid out again when their texts have been measured
    eventually(lambda: page.evaluate(COLLISIONS) == [])
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # nor do long names of inputs and measures make it wider
    page.evaluate("document.querySelector('select').options[0].text = 'name.'.repeat(60)")
    page.evaluate("document.querySelector('h2').textContent = 'name.'.repeat(60)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert faults == []
    # texts of figures have the colour of the page, whose contrast with its ground is that of the report
    colours = page.evaluate(
        "[...document.querySelectorAll('.plot .xtick text')].map((text) => getComputedStyle(text).fill)"
    )
    assert set(colours) == {page.evaluate("getComputedStyle(document.body).color")}
    assert violations(page) == []
    page.close()


@pytest.mark.slow
def test_numbers_have_four_figures():
    given = (35021.4, 0.0152, 1e-6, -np.inf, np.inf, 0.0, 123456.7)
    assert [figure_text(value) for value in given] == ["35020", "0.0152", "1e-06", "-∞", "∞", "0", "123500"]


def test_the_worst_runs_are_told_with_inputs_and_how_to_see_them(report, browser):
    """Largest first, angles in degrees; the figure shows the measure over the input that is chosen."""
    text = report[0].read_text()
    section = text.partition("Worst runs by force")[2].partition("</section>")[0]
    assert "angular_velocity[3], °/s" in section
    assert "chaser.parameters.mass, kg" in section
    assert "after capture" in section
    runs = [int(run) for run in re.findall(r'<tr><td class="number">(\d+)</td>', section)]
    assert len(runs) == 5
    folder = report[0].parent
    assert f"<code>dockfmu view {folder}/series/{runs[0]:06d}</code>" in section
    assert f"<code>dockfmu campaign {folder} --index {runs[1]}</code>" in section
    page = browser.new_page()
    page.goto(report[0].as_uri())
    plot = page.get_attribute("select", "data-plot")
    title = f"document.getElementById('{plot}').layout.xaxis.title.text"
    shown = f"document.getElementById('{plot}').data.map((trace) => trace.visible)"
    # the force is made of the miss and a little of the rate
    assert page.evaluate(title) == "miss[1], m"
    page.select_option("select", "angular_velocity[3], °/s")
    page.wait_for_function(f"{title} === 'angular_velocity[3], °/s'")
    assert page.evaluate(shown) == [False, True, False]
    page.close()


@pytest.mark.quick
def test_one_outcome_is_no_bar():
    study = SimpleNamespace(draws=SimpleNamespace(sampling="random"))
    table = pandas.DataFrame({"index": [0, 1], "status": "completed", "outcome": "docked", "reason": ""})
    answer = outcomes(SimpleNamespace(study=study, folder="x"), table)
    assert answer.chart is None
    assert answer.table[0][:3] == ("docked", 2, 1.0)
