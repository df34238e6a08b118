"""SSP 1.0 documents as plain data.

Defaults are those of the standard. XML that this package does not interpret (annotations, documents of types that the
standard does not define) is kept as text. All objects compare by value: a document that is written and read back is
equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Literal

from dockfmu.base.units import Unit
from dockfmu.master.errors import MasterError
from dockfmu.master.fmi.archive import Budget, parse_xml

ConnectorKind = Literal["input", "output", "parameter", "calculatedParameter", "inout"]
VariableType = Literal["Real", "Integer", "Boolean", "String", "Enumeration", "Binary"]
Value = float | int | bool | str

Base = Literal["SSD", "component"]

FMU_TYPE = "application/x-fmu-sharedlibrary"
PACKAGE_TYPE = "application/x-ssp-package"
DEFINITION_TYPE = "application/x-ssp-definition"
SSV_TYPE = "application/x-ssp-parameter-set"
SSM_TYPE = "application/x-ssp-parameter-mapping"
SSB_TYPE = "application/x-ssp-signal-dictionary"
DESCRIPTION = "SystemStructure.ssd"
TEXT_NAMESPACE = "https://dockfmu.org/ssp/text"


class SspError(MasterError):
    """A system structure package is damaged, invalid, or of a kind that cannot be run."""


@dataclass
class Annotation:
    """An annotation; `content` is the XML of its one child element, empty without one."""

    type: str
    content: str = ""

    @classmethod
    def of_text(cls, type: str, text: str) -> Annotation:
        """Return an annotation that holds plain text, in an element of our own namespace."""
        return cls(type, f'<text xmlns="{TEXT_NAMESPACE}">{escape(text, quote=False)}</text>')

    @property
    def text(self) -> str:
        """The text of the content, without tags."""
        return "".join(map(str, parse_xml(self.content.encode(), self.type).itertext())) if self.content else ""


@dataclass(kw_only=True)
class Described:
    """Base of objects that may have an `id`, unique in its document, and a description for readers."""

    id: str | None = None
    description: str | None = None


@dataclass(kw_only=True)
class Annotated(Described):
    """Base of objects that may also have annotations."""

    annotations: list[Annotation] = field(default_factory=list)


@dataclass
class Enumeration(Annotated):
    """An enumeration with items (name, number)."""

    name: str
    items: tuple[tuple[str, int], ...]


@dataclass
class UnitDefinition(Annotated):
    """A unit that the document defines by SI base units."""

    unit: Unit


@dataclass
class Metadata:
    """Optional attributes of the top-level elements."""

    author: str | None = None
    fileversion: str | None = None
    copyright: str | None = None
    license: str | None = None
    generation_tool: str | None = None
    generation_time: str | None = None


@dataclass
class LinearTransformation:
    """Transformation of a Real: target = factor * source + offset, after the conversion of units."""

    factor: float = 1.0
    offset: float = 0.0


@dataclass
class MappingTable:
    """Transformation of other types: (source value, target value) for each value that changes."""

    type: Literal["Boolean", "Integer", "Enumeration"]
    entries: tuple[tuple[Value, Value], ...]


Transformation = LinearTransformation | MappingTable


@dataclass
class Connector(Annotated):
    """A connector; if `type` is None, the component determines it. `enumeration` names one of the description."""

    name: str
    kind: ConnectorKind
    type: VariableType | None = None
    unit: str | None = None
    enumeration: str | None = None
    mime_type: str | None = None
    position: tuple[float, float] | None = None

    @property
    def gives(self) -> bool:
        """Whether values leave the element here; for the kind inout this is False, although they may."""
        return self.kind in ("output", "calculatedParameter")


@dataclass
class SsdConnection(Annotated):
    """A connection of two connectors of a system or its elements (element None: of the system itself).

    Which end is the source follows from the kinds of the connectors, not from start and end.
    """

    start_element: str | None
    start_connector: str
    end_element: str | None
    end_connector: str
    transformation: Transformation | None = None
    suppress_unit_conversion: bool = False
    waypoints: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    @property
    def ends(self) -> tuple[tuple[str | None, str], tuple[str | None, str]]:
        """The (element, connector) of start and end; None, also for an empty name, is the system itself."""
        return (self.start_element or None, self.start_connector), (self.end_element or None, self.end_connector)

    def __str__(self) -> str:
        """Return both ends, as messages name the connection."""
        return " - ".join(name if element is None else f"{element}.{name}" for element, name in self.ends)


@dataclass
class SsvParameter(Annotated):
    """A value of an SSV; an Enumeration has the name of an item, a Binary has hexadecimal digits."""

    name: str
    type: VariableType
    value: Value
    unit: str | None = None
    enumeration: str | None = None
    mime_type: str | None = None


@dataclass(kw_only=True)
class Document(Annotated):
    """Base of SSV, SSM and SSB documents, which may also be inside a description."""

    version: str = "1.0"
    metadata: Metadata = field(default_factory=Metadata)


@dataclass
class SsvParameterSet(Document):
    """An SSV document."""

    name: str
    parameters: list[SsvParameter] = field(default_factory=list)
    enumerations: list[Enumeration] = field(default_factory=list)
    units: list[UnitDefinition] = field(default_factory=list)


@dataclass
class MappingEntry(Annotated):
    """One parameter `source` mapped to the name `target`; several entries may have one source."""

    source: str
    target: str
    transformation: Transformation | None = None
    suppress_unit_conversion: bool = False


@dataclass
class ParameterMapping(Document):
    """An SSM document."""

    entries: list[MappingEntry] = field(default_factory=list)


@dataclass
class DictionaryEntry(Annotated):
    """A signal; its fields are those of a Connector."""

    name: str
    type: VariableType
    unit: str | None = None
    enumeration: str | None = None
    mime_type: str | None = None


@dataclass
class SignalDictionary(Document):
    """An SSB document."""

    entries: list[DictionaryEntry] = field(default_factory=list)
    enumerations: list[Enumeration] = field(default_factory=list)
    units: list[UnitDefinition] = field(default_factory=list)


@dataclass
class BoundMapping(Described):
    """A parameter mapping of a binding.

    `source` names an SSM of the package, or of the component if `source_base` says so; otherwise `mapping` holds it.
    `content` is the XML of a mapping of a type that the standard does not define.
    """

    source: str | None = None
    mapping: ParameterMapping | None = None
    source_base: Base = "SSD"
    type: str = SSM_TYPE
    content: tuple[str, ...] = ()


@dataclass
class ParameterBinding(Annotated):
    """Values for an element: `source` names an SSV of the package or the component; otherwise `values` holds them.

    `content` is the XML of values of a type that the standard does not define.
    """

    source: str | None = None
    values: SsvParameterSet | None = None
    prefix: str = ""
    mapping: BoundMapping | None = None
    source_base: Base = "SSD"
    type: str = SSV_TYPE
    content: tuple[str, ...] = ()

    def names(self, parameter: SsvParameter) -> list[tuple[str, MappingEntry | None]]:
        """Return the names that the binding gives a parameter, each with its entry of the mapping, if there is one."""
        name = self.prefix + parameter.name
        if self.mapping is None or self.mapping.mapping is None:
            return [(name, None)]
        return [(entry.target, entry) for entry in self.mapping.mapping.entries if entry.source == name]


@dataclass
class BoundDictionary(Described):
    """A signal dictionary of a system: `source` names an SSB of the package; otherwise `dictionary` holds it.

    `content` is the XML of a dictionary of a type that the standard does not define.
    """

    name: str
    source: str | None = None
    dictionary: SignalDictionary | None = None
    type: str = SSB_TYPE
    content: tuple[str, ...] = ()


@dataclass
class Geometry:
    """Position of an element in the diagram of its system: lower left (x1, y1) and upper right (x2, y2) corners."""

    x1: float
    y1: float
    x2: float
    y2: float
    rotation: float = 0.0
    icon_source: str | None = None
    icon_rotation: float = 0.0
    icon_flip: bool = False
    icon_fixed_aspect_ratio: bool = False


@dataclass
class Note:
    """A text in the diagram."""

    x1: float
    y1: float
    x2: float
    y2: float
    text: str


@dataclass(kw_only=True)
class Common(Annotated):
    """Base of all elements of a system, and of systems."""

    connectors: list[Connector] = field(default_factory=list)
    bindings: list[ParameterBinding] = field(default_factory=list)
    geometry: Geometry | None = None


@dataclass
class SsdComponent(Common):
    """A component; `source` is the URI of its FMU in the package or, by `type`, of a package or description."""

    name: str
    source: str
    type: str = FMU_TYPE
    implementation: Literal["any", "CoSimulation", "ModelExchange"] = "any"


@dataclass
class DictionaryReference(Common):
    """A signal dictionary used as an element: all references to one dictionary carry the same signals."""

    name: str
    dictionary: str


@dataclass
class SsdSystem(Common):
    """A system; `diagram` is the extent of its canvas: x1, y1 (lower left), x2, y2 (upper right)."""

    name: str
    elements: list[SsdComponent | SsdSystem | DictionaryReference] = field(default_factory=list)
    connections: list[SsdConnection] = field(default_factory=list)
    dictionaries: list[BoundDictionary] = field(default_factory=list)
    diagram: tuple[float, float, float, float] | None = None
    notes: list[Note] = field(default_factory=list)

    def element(self, name: str) -> SsdComponent | SsdSystem | DictionaryReference | None:
        """Return the element called `name`, or None."""
        return next((element for element in self.elements if element.name == name), None)


SsdElement = SsdComponent | SsdSystem | DictionaryReference


@dataclass
class StructureDescription(Annotated):
    """An SSD document."""

    name: str
    system: SsdSystem
    version: str = "1.0"
    enumerations: list[Enumeration] = field(default_factory=list)
    units: list[UnitDefinition] = field(default_factory=list)
    start_time: float | None = None
    stop_time: float | None = None
    experiment_annotations: list[Annotation] = field(default_factory=list)
    metadata: Metadata = field(default_factory=Metadata)

    def annotation(self, type: str) -> Annotation | None:
        """Return the first annotation of this type, of the description or of its system, or None."""
        return next((a for a in [*self.annotations, *self.system.annotations] if a.type == type), None)


@dataclass
class Ssp:
    """A package: its description, its other documents by path, and all other files by path.

    `variants` are further descriptions. `packages` are the contents of those packages among `resources` to which a
    description refers, as read; writing uses the file. `budget` is what has been unpacked for all of them.
    """

    description: StructureDescription
    parameter_sets: dict[str, SsvParameterSet] = field(default_factory=dict)
    mappings: dict[str, ParameterMapping] = field(default_factory=dict)
    dictionaries: dict[str, SignalDictionary] = field(default_factory=dict)
    variants: dict[str, StructureDescription] = field(default_factory=dict)
    resources: dict[str, Path] = field(default_factory=dict)
    packages: dict[str, Ssp] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)
