"""Folds what makes pages long: tables of many rows, and the details of what the API reference describes.

A folded part is a `details` element: browsers open it for a link into it and for a search in the page, and
print it opened (`_static/folding.js` does this where a browser does not).
"""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

PAGES = ("reference/", "theory/data", "validation/oracles", "validation/validation")
"""Beginnings of the names of pages that are looked up, not read."""
ROWS = 4
"""Longest table that stays open."""


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def _fold(parent: nodes.Element, first: int, last: int, summary: str) -> None:
    """Fold the children `first` to `last` of a node."""
    parent.insert(last + 1, _raw("</details>"))
    parent.insert(first, _raw(f'<details class="fold"><summary>{escape(summary)}</summary>'))


def _names(table: nodes.table) -> list[str]:
    return [row[0].astext().strip() for body in table.findall(nodes.tbody) for row in body.findall(nodes.row)]


class Folding(SphinxPostTransform):
    """Fold the long parts of the reference."""

    default_priority = 700
    formats = ("html",)

    def run(self, **_: Any) -> None:
        if not self.env.docname.startswith(PAGES):
            return
        for table in list(self.document.findall(nodes.table)):
            names = _names(table)
            if len(names) > ROWS and table.parent is not None:
                place = table.parent.index(table)
                _fold(table.parent, place, place, f"{len(names)} rows: {names[0]} … {names[-1]}")
        for described in list(self.document.findall(addnodes.desc)):
            content = described[-1]
            if isinstance(described.parent, addnodes.desc_content) or not isinstance(content, addnodes.desc_content):
                continue  # members are folded with what they belong to
            # the first paragraph says what it is
            if len(content) > 2 and len(content.astext()) > 600:
                _fold(content, 1, len(content) - 1, "Parameters and details")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_post_transform(Folding)
    app.add_js_file("folding.js")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
