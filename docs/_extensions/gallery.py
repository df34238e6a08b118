"""Writes the gallery of systems, and the list of systems that no page lists by hand.

```{gallery}              a card for each system: picture, what it shows, command, time
```{other-systems}        a toctree of the systems that reference/systems/index.md does not name

The pictures and the times come from runs of the systems, `make gallery`. A system without a picture of its own
shows that of the system that it extends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from declarations import WRITERS, sentence
from sphinx.application import Sphinx

from dockfmu.declare.declaration import SYSTEMS, read_tables

DOCS = Path(__file__).parents[1]
PICTURES = DOCS / "images" / "gallery"
LISTED = DOCS / "reference" / "systems" / "index.md"
OTHER = "More systems"


def systems() -> list[str]:
    """Return the names of all systems."""
    return sorted(file.stem for file in SYSTEMS.glob("*.toml"))


def groups() -> dict[str, list[str]]:
    """Return the systems by the captions of the page that lists them, those that it does not name last."""
    found: dict[str, list[str]] = {}
    for caption, names in re.findall(r":caption: (.+)\n\n((?:\w+\n)+)", LISTED.read_text(encoding="utf-8")):
        found[caption] = names.split()
    named = {name for names in found.values() for name in names}
    rest = [name for name in systems() if name not in named]
    return {**found, OTHER: rest} if rest else found


def base(name: str) -> str:
    """Return the name of the system that a system extends, "" for none."""
    head = (SYSTEMS / f"{name}.toml").read_text(encoding="utf-8")
    extends = re.search(r'^extends = "([^"]+)"', head, re.MULTILINE)
    return Path(extends[1]).stem if extends else ""


def pictured(name: str) -> str:
    """Return the system whose picture shows a system: its own, or that of the nearest one that it extends."""
    while name and not (PICTURES / f"{name}.webp").exists():
        name = base(name)
    return name


def difference(run: dict[str, Any]) -> str:
    """Return what a run has that its base has not, or what its picture shows of that run; "" without either."""
    if "events" in run:
        return "<br>" + ", ".join(f"{name.replace('_', ' ')} {t:.4g} s" for t, name in run["events"])
    if "base" not in run:
        return ""
    base, apart = f"[{run['base']}](reference/systems/{run['base']}.md)", f"{1e3 * run['apart_m']:.3g} mm"
    if run["event"]:
        return f"<br>moves as {base} to about {apart}" if run["apart_m"] else f"<br>moves just as {base}"
    return f"<br>violet: {base}; {apart} apart at {run['picture_s']:.1f} s"


def card(name: str, runs: dict[str, Any]) -> Iterator[str]:
    """Yield the card of a system."""
    content = read_tables(SYSTEMS / f"{name}.toml")
    shown = pictured(name)
    yield f"::::{{grid-item-card}} [{name}](reference/systems/{name}.md)"
    run = runs.get(name)
    if shown:
        caption = f"{name} in the view" if shown == name else f"{shown}, which {name} extends, in the view"
        yield f":img-top: images/gallery/{shown}.webp\n:img-alt: {caption}"
    yield f"\n{sentence(content['description'])}\n"
    yield f"```sh\ndockfmu run {name}\n```\n"
    if run is not None:
        outcome = run["outcome"].replace("_", " ")
        times = f"{run['simulated_s']:g} s of flight, {run['processor_s']:g} s of processor"
        yield f":::{{card-footer}}\n{outcome} · {times}{difference(run)}\n:::"
    elif shown:
        yield f":::{{card-footer}}\npicture of [{shown}](reference/systems/{shown}.md), which it extends\n:::"
    yield "::::"


def gallery(_: str) -> Iterator[str]:
    """Yield the cards of all systems by groups, in the place of ```{gallery}."""
    file = PICTURES / "runs.json"
    runs = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for caption, names in groups().items():
        yield f"## {caption}\n\n:::::{{grid}} 1 2 2 3\n:gutter: 3\n"
        for name in names:
            yield from card(name, runs)
        yield ":::::\n"


def other_systems(_: str) -> Iterator[str]:
    """Yield a toctree of the systems that the page does not name, in the place of ```{other-systems}."""
    names = groups().get(OTHER, [])
    if names:
        yield f"```{{toctree}}\n:maxdepth: 1\n:caption: {OTHER}\n"
        yield from names
        yield "```"


WRITERS |= {"gallery": gallery, "other-systems": other_systems}


def setup(app: Sphinx) -> dict[str, Any]:
    app.setup_extension("declarations")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
