"""Open archives and XML documents from untrusted sources."""

from __future__ import annotations

import errno
import hashlib
import lzma
import stat
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any, cast

from lxml import etree

from dockfmu.base.files import WriteError
from dockfmu.base.temporary import room_left
from dockfmu.master.errors import ArchiveError

MAX_BYTES = 4 << 30
MAX_MEMBERS = 100_000
MAX_RATIO = 200
MAX_SYSTEM_BYTES, MAX_SYSTEM_MEMBERS = 4 * MAX_BYTES, 4 * MAX_MEMBERS
"""Limits of all archives of one system together: packages, packages within packages, FMUs."""
SMALL_BYTES = 100_000_000
"""What may be unpacked from archives of any size."""
MAX_DOCUMENT = 256 << 20
"""Largest size of an XML document, bytes."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods that FMI and SSP allow; others may request any amount of memory."""

DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)
"""Exceptions that zipfile lets through for a damaged archive."""
MACHINE = frozenset(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EROFS", "EIO") if hasattr(errno, name))
"""Codes of operating systems for what no archive can cause."""


class Budget:
    """Bound what is unpacked for one system, from archives inside archives at any depth.

    Each archive is within its limits (see `members`); so must be all of them together, compared with the size of the
    files that do not come from one of them.
    """

    def __init__(self) -> None:
        self.packed = self.unpacked = self.members = 0
        self.folders: list[Path] = []
        """Folders into which archives have been unpacked."""

    def copy(self) -> Budget:
        """Return a budget of which as much is left."""
        other = Budget()
        other.packed, other.unpacked, other.members = self.packed, self.unpacked, self.members
        other.folders = list(self.folders)
        return other

    def take(self, archive: Path) -> None:
        """Count the content of an archive. Raises ArchiveError if it is too much together with the others."""
        infos = members(archive)
        if not any(archive.resolve().is_relative_to(folder) for folder in self.folders):
            self.packed += archive.stat().st_size
        self.unpacked += sum(info.file_size for info in infos.values())
        self.members += len(infos)
        dense = self.unpacked > SMALL_BYTES and self.unpacked > MAX_RATIO * max(self.packed, 1)
        if self.unpacked > MAX_SYSTEM_BYTES or self.members > MAX_SYSTEM_MEMBERS or dense:
            raise ArchiveError(
                f"{archive}: with the archives around it, and those unpacked before, {self.unpacked} bytes in "
                f"{self.members} files would be unpacked from {self.packed}; refused"
            )


def _open(archive: Path) -> zipfile.ZipFile:
    if not archive.is_file():
        raise ArchiveError(f"{archive}: there is no such file")
    try:
        return zipfile.ZipFile(archive)
    except DAMAGE as error:
        raise ArchiveError(f"{archive}: not a readable zip archive ({error})") from error


def _place(archive: Path, name: str) -> PurePosixPath:
    """Return the relative path at which a member is unpacked. Raises ArchiveError for paths outside the folder."""
    path = PurePosixPath(name.replace("\\", "/"))
    if not path.parts and not name.endswith("/"):
        raise ArchiveError(f"{archive}: a member has no name")
    if path.is_absolute() or ":" in (path.parts[0] if path.parts else "") or "\0" in name:
        raise ArchiveError(f"{archive}: member {name!r} has an absolute path")
    if ".." in path.parts:
        raise ArchiveError(f"{archive}: member {name!r} points out of the archive")
    return path


def members(archive: Path) -> dict[str, zipfile.ZipInfo]:
    """Return the files of `archive` by their path inside it, all checked.

    Raises ArchiveError for absolute paths, `..`, symbolic links and devices, two members of one name, encrypted members
    and methods of compression other than deflation, and for sizes that no sound archive has: more than 4 GiB unpacked,
    or more than 100 MB and over 200 times the size of the archive file.
    """
    with _open(archive) as opened:
        infos = opened.infolist()
    if len(infos) > MAX_MEMBERS:
        raise ArchiveError(f"{archive}: {len(infos)} members, more than {MAX_MEMBERS}")
    total = sum(info.file_size for info in infos)
    packed = archive.stat().st_size
    if total > MAX_BYTES or (total > SMALL_BYTES and total > MAX_RATIO * max(packed, 1)):
        raise ArchiveError(f"{archive}: would unpack to {total} bytes from {packed}; refused")
    found: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        name = str(_place(archive, info.filename))
        if reason := _refusal(info):
            raise ArchiveError(f"{archive}: member {info.filename!r} {reason}")
        if not info.is_dir():
            if name in found:
                raise ArchiveError(f"{archive}: two members are called {name!r}")
            found[name] = info
    return found


def _refusal(info: zipfile.ZipInfo) -> str:
    """Return why a member is not unpacked, or an empty string if it is."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a symbolic link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is not a regular file"
    if info.flag_bits & 0x1:
        return "is encrypted"
    if info.compress_type not in METHODS:
        name = {9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "XZ"}.get(info.compress_type, "unknown")
        return f"is compressed by method {info.compress_type} ({name}); only deflation is allowed: pack it again as zip"
    return ""


def extract(archive: Path, folder: Path, budget: Budget | None = None) -> None:
    """Unpack `archive` into `folder`, which is created.

    Raises ArchiveError, see `members` and `Budget`; WriteError if the disk of `folder` takes no more.
    """
    infos = members(archive)
    if budget is not None:
        budget.take(archive)
        budget.folders.append(folder.resolve())
    with _open(archive) as opened:
        for name, info in infos.items():
            target = folder / name
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(info) as source, target.open("wb") as sink:
                    while block := source.read(1 << 20):
                        sink.write(block)
            except DAMAGE as error:
                if isinstance(error, OSError) and error.errno in MACHINE:
                    raise WriteError(f"{target}: cannot be written ({error.strerror}){room_left(error)}") from error
                raise ArchiveError(f"{archive}: member {name!r} cannot be unpacked ({error})") from error


def read_member(archive: Path, name: str) -> bytes:
    """Return the bytes of one member. Raises ArchiveError if it is missing or damaged."""
    infos = members(archive)
    if name not in infos:
        raise ArchiveError(f"{archive}: holds no {name}")
    if infos[name].file_size > MAX_DOCUMENT:
        raise ArchiveError(f"{archive}: {name} has {infos[name].file_size} bytes; refused")
    with _open(archive) as opened:
        try:
            return opened.read(infos[name])
        except DAMAGE as error:
            raise ArchiveError(f"{archive}: member {name!r} cannot be read ({error})") from error


def parse_xml(data: bytes, where: str) -> etree._Element:
    """Parse an XML document without entities, document type, network or comments; return its root.

    `where` names the document in the message of the ArchiveError that a fault raises.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise ArchiveError(f"{where}: not well-formed XML ({error.msg})") from error
    if cast(Any, root.getroottree()).docinfo.doctype:
        raise ArchiveError(f"{where}: has a document type declaration; refused")
    return root


def digest(file: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    with file.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()
