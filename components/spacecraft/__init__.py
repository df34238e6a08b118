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
    modes: Modes | str | None = None, *, ports: int | None = None, thrusters: int | None = None, name: str | None = None
) -> Component:
    """Return a spacecraft with that many docking ports (2) and thrusters (1), rigid without `modes`.

    `modes` holds the shapes at the ports and nozzles, or is the name (`station_beam`) or the path of a TOML file that
    declares them, see `modes.declared`; the craft then has as many ports and thrusters. The default `name` is
    Spacecraft, or ElasticSpacecraft. Raises ValueError for modes that cannot be read, or are given at other numbers of
    ports and thrusters than asked for.
    """
    if isinstance(modes, str):
        modes = declared_modes(modes)
    given = (2, 1) if modes is None else (len(modes.port), len(modes.thruster))
    ports, thrusters = given[0] if ports is None else ports, given[1] if thrusters is None else thrusters
    if modes is not None and given != (ports, thrusters):
        raise ValueError(
            f"the modes are given at {given[0]} ports and {given[1]} thrusters, "
            f"the spacecraft has {ports} and {thrusters}"
        )
    if ports < 1 or thrusters < 1:
        raise ValueError(f"a spacecraft has at least one port and one thruster, not {ports} and {thrusters}")
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
