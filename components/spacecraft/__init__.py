"""Free or fixed spacecraft with docking ports: a rigid body that carries elastic modes. See README.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from components.core.component import Component
from components.core.parameters import read_parameter_sets
from components.spacecraft import kernel
from components.spacecraft.modes import Modes
from components.spacecraft.modes.declared import declared_modes
from components.spacecraft.ports import record

__all__ = ["Modes", "component"]

_FOLDER = Path(__file__).parent


def component(
    modes: Modes | str | None = None, *, ports: int = 2, thrusters: int = 1, name: str | None = None
) -> Component:
    """A spacecraft with that many docking ports and thrusters, rigid without `modes`.

    `modes` holds the shapes at exactly these ports and nozzles, or names a declared beam (`station_beam`). Raises
    ValueError if the numbers of ports and nozzles do not agree. The default `name` is Spacecraft, or ElasticSpacecraft.
    """
    if isinstance(modes, str):
        modes = declared_modes(modes)
    if modes is not None and (len(modes.port), len(modes.thruster)) != (ports, thrusters):
        raise ValueError(
            f"the modes are given at {len(modes.port)} ports and {len(modes.thruster)} thrusters, "
            f"the spacecraft has {ports} and {thrusters}"
        )
    count = 0 if modes is None else len(modes.frequency)
    layout = record(ports, thrusters, count)
    resources: dict[str, np.ndarray] = {} if modes is None else {"modes.f64": modes.table()}
    return Component(
        name=name or ("Spacecraft" if modes is None else "ElasticSpacecraft"),
        description="rigid spacecraft" if modes is None else f"spacecraft with {count} elastic modes",
        record=layout,
        initialize=kernel.initialize_elastic if count else kernel.initialize_rigid,
        step=kernel.step_elastic if count else kernel.step_rigid,
        messages=kernel.MESSAGES,
        module=Path(__file__),
        parameter_sets=read_parameter_sets(_FOLDER / "parameters"),
        resources=resources,
    )
