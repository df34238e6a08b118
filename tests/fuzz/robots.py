"""Robot descriptions, URDF and MJCF, changed at random, and their import.

    python -m tests.fuzz.robots FIRST COUNT

tries the seeds from FIRST on and prints a line for each one that ends in anything but a declaration that can be read or
an error of dockfmu.
"""

from __future__ import annotations

import io
import random
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from lxml import etree

from dockfmu.base.errors import DockfmuError
from dockfmu.cli import main
from dockfmu.components.multibody.declaration import read_text
from tests.components.multibody import robots
from tests.fuzz.packages import _change_xml
from tests.fuzz.recordings import place_of
from tests.fuzz.seeds import try_seeds

DESCRIPTIONS = {"arm.urdf": robots.ARM, "dog.xml": robots.QUADRUPED, "sat.xml": robots.SATELLITE}


def trial(folder: Path, seed: int) -> tuple[list[str], str]:
    """Change a description in one to three places, import it, and read the declaration; return failures and changes."""
    rng = random.Random(seed)
    folder.mkdir()
    name = rng.choice(sorted(DESCRIPTIONS))
    data, done = DESCRIPTIONS[name].encode(), []
    for _ in range(rng.choice([1, 1, 2, 3])):
        try:
            data, change = _change_xml(data, rng)
        except (ValueError, etree.XMLSyntaxError, AttributeError):
            continue
        done.append(change)
    file, out = folder / name, folder / "out.toml"
    file.write_bytes(data)
    failures: list[str] = []
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()) as said, redirect_stderr(io.StringIO()) as more:
            warnings.simplefilter("ignore")
            status = main(["import", str(file), "-o", str(out)])
        if "Traceback" in said.getvalue() + more.getvalue():
            failures.append("a traceback")
        if status == 0:
            read_text(out.read_text(encoding="utf-8"))
    except DockfmuError as error:
        failures.append(f"its own declaration is refused: {str(error)[:200]}")
    except SystemExit:
        pass
    except Exception as error:
        failures.append(f"{type(error).__name__}: {str(error)[:90]} ({place_of(error)})")
    return failures, f"{name}: {', '.join(done)}"


def run(first: int, count: int) -> int:
    """Try seeds; print what fails and a summary; return the number of seeds that failed."""
    with tempfile.TemporaryDirectory() as scratch:
        return try_seeds(first, count, scratch, trial)


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]))))
