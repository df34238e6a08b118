"""Systems on paper: connected and with start values, but with model descriptions instead of built FMUs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dockfmu.base.temporary import TemporaryFolder
from dockfmu.components.core.component import Component
from dockfmu.declare import declaration
from dockfmu.declare.base_motion import leave_out_affine_mass
from dockfmu.declare.berth import follow_berths
from dockfmu.declare.packages.assembly import add_file, make_component, start_values
from dockfmu.declare.packages.bundle import read_bundle
from dockfmu.declare.plan import Plan
from dockfmu.declare.ports import join
from dockfmu.fmus.description import NATIVE_CAPABILITIES, describe
from dockfmu.master.fmi.description import Description, read_description
from dockfmu.master.system import Structure
from dockfmu.ssp.archive import is_package


@contextmanager
def opened(name: str) -> Iterator[tuple[Structure, Plan]]:
    """Yield (system, plan) of a system by name, of a .toml or of an .ssp.

    The FMUs of a declared system are not built; only their descriptions exist. Raises any error of reading the system.
    """
    with TemporaryFolder("build") as folder:
        if is_package(name):
            system, plan, _, _ = read_bundle(name, folder)
        else:
            declared = declaration.read(name)
            (system, _), plan = on_paper(declared, folder), declared.plan
        yield system, plan


def on_paper(declared: declaration.Declaration, folder: Path) -> tuple[Structure, dict[str, Component]]:
    """Return the connected system, with descriptions in `folder`, and the component of each element that has one."""
    system = Structure(declared.name)
    components = {}
    for name, element in declared.elements.items():
        if element.fmu is not None:
            add_file(system, name, element)
            continue
        component = components[name] = make_component(element.component, name, dict(element.options))
        system.add(name, described(component, name, folder).file, start_values(component, element))
    for one, other in declared.connections:
        join(system, one, other)
    follow_berths(system)
    leave_out_affine_mass(system)
    return system, components


def described(component: Component, name: str, folder: Path) -> Description:
    """Return the description that the FMU of a component would have; its file, NAME.xml, is written to `folder`."""
    file = folder / f"{name}.xml"
    file.write_bytes(describe(component, "on-paper", NATIVE_CAPABILITIES))
    return read_description(file)


def split_name(name: str) -> tuple[str, str, str]:
    """Return (system, ".", rest) of "SYSTEM.rest", where the system may be a file.

    For a system alone, dot and rest are empty. A component may stand for the system, by the path of its folder too.
    """
    for ending in (".ssd", ".ssp", ".toml", ".fmu"):
        file, separator, rest = name.partition(f"{ending}.")
        if separator:
            return file + ending, ".", rest
        if name.endswith(ending):
            return name, "", ""
    folder, slash, last = name.rpartition("/")
    inner, dot, rest = ("..", "", "") if last == ".." else last.partition(".")
    return folder + slash + inner, dot, rest
