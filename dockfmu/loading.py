"""Loading of systems: from an .ssp, or from a declaration by way of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dockfmu.base.temporary import TemporaryFolder
from dockfmu.declare import declaration
from dockfmu.declare.conditions.initial_conditions import CONDITIONS
from dockfmu.declare.packages import bundle
from dockfmu.declare.plan import Plan
from dockfmu.declare.settings import Settings, read_settings
from dockfmu.declare.starts import Starts
from dockfmu.errors import OptionError
from dockfmu.master.system import Structure
from dockfmu.products import Products
from dockfmu.ssp.archive import is_package


@dataclass(frozen=True)
class Content:
    """Hold all that makes a system: see System for the first four.

    `given` are the settings with which it was loaded, for the report. `products` are the files that were built for a
    declared system, and `starts` compute its start values for other settings.
    """

    structure: Structure
    plan: Plan = field(default_factory=Plan)
    description: str = ""
    notes: Sequence[str] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    products: Products | None = None
    starts: Starts = field(default_factory=Starts)


def load_content(
    source: str, given: Mapping[str, Any], parameters: Sequence[Path | str], progress: Callable[[str], None]
) -> Content:
    """Return the content of a system by name or file, with its FMUs in a private folder; see `System.load`."""
    chosen, conditions = read_settings(given, parameters)
    if not is_package(source):
        return _load_declared(source, given, chosen, conditions, progress)
    if conditions:
        raise OptionError(
            [
                f"{CONDITIONS}.{next(iter(conditions))}: an .ssp has start states instead, such as "
                "ELEMENT.parameters.initial.position; only a system by name has initial conditions"
            ]
        )
    private = TemporaryFolder("system")
    structure, plan, description, notes = bundle.read_bundle(source, private.path)
    chosen.apply(structure)
    # simulations and outcomes read its FMUs too
    structure.keeps.append(private)
    plan.check(structure)
    return Content(structure, plan, description, notes, dict(given))


def _load_declared(
    source: str,
    given: Mapping[str, Any],
    chosen: Settings,
    conditions: Mapping[str, Any],
    progress: Callable[[str], None],
) -> Content:
    """Write a declared system as an .ssp, and read it like any other."""
    declared = declaration.read(source).with_conditions(conditions)
    progress(f"{source}: preparing its FMUs")
    private = TemporaryFolder("system")
    changed = bool(chosen.values or chosen.sets or conditions)
    own = declared.origin is None and not changed
    package = bundle.make(declared, private.path / "made", chosen, progress, own=own)
    # apart from the built files: packages within a package are unpacked too
    structure, plan, description, notes = bundle.read_bundle(package, private.path / "package")
    structure.keeps.append(private)
    plan.check(structure)
    files = {name: element.file for name, element in structure.elements.items()}
    values = {name: dict(element.start) for name, element in structure.elements.items()}
    products = Products(declared.name, declared.origin, package.parent, changed)
    return Content(structure, plan, description, notes, dict(given), products, Starts(declared, chosen, files, values))
