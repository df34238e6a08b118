"""Atomic writing of files, and disk space kept in reserve."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from dockfmu.base.errors import FAILED, DockfmuError
from dockfmu.base.messages import storable


class WriteError(DockfmuError, OSError):
    """A file cannot be written."""

    exit_status = FAILED


@contextmanager
def atomic_file(file: Path) -> Iterator[Path]:
    """Yield the path of a file to write, which replaces `file` at the end of the block.

    Other processes see the old file or the new one, never a part of it; after an exception the old one stays. Raises
    WriteError that names `file`, at once if it is a folder.
    """
    try:
        # the name is empty for the current folder and for the root
        if not file.name or file.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder; give the name of a file")
        # a name that nobody can foresee, and put a link to another file at
        unfinished = file.with_name(f".{secrets.token_hex(8)}.{file.name}")
        try:
            yield unfinished
            unfinished.replace(file)
        finally:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise WriteError(f"{file}: cannot be written ({error.strerror or error})") from error


def open_in_place(file: Path, mode: str, **options: Any) -> IO[Any]:
    """Open a file to write under its own name, with the `options` of `open`; refuse a link or a pipe at its place.

    Whoever may write to the folder would else choose which file of this user is overwritten, or hold this process up.
    """
    more = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return open(file, mode, opener=lambda path, flags: os.open(path, flags | more, 0o666), **options)


def write_file(file: Path, data: bytes, *, durable: bool = True) -> Path:
    """Write `data` to `file` atomically, create its folder if there is none, and return `file`.

    With `durable`, wait until the data are on disk, which the cache does not need. Raises WriteError that names `file`.
    """
    with atomic_file(file) as unfinished:
        file.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as stream:
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
    return file


def write_text(file: Path, text: str) -> Path:
    """Write `text` to `file` as `write_file` does, with escapes for what UTF-8 has no place for; return `file`."""
    return write_file(file, storable(text).encode())


class Reserve:
    """A file that holds disk space in reserve, for what must still be written when the disk is full."""

    def __init__(self, file: Path, size: int) -> None:
        """Allocate `size` bytes. Raises OSError if the disk has less space."""
        self.file = file
        with open_in_place(file, "wb") as out:
            try:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(out.fileno(), 0, size)
                else:
                    out.write(bytes(size))
            except OSError:
                out.close()
                file.unlink(missing_ok=True)
                raise

    def release(self) -> None:
        """Give the space back; a second call does nothing."""
        with suppress(OSError):
            self.file.unlink(missing_ok=True)
