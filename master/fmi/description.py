"""Read the model description of an FMU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from dockfmu.base.fmi import DESCRIPTION_FILE
from dockfmu.base.given_files import read_bytes
from dockfmu.master.errors import DescriptionError
from dockfmu.master.fmi import archive
from dockfmu.master.fmi.reader import Reader
from dockfmu.master.fmi.reader_fmi2 import ReaderFmi2
from dockfmu.master.fmi.reader_fmi3 import ReaderFmi3
from dockfmu.master.fmi.variables import DefaultExperiment, Description, Variable

__all__ = ["DefaultExperiment", "Description", "Variable", "read_description"]


def read_description(file: Path, structure: Mapping[str, int] | None = None) -> Description:
    """Read the model description of an .fmu archive, of the folder of an unpacked one, or of an XML file.

    `structure` replaces the values of structural parameters of FMI 3.0, which set the lengths of arrays. Raises
    DescriptionError for faults of the file and for anything but a co-simulation model of FMI 2.0 or 3.0, ArchiveError
    for faults of the archive.
    """
    file = Path(file)
    if file.is_dir():
        names = [path.relative_to(file).as_posix() for path in file.glob("binaries/*/*")]
        if not (file / DESCRIPTION_FILE).is_file():
            raise DescriptionError(f"{file}: holds no {DESCRIPTION_FILE}, so it is not an FMU")
        data = _bytes(file / DESCRIPTION_FILE)
    elif file.suffix.lower() == ".xml":
        names = []
        data = _bytes(file)
    else:
        names = list(archive.members(file))
        if DESCRIPTION_FILE not in names:
            raise DescriptionError(f"{file}: holds no {DESCRIPTION_FILE}, so it is not an FMU{_misplaced(names)}")
        data = archive.read_member(file, DESCRIPTION_FILE)
    where = f"{file}, {DESCRIPTION_FILE}"
    binaries = sorted({name.split("/")[1] for name in names if name.startswith("binaries/") and name.count("/") == 2})
    return replace(_read(_Source(data, tuple((structure or {}).items()), where)), file=file, binaries=tuple(binaries))


def _bytes(file: Path) -> bytes:
    try:
        return read_bytes(file)
    except OSError as error:
        raise DescriptionError(f"{file}: {error.strerror}") from error


def _misplaced(names: Sequence[str]) -> str:
    """Return a hint on a model description with another name or in a folder, as some tools and users pack it."""
    similar = next((name for name in names if name.split("/")[-1].lower() == DESCRIPTION_FILE.lower()), None)
    if similar is None:
        return ""
    folder, _, name = similar.rpartition("/")
    if folder:
        return f"; {name} is in the folder {folder!r}: pack the content of the folder, not the folder"
    return f"; it holds {similar}: FMI wants the name {DESCRIPTION_FILE}, in exactly these letters"


@dataclass(frozen=True)
class _Source:
    """The source of a model description; equal data and structure give equal descriptions, whatever the file."""

    data: bytes
    structure: tuple[tuple[str, int], ...]
    where: str = field(compare=False)


@lru_cache(maxsize=16)
def _read(source: _Source) -> Description:
    """Return a description without file and binaries, cached because a run reads that of each FMU three times."""
    where = source.where
    root = archive.parse_xml(source.data, where)
    reader = Reader(where, root)
    if root.tag != "fmiModelDescription":
        raise reader.fail(root, "the root element of a model description is fmiModelDescription")
    version = reader.need(root, "fmiVersion")
    if version == "2.0":
        return ReaderFmi2(where, root).read(Path(), ())
    if version.startswith("3.0"):
        return ReaderFmi3(where, root, dict(source.structure)).read(Path(), ())
    raise DescriptionError(f"{where}: FMI {version}; this master runs co-simulation FMUs of FMI 2.0 and 3.0")
