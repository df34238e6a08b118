"""A system and the plan of its runs as one .ssp, from which every run starts."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from dockfmu.base.files import WriteError
from dockfmu.declare.conditions.limits import severity
from dockfmu.declare.declaration import Declaration
from dockfmu.declare.packages import package_cache
from dockfmu.declare.plan import Plan
from dockfmu.declare.settings import NOTHING, Settings
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.errors import OptionError
from dockfmu.master.errors import MasterError
from dockfmu.master.system import Structure
from dockfmu.ssp.annotations import requested_step
from dockfmu.ssp.archive import read_package, write_ssp
from dockfmu.ssp.from_system import from_system
from dockfmu.ssp.model import Annotation, SspError, StructureDescription
from dockfmu.ssp.to_system import to_system

ANNOTATION = "org.dockfmu.plan"


def silent(_: str) -> None:
    """Discard a progress message."""


def write_bundle(system: Structure, plan: Plan, description: str, file: Path) -> Path:
    """Write the .ssp with FMUs, start values and connections, and with the plan as an annotation.

    Raises OptionError for a name that does not end in .ssp, WriteError that names `file`.
    """
    if file.suffix != ".ssp":
        raise OptionError([f"{file}: the name of a package must end in .ssp"])
    annotation = Annotation.of_text(ANNOTATION, plan.to_json())
    content = from_system(
        system, stop_time=plan.stop, step=plan.step, annotations=[annotation], description=description
    )
    # replace the file atomically, so that no other process reads half of it
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".") as folder:
            return write_ssp(content, Path(folder) / file.name).replace(file)
    except OSError as error:
        raise WriteError(f"{file}: cannot be written ({error.strerror or error})") from error


def make(
    declared: Declaration,
    folder: Path,
    settings: Settings = NOTHING,
    progress: Callable[[str], None] = silent,
    *,
    own: bool = False,
) -> Path:
    """Build the FMUs of a declared system into `folder`/fmus, and write its .ssp beside them; return the .ssp.

    A system of dockfmu with its `own` values is built once, and later taken from the cache. Raises the errors of
    `assemble`.
    """
    if declared.initial_conditions is not None and (found := severity(declared.initial_conditions)) is not None:
        progress(f"initial conditions: {found}")
    package = folder / f"{declared.name}.ssp"
    key = package_cache.key(declared.name) if own else ""
    if own and package_cache.restore(declared.name, key, folder):
        return package
    # compiler and components take a second to import
    from dockfmu.declare.packages.assembly import assemble

    system, plan = assemble(declared, folder / "fmus", progress, settings)
    write_bundle(system, plan, declared.description, package)
    if own:
        package_cache.store(declared.name, key, folder)
    return package


def read_bundle(file: Path | str, folder: Path) -> tuple[Structure, Plan, str, list[str]]:
    """Return (system, plan, description, notes) of any .ssp, unpacked into `folder`, which must outlive the system.

    "FILE.ssp#VARIANT.ssd" selects one of its descriptions. An .ssp from another tool gets the default plan, with its
    own stop time and the macro step that libcosim or OMSimulator would take. Raises ArchiveError,
    DescriptionError, SspError or StructureError.
    """
    content = read_package(str(file), folder)
    system, notes = to_system(content)
    annotation = content.description.annotation(ANNOTATION)
    try:
        plan = _foreign_plan(content.description) if annotation is None else Plan.from_json(annotation.text)
    except (DeclarationError, MasterError) as error:
        what = "its default experiment" if annotation is None else f"its annotation {ANNOTATION}"
        raise SspError(f"{file}: {what} is not the plan of a run ({error})") from error
    if annotation is None and content.description.start_time:
        notes = [*notes, f"its start time {content.description.start_time:g} s is ignored: runs begin at 0 s"]
    system.order = plan.order or system.order
    return system, plan, content.description.description or "", notes


def _foreign_plan(description: StructureDescription) -> Plan:
    step, stop = requested_step(description), description.stop_time
    return Plan(step=step or Plan.step, stop=Plan.stop if stop is None else stop)
