"""Reading modelDescription.xml of FMI 2.0."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lxml import etree

from dockfmu.base.fmi import TYPES
from dockfmu.base.number_text import xml_boolean, xml_double, xml_integer, xml_list
from dockfmu.master.fmi.reader import Reader, integer
from dockfmu.master.fmi.variables import Description, Variable

_FLAGS = (
    "canHandleVariableCommunicationStepSize",
    "canGetAndSetFMUstate",
    "canSerializeFMUstate",
    "providesDirectionalDerivative",
    "canInterpolateInputs",
    "canBeInstantiatedOnlyOncePerProcess",
    "canRunAsynchronuously",  # as the standard spells it
    "needsExecutionTool",
)

_START: dict[str, Callable[[str], Any]] = {"Boolean": xml_boolean, "String": str}


class ReaderFmi2(Reader):
    """Reads a model description of FMI 2.0."""

    def read(self, file: Path, binaries: tuple[str, ...]) -> Description:
        """Return the model description."""
        root, simulation = self.root, self.simulation()
        flag = {name: self.value(simulation, name, xml_boolean, False) for name in _FLAGS}
        for definition in root.iterfind("TypeDefinitions/SimpleType"):
            if len(definition):
                self.add_type(definition, definition[0])
        scalars = root.findall("ModelVariables/ScalarVariable")
        names = [self.need(scalar, "name") for scalar in scalars]
        variables: dict[str, Variable] = {}
        for name, scalar in zip(names, scalars, strict=True):
            if name in variables:
                raise self.fail(scalar, "two variables have this name")
            variables[name] = self.variable(name, scalar, names)
        return Description(
            file=file,
            model_name=self.need(root, "modelName"),
            guid=self.need(root, "guid"),
            identifier=simulation.get("modelIdentifier", ""),
            description=root.get("description", ""),
            generation_tool=root.get("generationTool", ""),
            variables=variables,
            units=self.units(),
            experiment=self.experiment(root.find("DefaultExperiment")),
            can_vary_step=flag["canHandleVariableCommunicationStepSize"],
            can_get_and_set_state=flag["canGetAndSetFMUstate"],
            can_serialize_state=flag["canSerializeFMUstate"],
            can_provide_directional_derivatives=flag["providesDirectionalDerivative"],
            can_interpolate_inputs=flag["canInterpolateInputs"],
            max_output_derivative_order=self.value(simulation, "maxOutputDerivativeOrder", xml_integer, 0),
            only_one_per_process=flag["canBeInstantiatedOnlyOncePerProcess"],
            needs_execution_tool=flag["needsExecutionTool"],
            log_categories=self.log_categories(),
            outputs=self.unknowns("Outputs", names),
            derivatives=self.unknowns("Derivatives", names),
            initial_unknowns=self.unknowns("InitialUnknowns", names),
            binaries=binaries,
            can_run_asynchronously=flag["canRunAsynchronuously"],
        )

    def variable(self, name: str, scalar: etree._Element, names: list[str]) -> Variable:
        """Return a variable; `names` are those of all variables."""
        elements = [child for child in scalar if child.tag in TYPES]
        if len(elements) != 1:
            raise self.fail(scalar, f"needs exactly one element of {', '.join(TYPES)}")
        element = elements[0]
        kind = str(element.tag)
        base = self.base(element, kind)
        number = integer if kind in ("Integer", "Enumeration") else xml_double
        causality = self.causality(scalar)

        def attribute(key: str, convert: Callable[[str], Any]) -> Any:
            return self.inherited(element, base, key, convert)

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
            nominal=attribute("nominal", xml_double),
            description=scalar.get("description", ""),
            items=self.items(base),
            declared_type=element.get("declaredType", ""),
            relative=bool(attribute("relativeQuantity", xml_boolean)),
            derivative=self.value(element, "derivative", lambda index: self.name(element, names, xml_integer(index))),
        )

    def name(self, element: etree._Element, names: list[str], index: int) -> str:
        """Return the name of the variable with an index, counted from 1."""
        if not 1 <= index <= len(names):
            raise self.fail(element, f"index {index} is outside 1 to {len(names)}")
        return names[index - 1]

    def unknowns(self, group: str, names: list[str]) -> dict[str, tuple[str, ...] | None]:
        """Return the dependencies of the unknowns of a group of ModelStructure."""
        found: dict[str, tuple[str, ...] | None] = {}
        for unknown in self.root.iterfind(f"ModelStructure/{group}/Unknown"):
            indices = [self.value(unknown, "index", xml_integer, 0)]
            text = unknown.get("dependencies")
            if text is not None:
                indices += self.value(unknown, "dependencies", lambda text: xml_list(text, xml_integer))
            first, *others = (self.name(unknown, names, index) for index in indices)
            found[first] = tuple(others) if text is not None else None
        return found
