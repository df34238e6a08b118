"""Reading modelDescription.xml of FMI 3.0."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from lxml import etree

from dockfmu.base.number_text import xml_boolean, xml_double, xml_integer, xml_list
from dockfmu.master.errors import DescriptionError
from dockfmu.master.fmi.reader import Reader
from dockfmu.master.fmi.variables import Array, Description, Variable

FLOATS = ("Float64", "Float32")
INTEGERS = ("Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Enumeration")
LARGEST = 1_000_000
"""Largest number of elements of all arrays of one FMU."""

_FLAGS = (
    "canHandleVariableCommunicationStepSize",
    "canGetAndSetFMUState",
    "canSerializeFMUState",
    "providesDirectionalDerivatives",
    "canBeInstantiatedOnlyOncePerProcess",
    "needsExecutionTool",
)


class ReaderFmi3(Reader):
    """Reads a model description of FMI 3.0; arrays become their elements.

    `structure` replaces the start values of structural parameters.
    """

    def __init__(self, where: str, root: etree._Element, structure: Mapping[str, int]) -> None:
        super().__init__(where, root)
        self.structure = structure
        self.variables: dict[str, Variable] = {}
        self.arrays: list[Array] = []
        self.elements: dict[int, tuple[str, ...]] = {}
        """Maps a value reference to the names of the elements of its variable."""
        self.left_out: dict[str, str] = {}
        self.count = 0
        self.derivatives: list[tuple[Array, int]] = []
        """Arrays that are derivatives, with the value references of their states."""

    def read(self, file: Path, binaries: tuple[str, ...]) -> Description:
        """Return the model description."""
        root, simulation = self.root, self.simulation()
        flag = {name: self.value(simulation, name, xml_boolean, False) for name in _FLAGS}
        # the element of a type definition is named after the type of its variables, with "Type" appended
        for definition in root.iterfind("TypeDefinitions/*"):
            definition.tag = str(definition.tag).removesuffix("Type")
            self.add_type(definition, definition)
        found = root.find("ModelVariables")
        variables = list(found) if found is not None else []
        self.sizes = dict(self._structural_parameters(variables))
        for variable in variables:
            self.variable(variable)
        self.link_derivatives()
        return Description(
            file=file,
            model_name=self.need(root, "modelName"),
            guid=self.need(root, "instantiationToken"),
            identifier=simulation.get("modelIdentifier", ""),
            description=root.get("description", ""),
            generation_tool=root.get("generationTool", ""),
            variables=self.variables,
            units=self.units(),
            experiment=self.experiment(root.find("DefaultExperiment")),
            can_vary_step=flag["canHandleVariableCommunicationStepSize"],
            can_get_and_set_state=flag["canGetAndSetFMUState"],
            can_serialize_state=flag["canSerializeFMUState"],
            can_provide_directional_derivatives=flag["providesDirectionalDerivatives"],
            max_output_derivative_order=self.value(simulation, "maxOutputDerivativeOrder", xml_integer, 0),
            only_one_per_process=flag["canBeInstantiatedOnlyOncePerProcess"],
            needs_execution_tool=flag["needsExecutionTool"],
            log_categories=self.log_categories(),
            outputs=self.unknowns("Output"),
            initial_unknowns=self.unknowns("InitialUnknown"),
            binaries=binaries,
            fmi_version=self.need(root, "fmiVersion"),
            arrays=tuple(self.arrays),
            left_out=self.left_out,
            internal_step=self.value(simulation, "fixedInternalStepSize", xml_double),
        )

    def _structural_parameters(self, variables: Sequence[etree._Element]) -> Iterator[tuple[int, int]]:
        """Yield (value reference, value)."""
        for variable in variables:
            if variable.get("causality") == "structuralParameter":
                own = self.value(variable, "start", xml_integer, 0)
                yield self.reference(variable), self.structure.get(self.need(variable, "name"), own)

    def variable(self, element: etree._Element) -> None:
        """Add a variable with all its elements and aliases."""
        kind, name = str(element.tag), self.need(element, "name")
        if kind == "Clock":
            raise self.fail(element, "this master does not run FMUs with clocks")
        if kind == "Binary":
            self.left_out[name] = "it is a Binary variable, which this master does not support"
            return
        if kind not in (*FLOATS, *INTEGERS, "Boolean", "String"):
            raise self.fail(element, "is not of a type of FMI 3.0")
        shape = self.shape(element)
        size = 1
        for length in shape:
            size *= length
        if self.count + size > LARGEST:
            raise self.fail(element, f"brings the number of elements of arrays above {LARGEST}")
        starts = self.starts(element, kind, size)
        structural = element.get("causality") == "structuralParameter"
        array = Array(name, self.reference(element), kind, self.count, size, structural, starts)
        self.arrays.append(array)
        self.count += size
        self.elements[array.reference] = _element_names(name, shape)
        for alias in (element, *element.iterfind("Alias")):
            names = _element_names(self.need(alias, "name"), shape)
            for place, (label, start) in enumerate(zip(names, starts or [None] * size, strict=True)):
                if label in self.variables:
                    raise self.fail(alias, f"two variables have the name {label!r}")
                self.variables[label] = self.scalar(element, alias, label, array.first + place, start)
        state = self.value(element, "derivative", xml_integer)
        if state is not None:
            self.derivatives.append((array, state))

    def link_derivatives(self) -> None:
        """Set the name of the state in each variable that is a derivative."""
        for array, state in self.derivatives:
            names = self.elements[array.reference]
            for name, state_name in zip(names, self.elements.get(state, ()), strict=False):
                self.variables[name] = replace(self.variables[name], derivative=state_name)

    def scalar(self, element: etree._Element, alias: etree._Element, name: str, number: int, start: Any) -> Variable:
        """Return one element of an array, or a scalar variable."""
        kind, base, causality = str(element.tag), self.base(element, str(element.tag)), self.causality(element)

        def attribute(key: str, convert: Callable[[str], Any]) -> Any:
            return self.inherited(element, base, key, convert)

        fixed = causality in ("parameter", "calculatedParameter", "structuralParameter")
        settable = causality in ("parameter", "structuralParameter")
        usual = "fixed" if fixed else "continuous" if kind in FLOATS else "discrete"
        number_type = xml_double if kind in FLOATS else xml_integer
        return Variable(
            name=name,
            reference=number,
            type=_plain(kind),
            causality=causality,
            variability=element.get("variability", usual),
            initial=element.get("initial", "exact" if settable else None),
            start=start,
            unit=attribute("unit", str),
            display_unit=alias.get("displayUnit") or attribute("displayUnit", str),
            minimum=attribute("min", number_type),
            maximum=attribute("max", number_type),
            nominal=attribute("nominal", xml_double),
            description=alias.get("description") or element.get("description") or "",
            items=self.items(base) if kind == "Enumeration" else (),
            declared_type=element.get("declaredType", ""),
            relative=bool(attribute("relativeQuantity", xml_boolean)),
        )

    def shape(self, element: etree._Element) -> tuple[int, ...]:
        """Return the lengths of the dimensions of a variable."""
        lengths = []
        for dimension in element.iterfind("Dimension"):
            length = self.value(dimension, "start", xml_integer)
            if length is None:
                reference = self.value(dimension, "valueReference", xml_integer)
                if reference not in self.sizes:
                    raise self.fail(element, f"a dimension refers to {reference}, which is not a structural parameter")
                length = self.sizes[reference]
            # check each length: an array with a length of 0 is empty, however long its other dimensions are
            if not 0 <= length <= LARGEST:
                raise self.fail(element, f"a dimension of {length} elements; 0 to {LARGEST} are allowed")
            lengths.append(length)
        return tuple(lengths)

    def starts(self, element: etree._Element, kind: str, size: int) -> tuple[Any, ...]:
        """Return the start values of all elements, empty if the file has none for this size."""
        if kind == "String":
            values: tuple[Any, ...] = tuple(self.need(start, "value") for start in element.iterfind("Start"))
        else:
            convert = xml_double if kind in FLOATS else xml_boolean if kind == "Boolean" else xml_integer
            values = self.value(element, "start", lambda text: xml_list(text, convert), ())
        if kind in INTEGERS and (wrong := [value for value in values if not _fits(value, kind)]):
            raise self.fail(element, f"start = {wrong[0]} does not fit its type")
        if len(values) == 1:
            values *= size
        if values and len(values) != size and not self.structure:
            raise self.fail(element, f"has {len(values)} start values for {size} elements")
        return values if len(values) == size else ()

    def unknowns(self, group: str) -> dict[str, tuple[str, ...] | None]:
        """Return the dependencies of the unknowns of a group of ModelStructure."""
        found: dict[str, tuple[str, ...] | None] = {}
        for unknown in self.root.iterfind(f"ModelStructure/{group}"):
            names = self.names(unknown, self.reference(unknown))
            on: tuple[str, ...] | None = None
            if unknown.get("dependencies") is not None:
                references = self.value(unknown, "dependencies", lambda text: xml_list(text, xml_integer))
                on = tuple(name for reference in references for name in self.names(unknown, reference))
            found.update(dict.fromkeys(names, on))
        return found

    def names(self, unknown: etree._Element, reference: int) -> tuple[str, ...]:
        """Return the elements of a value reference in the model structure, none for variables that were left out."""
        if reference in self.elements or self.left_out:
            return self.elements.get(reference, ())
        raise DescriptionError(
            f"{self.where}, line {unknown.sourceline}, {unknown.tag}: no variable has the value reference {reference}"
        )


def _plain(kind: str) -> str:
    """Return the type of FMI 2.0 that represents a type of FMI 3.0 in the master."""
    if kind in ("Boolean", "String", "Enumeration"):
        return kind
    return "Real" if kind in FLOATS else "Integer"


def _fits(value: int, kind: str) -> bool:
    """Return whether a type of FMI 3.0 can hold an integer; enumerations are Int64."""
    bits = int(re.sub(r"\D", "", kind) or 64)
    return 0 <= value < 2**bits if kind.startswith("U") else -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)


def _element_names(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return `name` itself for a scalar, else `name[1,1]`, `name[1,2]`, ..."""
    if not shape:
        return (name,)
    places = product(*(range(1, length + 1) for length in shape))
    return tuple(f"{name}[{','.join(map(str, place))}]" for place in places)
