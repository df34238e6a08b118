"""What systems, outcomes, recorded runs and campaigns show in the cells of a notebook."""

import html

import pytest

import dockfmu as package
from dockfmu.master.errors import StructureError
from dockfmu.report.notebook import ProgressBar
from tests.dockfmu.small_systems import as_toml


@pytest.fixture(scope="module")
def made(pair):
    system = package.load(str(pair))
    return system, system.run()


def test_a_system_is_its_diagram_and_its_elements(made):
    system, _ = made
    text = system._repr_html_()
    assert text.index("<svg") < text.index("<table>")
    assert "<td>first</td><td>Oscillator</td>" in text
    assert "no elements yet" in package.System("<empty>")._repr_html_()
    assert "&lt;empty&gt;" in package.System("<empty>")._repr_html_()


def test_an_outcome_has_events_and_loads_and_no_text_of_it_is_html(made, monkeypatch):
    _, outcome = made
    text = outcome._repr_html_()
    assert f"<td>pushed far</td><td>{outcome.events['pushed_far']:.3f} s</td>" in text
    monkeypatch.setattr(outcome.result, "warnings", ["<b>no</b>"])
    assert "&lt;b&gt;no&lt;/b&gt;" in outcome._repr_html_()


def test_an_outcome_is_drawn_as_in_its_report(made, tmp_path):
    """The panels of the plan by default, else a panel for each name; the curves are the rows."""
    _, outcome = made
    (panel,) = outcome.plot().figure.axes
    assert panel.get_title(loc="left") == "Displacements"
    assert panel.lines[0].get_ydata().max() == outcome["first.position"].max()
    named = outcome.plot("first.velocity", "second.audit.momentum")
    assert len(named.figure.axes) == 2
    assert named._repr_png_().startswith(b"\x89PNG")
    assert named.save(tmp_path / "plot.svg").read_text().startswith("<?xml")
    with pytest.raises(StructureError, match="did you mean velocity"):
        outcome.plot("first.velocty")


def test_a_recorded_run_is_drawn_and_replayed_in_a_cell(pair, tmp_path):
    recorded = package.load(str(pair)).record(tmp_path / "run", report=False)
    assert "pushed far" in recorded._repr_html_()
    assert recorded.plot()._repr_png_().startswith(b"\x89PNG")
    frame = recorded.view(height=300)._repr_html_()
    assert "height:300px" in frame
    assert 'id="recording"' in html.unescape(frame)


def test_a_campaign_says_how_many_runs_it_has(oscillator, pair, tmp_path):
    vary = [{"name": "first.parameters.mass", "law": "uniform", "low": 1.0, "high": 2.0}]
    content = {"name": "few", "system": str(pair), "runs": 7, "vary": vary}
    text = package.Campaign(content, tmp_path / "few")._repr_html_()
    assert "few: 0 of 7 runs of" in text
    assert as_toml(content)


def test_a_bar_shows_the_share_of_a_message(monkeypatch):
    pytest.importorskip("IPython")
    import IPython.display

    shown = []

    class Handle:
        def update(self, page):
            shown.append(page.data)

    def display(page, display_id):
        shown.append(page.data)
        return Handle()

    monkeypatch.setattr(IPython.display, "display", display)
    bar = ProgressBar()
    bar("s: loading 2 FMUs")
    bar("s: t = 2.000 of 8 s (25%), 4 times real time")
    bar("s: completed at 8.000 s")
    assert shown[0] == "s: loading 2 FMUs"
    assert shown[1].startswith('<progress max="100" value="25"></progress> s: t = 2.000')
    assert shown[2] == "s: completed at 8.000 s"
