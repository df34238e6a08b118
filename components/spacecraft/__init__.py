"""Free or fixed spacecraft with docking ports: a rigid body with elastic modes. See README.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np

from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import ParameterSet, read_parameter_sets
from dockfmu.components.core.record import Record
from dockfmu.components.spacecraft import kernel
from dockfmu.components.spacecraft.modes import Modes
from dockfmu.components.spacecraft.modes.declared import declared_modes
from dockfmu.components.spacecraft.ports import record

__all__ = ["Modes", "component"]

_FOLDER = Path(__file__).parent


def _fits(chosen: ParameterSet, layout: Record) -> bool:
    return all(
        name in layout.index or f"{name}[1]" in layout.index or f"{name}[1,1]" in layout.index for name in chosen.values
    )


def _kernels(elastic: bool, two_way: bool, sections: bool) -> tuple[Callable[..., int], Callable[..., int]]:
    """Return the kernels (initialize, step) of a craft."""
    if two_way and sections:
        return kernel.initialize_two_way_sections, kernel.step_two_way_sections
    if two_way:
        return kernel.initialize_two_way, kernel.step_two_way
    if sections:
        return kernel.initialize_elastic_sections, kernel.step_elastic_sections
    if elastic:
        return kernel.initialize_elastic, kernel.step_elastic
    return kernel.initialize_rigid, kernel.step_rigid


def component(
    modes: Modes | str | None = None,
    *,
    coupling: Literal["one_way", "two_way"] = "one_way",
    ports: int | None = None,
    thrusters: int | None = None,
    deformation: bool = False,
    name: str | None = None,
) -> Component:
    """Return a spacecraft with `ports` docking ports (2) and `thrusters` thrusters (1), rigid without `modes`.

    `modes` holds the shapes at the ports and nozzles, or is the name (`station_beam`) or the path of a TOML file that
    declares them, see `modes.declared`. The numbers of ports and thrusters then default to those of the modes. With
    `coupling` two_way the modes act back on the motion of the craft (flexible 3.4). Modes of a reduced structure with
    sections give the loads there (outputs `section`). With `deformation` the modal coordinates are outputs, with which
    the view shows the structure as it deforms. The default `name` is Spacecraft,
    ElasticSpacecraft, or TwoWaySpacecraft. Raises ValueError for modes that cannot be read, that are given at other
    numbers of ports and thrusters than requested, or that lack the inertial coupling needed by two_way or the lines
    needed by `deformation`.
    """
    if isinstance(modes, str):
        modes = declared_modes(modes)
    given = (2, 1) if modes is None else (len(modes.port), len(modes.thruster))
    ports, thrusters = given[0] if ports is None else ports, given[1] if thrusters is None else thrusters
    if modes is not None and given != (ports, thrusters):
        raise ValueError(
            f"the modes are given at {given[0]} ports and {given[1]} thrusters, "
            f"but the spacecraft has {ports} and {thrusters}"
        )
    if ports < 1 or thrusters < 1:
        raise ValueError(f"a spacecraft needs at least one port and one thruster, not {ports} and {thrusters}")
    if coupling not in ("one_way", "two_way"):
        raise ValueError(f"coupling must be 'one_way' or 'two_way', not {coupling!r}")
    count = 0 if modes is None else len(modes.frequency)
    two_way = coupling == "two_way"
    resources: dict[str, np.ndarray] = {} if modes is None else {"modes.f64": modes.table()}
    if two_way:
        if modes is None or modes.coupling is None:
            raise ValueError("coupling = two_way needs modes with the masses behind them, such as those of a beam")
        resources["coupling.f64"] = modes.coupling.table()
    if deformation and (modes is None or modes.wireframe is None):
        raise ValueError(
            "deformation = true needs modes with lines to draw: those of a beam or of the files of `dockfmu reduce`"
        )
    sections: tuple[str, ...] = ()
    if modes is not None and modes.sections is not None:
        sections = modes.sections.names
        resources["sections.f64"] = modes.sections.table()
    layout = record(ports, thrusters, count, two_way, sections, deformation)
    initialize, step = _kernels(count > 0, two_way, bool(sections))
    return Component(
        name=name or ("TwoWaySpacecraft" if two_way else "Spacecraft" if modes is None else "ElasticSpacecraft"),
        description="rigid spacecraft" if modes is None else f"spacecraft with {count} elastic modes",
        record=layout,
        initialize=initialize,
        step=step,
        messages=kernel.MESSAGES,
        module=Path(__file__),
        # parameter sets for craft with more ports or thrusters are omitted
        parameter_sets=tuple(entry for entry in read_parameter_sets(_FOLDER / "parameters") if _fits(entry, layout)),
        resources=resources,
        shapes=(modes.wireframe.scene_shape("undeformed"),) if deformation and modes and modes.wireframe else (),
    )
