"""Libraries from FMUs with C sources, compiled as another tool would, each once for the same sources."""

import hashlib
import subprocess
import sys
import zipfile
from functools import cache
from importlib.metadata import version

from lxml import etree

from dockfmu.base.cache import cache_root, load_or_make
from dockfmu.fmus.toolchain.targets import HOST

ZIG = (sys.executable, "-m", "ziglang", "cc", "-target", HOST.zig, "-O2")


def compiled(file, folder, compiler=ZIG, change=lambda folder: None):
    """Compile the library from what the FMU holds and says of its sources alone, with a `change` in their folder.

    Compilers take most of the time of these tests, so the cache keeps a library under its sources, the command and the
    version of the compiler.
    """
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder)
        root = etree.fromstring(archive.read("modelDescription.xml"))
    change(folder / "sources")
    sources = [element.get("name") for element in root.iterfind("CoSimulation/SourceFiles/File")]
    build = etree.parse(folder / "sources" / "buildDescription.xml").getroot()
    assert [element.get("name") for element in build.iter("SourceFile")] == sources
    options = build.find(".//SourceFileSet").get("compilerOptions").split()
    library = folder / f"library{HOST.extension}"
    command = [*compiler, "-std=c11", "-shared", *options, "-o", str(library), *sources, "-lm"]

    def make():
        subprocess.run(command, cwd=folder / "sources", check=True)
        return library.read_bytes()

    shown = [word for word in command if word not in (sys.executable, str(library))]
    total = hashlib.sha256(repr([shown, _version(compiler[0])]).encode())
    for source in sorted(path for path in (folder / "sources").rglob("*") if path.is_file()):
        total.update(repr((source.relative_to(folder).as_posix(), source.read_bytes())).encode())
    key = total.hexdigest()
    library.write_bytes(load_or_make(cache_root() / "tests" / f"{key[:32]}{HOST.extension}", key, make))
    return library


@cache
def _version(compiler):
    """Return what a compiler says of its version: zig is a package of this Python."""
    if compiler == sys.executable:
        return version("ziglang")
    return subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
