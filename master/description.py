"""Reading modelDescription.xml of FMI 2.0 into plain data."""

from __future__ import annotations

import platform
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lxml import etree

from master import archive
from master.errors import DescriptionError
from master.units import BASES, Unit

TYPES = ("Real", "Integer", "Boolean", "String", "Enumeration")
CAUSALITIES = ("parameter", "calculatedParameter", "input", "output", "local", "independent")
FILE = "modelDescription.xml"


@dataclass(frozen=True)
class Variable:
    """One scalar variable. `start`, `minimum`, `maximum`, `nominal` have the type of the variable or are None."""

    name: str
    reference: int
    type: str
    causality: str = "local"
    variability: str = "continuous"
    initial: str | None = None
    start: Any = None
    unit: str | None = None
    display_unit: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    nominal: float | None = None
    description: str = ""
    items: tuple[tuple[str, int], ...] = ()
    """names and values of an enumeration"""
    declared_type: str = ""

    @property
    def storage(self) -> str:
        """The type whose functions get and set it: enumerations pass through fmi2GetInteger."""
        return "Integer" if self.type == "Enumeration" else self.type


@dataclass(frozen=True)
class Experiment:
    """Default experiment of a model or a system; None where nothing is said."""

    start: float | None = None
    stop: float | None = None
    tolerance: float | None = None
    step: float | None = None


@dataclass(frozen=True)
class Description:
    """An FMI 2.0 co-simulation model description.

    `outputs` and `initial_unknowns` map a variable to the names it depends on, None where the file does not say
    (then it may depend on all). `binaries` are the platforms in the archive.
    """

    file: Path
    model_name: str
    guid: str
    identifier: str
    description: str = ""
    generation_tool: str = ""
    variables: dict[str, Variable] = field(default_factory=dict)
    units: dict[str, Unit] = field(default_factory=dict)
    experiment: Experiment = Experiment()
    can_vary_step: bool = False
    can_get_and_set_state: bool = False
    can_serialize_state: bool = False
    can_provide_directional_derivatives: bool = False
    can_interpolate_inputs: bool = False
    max_output_derivative_order: int = 0
    only_one_per_process: bool = False
    needs_execution_tool: bool = False
    log_categories: tuple[str, ...] = ()
    outputs: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    initial_unknowns: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    binaries: tuple[str, ...] = ()

    def select(self, *causalities: str) -> list[Variable]:
        """Variables of the given causalities, in the order of the file."""
        return [variable for variable in self.variables.values() if variable.causality in causalities]

    def unit(self, variable: Variable) -> Unit | None:
        """The unit of a variable; one without exponents where the file uses a unit that it does not define."""
        return self.units.get(variable.unit, Unit(variable.unit)) if variable.unit else None


def this_platform() -> str:
    """Name that FMI 2.0 gives the platform of this process, e.g. `linux64`."""
    bits = 8 * struct.calcsize("P")
    system = {"win32": "win", "darwin": "darwin"}.get(sys.platform, "linux")
    machine = platform.machine().lower()
    if machine in ("arm64", "aarch64"):
        return f"aarch64-{system}"
    return f"{system}{bits}"


def library_name(identifier: str) -> str:
    """File name of the library of a model on this platform."""
    return identifier + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


def read_description(file: Path) -> Description:
    """The model description of an .fmu archive, of the folder of an unpacked one, or of an XML file.

    Raises DescriptionError for what is not an FMI 2.0 co-simulation model and for faults of the file; ArchiveError for
    faults of the archive.
    """
    file = Path(file)
    if file.is_dir():
        names = [path.relative_to(file).as_posix() for path in file.glob("binaries/*/*")]
        if not (file / FILE).is_file():
            raise DescriptionError(f"{file}: holds no {FILE}, so it is no FMU")
        data = (file / FILE).read_bytes()
    elif file.suffix.lower() == ".xml":
        names = []
        data = file.read_bytes()
    else:
        names = list(archive.members(file))
        if FILE not in names:
            raise DescriptionError(f"{file}: holds no {FILE}, so it is no FMU")
        data = archive.read_member(file, FILE)
    where = f"{file}, {FILE}"
    binaries = sorted({name.split("/")[1] for name in names if name.startswith("binaries/") and name.count("/") == 2})
    return _Reader(where, archive.parse_xml(data, where)).read(file, tuple(binaries))


