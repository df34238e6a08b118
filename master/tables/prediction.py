"""The table of the outputs that are predicted as straight lines over a macro step.

The slope of a line is, in order of preference, the output that is its derivative, the derivative that the FMU provides
(fmi2GetRealOutputDerivatives), or the increment over the last step.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np

from dockfmu.master.loop.tables import GET_OUTPUT_DERIVATIVES, NO_SLOT, SET_INPUT_DERIVATIVES, PredictionTable
from dockfmu.master.tables.calls import FmiCalls
from dockfmu.master.tables.layout import Layout


def prediction_table(layout: Layout) -> tuple[PredictionTable, list[np.ndarray]]:
    """Return the table of prediction, empty if all inputs are held, and the arrays whose addresses are in it."""
    scheme, system = layout.scheme, layout.system
    used = bool(scheme.predicted)
    outputs, inputs = (len(layout.outputs.real), len(layout.inputs.real)) if used else (0, 0)
    means = {f"{c.source}.{c.output}" for c in system.connections if c.mean}
    derivative = np.full(outputs, NO_SLOT)
    smooth = np.zeros(outputs, np.uint8)
    for k, name in enumerate(layout.outputs.real_names if used else ()):
        smooth[k] = name not in means and system.resolve(name)[1].variability == "continuous"
        if smooth[k] and name in layout.derivatives:
            derivative[k] = layout.outputs.real[layout.derivatives[name]]
    u_slope, received = np.zeros(inputs), np.zeros(outputs)
    sets = _input_derivative_calls(layout, u_slope)
    gets = _output_derivative_calls(layout, (smooth > 0) & (derivative == NO_SLOT), received)
    table = PredictionTable(
        predicted=np.array([name in scheme.predicted for name in layout.order if used], np.uint8),
        smooth=smooth,
        derivative=derivative,
        start=np.zeros(outputs),
        slope=np.zeros(outputs),
        u_slope=u_slope,
        set_calls=sets.table(),
        set_range=np.array(sets.range, np.uint64),
        get_calls=gets.table(),
        received=received,
        orders=np.ones(max(inputs, outputs, 1), np.int32),
    )
    return table, [*sets.buffers, *gets.buffers]


def _input_derivative_calls(layout: Layout, u_slope: np.ndarray) -> FmiCalls:
    """Return the calls that pass the slopes of continuous inputs to the instances that accept them."""
    calls, k = FmiCalls(SET_INPUT_DERIVATIVES), 0
    for i, instance in enumerate(layout.instances):
        found = layout.inputs.connections[instance.name]["Real"]
        accepts = instance.name in layout.scheme.predicted and instance.description.can_interpolate_inputs
        variables = [instance.variable(connection.input) for connection in found if accepts and layout.scheme.slopes]
        # one call for each run of adjacent variables
        for continuous, run in groupby(enumerate(variables), lambda pair: pair[1].variability == "continuous"):
            members = list(run)
            if continuous:
                references = [variable.reference for _, variable in members]
                address = u_slope.ctypes.data + 8 * (k + members[0][0])
                calls.add(instance, i, "fmi2SetRealInputDerivatives", references, address)
        k += len(found)
        calls.end_range()
    return calls


def _output_derivative_calls(layout: Layout, unknown: np.ndarray, received: np.ndarray) -> FmiCalls:
    """Return the calls that read the derivatives of the outputs connected to predicted instances into `received`.

    Only derivatives that are `unknown` otherwise are read, and only from instances that step in each macro step: those
    of others are out of date at the start of most macro steps.
    """
    calls, k = FmiCalls(GET_OUTPUT_DERIVATIVES), 0
    predicted, elements = layout.scheme.predicted, layout.system.elements
    used = {f"{c.source}.{c.output}" for c in layout.system.connections if c.target in predicted}
    for i, instance in enumerate(layout.instances):
        found = layout.outputs.real_of[instance.name]
        provides = instance.description.max_output_derivative_order > 0 and elements[instance.name].every == 1
        chosen = [
            slot
            for slot, name in enumerate(found)
            if provides and f"{instance.name}.{name}" in used and unknown[k + slot]
        ]
        # one call for each run of adjacent variables
        for _, run in groupby(enumerate(chosen), lambda pair: pair[1] - pair[0]):
            members = [slot for _, slot in run]
            references = [instance.variable(found[slot]).reference for slot in members]
            first = k + members[0]
            calls.add(instance, i, "fmi2GetRealOutputDerivatives", references, received.ctypes.data + 8 * first, first)
        k += len(found)
    return calls
