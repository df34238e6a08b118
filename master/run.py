"""Running a system.

>>> result = run(system, step=1e-3, stop=10.0, observers=[Recorder(Path("results.h5"))])   # doctest: +SKIP
>>> result.status, result.t_end
('completed', 10.0)
"""

from __future__ import annotations

from typing import Any

from master.result import Result
from master.simulation import Simulation
from master.system import System


def run(system: System, **options: Any) -> Result:
    """Simulation.run of a `system`; `options` as for Simulation, the stop time among them."""
    return Simulation(system, **options).run()
