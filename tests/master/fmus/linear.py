"""Describe `linear.c` and build FMUs of it with the requested capabilities."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from dockfmu.base.platforms import library_name, this_platform

_PARAMETERS = (
    "period",
    "window",
    *(f"x[{i}]" for i in (1, 2, 3)),
    *(f"a[{i},{j}]" for i in (1, 2, 3) for j in (1, 2, 3)),
    *(f"b[{i}]" for i in (1, 2, 3)),
    *(f"c[{i}]" for i in (1, 2, 3)),
    *(f"o[{i},{j}]" for i in (1, 2) for j in (1, 2, 3)),
)


def description(*, goes_back: bool, interpolates: bool, output_derivatives: int, states: bool = False) -> str:
    """Return the modelDescription.xml; with `states`, x and x' are declared as continuous states and derivatives."""

    def variable(name: str, reference: int, causality: str, variability: str, kind: str) -> str:
        initial = ""
        if causality in ("output", "local"):
            initial = f' initial="{"exact" if "start" in kind else "calculated"}"'
        return (
            f'<ScalarVariable name="{name}" valueReference="{reference}" causality="{causality}" '
            f'variability="{variability}"{initial}>{kind}</ScalarVariable>'
        )

    start = {"window": "1e-9"}
    variables = [
        variable("u", 0, "input", "continuous", '<Real start="0"/>'),
        variable("y[1]", 1, "output", "continuous", "<Real/>"),
        variable("y[2]", 2, "output", "continuous", "<Real/>"),
        variable("slope", 3, "local", "continuous", "<Real/>"),
        *(
            variable(
                name,
                k,
                *(("local", "continuous") if states and name.startswith("x") else ("parameter", "fixed")),
                f'<Real start="{start.get(name, "0")}"/>',
            )
            for k, name in enumerate(_PARAMETERS, start=4)
        ),
        variable("steps", 0, "local", "discrete", "<Integer/>"),
        variable("discarded", 1, "local", "discrete", "<Integer/>"),
        variable("fails", 2, "parameter", "fixed", '<Integer start="0"/>'),
        variable("status", 3, "parameter", "fixed", '<Integer start="0"/>'),
        variable("tells", 0, "parameter", "fixed", '<Boolean start="true"/>'),
    ]
    rates = ""
    if states:
        indices = {re.search('name="([^"]+)"', text)[1]: k for k, text in enumerate(variables, start=1)}
        for i in (1, 2, 3):
            kind = f'<Real derivative="{indices[f"x[{i}]"]}"/>'
            variables.append(variable(f"der(x[{i}])", 29 + i, "local", "continuous", kind))
            rates += f'<Unknown index="{len(variables)}"/>'
        rates = f"<Derivatives>{rates}</Derivatives>"
    flags = {
        "canHandleVariableCommunicationStepSize": "true",
        "canGetAndSetFMUstate": str(goes_back).lower(),
        "canInterpolateInputs": str(interpolates).lower(),
        "maxOutputDerivativeOrder": str(output_derivatives),
        "providesDirectionalDerivative": str(states).lower(),
    }
    unknowns = '<Unknown index="2" dependencies=""/><Unknown index="3" dependencies=""/>'
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Linear" guid="linear" variableNamingConvention="structured">
<CoSimulation modelIdentifier="Linear" {" ".join(f'{name}="{value}"' for name, value in flags.items())}/>
<ModelVariables>
{chr(10).join(variables)}
</ModelVariables>
<ModelStructure><Outputs>{unknowns}</Outputs>{rates}<InitialUnknowns>{unknowns}</InitialUnknowns></ModelStructure>
</fmiModelDescription>
"""


def build(
    folder: Path,
    library: bytes,
    name: str = "Linear",
    *,
    goes_back: bool = True,
    interpolates: bool = True,
    output_derivatives: int = 1,
    states: bool = False,
) -> Path:
    """Write `<folder>/<name>.fmu`."""
    file = folder / f"{name}.fmu"
    xml = description(
        goes_back=goes_back, interpolates=interpolates, output_derivatives=output_derivatives, states=states
    )
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", xml)
        archive.writestr(f"binaries/{this_platform()}/{library_name('Linear')}", library)
    return file


def ramp(*, period: float = 0.0, slope: float = 1.0) -> dict[str, float]:
    """Parameters of y[1]' = slope, with its sign changed at each multiple of `period`."""
    return {"c[1]": slope, "period": period, "o[1,1]": 1.0}


def integral() -> dict[str, float]:
    """Parameters of y[1]' = u."""
    return {"b[1]": 1.0, "o[1,1]": 1.0}


def sine(frequency: float) -> dict[str, float]:
    """Parameters of y[1] = sin(frequency t)."""
    return {"a[1,2]": frequency, "a[2,1]": -frequency, "x[2]": 1.0, "o[1,1]": 1.0}
