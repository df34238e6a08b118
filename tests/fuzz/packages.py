"""FMUs and packages changed at random, and everything that reads them.

    python -m tests.fuzz.packages FIRST COUNT

tries the seeds from FIRST on and prints a line for each one that ends in anything but a result or an error of dockfmu.
Documents are changed as XML, so that most changes get past the parser, and archives as bytes and by their members.
"""

from __future__ import annotations

import io
import random
import sys
import tempfile
import warnings
import zipfile
import zlib
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from lxml import etree

from dockfmu.base.errors import DockfmuError
from dockfmu.cli import main
from dockfmu.system import System
from tests.dockfmu.small_systems import write_pair
from tests.fuzz.recordings import place_of
from tests.fuzz.seeds import try_seeds

TEXTS = (
    "", " ", "0", "-1", "1", "1.5", "NaN", "INF", "-INF", "1e999", "-1e308", "5e-324", "4294967295", "4294967296",
    "1" * 400,
    "true", "false", "text", "x" * 5000, "<script>", "../../etc/passwd", "/etc/passwd", "resources/../../x", "%2e%2e/x",
    "first.position", "first", "second", "m", "kg", "1MN99", "m/(s", "µ", "fmi2Discard", "input", "output", "parameter",
    "fixed", "continuous", "calculated", "exact", "#fragment", "in.ssp", "http://x.y/z", "\u202e", "a\nb", "2.0", "3.0",
)  # fmt: skip


