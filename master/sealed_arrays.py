"""Arrays by name in a sealed file, read without trust: no pickles, and no more memory than the file has bytes.

The file is an .npz (a zip archive of .npy members, not compressed) after a line of text and the SHA-256 of what
follows, which reveals damage. It protects from nobody: whoever changes the file can compute it again.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from dockfmu.base.files import write_file

_DIGEST = hashlib.sha256().digest_size


def write_arrays(file: Path, first_line: bytes, content: Mapping[str, np.ndarray]) -> Path:
    """Write arrays to a file, which stays as it was until the new one is complete. Raises WriteError."""
    packed = io.BytesIO()
    np.savez(packed, **content)  # type: ignore[arg-type]
    data = packed.getvalue()
    return write_file(file, first_line + hashlib.sha256(data).digest() + data)


def read_arrays(file: Path, first_line: bytes) -> dict[str, np.ndarray]:
    """Return the arrays in a file. Raises ValueError if it is damaged or not what `write_arrays` writes, OSError."""
    content = file.read_bytes()
    if not content.startswith(first_line):
        raise ValueError("another kind of file")
    digest, data = content[len(first_line) :][:_DIGEST], content[len(first_line) + _DIGEST :]
    if hashlib.sha256(data).digest() != digest:
        raise ValueError("damaged or truncated")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {_name(member): _array(archive, member) for member in archive.infolist()}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, UnicodeError, SyntaxError) as error:
        raise ValueError(f"not readable: {error}") from error


def _name(member: zipfile.ZipInfo) -> str:
    return member.filename.removesuffix(".npy")


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """Return the array in a member of an archive. Raises ValueError."""
    if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
        raise ValueError(f"{_name(member)!r} is compressed")
    stream = io.BytesIO(archive.read(member))
    version = npy.read_magic(stream)
    read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read_header is None:
        raise ValueError(f"{_name(member)!r} is of an unknown version of its format, {version}")
    shape, in_columns, dtype = read_header(stream)
    if dtype.hasobject or dtype.names or not all(size >= 0 for size in shape):
        raise ValueError(f"{_name(member)!r} is an array of {dtype}")
    rest = stream.read()
    count = 1
    for size in shape:
        count *= size
    if len(rest) != count * dtype.itemsize:
        raise ValueError(f"{_name(member)!r} claims {count * dtype.itemsize} bytes and has {len(rest)}")
    return np.frombuffer(rest, dtype).reshape(shape, order="F" if in_columns else "C").copy()
