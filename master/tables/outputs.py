"""The variables that are read after each step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from master.fmi.instance import Instance
from master.loop.tables import GET
from master.system import System
from master.tables.calls import WHOLE, Calls


class Outputs:
    """Names, places and buffers of all variables that are read, and the calls that read them.

    They are sorted by instance and type, so that one call of an FMU fills one piece of the buffers: `y_real` of Real
    variables, `y_whole` of others. `of` has the names by instance and type, `real` and `whole` the places by full name.
    """

    def __init__(self, system: System, instances: Sequence[Instance], watched: Iterable[str]) -> None:
        """What connections carry from `instances`, in their order, and what is `watched` (full names)."""
        order = [instance.name for instance in instances]
        # in the order of the inputs that they go to: what lies side by side there does so here
        coupled = sorted(system.connections, key=lambda c: order.index(c.target))
        wanted = dict.fromkeys([*(f"{c.source}.{c.output}" for c in coupled), *sorted(watched)])
        self.of: dict[str, dict[str, list[str]]] = {n: {"Real": [], **{kind: [] for kind in WHOLE}} for n in order}
        for name in wanted:
            element, variable = system.resolve(name)
            self.of[element][variable.storage].append(variable.name)
        self.real_names = [f"{e}.{v}" for e in order for v in self.of[e]["Real"]]
        self.whole_names = [f"{e}.{v}" for e in order for kind in WHOLE for v in self.of[e][kind]]
        self.real = {name: k for k, name in enumerate(self.real_names)}
        self.whole = {name: k for k, name in enumerate(self.whole_names)}
        self.real_range = np.cumsum([0, *(len(self.of[name]["Real"]) for name in order)])
        self.y_real, self.y_whole = np.zeros(len(self.real)), np.zeros(len(self.whole), np.int32)
        self.calls = self._calls(instances)

    def _calls(self, instances: Sequence[Instance]) -> Calls:
        calls = Calls(GET)
        real = whole = 0
        for i, instance in enumerate(instances):
            for kind, names in self.of[instance.name].items():
                references = [instance.variable(name).reference for name in names]
                if kind == "Real":
                    calls.add(instance, i, "fmi2GetReal", references, self.y_real.ctypes.data + 8 * real)
                    real += len(names)
                else:
                    calls.add(instance, i, f"fmi2Get{kind}", references, self.y_whole.ctypes.data + 4 * whole)
                    whole += len(names)
            calls.close()
        return calls

    def not_finite(self) -> list[tuple[str, float]]:
        """Names and values of those that are infinite or NaN."""
        values = self.y_real.tolist()
        return [(name, value) for name, value in zip(self.real_names, values, strict=True) if not math.isfinite(value)]