def _change_xml(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    """Change one place of a document: an attribute, a text, or an element that is left out, doubled or moved."""
    root = etree.fromstring(data)
    elements = [one for one in root.iter() if isinstance(one.tag, str)]
    chosen = rng.choice(elements)
    action = rng.random()
    if action < 0.6 and chosen.attrib:
        name = rng.choice(sorted(chosen.attrib))
        chosen.set(name, rng.choice(TEXTS))
        done = f"{chosen.tag.split('}')[-1]} {name}"
    elif action < 0.7:
        chosen.set(rng.choice(["name", "start", "min", "unit", "source", "more", "value"]), rng.choice(TEXTS))
        done = "an attribute more"
    elif action < 0.78 and chosen.attrib:
        del chosen.attrib[rng.choice(sorted(chosen.attrib))]
        done = "an attribute less"
    elif action < 0.84:
        chosen.text = rng.choice(TEXTS)
        done = "a text"
    elif chosen.getparent() is None:
        chosen.tag = "other"
        done = "the root"
    elif action < 0.92:
        chosen.getparent().remove(chosen)
        done = f"without {chosen.tag.split('}')[-1]}"
    elif action < 0.96:
        chosen.addnext(etree.fromstring(etree.tostring(chosen)))
        done = f"{chosen.tag.split('}')[-1]} twice"
    else:
        rng.choice(elements).append(chosen)
        done = f"{chosen.tag.split('}')[-1]} elsewhere"
    return etree.tostring(root), done


def _changed_members(members: dict[str, bytes], rng: random.Random) -> str:
    """Change a member of an archive, or which there are."""
    documents = [name for name in members if name.endswith((".xml", ".ssd", ".ssv"))]
    action = rng.random()
    if action < 0.75 and documents:
        name = rng.choice(documents)
        try:
            members[name], done = _change_xml(members[name], rng)
        except (ValueError, etree.XMLSyntaxError, AttributeError):
            return "nothing"
        return f"{name}: {done}"
    name = rng.choice(sorted(members))
    if action < 0.85:
        data = bytearray(members[name])
        for _ in range(rng.choice([1, 20])):
            if data:
                data[int(rng.random() * len(data))] = rng.randrange(256)
        # the bytes of a library are code, which may do anything
        if "binaries" not in name:
            members[name] = bytes(data[: rng.choice([len(data), len(data) // 2, 0])])
        return f"bytes of {name}"
    if action < 0.93:
        del members[name]
        return f"without {name}"
    members[rng.choice(["resources/more.ssv", "more.ssd", "in.ssp", "é", "terminalsAndIcons/x.xml"])] = members[name]
    return f"{name} under another name"


def craft(file: Path, out: Path, seed: int) -> str:
    """Write an archive with one to three changes, also in FMUs inside it; return what was changed."""
    rng = random.Random(seed)
    done = []
    with zipfile.ZipFile(file) as source:
        members = {info.filename: source.read(info) for info in source.infolist() if not info.is_dir()}
    inner = sorted(name for name in members if name.endswith(".fmu"))
    for _ in range(rng.choice([1, 1, 2, 3])):
        if inner and rng.random() < 0.4:
            name = rng.choice(inner)
            try:
                with zipfile.ZipFile(io.BytesIO(members.get(name, b""))) as source:
                    parts = {info.filename: source.read(info) for info in source.infolist()}
            except (zipfile.BadZipFile, zlib.error):
                continue
            done.append(f"{name}: {_changed_members(parts, rng)}")
            members[name] = _packed(parts)
        else:
            done.append(_changed_members(members, rng))
    data = bytearray(_packed(members))
    if rng.random() < 0.1:
        for _ in range(rng.choice([1, 10])):
            data[int(rng.random() * len(data))] = rng.randrange(256)
        data = data[: rng.choice([len(data), len(data) // 2])]
        done.append("bytes of the archive")
    out.write_bytes(data)
    return ", ".join(done)


def _packed(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name, data in members.items():
            out.writestr(name, data)
    return buffer.getvalue()


def trial(sound: Path, folder: Path, seed: int) -> tuple[list[str], str]:
    """Craft an .fmu or an .ssp from a sound one, and read it. Return the failures, and what was changed."""
    folder.mkdir()
    file = folder / sound.name
    changed = craft(sound, file, seed)
    failures: list[str] = []

    def run() -> None:
        if file.suffix == ".fmu":
            system = System("alone")
            system.add("a", file)
            system.run(step=0.01, stop=0.02)
        else:
            System.load(file).run(step=0.01, stop=0.02)

    def ports() -> None:
        main(["ports", str(file)])

    def validate() -> None:
        main(["validate", str(file)])

    def parameters() -> None:
        main(["parameters", str(file)])

    def diagram() -> None:
        main(["diagram", str(file), "-o", str(folder / "diagram.svg")])

    def swapped() -> None:
        # the FMU of a stranger in the place of the sound one
        (folder / "sound").mkdir()
        pair = write_pair(sound, folder / "sound")
        if main(["check-swap", f"{pair}.first", str(file)]) == 0:
            main(["run", str(pair), "--swap", f"first={file}", "--stop", "0.02", "-o", str(folder / "out"), "--json"])

    reads = [run, validate, parameters, *([ports, swapped] if file.suffix == ".fmu" else [diagram])]
    for read in reads:
        try:
            with warnings.catch_warnings(), redirect_stdout(io.StringIO()) as said, redirect_stderr(io.StringIO()):
                warnings.simplefilter("ignore")
                read()
            if "\x1b[2J" in said.getvalue():
                failures.append(f"{read.__name__}: a control character")
        except DockfmuError as error:
            if not str(error):
                failures.append(f"{read.__name__}: an error without words")
        except SystemExit:
            pass
        except Exception as error:
            failures.append(f"{read.__name__}: {type(error).__name__}: {str(error)[:90]} ({place_of(error)})")
    return failures, changed


def run(first: int, count: int) -> int:
    """Try seeds, of FMUs and packages in turn; print what fails and a summary; return the number that failed."""
    import dockfmu

    with tempfile.TemporaryDirectory() as scratch:
        fmu = dockfmu.build("Oscillator")
        sound = [fmu, write_pair(fmu, Path(scratch))]
        return try_seeds(first, count, scratch, lambda folder, seed: trial(sound[seed % 2], folder, seed))


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]))))
