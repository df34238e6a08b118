"""Packages as archives: unpack and read one, choose one of its descriptions, write one.

"FILE.ssp#VARIANT.ssd" names a description beside SystemStructure.ssd, in the root folder of the package, as the
standard has it.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from dockfmu.base.names import did_you_mean
from dockfmu.master.fmi import archive
from dockfmu.ssp.model import DESCRIPTION, PACKAGE_TYPE, SsdComponent, SsdSystem, Ssp, SspError
from dockfmu.ssp.read import read_description, read_parameter_mapping, read_parameter_set, read_signal_dictionary
from dockfmu.ssp.resolve import resource_path
from dockfmu.ssp.write import write_description, write_parameter_mapping, write_parameter_set, write_signal_dictionary

DEEPEST = 8
"""Largest depth of nested packages."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
_MARK = ".ssp#"

_DOCUMENTS: dict[str, tuple[str, Callable[[bytes, str], Any]]] = {
    ".ssd": ("variants", read_description),
    ".ssv": ("parameter_sets", read_parameter_set),
    ".ssm": ("mappings", read_parameter_mapping),
    ".ssb": ("dictionaries", read_signal_dictionary),
}


def is_package(name: str) -> bool:
    """Return whether a string names a package, with or without a variant."""
    return name.endswith(".ssp") or _MARK in name


def read_package(name: str, folder: Path) -> Ssp:
    """Unpack the package `name` into `folder`; return it with the named variant as its description.

    Raises ArchiveError, or SspError for an unknown variant, which lists the descriptions.
    """
    file, mark, variant = name.partition(_MARK)
    if not mark:
        return read_ssp(Path(name), folder)
    ssp = read_ssp(Path(file + ".ssp"), folder)
    known = {DESCRIPTION: ssp.description} | {n: one for n, one in ssp.variants.items() if "/" not in n}
    if variant not in known:
        hint = did_you_mean(variant, known)
        raise SspError(f"{file}.ssp: holds no {variant!r}; there are {', '.join(known)}{hint}")
    return replace(ssp, description=known[variant], variants={**ssp.variants, DESCRIPTION: ssp.description})


def read_ssp(file: Path, folder: Path, depth: int = 1, budget: archive.Budget | None = None) -> Ssp:
    """Unpack the package `file` into `folder`; return its content, checked against the official schemas.

    Packages inside it are unpacked beside their files, if a description refers to them; `depth` is the nesting so far,
    and all share one `budget`. Raises ArchiveError or SspError.
    """
    if depth > DEEPEST:
        raise SspError(f"{file}: packages are nested more than {DEEPEST} deep")
    shared = archive.Budget() if budget is None else budget
    archive.extract(Path(file), Path(folder), shared)
    return _read_folder(Path(folder), depth, shared)


def _read_folder(folder: Path, depth: int, budget: archive.Budget) -> Ssp:
    """Return the content of the package unpacked in `folder`; see `read_ssp`."""
    if not (folder / DESCRIPTION).is_file():
        raise SspError(f"{folder}: holds no {DESCRIPTION}, so it is not a system structure package")
    ssp = Ssp(read_description((folder / DESCRIPTION).read_bytes(), DESCRIPTION), budget=budget)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if name == DESCRIPTION:
            continue
        kind = path.suffix.lower()
        if kind in _DOCUMENTS:
            group, read = _DOCUMENTS[kind]
            getattr(ssp, group)[name] = read(path.read_bytes(), name)
            continue
        ssp.resources[name] = path
    for name in sorted(_packages(ssp)):
        path = ssp.resources[name]
        ssp.packages[name] = read_ssp(path, path.with_name(f"{path.name}.unpacked"), depth + 1, budget)
    return ssp


def _packages(ssp: Ssp) -> set[str]:
    """Return the files of a package to which components of its descriptions refer as packages."""
    found = set()
    for place, description in {DESCRIPTION: ssp.description, **ssp.variants}.items():
        for component in _components(description.system):
            if component.type == PACKAGE_TYPE:
                with suppress(ValueError):
                    found.add(resource_path(component.source.partition("#")[0], posixpath.dirname(place)))
    return found & ssp.resources.keys()


def _components(system: SsdSystem) -> Iterator[SsdComponent]:
    for element in system.elements:
        if isinstance(element, SsdComponent):
            yield element
        elif isinstance(element, SsdSystem):
            yield from _components(element)


def write_ssp(ssp: Ssp, file: Path) -> Path:
    """Write the package to `file` and return `file`. Equal data give equal bytes."""
    documents = {DESCRIPTION: write_description(ssp.description)}
    documents |= {name: write_parameter_set(values) for name, values in ssp.parameter_sets.items()}
    documents |= {name: write_parameter_mapping(mapping) for name, mapping in ssp.mappings.items()}
    documents |= {name: write_signal_dictionary(dictionary) for name, dictionary in ssp.dictionaries.items()}
    documents |= {name: write_description(variant) for name, variant in ssp.variants.items()}
    with zipfile.ZipFile(file, "w") as package:
        for name in (DESCRIPTION, *sorted({*documents, *ssp.resources} - {DESCRIPTION})):
            data = documents[name] if name in documents else ssp.resources[name].read_bytes()
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr = 0o644 << 16
            # FMUs are already compressed
            entry.compress_type = zipfile.ZIP_STORED if name.endswith(".fmu") else zipfile.ZIP_DEFLATED
            package.writestr(entry, data)
    return file
