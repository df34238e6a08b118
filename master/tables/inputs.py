"""The inputs that connections set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from master.fmi.instance import Instance
from master.loop.tables import SET
from master.system import Connection, System
from master.tables.calls import WHOLE, Calls
from master.tables.outputs import Outputs


class Inputs:
    """The connected inputs of all instances in execution order: buffers, sources, conversions, calls that set them."""

    def __init__(self, system: System, instances: Sequence[Instance], outputs: Outputs) -> None:
        order = [instance.name for instance in instances]
        self.connections: dict[str, dict[str, list[Connection]]] = {
            name: {"Real": [], **{kind: [] for kind in WHOLE}} for name in order
        }
        for connection in system.connections:
            variable = system.description(connection.target).variables[connection.input]
            self.connections[connection.target][variable.storage].append(connection)
        self.real = [c for name in order for c in self.connections[name]["Real"]]
        whole = [c for name in order for kind in WHOLE for c in self.connections[name][kind]]
        self.real_source = [outputs.real[f"{c.source}.{c.output}"] for c in self.real]
        self.whole_source = [outputs.whole[f"{c.source}.{c.output}"] for c in whole]
        transformations = np.array([system.transformation(c) for c in self.real], float).reshape(-1, 2)
        self.factor, self.offset = transformations.T.copy()
        self.tabled: list[tuple[int, tuple[tuple[int, int], ...]]] = []
        self.tabled_range, self.real_range, self.whole_range = [0], [0], [0]
        self.u_real, self.u_whole = np.zeros(len(self.real)), np.zeros(len(whole), np.int32)
        self.calls = Calls(SET)
        k_real = k_whole = 0
        for i, instance in enumerate(instances):
            for kind, found in self.connections[instance.name].items():
                references = [instance.variable(c.input).reference for c in found]
                if kind == "Real":
                    self.calls.add(instance, i, "fmi2SetReal", references, self.u_real.ctypes.data + 8 * k_real)
                    k_real += len(found)
                else:
                    self.calls.add(instance, i, f"fmi2Set{kind}", references, self.u_whole.ctypes.data + 4 * k_whole)
                    for c in found:
                        if c.table:
                            self.tabled.append((k_whole, c.table))
                        k_whole += 1
            self.calls.close()
            self.real_range.append(k_real)
            self.whole_range.append(k_whole)
            self.tabled_range.append(len(self.tabled))
