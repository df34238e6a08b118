"""Tables of the instances that have a rate of their own."""

from __future__ import annotations

import numpy as np

from master.loop.tables import Pace
from master.tables.layout import Layout


def pace_tables(layout: Layout) -> Pace:
    """Return the table of rates, empty where all instances step once in a macro step."""
    elements = [layout.system.elements[name] for name in layout.order]
    used = any((element.substeps, element.every) != (1, 1) for element in elements)
    instances, inputs, outputs = (
        (len(elements), len(layout.inputs.real), len(layout.outputs.real)) if used else (0, 0, 0)
    )  # fmt: skip
    means = {f"{c.source}.{c.output}" for c in layout.system.connections if c.mean}
    owners = {c.source for c in layout.system.connections if c.mean}
    return Pace(
        substeps=np.array([element.substeps for element in elements if used], np.int64),
        every=np.array([element.every for element in elements if used], np.int64),
        waited=np.zeros(instances, np.int64),
        begun=np.zeros(instances),
        u_sum=np.zeros(inputs),
        averaged=np.array([name in owners for name in layout.order if used], np.uint8),
        mean=np.array([name in means for name in layout.outputs.real if used], np.uint8),
        y_sum=np.zeros(outputs),
    )
