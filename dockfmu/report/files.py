"""Names of the files of a run, and the folder that receives them by default."""

from __future__ import annotations

from pathlib import Path

from dockfmu.master.observers.recording import RESULTS as RESULTS

BUILD = Path("build")
"""The build folder, relative to the working directory."""

SUMMARY = "summary.json"
EVENTS = "events.json"
CHECKPOINT = "run.checkpoint"
INPUTS = "inputs.jsonl"
"""The log of the inputs that an operator set."""
REPORT = "report.html"
OVERVIEW = "overview.png"
IMPACT = "impact.png"

RUN_FILES = (RESULTS, SUMMARY, EVENTS, CHECKPOINT, INPUTS, REPORT, OVERVIEW, IMPACT)
"""All files of a run in its folder."""


def recording(place: Path) -> Path:
    """Return the recording that a path names: the file itself, or results.h5 in a folder."""
    return place / RESULTS if place.is_dir() else place


def why_unrecorded(folder: Path) -> str:
    """Return why a folder has no recording, or what to do for one."""
    said = next((folder / name for name in (REPORT, SUMMARY) if (folder / name).is_file()), None)
    if said is not None:
        return f"its run ended before anything was recorded; {said} says why"
    return f"run a system with -o {folder} first"
