"""Where things are kept that can be made again, and files there whose damage is noticed."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_DIGEST = hashlib.sha256().digest_size


def cache_root() -> Path:
    """Return the cache folder: `$DOCKFMU_CACHE`, `build/cache` of a checkout, or the user's cache folder."""
    if chosen := os.environ.get("DOCKFMU_CACHE"):
        return Path(chosen)
    if (ROOT / "pyproject.toml").is_file():
        return ROOT / "build" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dockfmu"


def write_whole(file: Path, data: bytes) -> None:
    """Write `data` to `file` in one step, so that no other process reads half of it. Raises OSError that names it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as stream:
        try:
            stream.write(data)
            stream.flush()
        except OSError as error:
            Path(stream.name).unlink(missing_ok=True)
            raise OSError(error.errno, error.strerror, str(file)) from error
    Path(stream.name).chmod(0o644)
    Path(stream.name).replace(file)


def keep(file: Path, key: str, data: bytes) -> None:
    """Write `data` to `file` of the cache, with a digest of it and of the `key` under which it is kept."""
    write_whole(file, _seal(key, data) + data)


def kept(file: Path, key: str) -> bytes | None:
    """Return what `keep` wrote to `file` under `key`, or None if it is missing, damaged, or kept under another key."""
    try:
        content = file.read_bytes()
    except OSError:
        return None
    seal, data = content[:_DIGEST], content[_DIGEST:]
    return data if seal == _seal(key, data) else None


def seal(file: Path) -> None:
    """Write a digest of `file` beside it: the sign that it is whole."""
    write_whole(_seal_of(file), _digest_of(file))


def is_whole(file: Path) -> bool:
    """Return whether `file` is there as it was when it was sealed."""
    try:
        return _seal_of(file).read_bytes() == _digest_of(file)
    except OSError:
        return False


def _seal_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.sha256")


def _digest_of(file: Path) -> bytes:
    # the name too, and that of the folder: a file that was exchanged for another is not whole
    name = f"{file.parent.name}/{file.name}"
    return hashlib.sha256(name.encode() + b"\0" + file.read_bytes()).hexdigest().encode()


def _seal(key: str, data: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + data).digest()
