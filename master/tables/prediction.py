"""Tables of the outputs that are taken as straight lines over a macro step.

The slope of a line is, as far as they can be had, that of the output which is the derivative, what the FMU itself gives
as the derivative, or the last increment.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np

from master.loop.tables import NOWHERE, RATE, SLOPE, Prediction
from master.tables.calls import Calls
from master.tables.layout import Layout


def prediction_tables(layout: Layout) -> tuple[Prediction, list[np.ndarray]]:
    """Return the table of prediction, empty where all inputs are held, and the arrays whose addresses stand in it."""
    scheme, system = layout.scheme, layout.system
    used = bool(scheme.predicted)
    outputs, inputs = (len(layout.outputs.real), len(layout.inputs.real)) if used else (0, 0)
    steps = {f"{c.source}.{c.output}" for c in system.connections if c.mean}
    rate = np.full(outputs, NOWHERE)
    smooth = np.zeros(outputs, np.uint8)
    for k, name in enumerate(layout.outputs.real_names if used else ()):
        smooth[k] = name not in steps and system.resolve(name)[1].variability == "continuous"
        if smooth[k] and name in layout.rates:
            rate[k] = layout.outputs.real[layout.rates[name]]
    u_slope, told = np.zeros(inputs), np.zeros(outputs)
    calls, rates = _slope_calls(layout, u_slope), _rate_calls(layout, (smooth > 0) & (rate == NOWHERE), told)
    table = Prediction(
        predicted=np.array([name in scheme.predicted for name in layout.order if used], np.uint8),
        smooth=smooth,
        rate=rate,
        start=np.zeros(outputs),
        slope=np.zeros(outputs),
        u_slope=u_slope,
        slope_calls=calls.table(),
        slope_range=np.array(calls.range, np.uint64),
        rate_calls=rates.table(),
        told=told,
        orders=np.ones(max(inputs, outputs, 1), np.int32),
    )
    return table, [*calls.kept, *rates.kept]


def _slope_calls(layout: Layout, u_slope: np.ndarray) -> Calls:
    """The calls that hand the slopes of continuous inputs to the instances that take them."""
    calls, k = Calls(SLOPE), 0
    for i, instance in enumerate(layout.instances):
        found = layout.inputs.connections[instance.name]["Real"]
        taken = instance.name in layout.scheme.predicted and instance.description.can_interpolate_inputs
        variables = [instance.variable(connection.input) for connection in found if taken and layout.scheme.slopes]
        # one call for each run of neighbours
        for continuous, run in groupby(enumerate(variables), lambda pair: pair[1].variability == "continuous"):
            members = list(run)
            if continuous:
                references = [variable.reference for _, variable in members]
                address = u_slope.ctypes.data + 8 * (k + members[0][0])
                calls.add(instance, i, "fmi2SetRealInputDerivatives", references, address)
        k += len(found)
        calls.close()
    return calls


def _rate_calls(layout: Layout, unknown: np.ndarray, told: np.ndarray) -> Calls:
    """The calls for the derivatives of the outputs that predicted instances get, into `told`.

    Only the outputs that are `unknown` otherwise are asked for, and of instances that step in each macro step: others
    are old at the start of most.
    """
    calls, k = Calls(RATE), 0
    predicted, elements = layout.scheme.predicted, layout.system.elements
    wanted = {f"{c.source}.{c.output}" for c in layout.system.connections if c.target in predicted}
    for i, instance in enumerate(layout.instances):
        found = layout.outputs.of[instance.name]["Real"]
        asks = instance.description.max_output_derivative_order > 0 and elements[instance.name].every == 1
        chosen = [
            place
            for place, name in enumerate(found)
            if asks and f"{instance.name}.{name}" in wanted and unknown[k + place]
        ]
        # one call for each run of neighbours
        for _, run in groupby(enumerate(chosen), lambda pair: pair[1] - pair[0]):
            members = [place for _, place in run]
            references = [instance.variable(found[place]).reference for place in members]
            first = k + members[0]
            calls.add(instance, i, "fmi2GetRealOutputDerivatives", references, told.ctypes.data + 8 * first, first)
        k += len(found)
    return calls
