"""Check whether an FMU conforms to FMI 2.0 or 3.0 and to its own model description.

`validate` opens any co-simulation FMU of FMI 2.0 or 3.0, of whatever origin: the archive is not trusted, and the
library runs in a separate process. `python -m dockfmu.fmus.check FILE.fmu ... [--report FILE.md]` writes what was
checked.
"""

from __future__ import annotations

from pathlib import Path

from dockfmu.base.fmi import DESCRIPTION_FILE
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.fmus.check.description import check_description
from dockfmu.fmus.check.findings import Finding, error
from dockfmu.fmus.check.libraries import check_libraries
from dockfmu.fmus.check.process import check_in_process
from dockfmu.master.errors import ArchiveError
from dockfmu.master.fmi import archive

__all__ = ["Finding", "examine", "validate"]


def validate(path: Path) -> list[Finding]:
    """Return all findings about the FMU at `path`, in the order of archive, model description, libraries, behaviour.

    A stage is left out if the findings of an earlier one make it meaningless.
    """
    return [finding for findings in examine(path).values() for finding in findings]


def examine(path: Path) -> dict[str, list[Finding]]:
    """Return the findings about the FMU at `path` by check; checks that were not run are missing.

    Keys are "archive", "description", "libraries", "loading", and the names of the functions `process.CHECKS`.
    """
    path = Path(path)
    with TemporaryFolder("validate") as folder:
        try:
            archive.extract(path, folder)
            root = archive.parse_xml(archive.read_member(path, DESCRIPTION_FILE), DESCRIPTION_FILE)
        except ArchiveError as fault:
            text = str(fault).removeprefix(f"{path}: ").rstrip(".")
            return {
                "archive": [error(path.name, "", text, "Only open archives that you trust, and export this one again")]
            }
        found: dict[str, list[Finding]] = {"archive": [], "description": check_description(path, root)}
        if root.find("CoSimulation") is None:
            return found
        found["libraries"] = check_libraries(folder, root)
        if any(finding.severity == "error" for finding in found["description"]):
            # a library is not run with an unreliable model description
            return found
        return found | check_in_process(path)
