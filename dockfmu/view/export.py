"""Export of a run as one HTML file, to be mailed: it shows the run without dockfmu and without a network."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.files import write_text
from dockfmu.base.numbers import finite
from dockfmu.view.recording import THREE, Replay

PAGE = Path(__file__).parent / "page"

MODULES = (
    "source.js",
    "frames.js",
    "geometry.js",
    "deformation.js",
    "projection.js",
    "devices.js",
    "curves.js",
    "bodies.js",
    "over.js",
    "solid.js",
    "offline.js",
    "panes.js",
    "script.js",
    "keys.js",
    "main.js",
)
"""Modules of the page, each after those that it imports; a module from a file:// address may import none."""

EVERY_S = 0.05
BEFORE_S, AFTER_S = 1.0, 2.0
"""All rows are kept for this long before and after each event, elsewhere one row in EVERY_S."""

_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"

_IMPORT = re.compile(r"^import \{[^}]*\} from '\./[\w.]+';\n", re.MULTILINE)
_PRELOAD = re.compile(r'^<link rel="modulepreload"[^>]*>\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def write_page(replays: Sequence[Replay], file: Path, more: Sequence[str] = ()) -> Path:
    """Write a run as one HTML file, with a second run drawn beneath it if there is one; return the file.

    The file holds the variables that are drawn and those of `more`. Raises ViewError, and WriteError if the file cannot
    be written.
    """
    return write_text(file, page_of(replays, more))


def page_of(replays: Sequence[Replay], more: Sequence[str] = ()) -> str:
    """Return the page of `write_page` as text. Raises ViewError."""
    return _page([_packed(replay, more) for replay in replays])


def _packed(replay: Replay, more: Sequence[str]) -> dict[str, Any]:
    """Return the description of a recording and its columns."""
    names = list(dict.fromkeys([*replay.shown, *(name for name in more if name in replay)]))
    rows = kept_rows(replay.time, [event["t"] for event in replay.description([])["events"]])
    description = {**replay.description(names), "rows": len(rows), "report": False}
    columns = [replay.time[rows].astype("<f8"), *(column[rows] for column in replay.columns(names))]
    packed = zlib.compress(b"".join(map(_planes, columns)), 9)
    return {"description": description, "data": base64.b64encode(packed).decode()}


def kept_rows(time: np.ndarray, events: Sequence[float]) -> np.ndarray:
    """Return the indices of the rows to keep: all around events, one in EVERY_S elsewhere, the first and the last."""
    keep = np.zeros(len(time), bool)
    for event in events:
        keep |= (time >= event - BEFORE_S) & (time <= event + AFTER_S)
    slot = np.floor((time - time[0]) / EVERY_S + 1e-6)
    keep[np.flatnonzero(np.diff(slot, prepend=-1.0))] = True
    keep[-1] = True
    return np.flatnonzero(keep)


def _planes(column: np.ndarray) -> bytes:
    """Return the first bytes of all numbers, then the second bytes of all, ...: this order compresses better."""
    return np.ascontiguousarray(column).view(np.uint8).reshape(len(column), -1).T.tobytes()


def _page(content: list[dict[str, Any]]) -> str:
    page = _PRELOAD.sub("", (PAGE / "index.html").read_text(encoding="utf-8"))
    style = (PAGE / "style.css").read_text(encoding="utf-8")
    # no text in it can end the element that holds it
    recording = json.dumps(finite(content), separators=(",", ":")).replace("<", "\\u003c")
    data = f'<script type="application/json" id="recording">{recording}</script>'
    if THREE is not None:
        # plain text until three dimensions are requested
        library = THREE.read_text(encoding="utf-8").replace("</script", "<\\/script")
        data += f'\n<script type="text/plain" id="three">{library}</script>'
    charset = '<meta charset="utf-8">'
    parts = {
        charset: f'{charset}\n<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<link rel="stylesheet" href="page/style.css">': f"<style>\n{style}</style>",
        '<script type="module" src="page/main.js"></script>': f'{data}\n<script type="module">\n{_script()}</script>',
    }
    for old, new in parts.items():
        assert old in page, old
        page = page.replace(old, new)
    return page


def _script() -> str:
    """Return all modules joined into one: a test checks that they have no name in common."""
    texts = [(PAGE / name).read_text(encoding="utf-8") for name in MODULES]
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", text)) for text in texts).replace("</script", "<\\/script")
