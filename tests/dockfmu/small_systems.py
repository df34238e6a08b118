"""Systems that run in milliseconds, and FMUs that are damaged on purpose, for the tests of the command line."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

from dockfmu.declare.packages import bundle
from dockfmu.declare.plan import Panel, Plan
from dockfmu.master.observers.events import Event
from dockfmu.master.system import Structure

PLAN = Plan(
    step=0.01,
    stop=2.0,
    order=("first", "second"),
    events={"pushed_far": Event("second.position", "above", 0.2)},
    audited=("first", "second"),
    # both are tied to the ground, which takes momentum
    limits={"linear_momentum_drift": False},
    supplied=("first.audit.work_force", "second.audit.work_force"),
    panels=(Panel("Displacements", ("first.position", "second.position")),),
)

TOML = """
name = "alone"
description = "an oscillator of its own"

[elements.mass]
component = "oscillator"
sets = ["soft"]

[elements.mass.values.parameters]
initial_position = { value = 0.5, unit = "m", source = "assumed" }

[run]
step = 0.01
stop = 1.0
"""


def pair_system(fmu: Path) -> Structure:
    """Return two oscillators, each pushed with 0.3 N per metre of the other's displacement."""
    system = Structure("pair")
    system.add("first", fmu, {"parameters.initial_position": 1.0})
    system.add("second", fmu)
    for source, target in (("first", "second"), ("second", "first")):
        system.connect(source, "position", target, "force", factor=0.3, convert_units=False)
    return system


def write_pair(fmu: Path, folder: Path, plan: Plan = PLAN, name: str = "pair") -> Path:
    system = pair_system(fmu)
    system.name = name
    return bundle.write_bundle(system, plan, "two oscillators", folder / f"{name}.ssp")


def changed_archive(file: Path, out: Path, changes: Mapping[str, bytes | None]) -> Path:
    """Write a copy of an archive with members replaced, added or (None) left out."""
    with zipfile.ZipFile(file) as source:
        content: dict[str, bytes | None] = {name: source.read(name) for name in source.namelist()}
    content.update(changes)
    with zipfile.ZipFile(out, "w") as sink:
        for name, data in content.items():
            if data is not None:
                sink.writestr(name, data)
    return out


def changed_text(file: Path, out: Path, member: str, old: str, new: str) -> Path:
    """Write a copy of an archive with `old` replaced in the text of one member."""
    with zipfile.ZipFile(file) as source:
        text = source.read(member).decode()
    assert old in text
    return changed_archive(file, out, {member: text.replace(old, new).encode()})


def as_toml(content):
    """Return the content as TOML, which takes JSON for values but not null; tables within are inline."""

    def value(item):
        if isinstance(item, dict):
            return "{" + ", ".join(f"{json.dumps(k)} = {value(v)}" for k, v in item.items()) + "}"
        if isinstance(item, list):
            return "[" + ", ".join(map(value, item)) + "]"
        return json.dumps(item)

    return "\n".join(f"{name} = {value(item)}" for name, item in content.items())
