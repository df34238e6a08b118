"""Sensors, sections, ledgers and parameter sets changed at random, and the commands that read them.

    python -m tests.fuzz.records FIRST COUNT

tries the seeds from FIRST on and prints a line for each one that ends in anything but a result or an error of dockfmu.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import sys
import tempfile
import tomllib
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from dockfmu.base.errors import DockfmuError
from dockfmu.cli import main
from tests.fuzz.checkpoints import _change_json
from tests.fuzz.models import _change_text
from tests.fuzz.numbers import NUMBERS, _written, change
from tests.fuzz.recordings import place_of
from tests.fuzz.seeds import try_seeds

SENSORS = """
epoch = 2026-11-27T10:00:00Z
[[frame]]
name = "frame"
rate = "20 Hz"
delay = "10 ms"
clock_offset = "1 ms"
clock_drift = 1e-5
lost = 0.1
[[frame.signal]]
column = "travel"
variable = "first.position"
unit = "mm"
scale = 1.01
bias = "1 mm"
noise = "1 mm"
quantum = "0.5 mm"
range = ["-1 m", "1 m"]
lost = 0.1
[[frame.signal]]
column = "sum"
variable = {"first.position" = 1.0, "second.position" = -1.0}
unit = "m"
[[frame.event]]
name = "pushed_far"
lost = 0.1
"""
SECTIONS = """
[[section]]
name = "rod"
source = "test"
allowable = "1000 MPa"
ultimate = "2000 MPa"
life_factor = 2.0
[section.stress]
"first.position" = "30 MPa/m"
"second.position" = "1 MPa/m"
[section.fatigue]
ranges = ["200 MPa", "100 MPa"]
cycles = [1e4, 1e6]
endurance = "1 MPa"
"""
SET = """<?xml version="1.0" encoding="UTF-8"?>
<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"
 xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" version="1.0" name="set">
<ssv:Parameters>
<ssv:Parameter name="first.parameters.mass"><ssv:Real value="2.0" unit="kg"/></ssv:Parameter>
<ssv:Parameter name="second.parameters.stiffness"><ssv:Real value="3.0"/></ssv:Parameter>
</ssv:Parameters>
<ssv:Units><ssc:Unit name="kg"><ssc:BaseUnit kg="1"/></ssc:Unit></ssv:Units>
</ssv:ParameterSet>
"""
KINDS = (
    "sensors.toml",
    "sections.toml",
    "ledger.json",
    "set.ssv",
    "summary.json",
    "summary.json",
    "events.json",
    "seed",
)


def sound_records(run: Path) -> Path:
    """Write the files beside a sound run in `run`, and return the folder."""
    for name, text in (("sensors.toml", SENSORS), ("sections.toml", SECTIONS), ("set.ssv", SET)):
        (run / name).write_text(text, encoding="utf-8")
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for command in _commands(run, ""):
            assert main(command) == 0, command
    assert (run / "ledger.json").is_file()
    return run


def _commands(folder: Path, kind: str, seed: str = "7") -> list[list[str]]:
    """Return the commands that read a kind of file, or all of them."""
    telemetry = ["telemetry", str(folder), "--sensors", str(folder / "sensors.toml"), "-o", str(folder / "told")]
    life = ["life", str(folder), "--sections", str(folder / "sections.toml"), "--ledger", str(folder / "ledger.json")]
    values = ["parameters", str(folder / "pair.ssp"), "--parameters", str(folder / "set.ssv"), "--json"]
    run = ["run", str(folder / "pair.ssp"), "--stop", "0.02", "--parameters", str(folder / "set.ssv"), "--json"]
    told = [[*telemetry, f"--seed={seed}"]]
    spent = [life, [*life, "--json"]]
    taken = [values, [*run, "-o", str(folder / "out"), "--no-report"]]
    of = {"sensors.toml": told, "seed": told, "sections.toml": spent, "ledger.json": spent, "set.ssv": taken}
    shown = [
        ["report", str(folder)],
        ["compare", str(folder), str(folder), "-o", str(folder / "out.html")],
        ["compare", str(folder), str(folder.parent / "sound"), "--json", "--no-figure"],
        ["view", str(folder), "--export", str(folder / "out.html")],
    ]
    of |= {"summary.json": [*told, *shown], "events.json": shown}
    return of.get(kind, [*told, *spent, *taken])


def craft(folder: Path, rng: random.Random) -> tuple[list[list[str]], str]:
    """Change one file in one or two places; return the commands that read it, and what was changed."""
    kind = rng.choice(KINDS)
    file, done = folder / kind, []
    for _ in range(rng.choice([1, 1, 2])):
        if kind == "seed":
            break
        if kind == "set.ssv" or rng.random() < 0.15:
            text = file.read_text(encoding="utf-8")
            if kind == "set.ssv" and rng.random() < 0.7:
                quoted = text.split('"')
                k = rng.randrange(8, len(quoted) - 1)
                quoted[k] = rng.choice([*(n.replace('"', "") for n in NUMBERS), "first.position", "first", "kg", "m"])
                file.write_text('"'.join(quoted), encoding="utf-8")
                done.append(f"{k}: {quoted[k][:20]}")
            else:
                done.append(_change_text(file, rng))
            break
        content = file.read_text(encoding="utf-8")
        try:
            if kind.endswith(".json"):
                file.write_text(json.dumps(_change_json(json.loads(content), rng)), encoding="utf-8")
                done.append("an entry")
            else:
                table = {key: value for key, value in tomllib.loads(content).items() if key != "epoch"}
                done.append(change(table, rng))
                _written(table, file)
        except (ValueError, IndexError, TypeError):
            break
    seed = rng.choice(NUMBERS) if kind == "seed" else "7"
    return _commands(folder, kind, seed), f"{kind}: {', '.join(done)}{seed[:20] if kind == 'seed' else ''}"


def trial(sound: Path, folder: Path, seed: int) -> tuple[list[str], str]:
    """Craft a file of those in `sound`, and run the commands that read it; return failures and what was changed."""
    rng = random.Random(seed)
    shutil.copytree(sound, folder)
    commands, changed = craft(folder, rng)
    before = {path.name for path in folder.iterdir()}
    failures: list[str] = []
    for command in commands:
        said = io.StringIO()
        try:
            with warnings.catch_warnings(), redirect_stdout(said), redirect_stderr(said):
                warnings.simplefilter("error", RuntimeWarning)
                main(command)
        except DockfmuError as error:
            failures.append(f"{command[0]}: {type(error).__name__} passes the command")
        except SystemExit:
            pass
        except Exception as error:
            failures.append(f"{command[0]}: {type(error).__name__}: {str(error)[:90]} ({place_of(error)})")
        if "Traceback" in said.getvalue() or "\x1b" in said.getvalue():
            failures.append(f"{command[0]}: a traceback or a command of the terminal")
    strange = {path.name for path in folder.iterdir()} - before - {"told", "out", "report.html", "out.html"}
    strange |= {path.name for path in folder.parent.iterdir() if not (path.name.isdecimal() or path.name == "sound")}
    if strange:
        failures.append(f"writes {sorted(strange)}")
    return failures, changed


def run(first: int, count: int) -> int:
    """Try seeds; print what fails and a summary; return the number of seeds that failed."""
    from tests.fuzz.sound import sound_run

    with tempfile.TemporaryDirectory() as scratch:
        sound = sound_records(sound_run(Path(scratch) / "sound"))
        return try_seeds(first, count, scratch, lambda folder, seed: trial(sound, folder, seed))


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]))))
