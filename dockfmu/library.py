"""The systems and components that come with dockfmu: their names, and how to load or build one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from dockfmu.base.files import WriteError
from dockfmu.base.messages import shown
from dockfmu.declare import declaration
from dockfmu.declare.packages.bundle import silent
from dockfmu.errors import OptionError
from dockfmu.report.files import BUILD
from dockfmu.system import System

if TYPE_CHECKING:
    from dockfmu.components.core.component import Component

Kind = Literal["native", "python"]


def build(
    component: str | Path | Component,
    folder: Path | str = BUILD / "fmus",
    *,
    kind: Kind = "native",
    options: Mapping[str, object] | None = None,
) -> Path:
    """Build the .fmu of a component, unless the folder already has it, and return its path.

    Parameters
    ----------
    component : str, Path or Component
        Name of a component (see `list_components`), folder of one of yours ("./hinge"), .toml file of a
        multibody system, or the component itself.
    folder : Path or str
        Folder of the .fmu.
    kind : {"native", "python"}
        Machine code, or an FMU that runs the component in Python.
    options : mapping of str to value
        Options of the component, such as {"ports": 2} for "Spacecraft"; a component itself has them already.

    Raises
    ------
    CatalogueError, FolderError
        for an unknown component, with similar names, and for a folder that is none
    ParameterError
        for options that the component does not have
    ModelError
        for a file of a multibody system with mistakes
    OptionError
        for arguments of the wrong kind
    """
    problems = []
    named = isinstance(component, str | os.PathLike)
    if not named and not _is_made(component):
        problems.append(
            "component must be the name of one (see dockfmu.list_components), the folder of one, or a Component, "
            f"not {shown(component)}"
        )
    if not isinstance(folder, str | os.PathLike) or not str(folder):
        problems.append(f"folder must be the path of a folder, not {shown(folder)}")
    if kind not in get_args(Kind):
        problems.append(f"kind must be one of {', '.join(get_args(Kind))}, not {shown(kind)}")
    if options is not None and not isinstance(options, Mapping):
        problems.append(f"options must map names to values, such as {{'ports': 2}}, not {shown(options)}")
    elif options and not named:
        problems.append("options: the component is made already; give them to the function that makes it")
    if problems:
        raise OptionError(problems)
    # compiler and components take a second to import
    from dockfmu.declare.packages.assembly import build_fmu

    made = load_component(component, options) if isinstance(component, str | os.PathLike) else component
    return build_fmu(made, Path(folder), silent, kind=kind)


def _is_made(component: object) -> bool:
    from dockfmu.components.core.component import Component

    return isinstance(component, Component)


def load_component(name: str | Path, options: Mapping[str, object] | None = None) -> Component:
    """Return a component by its name (see `list_components`) or by its folder, made with build options.

    Raises CatalogueError, FolderError, ParameterError.
    """
    from dockfmu.declare.packages.assembly import make_component

    # a relative Path has no dot, which tells folders from names
    text = name if isinstance(name, str) else str(Path(name).absolute())
    return make_component(text, text, dict(options or {}))


def list_components() -> list[str]:
    """Return the names of the components of dockfmu and of installed packages."""
    from dockfmu.fmus import catalogue

    return list(catalogue.names())


def list_systems() -> list[str]:
    """Return the names of the systems of dockfmu."""
    return list(declaration.names())


def load(
    source: str | Path,
    settings: Mapping[str, Any] | None = None,
    folder: Path | str = BUILD,
    *,
    parameters: Sequence[Path | str] = (),
    progress: Callable[[str], None] = silent,
) -> System:
    """Return a system of dockfmu, or one from a file, with the plan of its runs.

    Parameters
    ----------
    source : str or Path
        Name of a system of dockfmu, or a file: .toml, .ssp, or .ssp#VARIANT.ssd for one description of a package.
    settings : mapping of str to value, optional
        Start values by full names, and initial_conditions.NAME for a declared system; numbers in SI, or strings
        with a unit such as "20t".
    folder : Path or str
        Build folder, which receives the FMUs and the .ssp of a declared system if it is writable.
    parameters : sequence of Path or str
        .ssv files; `settings` take precedence over them.
    progress : callable
        Called with messages about lengthy operations.

    Raises
    ------
    DeclarationError, ParameterError, CatalogueError
        for a declaration, its components or its values; messages name file, element, variable and value
    SspError, ArchiveError, DescriptionError
        for a package or an FMU that cannot be used
    StructureError, OptionError
        for settings that do not fit the system
    """
    system = System.load(source, settings or {}, parameters=parameters, progress=progress)
    with suppress(WriteError):
        system.publish(folder)
    return system
