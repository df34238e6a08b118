"""Tables of the outputs that are taken as straight lines over a macro step."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from master.algorithms.algorithm import Scheme
from master.calls import Calls
from master.errors import StructureError
from master.loop.tables import NOWHERE, Prediction
from master.system import System

if TYPE_CHECKING:
    from master.coupling import Coupling


def rates_of(system: System, scheme: Scheme) -> dict[str, str]:
    """The outputs that are derivatives of the outputs which predicted instances get: {output: its derivative}.

    Raises StructureError for rates of the scheme that are no outputs.
    """
    found = {}
    for source in {(c.source, c.output) for c in system.connections if c.target in scheme.predicted}:
        element, output = source
        for variable in system.description(element).variables.values():
            if variable.derivative == output and variable.causality == "output":
                found[f"{element}.{output}"] = f"{element}.{variable.name}"
    for output, rate in scheme.rates.items():
        for name in (output, rate):
            _, variable = system.resolve(name)
            if (variable.causality, variable.storage) != ("output", "Real"):
                raise StructureError([f"rates: {name} is no Real output"])
        found[output] = rate
    return found


def prediction_tables(coupling: Coupling) -> Prediction:
    """Empty where all inputs are held."""
    scheme, system = coupling.scheme, coupling.system
    used = bool(scheme.predicted)
    outputs, inputs = (len(coupling.real), len(coupling.inputs.real)) if used else (0, 0)
    steps = {f"{c.source}.{c.output}" for c in system.connections if c.mean}
    rate = np.full(outputs, NOWHERE)
    smooth = np.zeros(outputs, np.uint8)
    for k, name in enumerate(coupling.real_names if used else ()):
        smooth[k] = name not in steps and system.resolve(name)[1].variability == "continuous"
        if smooth[k] and name in coupling.rates:
            rate[k] = coupling.real[coupling.rates[name]]
    u_slope = np.zeros(inputs)
    calls = _slope_calls(coupling, u_slope)
    return Prediction(
        predicted=np.array([name in scheme.predicted for name in coupling.order if used], np.uint8),
        smooth=smooth,
        rate=rate,
        start=np.zeros(outputs),
        slope=np.zeros(outputs),
        u_slope=u_slope,
        slope_calls=calls.table(),
        slope_range=np.array(calls.range, np.uint64),
        orders=np.ones(max(inputs, 1), np.int32),
    )


def _slope_calls(coupling: Coupling, u_slope: np.ndarray) -> Calls:
    """The calls that hand the slopes of continuous inputs to the instances that take them."""
    calls, k = Calls(), 0
    for instance in coupling.instances:
        found = coupling.inputs.connections[instance.name]["Real"]
        taken = instance.name in coupling.scheme.predicted and instance.description.can_interpolate_inputs
        variables = [instance.variable(connection.input) for connection in found if taken and coupling.scheme.slopes]
        # one call for each run of neighbours
        for continuous, run in groupby(enumerate(variables), lambda pair: pair[1].variability == "continuous"):
            members = list(run)
            if continuous:
                references = [variable.reference for _, variable in members]
                address = u_slope.ctypes.data + 8 * (k + members[0][0])
                calls.add(instance, "fmi2SetRealInputDerivatives", references, address)
        k += len(found)
        calls.close()
    coupling.keep(calls.kept)
    return calls
