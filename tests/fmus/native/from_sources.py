"""Libraries from FMUs with C sources, compiled as another tool would."""

import subprocess
import sys
import zipfile

from lxml import etree

from dockfmu.fmus.toolchain.targets import HOST

ZIG = (sys.executable, "-m", "ziglang", "cc", "-target", HOST.zig, "-O2")


def compiled(file, folder, compiler=ZIG, change=lambda folder: None):
    """The library, from nothing but what the FMU holds and says of its sources, with a `change` in their folder."""
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
    subprocess.run(command, cwd=folder / "sources", check=True)
    return library
