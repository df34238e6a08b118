"""zig: one C compiler and linker for every platform, from PyPI.

zig compiles the start-up code and the stubs of a platform's C library when it first links for it, keeps them in its
global cache, and links whatever it later finds there. A damaged entry would reach every library unnoticed. Here each
compiler has its own cache, unpacked from one sealed file, so that damage is noticed and costs only a compilation.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import ziglang

from dockfmu.base.cache import alone, cache_root, load_cached, store_cached
from dockfmu.base.errors import FAILED, DockfmuError
from dockfmu.base.files import write_file
from dockfmu.base.processes import python_command
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.fmus.toolchain.targets import Target

_WARNINGS = ("-Wall", "-Wextra", "-Werror")

OPTIONS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", *_WARNINGS, "-g0")
"""Options for the C sources of a library."""

_GLOBAL, _LOCAL = "zig-global", "zig-local"


class LinkError(DockfmuError, RuntimeError):
    """The C compiler or the linker failed; the message is its output."""

    exit_status = FAILED


@dataclass(frozen=True)
class Compiler:
    """zig for one platform, working in a temporary folder: see `compiler`."""

    target: Target
    folder: Path

    def run(self, *arguments: str) -> None:
        """Run `zig cc` in the folder. Raises LinkError with the messages of zig.

        Relative names in the arguments keep the paths of this machine out of what zig writes.
        """
        caches = {
            "ZIG_GLOBAL_CACHE_DIR": str(self.folder / _GLOBAL),
            "ZIG_LOCAL_CACHE_DIR": str(self.folder / _LOCAL),
        }
        done = subprocess.run(
            python_command("-m", "ziglang", "cc", "-target", self.target.zig, *arguments),
            cwd=self.folder,
            env={**os.environ, **caches},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            said = done.stderr.strip() or f"zig ended with status {done.returncode} and said nothing"
            raise LinkError(
                f"zig cc for {self.target.folder} failed:\n{said}\n"
                f"If this is no fault of a source, zig may be damaged ({_LIBRARIES}), or there is no room in "
                f"{tempfile.gettempdir()}: python -m pip install --force-reinstall ziglang"
            )

    def compile(self, sources: Sequence[Path], headers: Path) -> None:
        """Compile each C source, which includes from `headers`, to an object of its stem in the folder."""
        # one by one: for Windows, zig accepts only one source
        for source in sources:
            self.run(*OPTIONS, "-I", str(headers), "-c", str(source), "-o", f"{source.stem}.o")

    def link_library(self, name: str, objects: Sequence[str]) -> Path:
        """Link objects to the stripped shared library `name`. Raises LinkError, on Linux for undefined symbols too."""
        self.run("-shared", "-s", "-o", name, *objects, *self._support("library"), *self.target.flags)
        return self.folder / name

    def link_program(self, name: str, objects: Sequence[str]) -> Path:
        """Link objects to the stripped program `name`. Raises LinkError."""
        start = {".so": ["-ldl"], ".dll": ["-Wl,--subsystem,console", "-Wl,-e,mainCRTStartup"]}
        own = start.get(self.target.extension, [])
        self.run("-s", "-o", name, *objects, *self._support("library", "program"), *own, *self.target.flags)
        return self.folder / name

    def _support(self, *names: str) -> list[str]:
        """Compile sources that the target adds to its C library, and return their objects."""
        if not self.target.support:
            return []
        support = Path(__file__).parent / self.target.support
        self.compile([support / f"{name}.c" for name in names], support)
        return [f"{name}.o" for name in names]


_LINKED = ("library", "program")

_LIBRARIES = str(Path(ziglang.__file__).parent)
"""Where zig is installed: it finds nothing in a global cache that was made by a zig in another place."""


@contextmanager
def compiler(target: Target, links: Literal["", "library", "program"] = "") -> Iterator[Compiler]:
    """Yield a compiler in a temporary folder; if it `links`, it gets the parts of the C library needed for that."""
    version_of_all = f"zig {version('ziglang')} {target.zig} {' '.join(target.flags)} {_LIBRARIES}"
    # libraries and programs share most parts: those for the other use are the next best
    uses = sorted(_LINKED, key=lambda use: use != links) if links else []
    place = hashlib.sha256(_LIBRARIES.encode()).hexdigest()[:8]
    places = [(cache_root() / "zig" / f"{target.folder}-{use}-{place}.zip", f"{version_of_all} {use}") for use in uses]
    with ExitStack() as held:
        zig = Compiler(target, held.enter_context(TemporaryFolder("zig")))
        parts = [load_cached(*place) for place in places]
        if links and parts[0] is None:
            held.enter_context(alone(cache_root() / "zig" / f"{target.folder}-{place}.zip"))
            parts = [load_cached(*place) for place in places]
        if data := next(filter(None, parts), None):
            _unpack(data, zig.folder / _GLOBAL)
        yield zig
        if links and parts[0] is None:
            store_cached(*places[0], _pack(zig.folder / _GLOBAL))


def _pack(folder: Path) -> bytes:
    """Return zig's cache as a zip file, without the parsed standard library (z), which its products do not need."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = file.relative_to(folder)
            if name.parts[0] not in ("z", "tmp"):
                archive.write(file, name)
    return stream.getvalue()


def _unpack(data: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)


def link_program(source: Path, headers: Path, file: Path, target: Target) -> None:
    """Compile one C source, which includes from `headers`, to the program `file`. Raises LinkError."""
    with compiler(target, "program") as zig:
        # compiled separately, and stripped like libraries: for other options zig compiles the C library anew
        zig.run("-std=gnu11", "-O2", *_WARNINGS, "-I", str(headers), "-c", str(source), "-o", f"{source.stem}.o")
        write_file(file, zig.link_program(file.name, [f"{source.stem}.o"]).read_bytes())
        file.chmod(0o755)
