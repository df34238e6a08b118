"""Build `arrays3.c` into an FMU of FMI 3.0."""

from __future__ import annotations

import zipfile
from pathlib import Path

from dockfmu.base.platforms import library_name, this_platform

WHOLE = ("Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Boolean", "Enumeration")
"""types of which there are an input and an output, in the order of their value references"""

BLOB = '<Binary name="blob" valueReference="70" causality="input"><Start value="00"/></Binary>'


def description(extra: str = "") -> str:
    """Return the modelDescription.xml; `extra` are additional variables."""
    rest = []
    for k, kind in enumerate(WHOLE):
        declared = ' declaredType="Mode"' if kind == "Enumeration" else ""
        start = {"Boolean": "false", "Enumeration": "1"}.get(kind, "0")
        rest.append(f'<{kind} name="{kind}.in" valueReference="{20 + k}" causality="input" start="{start}"{declared}/>')
        rest.append(f'<{kind} name="{kind}.out" valueReference="{40 + k}" causality="output"{declared}/>')
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Arrays" instantiationToken="arrays">
<CoSimulation modelIdentifier="Arrays" canHandleVariableCommunicationStepSize="true" canGetAndSetFMUState="true"
 canSerializeFMUState="true" providesDirectionalDerivatives="true" maxOutputDerivativeOrder="1"/>
<UnitDefinitions><Unit name="m"><BaseUnit m="1"/></Unit><Unit name="mm"><BaseUnit m="1" factor="0.001"/></Unit>
</UnitDefinitions>
<TypeDefinitions><Float64Type name="Length" unit="m" min="-100"/>
<EnumerationType name="Mode"><Item name="off" value="1"/><Item name="on" value="2"/></EnumerationType></TypeDefinitions>
<DefaultExperiment stopTime="1" stepSize="0.01"/>
<ModelVariables>
<Float64 name="time" valueReference="0" causality="independent"/>
<UInt64 name="n" valueReference="1" causality="structuralParameter" variability="fixed" start="3"/>
<Float64 name="u" valueReference="2" causality="input" declaredType="Length" start="0"><Dimension valueReference="1"/>
</Float64>
<Float64 name="y" valueReference="3" causality="output" declaredType="Length"><Dimension valueReference="1"/>
<Alias name="position" description="the same"/></Float64>
<Float64 name="through" valueReference="4" causality="output"><Dimension valueReference="1"/></Float64>
<Float64 name="matrix" valueReference="5" causality="parameter" start="1 2 3 4 5 6"><Dimension start="2"/>
<Dimension start="3"/></Float64>
<Float64 name="rows" valueReference="6" causality="output"><Dimension start="2"/></Float64>
<Float64 name="gain" valueReference="7" causality="parameter" variability="tunable" start="1"/>
<Float64 name="fault_time" valueReference="8" causality="parameter" start="1e300"/>
<Int32 name="fault" valueReference="9" causality="parameter" start="0"/>
<Float32 name="single.in" valueReference="10" causality="input" start="0"/>
<Float32 name="single.out" valueReference="11" causality="output"/>
<Int64 name="wide" valueReference="12" causality="local"/>
<Float64 name="bias" valueReference="13" causality="parameter" start="7 8 9"><Dimension valueReference="1"/></Float64>
{"".join(rest)}
<String name="label" valueReference="60" causality="parameter"><Start value="none"/></String>
<String name="echo" valueReference="61" causality="output"/>
<String name="names" valueReference="62" causality="parameter"><Dimension start="2"/><Start value="a"/>
<Start value="b"/></String>
<String name="joined" valueReference="63" causality="output"/>
{BLOB}
{extra}
</ModelVariables>
<ModelStructure><Output valueReference="3" dependencies=""/><Output valueReference="4" dependencies="2"/>
<InitialUnknown valueReference="3" dependencies=""/><InitialUnknown valueReference="4" dependencies="2"/>
</ModelStructure>
</fmiModelDescription>
"""


def build(folder: Path, library: bytes, name: str = "Arrays", xml: str | None = None) -> Path:
    """Write `<folder>/<name>.fmu`."""
    file = folder / f"{name}.fmu"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", xml or description())
        archive.writestr(f"binaries/{this_platform('3.0')}/{library_name('Arrays')}", library)
    return file
