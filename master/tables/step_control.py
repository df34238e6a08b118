"""The table of macro steps of variable length: the estimate of their error, and what rollback needs."""

from __future__ import annotations

import numpy as np

from dockfmu.master.bond import Bond
from dockfmu.master.errors import StructureError
from dockfmu.master.loop import tables
from dockfmu.master.step_control import PowerBonds, StepControl, StepDoubling
from dockfmu.master.tables.iteration import scale_groups
from dockfmu.master.tables.layout import Layout

HISTORY = 8
"""Largest number of steps between two saved states; a rollback repeats all of them."""


def control_table(layout: Layout, control: StepControl | None) -> tables.ControlTable:
    """Return the table of step control, empty without `control`."""
    estimate = control.estimate if control is not None else None
    pairs = _pairs(layout, estimate.bonds) if isinstance(estimate, PowerBonds) else []
    names = _compared(layout) if isinstance(estimate, StepDoubling) else []
    group = scale_groups(layout.system, names)
    kinds = {StepDoubling: tables.DOUBLING, PowerBonds: tables.POWER_BONDS}
    shortest, longest, event = (control.shortest, control.longest, control.event_step) if control else (0.0, 0.0, 0.0)
    return tables.ControlTable(
        estimate=kinds.get(type(estimate), tables.NO_ESTIMATE),
        rollback=int(control is not None and layout.can_roll_back()),
        shortest=shortest,
        longest=longest,
        event_step=event,
        order=float(estimate.order) if estimate is not None else 1.0,
        tolerance=float(estimate.tolerance) if estimate is not None else 1.0,
        slot=np.array([layout.outputs.real[name] for name in names], np.uint64),
        group=group,
        scale=np.zeros(int(group.max()) + 1 if names else 0),
        coarse=np.zeros(len(names)),
        bond=np.array([number for number, *_ in pairs], np.uint64),
        effort=np.array([effort for _, effort, _, _ in pairs], np.uint64).reshape(-1, 2),
        flow=np.array([flow for _, _, flow, _ in pairs], np.uint64).reshape(-1, 2),
        ratio=np.array([ratio for *_, ratio in pairs], float),
        energy=np.zeros(len(estimate.bonds) if isinstance(estimate, PowerBonds) else 0),
        last_successful_time=np.zeros(1),
        clock=np.array([0.0, 0.0, -np.inf, 1.0, np.inf, 0.0]),
        rejected=np.zeros(1, np.int64),
        # step doubling saves each step itself, and the Jacobian of an iteration is not part of the saved state
        history=np.zeros((0 if isinstance(estimate, StepDoubling) or layout.feedback else HISTORY, 2)),
        counters=np.zeros(2, np.int64),
    )


def _compared(layout: Layout) -> list[str]:
    """Return the coupled outputs that are continuous and not means over a step."""
    means = {f"{c.source}.{c.output}" for c in layout.system.connections if c.mean}
    coupled = {f"{c.source}.{c.output}" for c in layout.inputs.real} - means
    return [
        name
        for name in layout.outputs.real_names
        if name in coupled and layout.system.resolve(name)[1].variability == "continuous"
    ]


def _pairs(layout: Layout, bonds: tuple[Bond, ...]) -> list[tuple[int, tuple[int, int], tuple[int, int], float]]:
    """Return, for each pair of an effort and a flow, (bond, slots of the effort, slots of the flow, ratio of factors).

    Slots are (in y_real, in u_real). Raises StructureError for efforts and flows that are not connected crosswise.
    """
    slot = {(f"{c.source}.{c.output}", c.target): k for k, c in enumerate(layout.inputs.real)}
    found, problems = [], []
    for number, bond in enumerate(bonds):
        for effort, flow in zip(bond.efforts, bond.flows, strict=True):
            owner, other = layout.system.resolve(effort)[0], layout.system.resolve(flow)[0]
            if (effort, other) not in slot or (flow, owner) not in slot:
                problems.append(f"bond {bond.name}: {effort} is not connected to {other}, or {flow} not to {owner}")
                continue
            k, j = slot[effort, other], slot[flow, owner]
            factors = [layout.system.transformation(layout.inputs.real[i])[0] for i in (k, j)]
            found.append(
                (number, (layout.outputs.real[effort], k), (layout.outputs.real[flow], j), factors[0] / factors[1])
            )
    if problems:
        raise StructureError(problems)
    return found
