"""Make the gallery's pictures from runs of the systems: `python docs/images/gallery.py [SYSTEM ...]` (`make gallery`).

Each system is run as `dockfmu run SYSTEM` does, and the page in the browser is drawn in a headless Chromium shortly
after its first capture or contact, or after an event that the run of the system which it extends does not have. By
default all systems are run that have no picture yet, so that a new system gets one; name a system to make its picture
anew. Pictures and `runs.json` (outcome, times) are committed, so that the site is built in seconds and without
Chromium; `docs/_extensions/gallery.py` writes the page from them. Times are of the processor, as machines are busy.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from PIL import Image

import dockfmu
from dockfmu.base.cache import ROOT
from dockfmu.declare import declaration
from dockfmu.declare.toml.files import SYSTEMS

FOLDER = Path(__file__).parent / "gallery"
RUNS = FOLDER / "runs.json"
PLACE = ROOT / "build" / "gallery"
DRAWN, KEPT = (960, 600), (480, 300)
"""Sizes in pixels: as the page draws it, and as the site shows it, sharp on a screen of twice the density."""

MOMENTS = ("capture", "head_capture", "first_contact", "root", "gripped", "separation")
"""Events after which a picture shows most, the best first; without one it is taken in the middle of the run."""
LATER_S = 0.015
"""Time after the event, s: the page shows rows 10 ms apart."""
UNUSUAL_S = 5.0
"""Time after an event that the extended system does not have, s: what it changes can be seen."""
PARTED = ("departure",)
"""Events after which one unit is alone in the picture."""

RUN_STATUS = (0, 3, 4)
"""Exit statuses of a run that ended by itself, with success or without."""


def events(name: str) -> set[str] | None:
    """Return the names of the events of a system's run, None if it was not run here."""
    file = PLACE / name / "summary.json"
    return (
        {event["name"] for event in json.loads(file.read_text(encoding="utf-8"))["events"]} if file.exists() else None
    )


def moment(run: dict[str, Any], usual: set[str] | None = None) -> tuple[float, str]:
    """Return when to take the picture of a run, and the event that it follows; `usual` events are not shown again."""
    times = {event["name"]: float(event["t"]) for event in reversed(run["events"])}
    if usual is not None:
        unusual = sorted((t, name) for name, t in times.items() if t > 0.0 and name not in {*usual, *PARTED})
        if unusual:
            return min(unusual[0][0] + UNUSUAL_S, run["t_end"]), unusual[0][1]
    for name in MOMENTS:
        if times.get(name, 0.0) > 0.0:
            return min(times[name] + LATER_S, run["t_end"]), name
    later = sorted((t, name) for name, t in times.items() if t > 0.0)
    return (min(later[0][0] + LATER_S, run["t_end"]), later[0][1]) if later else (run["t_end"] / 2, "")


def picture(name: str, folder: Path, file: Path, at: float) -> None:
    """Draw a run at a time: an arm from afar, with all craft; any other system in its first scene."""
    whole = folder / "picture.png"
    size = "x".join(map(str, DRAWN))
    command = [sys.executable, "-m", "dockfmu", "view", str(folder), "--picture", str(whole), "--from", str(at)]
    if "manipulator" in declaration.read(name).elements:
        command += ["--scene", "craft", "--camera", "overview"]
    subprocess.run([*command, "--size", size], stdout=subprocess.DEVNULL, check=True)
    with Image.open(whole) as drawn:
        drawn.convert("RGB").resize(KEPT, Image.Resampling.LANCZOS).save(file, quality=78, method=6)


def run(name: str) -> float:
    """Run a system into its folder; return the processor time of the command, without compiling, s."""
    command = [sys.executable, "-m", "dockfmu", "run", name, "-o", str(PLACE / name), "--no-report"]
    while True:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in RUN_STATUS:
            raise SystemExit(f"dockfmu run {name} ended with {done.returncode}: {done.stderr}")
        if "compiled first" not in done.stderr:
            return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def add(name: str) -> None:
    """Run a system, take its picture, and note its run."""
    seconds = run(name)
    found = json.loads((PLACE / name / "summary.json").read_text(encoding="utf-8"))
    extended = tomllib.loads((SYSTEMS / f"{name}.toml").read_text(encoding="utf-8")).get("extends", "")
    at, event = moment(found, events(Path(extended).stem) if extended else None)
    FOLDER.mkdir(exist_ok=True)
    picture(name, PLACE / name, FOLDER / f"{name}.webp", at)
    runs = json.loads(RUNS.read_text(encoding="utf-8")) if RUNS.exists() else {}
    runs[name] = {
        "outcome": found["outcome"], "simulated_s": round(found["t_end"], 3), "processor_s": round(seconds, 1),
        "picture_s": round(at, 3), "event": event,
    }  # fmt: skip
    RUNS.write_text(json.dumps(dict(sorted(runs.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or [n for n in dockfmu.list_systems() if not (FOLDER / f"{n}.webp").exists()]:
        print(name, flush=True)
        add(name)
