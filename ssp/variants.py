"""A package with one of its descriptions chosen: "FILE.ssp#VARIANT.ssd", the way of the standard.

Further descriptions of a package stand beside SystemStructure.ssd, in its root folder.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from base.names import did_you_mean
from ssp.errors import SspError
from ssp.model import DESCRIPTION, Ssp
from ssp.read import read_ssp

_MARK = ".ssp#"


def is_package(name: str) -> bool:
    """Whether a text names a package, with or without a variant."""
    return name.endswith(".ssp") or _MARK in name


def read_package(name: str, folder: Path) -> Ssp:
    """The package, unpacked into `folder`, with the description that is named in the place of SystemStructure.ssd.

    Raises ArchiveError, or SspError that lists what there is.
    """
    file, mark, variant = name.partition(_MARK)
    if not mark:
        return read_ssp(Path(name), folder)
    ssp = read_ssp(Path(file + ".ssp"), folder)
    known = {DESCRIPTION: ssp.description} | {n: one for n, one in ssp.variants.items() if "/" not in n}
    if variant not in known:
        hint = did_you_mean(variant, known)
        raise SspError(f"{file}.ssp: holds {', '.join(known)}, no {variant!r}{hint}")
    return replace(ssp, description=known[variant], variants={**ssp.variants, DESCRIPTION: ssp.description})
