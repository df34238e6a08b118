"""Is an FMU what it says it is?

`validate` opens any FMI 2.0 co-simulation FMU, of whatever origin: the archive is not trusted, and the library runs in
a process of its own.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from fmus.validate.behaviour import check_in_process
from fmus.validate.description import FILE, check_description
from fmus.validate.finding import Finding, error
from fmus.validate.library import check_libraries
from master import archive
from master.errors import ArchiveError

__all__ = ["Finding", "validate"]


def validate(path: Path) -> list[Finding]:
    """All findings about the FMU at `path`, in the order of archive, model description, libraries, behaviour.

    Later stages are left out where an earlier one leaves them nothing to stand on.
    """
    path = Path(path)
    with tempfile.TemporaryDirectory(prefix="validate-") as temporary:
        folder = Path(temporary)
        try:
            archive.extract(path, folder)
            root = archive.parse_xml(archive.read_member(path, FILE), FILE)
        except ArchiveError as fault:
            text = str(fault).removeprefix(f"{path}: ").rstrip(".")
            return [error(path.name, "", text, "Only open archives that you trust, and export this one again")]
        findings = check_description(path, root)
        if root.find("CoSimulation") is None:
            return findings
        findings += check_libraries(folder, root)
        if any(finding.severity == "error" and finding.file == FILE for finding in findings):
            # a library is not run on a model description that cannot be relied on
            return findings
        return findings + check_in_process(path)
