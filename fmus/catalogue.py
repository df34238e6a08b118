"""The components that can be exported: name of the FMU, module with its `component(**options)`, summary.

Beside those of dockfmu there are those that installed packages declare, as entry points of the group
`dockfmu.components`, and any folder that holds a component, named by its path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockfmu.base.errors import DockfmuError
from dockfmu.base.given_files import read_toml
from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.components.core.parameters import ParameterSet, fitting, read_parameter_sets
from dockfmu.fmus.folders import import_folder, is_folder

if TYPE_CHECKING:
    from dockfmu.components.core.component import Component


@dataclass(frozen=True)
class Entry:
    """A component of the catalogue. Its module is imported when it is needed, which may take seconds.

    `more_sets` lists packages besides `module` whose parameter sets belong to the component too; of all sets those
    count that are for its `options`. `fit` is a module whose `misfit(memory)` returns why start values that are valid
    one by one are inconsistent with each other.
    """

    name: str
    module: str
    summary: str
    options: Mapping[str, Any] = field(default_factory=dict)
    more_sets: tuple[str, ...] = ()
    fit: str = ""


MULTIBODY = Entry(
    "Multibody",
    "dockfmu.components.multibody",
    "any multibody system that a TOML file declares: bodies, joints, forces",
)
_ENTRIES = {
    entry.name: entry
    for entry in (
        Entry("Oscillator", "dockfmu.components.oscillator", "mass on a spring and damper: an example"),
        Entry(
            "Spacecraft",
            "dockfmu.components.spacecraft",
            "rigid or elastic spacecraft with docking ports and thrusters",
        ),
        Entry(
            "ProbeMechanism",
            "dockfmu.components.probe_mechanism",
            "central docking mechanism with contact inside",
            {"axial": "spring_and_brake", "limiter": "fixed"},
            more_sets=("dockfmu.components.physics.contact.probe_cone",),
            fit="dockfmu.components.probe_mechanism.geometry_check",
        ),
        Entry(
            "ProbeMechanismTwoBrakes",
            "dockfmu.components.probe_mechanism",
            "the same mechanism with two friction brakes as its axial damper (variant V2)",
            {"axial": "two_brakes", "limiter": "fixed"},
            more_sets=("dockfmu.components.physics.contact.probe_cone",),
            fit="dockfmu.components.probe_mechanism.geometry_check",
        ),
        Entry(
            "ProbeMechanismMovableLimiter",
            "dockfmu.components.probe_mechanism",
            "the same mechanism with two friction brakes and a movable limiter instead of levers (variant V3)",
            {"axial": "two_brakes", "limiter": "movable"},
            more_sets=("dockfmu.components.physics.contact.probe_cone",),
            fit="dockfmu.components.probe_mechanism.geometry_check",
        ),
        Entry(
            "ProbeMechanismExternal",
            "dockfmu.components.probe_mechanism",
            "the same mechanism, with its contact in a separate FMU",
            {"contact": "external", "axial": "spring_and_brake", "limiter": "fixed"},
        ),
        Entry("ProbeCyclogram", "dockfmu.components.probe_cyclogram", "sequence of commands of a probe-cone docking"),
        Entry(
            "PeripheralMechanism",
            "dockfmu.components.peripheral_mechanism",
            "elastic-adaptive peripheral docking mechanism with contact of the rings inside",
            more_sets=("dockfmu.components.physics.contact.ring_pair",),
        ),
        Entry(
            "PeripheralMechanismExternal",
            "dockfmu.components.peripheral_mechanism",
            "the same mechanism, with its contact in a separate FMU",
            {"contact": "external"},
        ),
        Entry(
            "HydraulicRingMechanism",
            "dockfmu.components.ring_mechanism",
            "passive ring mechanism on hydraulic attenuators",
            {"legs": "hydraulic"},
            more_sets=("dockfmu.components.physics.contact.ring_pair",),
        ),
        Entry(
            "ElectricRingMechanism",
            "dockfmu.components.ring_mechanism",
            "ring mechanism on force-controlled electric legs",
            {"legs": "force_controlled"},
            more_sets=("dockfmu.components.physics.contact.ring_pair",),
        ),
        Entry(
            "GearedRingMechanism",
            "dockfmu.components.ring_mechanism",
            "ring mechanism on legs geared together by differentials",
            {"legs": "geared"},
            more_sets=("dockfmu.components.physics.contact.ring_pair",),
        ),
        Entry(
            "HuntRingMechanism",
            "dockfmu.components.ring_mechanism",
            "ring mechanism on cranks with rods and rotary dampers (Hunt platform)",
            {"legs": "cranked"},
            more_sets=("dockfmu.components.physics.contact.ring_pair",),
        ),
        Entry(
            "PeripheralCyclogram",
            "dockfmu.components.peripheral_cyclogram",
            "sequence of commands of a peripheral docking",
        ),
        Entry(
            "Manipulator",
            "dockfmu.components.manipulator",
            "arm of seven joints with digital servos and a payload on its links' stiffness",
        ),
        Entry(
            "FlexibleManipulator",
            "dockfmu.components.manipulator",
            "the same arm with flexible links: beams with their own modes, and springs where they are",
            {"links": "flexible"},
        ),
        MULTIBODY,
        Entry(
            "AttitudeControl",
            "dockfmu.components.attitude_control",
            "attitude control of a craft by pulses of thrusters",
        ),
        Entry(
            "StandPlatform",
            "dockfmu.components.stand_emulator",
            "platform of a virtual 6-DOF stand: delay, lag, limits of rate, emergency stop",
            {"part": "platform"},
        ),
        Entry(
            "StandBalance",
            "dockfmu.components.stand_emulator",
            "balance of a virtual 6-DOF stand: six gauges with lag, bias, noise and full scale",
            {"part": "balance"},
        ),
        Entry(
            "ContactProbeCone",
            "dockfmu.components.contact_probe_cone",
            "contact of a probe with a receiving cone",
            more_sets=("dockfmu.components.physics.contact.probe_cone",),
        ),
        Entry(
            "ContactRing",
            "dockfmu.components.contact_ring",
            "contact of two androgynous docking rings",
            more_sets=("dockfmu.components.physics.contact.ring_pair",),
        ),
        Entry(
            "BerthingSequence",
            "dockfmu.components.berthing_sequence",
            "scripted or live operator of a manipulator that berths its payload",
        ),
        Entry(
            "ContactAirlock",
            "dockfmu.components.contact_airlock",
            "contact of the airlock's berthing units: swinging head with latches, small receiving cone",
            more_sets=("dockfmu.components.physics.contact.airlock_pair",),
        ),
        Entry(
            "ContactRadiator",
            "dockfmu.components.contact_radiator",
            "contact of the radiator's rigid berthing units: locking plug, guide pins, docking planes",
            more_sets=("dockfmu.components.physics.contact.radiator_pair",),
        ),
    )
}


GROUP = "dockfmu.components"
"""Entry points of installed packages: `hinge = "my_package.hinge"` names a module with a function `component`."""


class CatalogueError(DockfmuError, LookupError):
    """No component has this name, or several have it."""


@cache
def _plugged() -> dict[str, tuple[Entry, ...]]:
    """Return the components of installed packages by their names; more than one entry for a name is a mistake."""
    found: dict[str, tuple[Entry, ...]] = {}
    for point in entry_points(group=GROUP):
        origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        found[point.name] = (*found.get(point.name, ()), Entry(point.name, point.value, f"from {origin}"))
    return found


def names() -> tuple[str, ...]:
    """Return the names of all components that can be built, those of installed packages last."""
    own = [name for name, entry in _ENTRIES.items() if find_spec(entry.module)]
    return tuple(dict.fromkeys([*own, *_plugged()]))


def entry(name: str) -> Entry:
    """Return the entry called `name`, in any case and with or without underscores, or that of the folder `name`.

    A name that ends in .toml is the file of a multibody system. Raises CatalogueError for a name that no or several
    components have, FolderError for a folder that is none.
    """
    if name.endswith(".toml"):
        if is_system(Path(name)):
            raise CatalogueError(f"{name} declares a system, no component; name an element of it, {name}.ELEMENT")
        return replace(MULTIBODY, options={"model": name})
    if is_folder(name):
        module = import_folder(Path(name))
        summary = (module.__doc__ or "").strip().partition("\n")[0]
        return Entry(name, module.__name__, summary, fit=module.__name__ if hasattr(module, "misfit") else "")
    known: dict[str, list[Entry]] = {}
    for one in (*_ENTRIES.values(), *(entry for entries in _plugged().values() for entry in entries)):
        known.setdefault(_key(one.name), []).append(one)
    found = known.get(_key(name), [])
    if not found:
        hint = did_you_mean(name, names()) or f"; there are {', '.join(names())}"
        raise CatalogueError(f"no component is called {shown(name)}{hint}")
    if len(found) > 1:
        raise CatalogueError(
            f"several components are called {name!r}: {', '.join(sorted(entry.module for entry in found))}; "
            "uninstall the package of one, or name its folder"
        )
    return found[0]


def is_system(file: Path) -> bool:
    """Return whether a .toml declares a system, not the bodies of a component; one that cannot be read does not."""
    try:
        content = read_toml(file)
    except (OSError, ValueError):
        return False
    return bool({"elements", "extends"} & content.keys())


def _key(name: str) -> str:
    return name.replace("_", "").lower()


def parameter_sets(name: str) -> tuple[ParameterSet, ...]:
    """Return the parameter sets of a component without importing its kernels. Raises CatalogueError."""
    chosen = entry(name)
    folders = [Path(place) for module in (chosen.module, *chosen.more_sets) for place in _places(module)]
    sets = [parameters for folder in folders for parameters in read_parameter_sets(folder / "parameters")]
    return fitting(sets, chosen.options)


def _places(module: str) -> list[str]:
    spec = find_spec(module)
    return list(spec.submodule_search_locations or ()) if spec else []


def component(name: str, **options: Any) -> Component:
    """Return the component called `name`, made with build options of its factory.

    Raises CatalogueError for an unknown name, and any error of the factory for wrong options.
    """
    from dockfmu.components.core.component import Component

    chosen = entry(name)
    options = {**chosen.options, **options}
    made = import_module(chosen.module).component(**options)
    if not isinstance(made, Component):
        raise TypeError(f"{chosen.module}.component returns {type(made).__name__}, not a Component")
    # a component that was made from a file carries the content of the file
    return replace(made, options={**options, **made.options})


def misfit(name: str, memory: Any) -> str | None:
    """Return why the start values in the `memory` of a component are inconsistent with each other, or None.

    Raises CatalogueError.
    """
    module = entry(name).fit
    reason: str | None = import_module(module).misfit(memory) if module else None
    return reason
