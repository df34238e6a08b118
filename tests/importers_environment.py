"""The environment in which `make importers` installs third-party importers."""

import os
import subprocess
from pathlib import Path

from dockfmu.base.cache import ROOT

ENVIRONMENT = Path(os.environ.get("DOCKFMU_IMPORTERS", ROOT / "build" / "importers"))


class Missing(RuntimeError):
    """This importer is not installed here."""


def installed(*places: str) -> Path:
    """Return the first match of the glob patterns in the environment of the importers. Raises Missing."""
    for place in places:
        for file in sorted(ENVIRONMENT.glob(place)):
            return file
    raise Missing(f"{places[0]} is not in {ENVIRONMENT}: make importers")


def call(*command: object, **options) -> None:
    """Run a program; fail with its output if its exit status is not 0."""
    arguments = [str(word) for word in command]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=600, check=False, **options)
    assert done.returncode == 0, f"{arguments[0]} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-6000:]}"