class _Reader:
    """Turns one XML tree into a Description; every complaint names file, line and element."""

    def __init__(self, where: str, root: etree._Element) -> None:
        self.where = where
        self.root = root
        self.types: dict[str, etree._Element] = {}

    def fail(self, element: etree._Element, text: str) -> DescriptionError:
        name = element.get("name")
        named = f"{element.tag} {name!r}" if name else str(element.tag)
        return DescriptionError(f"{self.where}, line {element.sourceline}, {named}: {text}")

    def need(self, element: etree._Element, attribute: str) -> str:
        value = element.get(attribute)
        if value is None:
            raise self.fail(element, f"has no attribute {attribute}")
        return value

    def value(self, element: etree._Element, attribute: str, convert: Callable[[str], Any], default: Any = None) -> Any:
        text = element.get(attribute)
        if text is None:
            return default
        try:
            return convert(text)
        except ValueError:
            raise self.fail(element, f"{attribute} = {text!r} is no valid value") from None

    def read(self, file: Path, binaries: tuple[str, ...]) -> Description:
        root = self.root
        if root.tag != "fmiModelDescription":
            raise self.fail(root, "the root element of a model description is fmiModelDescription")
        version = self.need(root, "fmiVersion")
        if version != "2.0":
            raise DescriptionError(f"{self.where}: FMI {version}; this master runs FMI 2.0 co-simulation FMUs")
        simulation = root.find("CoSimulation")
        if simulation is None:
            raise DescriptionError(
                f"{self.where}: the FMU has no CoSimulation element"
                + (" but one for model exchange" if root.find("ModelExchange") is not None else "")
                + "; export it for co-simulation"
            )
        identifier = self.need(simulation, "modelIdentifier")
        if not identifier.isidentifier() or not identifier.isascii():
            raise self.fail(simulation, f"modelIdentifier {identifier!r} is no C identifier")
        flag = {name: self.value(simulation, name, _boolean, False) for name in _FLAGS}
        self.types = {self.need(t, "name"): t[0] for t in root.iterfind("TypeDefinitions/SimpleType") if len(t)}
        scalars = root.findall("ModelVariables/ScalarVariable")
        names = [self.need(scalar, "name") for scalar in scalars]
        variables: dict[str, Variable] = {}
        for name, scalar in zip(names, scalars, strict=True):
            if name in variables:
                raise self.fail(scalar, "two variables have this name")
            variables[name] = self.variable(name, scalar)
        return Description(
            file=file,
            model_name=self.need(root, "modelName"),
            guid=self.need(root, "guid"),
            identifier=identifier,
            description=root.get("description", ""),
            generation_tool=root.get("generationTool", ""),
            variables=variables,
            units={unit.name: unit for unit in map(self.unit, root.iterfind("UnitDefinitions/Unit"))},
            experiment=self.experiment(root.find("DefaultExperiment")),
            can_vary_step=flag["canHandleVariableCommunicationStepSize"],
            can_get_and_set_state=flag["canGetAndSetFMUstate"],
            can_serialize_state=flag["canSerializeFMUstate"],
            can_provide_directional_derivatives=flag["providesDirectionalDerivative"],
            can_interpolate_inputs=flag["canInterpolateInputs"],
            max_output_derivative_order=self.value(simulation, "maxOutputDerivativeOrder", int, 0),
            only_one_per_process=flag["canBeInstantiatedOnlyOncePerProcess"],
            needs_execution_tool=flag["needsExecutionTool"],
            log_categories=tuple(self.need(c, "name") for c in root.iterfind("LogCategories/Category")),
            outputs=self.unknowns("Outputs", names),
            initial_unknowns=self.unknowns("InitialUnknowns", names),
            binaries=binaries,
        )

    def variable(self, name: str, scalar: etree._Element) -> Variable:
        elements = [child for child in scalar if child.tag in TYPES]
        if len(elements) != 1:
            raise self.fail(scalar, f"needs exactly one element of {', '.join(TYPES)}")
        element = elements[0]
        kind = str(element.tag)
        causality = scalar.get("causality", "local")
        if causality not in CAUSALITIES:
            raise self.fail(scalar, f"causality {causality!r} is none of {', '.join(CAUSALITIES)}")
        declared = element.get("declaredType")
        if declared is not None and (declared not in self.types or self.types[declared].tag != kind):
            raise self.fail(scalar, f"declaredType {declared!r} is not among the {kind} types of the file")
        base = self.types[declared] if declared is not None else None
        items = base.findall("Item") if base is not None else []
        number = _integer if kind in ("Integer", "Enumeration") else float

        def attribute(key: str, convert: Callable[[str], Any]) -> Any:
            inherited = self.value(base, key, convert) if base is not None else None
            return self.value(element, key, convert, inherited)

        return Variable(
            name=name,
            reference=self.reference(scalar),
            type=kind,
            causality=causality,
            variability=scalar.get("variability", "continuous"),
            initial=scalar.get("initial"),
            start=self.value(element, "start", _START.get(kind, number)),
            unit=attribute("unit", str),
            display_unit=attribute("displayUnit", str),
            minimum=attribute("min", number),
            maximum=attribute("max", number),
            nominal=attribute("nominal", float),
            description=scalar.get("description", ""),
            items=tuple((self.need(item, "name"), self.value(item, "value", _integer, 0)) for item in items),
            declared_type=declared or "",
        )

    def reference(self, scalar: etree._Element) -> int:
        self.need(scalar, "valueReference")
        return self.value(scalar, "valueReference", _reference)

    def unit(self, element: etree._Element) -> Unit:
        base = element.find("BaseUnit")
        display = tuple(
            (self.need(entry, "name"), self.value(entry, "factor", float, 1.0), self.value(entry, "offset", float, 0.0))
            for entry in element.iterfind("DisplayUnit")
        )
        name = self.need(element, "name")
        if base is None:
            return Unit(name, display=display)
        factor = self.value(base, "factor", float, 1.0)
        if factor == 0.0:
            raise self.fail(element, "factor of the base unit is zero")
        exponents = tuple(self.value(base, key, _integer, 0) for key in BASES)
        return Unit(name, exponents, factor, self.value(base, "offset", float, 0.0), display)

    def experiment(self, element: etree._Element | None) -> Experiment:
        if element is None:
            return Experiment()
        keys = ("startTime", "stopTime", "tolerance", "stepSize")
        return Experiment(*(self.value(element, key, float) for key in keys))

    def unknowns(self, group: str, names: list[str]) -> dict[str, tuple[str, ...] | None]:
        found: dict[str, tuple[str, ...] | None] = {}
        for unknown in self.root.iterfind(f"ModelStructure/{group}/Unknown"):
            indices = [self.value(unknown, "index", int, 0)]
            text = unknown.get("dependencies")
            if text is not None:
                indices += self.value(unknown, "dependencies", lambda t: [int(word) for word in t.split()])
            for index in indices:
                if not 1 <= index <= len(names):
                    raise self.fail(unknown, f"in {group}: index {index} is outside 1 to {len(names)}")
            found[names[indices[0] - 1]] = tuple(names[i - 1] for i in indices[1:]) if text is not None else None
        return found


_FLAGS = (
    "canHandleVariableCommunicationStepSize",
    "canGetAndSetFMUstate",
    "canSerializeFMUstate",
    "providesDirectionalDerivative",
    "canInterpolateInputs",
    "canBeInstantiatedOnlyOncePerProcess",
    "needsExecutionTool",
)


def _boolean(text: str) -> bool:
    if text.strip() not in ("true", "false", "1", "0"):
        raise ValueError(text)
    return text.strip() in ("true", "1")


_START: dict[str, Callable[[str], Any]] = {"Boolean": _boolean, "String": str}


def _integer(text: str) -> int:
    value = int(text)
    if not -(2**31) <= value < 2**31:
        raise ValueError(text)
    return value


def _reference(text: str) -> int:
    value = int(text)
    if not 0 <= value < 2**32:
        raise ValueError(text)
    return value
