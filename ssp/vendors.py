"""The macro step, for which the standard has no place, as libcosim and OMSimulator write and read it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from master.fmi.archive import parse_xml
from ssp.model import Annotation, StructureDescription

OPEN_SIMULATION_PLATFORM = "com.opensimulationplatform"
OMSIMULATOR = "org.openmodelica"
_OSP = "http://opensimulationplatform.com/SSP/OSPAnnotations"
_OMS = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"


def open_simulation_platform(step: float) -> Annotation:
    """For the default experiment: libcosim takes its step from it."""
    return Annotation(
        OPEN_SIMULATION_PLATFORM,
        f'<osp:Algorithm xmlns:osp="{_OSP}"><osp:FixedStepAlgorithm baseStepSize="{step!r}"></osp:FixedStepAlgorithm>'
        "</osp:Algorithm>",
    )


def omsimulator(step: float) -> Annotation:
    """For a system, its first one: OMSimulator refuses systems without."""
    return Annotation(
        OMSIMULATOR,
        f'<oms:Annotations xmlns:oms="{_OMS}"><oms:SimulationInformation>'
        f'<oms:FixedStepMaster absoluteTolerance="0.0001" description="oms-ma" relativeTolerance="0.0001" '
        f'stepSize="{step!r}"></oms:FixedStepMaster></oms:SimulationInformation></oms:Annotations>',
    )


def step(description: StructureDescription) -> float | None:
    """The macro step that a description of either tool asks for."""
    for annotation in [*description.experiment_annotations, *description.system.annotations]:
        for text in _attributes(annotation):
            with contextlib.suppress(ValueError):
                if 0.0 < float(text) < float("inf"):
                    return float(text)
    return None


def _attributes(annotation: Annotation) -> Iterator[str]:
    if annotation.type in (OPEN_SIMULATION_PLATFORM, OMSIMULATOR) and annotation.content:
        for element in parse_xml(annotation.content.encode(), annotation.type).iter():
            for key in ("baseStepSize", "stepSize"):
                if key in element.attrib:
                    yield str(element.attrib[key])
