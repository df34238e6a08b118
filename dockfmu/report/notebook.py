"""Systems, outcomes and recorded runs in the cells of a notebook: tables, figures, the 3-D view, a bar of progress."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockfmu.master.system import Structure
from dockfmu.report.loads import load_lines
from dockfmu.report.plots import close_up, first_events
from dockfmu.report.words import condition_texts, phase_at, severity_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dockfmu.declare.plan import Panel


class NotebookFigure:
    """A figure that a notebook shows as a picture; `figure` is that of matplotlib, and `save` writes it to a file."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.figure.savefig(out, format="png", dpi=96, bbox_inches="tight")
        return out.getvalue()

    def save(self, file: Path | str) -> Path:
        """Write the figure in the format of the name's ending; return the path."""
        self.figure.savefig(file, bbox_inches="tight")
        return Path(file)


class NotebookPage:
    """A page of HTML in a frame of a cell, `height` pixels high."""

    def __init__(self, text: str, height: int) -> None:
        self.text = text
        self.height = height

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe style="{style}" srcdoc="{html.escape(self.text, quote=True)}"></iframe>'


class ProgressBar:
    """A bar of progress in a notebook, and the last message beside it: `system.run(progress=ProgressBar())`."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, message: str) -> None:
        """Show a message, with a bar while it tells a share, as "(64%)"."""
        from IPython import display as cells

        html_of: Any = cells.HTML
        show: Any = cells.display
        share = re.search(r"\((\d+)%\)", message)
        # a bar without a share would go on moving after the end
        bar = f'<progress max="100" value="{share[1]}"></progress> ' if share else ""
        shown = html_of(bar + html.escape(message))
        if self._handle is None:
            self._handle = show(shown, display_id=True)
        else:
            self._handle.update(shown)


def summary_html(summary: Mapping[str, Any]) -> str:
    """Return outcome, initial conditions, events, loads and warnings of a run as a table."""
    ended = summary["status"] + (f": {summary['message']}" if summary["message"] else "")
    rows = [
        ("outcome", str(summary["outcome"]).replace("_", " ")),
        ("status", ended),
        ("simulated", f"{summary['t_end']:g} s in {summary['wall_s']:.3g} s"),
    ]
    if conditions := summary.get("initial_conditions"):
        given = ", ".join(condition_texts(conditions))
        rows.append(("initial conditions", "; ".join(filter(None, (given, severity_text(conditions))))))
    rows += [(name, f"{t:.3f} s") for t, name in first_events(summary["events"])]
    for line in load_lines(summary):
        phase = phase_at(summary["events"], line["t_max"])
        verdict = f"; {line['verdict']}" if line["verdict"] else ""
        rows.append((f"largest {line['name']}", f"{line['largest']} at {line['t_max']:.3f} s, {phase}{verdict}"))
    rows += [("warning", str(warning)) for warning in summary["warnings"]]
    return table_html(str(summary["system"]), rows)


def table_html(caption: str, rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Return rows of text as a table; nothing in them is taken for HTML."""
    top = "".join(f"<th>{html.escape(word)}</th>" for word in head)
    lines = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption>{f'<tr>{top}</tr>' if top else ''}{lines}</table>"


def system_html(structure: Structure, description: str) -> str:
    """Return the diagram of a system and a table of its elements."""
    from dockfmu.ssp.diagram import draw
    from dockfmu.ssp.from_system import from_system

    rows = [
        (name, structure.description(name).model_name, structure.description(name).description)
        for name in structure.elements
    ]
    text = f"<p>{html.escape(description)}</p>" if description else ""
    if not rows:
        return f"{text}<p>{html.escape(structure.name)}: no elements yet</p>"
    out = io.StringIO()
    draw(from_system(structure).description.system).savefig(out, format="svg", bbox_inches="tight")
    picture = out.getvalue()
    picture = picture[picture.index("<svg") :]
    return text + picture + table_html(structure.name, rows, ("element", "FMU", "description"))


def drawing(
    results: Any, panels: Sequence[Panel], events: Sequence[Mapping[str, Any]], title: str, *, whole: bool = False
) -> NotebookFigure:
    """Return the plots of a report as a figure, the impact of a long run unless it is to be drawn as a `whole`.

    `results` is a recording, or what has the same methods.
    """
    from dockfmu.report.curves import plots
    from dockfmu.report.png import Picture, figure_of

    first, last = float(results.time[0]), float(results.time[-1])
    window = (None if whole else close_up(first, last, events)) or (first, last)
    shown = plots(results, panels, window)
    return NotebookFigure(figure_of(Picture(Path(), title, shown, first_events(events), *window)))
