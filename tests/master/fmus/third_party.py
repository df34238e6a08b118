"""Build `lag.c` into FMUs, valid and invalid ones, as a third party might supply them."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

from dockfmu.base.cache import cache_root
from dockfmu.base.platforms import library_name, this_platform

HERE = Path(__file__).parent
CACHE = cache_root() / "zig"


def compiled(folder: Path, source: str, *options: str, **defines: str) -> bytes:
    """Compile a C file of this folder; return the shared library."""
    out = folder / f"{Path(source).name}-{'-'.join(defines.values())}.so".replace('"', "")
    environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": str(CACHE), "ZIG_LOCAL_CACHE_DIR": str(CACHE)}
    # without contraction of multiplication and addition results are those of plain arithmetic
    flags = [
        "-O2",
        "-fPIC",
        "-shared",
        "-s",
        "-ffp-contract=off",
        "-fvisibility=hidden",
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-rtlib=none",  # runtimes of zig that nothing here needs take it seconds to compile
    ]
    given = [f"-D{name}={value}" for name, value in defines.items()]
    command = [sys.executable, "-m", "ziglang", "cc", *flags, *given, "-o", str(out), str(HERE / source), *options]
    subprocess.run(command, check=True, env=environment)
    return out.read_bytes()


@cache
def library(folder: Path, channels: int, guid: str) -> bytes:
    """Return the compiled library of `lag.c`."""
    return compiled(folder, "lag.c", CHANNELS=str(channels), GUID=f'"{guid}"')


def description(channels: int = 1, guid: str = "lag", unit: str | None = "m") -> str:
    """Return the modelDescription.xml of the lag."""
    given = f' unit="{unit}"' if unit else ""
    lines: list[tuple[str, str, int, str, str]] = []
    for i in range(channels):
        lines.append((f"u[{i + 1}]", "input", i, "continuous", f'<Real start="0"{given}/>'))
    for i in range(channels):
        lines.append((f"y[{i + 1}]", "output", channels + i, "continuous", f"<Real{given}/>"))
    lines += [
        ("gain", "parameter", 2 * channels, "fixed", '<Real start="1" min="0" max="1000"/>'),
        ("nan_time", "parameter", 2 * channels + 1, "fixed", '<Real start="1e300"/>'),
        ("fail.time", "parameter", 2 * channels + 2, "fixed", '<Real start="0"/>'),
        ("feed", "parameter", 2 * channels + 3, "fixed", '<Real start="0"/>'),
        ("bias", "parameter", 2 * channels + 4, "fixed", '<Real start="0"/>'),
        ("through", "output", 2 * channels + 5, "continuous", f"<Real{given}/>"),
        ("count_in", "input", 0, "discrete", '<Integer start="0"/>'),
        ("count", "output", 1, "discrete", "<Integer/>"),
        ("fail.function", "parameter", 2, "fixed", '<Integer start="0"/>'),
        ("fail.status", "parameter", 3, "fixed", '<Integer start="0"/>'),
        ("enable", "input", 0, "discrete", '<Boolean start="true"/>'),
        ("high", "output", 1, "discrete", "<Boolean/>"),
        ("label", "parameter", 0, "fixed", '<String start=""/>'),
        ("text_in", "input", 1, "discrete", '<String start=""/>'),
        ("text", "output", 2, "discrete", "<String/>"),
    ]
    variables = "\n".join(
        f'<ScalarVariable name="{name}" valueReference="{reference}" causality="{causality}" '
        f'variability="{variability}"'
        + (' initial="calculated"' if causality == "output" else "")
        + f">{kind}</ScalarVariable>"
        for name, causality, reference, variability, kind in lines
    )
    unknowns = "".join(
        f'<Unknown index="{i}" dependencies="{"1" if line[0] == "through" else ""}"/>'
        for i, line in enumerate(lines, start=1)
        if line[1] == "output"
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Lag" guid="{guid}" description="first-order lags"
    variableNamingConvention="structured">
<CoSimulation modelIdentifier="Lag" canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true"
    canSerializeFMUstate="true"/>
<UnitDefinitions>
<Unit name="m"><BaseUnit m="1"/></Unit><Unit name="mm"><BaseUnit m="1" factor="0.001"/></Unit>
<Unit name="N"><BaseUnit kg="1" m="1" s="-2"/></Unit>
</UnitDefinitions>
<DefaultExperiment startTime="0" stopTime="1" stepSize="0.01"/>
<ModelVariables>
{variables}
</ModelVariables>
<ModelStructure><Outputs>{unknowns}</Outputs><InitialUnknowns>{unknowns}</InitialUnknowns></ModelStructure>
</fmiModelDescription>
"""


def build(
    folder: Path,
    name: str = "Lag",
    *,
    channels: int = 1,
    unit: str | None = "m",
    guid: str = "lag",
    library_guid: str | None = None,
    platform: str | None = None,
    identifier: str = "Lag",
    xml: str | None = None,
) -> Path:
    """Write `<folder>/<name>.fmu`; the options make an FMU whose description does not fit its library."""
    file = folder / f"{name}.fmu"
    binary = f"binaries/{platform or this_platform()}/{library_name(identifier)}"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", xml or description(channels, guid, unit))
        archive.writestr(binary, library(folder, channels, library_guid or guid))
    return file
