"""FMUs with bad or rare habits (`habits.c`): static data, a changed process, requests to end, needs of stop times."""

from __future__ import annotations

import zipfile
from functools import cache
from pathlib import Path

from dockfmu.base.platforms import library_name, this_platform
from tests.master.fmus import third_party

ENDS, NEEDS_STOP, STRICT, CHANGES_FOLDER, ROUNDS, NUL, FAILS, SIGNALS = (1 << k for k in range(8))
LATER, EXITS, FORKS, THREAD, TIMER, READS, QUITS = (1 << k for k in range(8, 15))
"""Bits of the parameter `habit`."""
STATES = 'canGetAndSetFMUstate="true" canSerializeFMUstate="true"'
ONCE = 'canBeInstantiatedOnlyOncePerProcess="true"'
_VARIABLES = (
    ("y", "output", 0, "Real"), ("stop", "output", 1, "Real"), ("gain", "parameter", 2, "Real"),
    ("sum", "output", 3, "Real"), ("small", "output", 4, "Real"), ("excess", "output", 5, "Real"),
    ("count", "output", 0, "Integer"), ("habit", "parameter", 1, "Integer"), ("folder", "output", 0, "String"),
    ("variable", "output", 1, "String"),
)  # fmt: skip


@cache
def library(folder: Path) -> bytes:
    """Return the compiled library."""
    return third_party.compiled(folder, "habits.c")


def description(attributes: str = "") -> str:
    """Return the model description; `attributes` are those of its CoSimulation element."""
    lines = []
    for name, causality, reference, kind in _VARIABLES:
        how = 'variability="fixed"' if causality == "parameter" else 'variability="discrete" initial="calculated"'
        if kind == "Real" and causality == "output":
            how = how.replace("discrete", "continuous")
        start = f' start="{int(kind == "Real")}"' if causality == "parameter" else ""
        lines.append(
            f'<ScalarVariable name="{name}" valueReference="{reference}" causality="{causality}" {how}>'
            f"<{kind}{start}/></ScalarVariable>"
        )
    outputs = "".join(f'<Unknown index="{k}"/>' for k, line in enumerate(lines, 1) if '"output"' in line)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<fmiModelDescription fmiVersion="2.0" modelName="Habits" guid="habits">\n'
        f'<CoSimulation modelIdentifier="Habits" canHandleVariableCommunicationStepSize="true" {attributes}/>\n'
        f"<ModelVariables>{''.join(lines)}</ModelVariables>\n"
        f"<ModelStructure><Outputs>{outputs}</Outputs><InitialUnknowns>{outputs}</InitialUnknowns></ModelStructure>\n"
        "</fmiModelDescription>\n"
    )


def build(folder: Path, attributes: str = "", name: str = "Habits") -> Path:
    """Write `<folder>/<name>.fmu`."""
    file = folder / f"{name}.fmu"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", description(attributes))
        archive.writestr(f"binaries/{this_platform()}/{library_name('Habits')}", library(folder))
    return file
