"""The notebook of the documentation runs completely."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

DOCS = Path(__file__).parents[2] / "docs" / "guide"


def kinds(notebook):
    """Return the kinds of output of each cell: figures, tables, texts."""
    return [
        [sorted(output.get("data", {"text": ""})) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.slow
def test_the_notebook_runs_and_puts_out_what_it_shows():
    notebook = nbformat.read(DOCS / "python-api-notebook.ipynb", as_version=4)
    shown = kinds(notebook)
    assert any("image/png" in data for outputs in shown for data in outputs)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(DOCS)}}).execute()
    assert kinds(notebook) == shown
