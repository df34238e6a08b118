"""Writes pages of data from the parameter files: every value with what is known of it.

```{parameter-status}              every set
```{published-device} APAS-75      what a set, model or system gives itself of a device that flew
```
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from declarations import WRITERS, code, escaped, linked, sentence, table
from sphinx.application import Sphinx

from dockfmu.components.core.parameters import ParameterSet, read_parameter_sets
from dockfmu.declare.declaration import SYSTEMS
from dockfmu.fmus import catalogue

COMPONENTS = Path(__file__).parents[2] / "components"
ASSUMED, SOURCE, SPECIFIED = "**assumed**", "source", "specified"


def status(source: str) -> str:
    """Return what the `source` of a value says of it: assumed, of the source, or specified for dockfmu."""
    if "assumed" in source.lower():
        return ASSUMED
    return SOURCE if "Yaskevich" in source else SPECIFIED


def shown(value: Any) -> str:
    """Return a value for a cell: numbers with at most nine digits, lists with commas."""
    if isinstance(value, list | tuple):
        return f"({', '.join(shown(item) for item in value)})"
    return f"{value:.9g}" if isinstance(value, int | float) else escaped(str(value))


def parameter_files() -> dict[str, tuple[ParameterSet, ...]]:
    """Return the sets by the folder of their component."""
    folders = sorted(path for path in COMPONENTS.rglob("parameters") if path.is_dir())
    return {folder.parent.name: read_parameter_sets(folder) for folder in folders}


def parameter_status(_: str) -> Iterator[str]:
    """Yield the page, in the place of ```{parameter-status}."""
    files = parameter_files()
    every = [(part, chosen, name) for part, sets in files.items() for chosen in sets for name in chosen.values]
    counts = dict.fromkeys((ASSUMED, SOURCE, SPECIFIED), 0)
    for _, chosen, name in every:
        counts[status(chosen.sources[name])] += 1
    yield (
        f"The parameter files hold {len(every)} values: "
        + ", ".join(f"{count} {kind.strip('*')}" for kind, count in counts.items())
        + ".\n"
    )
    for part, sets in files.items():
        yield f"## {part}\n"
        for chosen in sets:
            yield f"### {part}: {chosen.name}\n"
            if chosen.description:
                yield f"{escaped(chosen.description)}\n"
            yield from table(
                ("Parameter", "Value", "Unit", "Status", "Reason or source"),
                (
                    (
                        code(name.replace("probe_cone.parameters.", "").replace("parameters.", "")),
                        shown(value),
                        code(chosen.units[name]),
                        status(chosen.sources[name]),
                        linked(chosen.sources[name]),
                    )
                    for name, value in chosen.values.items()
                ),
            )
    yield from _declared(files)


def known(source: str) -> str:
    """Return what a source says of a number: public, derived, assumed, or of the numerics."""
    found = re.findall(r"\b(public|derived|assumed)\b", source)
    if not found:
        return "numerics"
    if found[0] == "assumed":
        return "assumed; its kind is public" if "public" in found else "assumed"
    return f"{found[0]}; others assumed" if "others assumed" in source else found[0]


def published_device(name: str) -> Iterator[str]:
    """Yield what a set, a declared mechanism or a system gives itself, in the place of ```{published-device}."""
    files = [
        *COMPONENTS.rglob(f"parameters/{name}.toml"),
        *COMPONENTS.rglob(f"models/{name}.toml"),
        *SYSTEMS.glob(f"{name}.toml"),
    ]
    content = tomllib.loads(files[0].read_text(encoding="utf-8"))
    yield f"## {code(name)}\n"
    yield f"{sentence(content['description'])}\n"
    yield from table(("Value of", "Value", "Unit", "Known", "From, and range"), _leaves(content, ""))


def _leaves(content: Any, name: str) -> Iterator[tuple[str, ...]]:
    """Yield the rows of all values with a source below `name`."""
    if isinstance(content, list):
        for k, item in enumerate(content, start=1):
            if isinstance(item, dict):
                yield from _leaves(item, f"{name}[{k}]")
    elif isinstance(content, dict) and "source" in content and "value" in content:
        plain = re.sub(r"\b(elements|values|parameters)\.", "", name.removeprefix("."))
        yield (
            code(plain),
            shown(content["value"]),
            code(content["unit"]),
            known(content["source"]),
            linked(content["source"]),
        )
    elif isinstance(content, dict):
        for key, value in content.items():
            yield from _leaves(value, f"{name}.{key}")


def _declared(files: dict[str, tuple[ParameterSet, ...]]) -> Iterator[str]:
    """Yield the parameters that no file gives, with their start values."""
    given = {name for sets in files.values() for chosen in sets for name in chosen.values}
    yield "## Start values without a file\n"
    yield (
        "Parameters that no set gives have start values in the declarations of the components. They are assumed, "
        "settings of the numerics, or initial states.\n"
    )
    for name in (
        "Spacecraft",
        "ProbeMechanism",
        "ProbeCyclogram",
        "ContactProbeCone",
        "ContactRing",
        "ContactAirlock",
        "ContactRadiator",
        "BerthingSequence",
        "AttitudeControl",
    ):
        rows, seen = [], set()
        for slot in catalogue.component(name).record.variables:
            base = re.sub(r"(\[\d+\])+$", "", slot.name)
            plain = re.sub(r"\[\d+\]", "[1]", base)
            if slot.field.causality != "parameter" or base in seen or {base, plain} & given:
                continue
            if name == "ContactProbeCone" and base.startswith("probe_cone."):
                continue
            seen.add(base)
            rows.append(
                (
                    code(base.removeprefix("parameters.")),
                    shown(slot.field.start),
                    code(slot.field.unit),
                    escaped(slot.field.description),
                )
            )
        if rows:
            yield f"### {name}\n"
            yield from table(("Parameter", "Start", "Unit", "Meaning"), rows)


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("declarations")
    WRITERS["parameter-status"] = parameter_status
    WRITERS["published-device"] = published_device
    return {"parallel_read_safe": True, "parallel_write_safe": True}
