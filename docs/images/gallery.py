"""Make the gallery's pictures from runs of the systems: `python docs/images/gallery.py [SYSTEM ...]` (`make gallery`).

Each system is run as `dockfmu run SYSTEM` does, and the page in the browser is drawn in a headless Chromium shortly
after its first capture or contact. A system that extends another one is drawn after an event that the run of that one
does not have, or before it if the units part then, and the events up to this one are noted; without such an event and
from the same start, over that run, when the two are farthest apart. By default all systems are run that have no picture
yet, so that a new system gets one; name a system to make its picture anew.
Pictures and `runs.json` (outcome, times) are committed, so that the site is built in seconds and without Chromium;
`docs/_extensions/gallery.py` writes the page from them. Times are of the processor, as machines are busy.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import dockfmu
from dockfmu.base.cache import ROOT
from dockfmu.declare import declaration
from dockfmu.declare.toml.files import SYSTEMS
from dockfmu.master.observers.recording.results import Results
from dockfmu.view.motion import conjugate, outward, poses
from dockfmu.view.recording import Replay

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
LEAVING = ("retreat",)
"""Events after which the units move apart: what led to them is seen before."""
PARTED = ("departure",)
"""Events after which one unit is alone in the picture."""
ARM_M = 0.5
"""Distance from the origin of a frame of points that turn with it, m: the size of a mechanism."""
SHOWN_EVENTS = 4
"""Most events that the caption of a picture names."""
SEEN_M = 0.01
"""Distance between two runs that can be seen in a picture 480 pixels wide, m."""

RUN_STATUS = (0, 3, 4)
"""Exit statuses of a run that ended by itself, with success or without."""


def events(name: str) -> set[str]:
    """Return the names of the events of a system's run."""
    return {
        event["name"] for event in json.loads((PLACE / name / "summary.json").read_text(encoding="utf-8"))["events"]
    }


def unusual(run: dict[str, Any], usual: set[str]) -> dict[str, Any] | None:
    """Return when to take the picture of a run with an event beyond the `usual` ones, and the events up to that one."""
    times = sorted((float(event["t"]), event["name"]) for event in run["events"])
    new = [(t, name) for t, name in times if t > 0.0 and name not in {*usual, *PARTED}]
    if not new:
        return None
    t, name = new[0]
    at = t - LATER_S if name in LEAVING else min(t + UNUSUAL_S, run["t_end"])
    before = [[round(time, 3), event] for time, event in times if time <= t]
    return {"picture_s": at, "event": name, "events": before[-SHOWN_EVENTS:]}


def moment(run: dict[str, Any]) -> tuple[float, str]:
    """Return when to take the picture of a run, and the event that it follows."""
    times = {event["name"]: float(event["t"]) for event in reversed(run["events"])}
    for name in MOMENTS:
        if times.get(name, 0.0) > 0.0:
            return min(times[name] + LATER_S, run["t_end"]), name
    later = sorted((t, name) for name, t in times.items() if t > 0.0)
    return (min(later[0][0] + LATER_S, run["t_end"]), later[0][1]) if later else (run["t_end"] / 2, "")


def drawn_points(name: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the times of a run, s, and points of each drawn frame of its scene, shape (rows, 4, 3), m.

    They are the origin and the points on the axes, in axes of the passive unit or, in a scene without one, of I.
    """
    with Results(PLACE / name / "results.h5") as results:
        replay = Replay(results, PLACE / name)
        element, scene = max(replay.scenes.items(), key=lambda item: "view" in item[1])
        placed = poses(scene, lambda variable: np.asarray(results[variable], float))
        rows, found = len(replay.time), {}
        origin, turned = placed[scene["view"]["frame"]] if "view" in scene else (np.zeros((1, 3)), np.eye(1, 4))
        for frame in {shape["frame"] for shape in scene["shapes"] if "frame" in shape}:
            position, turn = placed[frame]
            corners = [position, *(position + outward(turn, ARM_M * axis[None, :]) for axis in np.eye(3))]
            seen = [outward(conjugate(turned), corner - origin) for corner in corners]
            found[f"{element}.{frame}"] = np.stack([np.broadcast_to(point, (rows, 3)) for point in seen], axis=1)
        return np.asarray(replay.time), found


def farthest(name: str, base: str) -> tuple[float, float] | None:
    """Return when two runs are farthest apart in one picture, s, and how far, m; None if they do not start alike."""
    (time, mine), (other_time, others) = drawn_points(name), drawn_points(base)
    if mine.keys() != others.keys():
        return None
    time = time[time <= other_time[-1]]
    rows = np.searchsorted(other_time, time, side="right") - 1
    apart = np.zeros(len(time))
    for frame in mine:
        distance = np.linalg.norm(mine[frame][: len(time)] - others[frame][rows], axis=2).max(axis=1)
        apart = np.fmax(apart, distance)
    if apart[0] > SEEN_M:
        return None
    # farther apart, one of them would be out of the picture
    row = np.where(np.maximum.accumulate(apart) < ARM_M, apart, 0.0).argmax()
    return float(time[row]), float(apart[row])


def picture(name: str, file: Path, at: float, beside: str = "") -> None:
    """Draw a run at a time, over another one: an arm from afar, with all craft; others in their first scene."""
    whole = PLACE / name / "picture.png"
    size = "x".join(map(str, DRAWN))
    folders = [str(PLACE / system) for system in (name, beside) if system]
    command = [sys.executable, "-m", "dockfmu", "view", *folders, "--picture", str(whole), "--from", str(at)]
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


def shown(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """Return when to take the picture of a run, its event, and where it starts as its base: that, and how far apart."""
    at, event = moment(found)
    extended = tomllib.loads((SYSTEMS / f"{name}.toml").read_text(encoding="utf-8")).get("extends", "")
    if not extended:
        return {"picture_s": at, "event": event}
    base = Path(extended).stem
    if not (PLACE / base / "summary.json").exists():
        run(base)
    new = unusual(found, events(base))
    if new is not None:
        return new
    met = farthest(name, base)
    if met is None:
        return {"picture_s": at, "event": event}
    time, apart = met[0], float(f"{met[1]:.2g}")
    seen = {"picture_s": time, "event": ""} if apart > SEEN_M else {"picture_s": at, "event": event}
    return {**seen, "base": base, "apart_m": apart}


def add(name: str) -> None:
    """Run a system, take its picture, and note its run."""
    seconds = run(name)
    found = json.loads((PLACE / name / "summary.json").read_text(encoding="utf-8"))
    chosen = shown(name, found)
    FOLDER.mkdir(exist_ok=True)
    beside = chosen["base"] if chosen.get("apart_m", 0.0) > SEEN_M else ""
    picture(name, FOLDER / f"{name}.webp", chosen["picture_s"], beside)
    runs = json.loads(RUNS.read_text(encoding="utf-8")) if RUNS.exists() else {}
    runs[name] = {
        "outcome": found["outcome"], "simulated_s": round(found["t_end"], 3), "processor_s": round(seconds, 1),
        **chosen, "picture_s": round(chosen["picture_s"], 3),
    }  # fmt: skip
    RUNS.write_text(json.dumps(dict(sorted(runs.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or [n for n in dockfmu.list_systems() if not (FOLDER / f"{n}.webp").exists()]:
        print(name, flush=True)
        add(name)
