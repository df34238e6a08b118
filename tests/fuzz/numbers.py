"""Numbers and declarations changed at random: options of commands, TOML of systems and of campaigns.

    python -m tests.fuzz.numbers FIRST COUNT

tries the seeds from FIRST on and prints a line for each one that ends in anything but a result or an error of dockfmu.
"""

from __future__ import annotations

import copy
import io
import json
import random
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from dockfmu.base.errors import DockfmuError
from dockfmu.campaign.campaign import Campaign
from dockfmu.cli import main
from dockfmu.system import System
from tests.dockfmu.small_systems import TOML
from tests.fuzz.campaigns import DESCRIPTION
from tests.fuzz.recordings import place_of
from tests.fuzz.seeds import try_seeds

NUMBERS = (
    "0", "-1", "-0", "1e-17", "5e-324", "1e999", "-1e999", "nan", "inf", "-inf", "1" * 5000, "0." + "0" * 5000 + "1",
    "0x10", "0b1", "0o7", "1_0", "1,5", "1.", ".5", "+0.1", "1e", "e1", "--1", "\u0661", "\u00bd", " 1 ", "1 2", "",
    "1MN99", "1m^99999999999", "10 ms", "1/s", "s", "1 µs", "1 furlong", "true", "null", "[1", "1]", "[1,[2]]", "{}",
    "1e308 km", "-5 degC", "1 %", "1" + "0" * 400, "18446744073709551616", "9223372036854775807", "2147483648",
)  # fmt: skip
"""What may stand where a number is wanted; none of them makes a run that takes long."""
VALUES: tuple[Any, ...] = (
    *NUMBERS, None, True, 0, -1, 2**31, 2**63, 2**64, 10**400, 1e308, -1e308, 5e-324, float("nan"), float("inf"), [],
    [1],
    [[1.0, 2.0], [3.0]], {}, {"value": 1}, {"value": "1 m", "unit": "kg"}, {"unit": "m"}, "x" * 5000, "\x1b[2J", "../x",
    "first.position", "first.parameters.mass", "uniform", "normal", "grid", "sobol", "latin_hypercube", [["a"]] * 3,
)  # fmt: skip


def change(content: Any, rng: random.Random) -> str:
    """Change one place of a declaration: another value, one less, or one more; return its name."""
    place, path = content, []
    while True:
        key = rng.choice(sorted(place) if isinstance(place, dict) else range(len(place)))
        path.append(str(key))
        if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.7:
            place = place[key]
            continue
        action = rng.random()
        if action < 0.75:
            place[key] = copy.deepcopy(rng.choice(VALUES))
        elif action < 0.87:
            del place[key]
        elif isinstance(place, dict):
            place[rng.choice(["more", "sets", "values", "law", "low", "high", "points", "severity"])] = copy.deepcopy(
                rng.choice(VALUES)
            )
        else:
            place.append(copy.deepcopy(rng.choice(VALUES)))
        return ".".join(path)


def _options(rng: random.Random, sound: Path, folder: Path) -> list[str]:
    """Return a command with a few strange numbers, which does not take long if they are accepted."""
    number = rng.choice(NUMBERS)
    run = ["run", str(sound), "--stop", "0.02", "-o", str(folder / "out"), "--no-report", "--json"]
    return rng.choice(
        [
            [*run, "--step", number],
            [*run, "--adaptive", number],
            [*run, "--retry", number],
            [*run, "--every", number],
            [*run, "--threads", number],
            [*run, "--around", f"{number},1"],
            [*run, "--around", f"0.1,{number}"],
            [*run, "--realtime", rng.choice(["1e-12", "1e12", "-1", "nan", "x"])],
            [*run, "--stream", number],
            [*run, "--receive", number],
            [*run, "--process", f"first={number}"],
            [*run, "--set", f"first.parameters.mass={number}"],
            [*run, "--set", f"first.force={number}"],
            [*run, "--set", f"first.parameters={number}"],
            [*run, "--set", number],
            [*run[:3], number if rng.random() < 0.2 and "e" not in number else "0.02", *run[4:]],
            ["export", str(sound.parent), "--csv", "--every", number, "-o", str(folder / "x.csv")],
            ["compare", str(sound.parent), str(sound.parent), "--tolerance", number, "--no-figure"],
            ["view", str(sound.parent), "--port", number, "--export", str(folder / "x.html")],
            ["campaign", str(folder / "campaign.toml"), "--runs", number, "--index", number],
            ["parameters", str(sound), "--set", f"first.parameters.mass={number}"],
        ]
    )


def trial(sound: Path, folder: Path, seed: int) -> tuple[list[str], str]:
    """Try a declared system, a campaign or a command, made strange. Return the failures, and what was changed."""
    rng = random.Random(seed)
    folder.mkdir()
    kind = seed % 3
    if kind == 0:
        content = tomllib.loads(TOML)
        changed = ", ".join(change(content, rng) for _ in range(rng.choice([1, 1, 2])))
        work: Callable[[], object] = lambda: _declared(content, folder)  # noqa: E731
    elif kind == 1:
        content = {**copy.deepcopy(DESCRIPTION), "system": str(sound)}
        changed = ", ".join(change(content, rng) for _ in range(rng.choice([1, 1, 2])))
        work = lambda: _drawn(content, folder)  # noqa: E731
    else:
        command = _options(rng, sound, folder)
        changed = " ".join(word[:40] for word in command if str(folder.parent) not in word)
        work = lambda: main(command)  # noqa: E731
    failures: list[str] = []
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()) as said, redirect_stderr(io.StringIO()) as more:
            warnings.simplefilter("ignore")
            work()
        if "Traceback" in said.getvalue() + more.getvalue():
            failures.append("a traceback")
    except DockfmuError as error:
        if not str(error):
            failures.append("an error without words")
        if len(str(error)) > 4000:
            failures.append(f"a message of {len(str(error))} characters")
    except SystemExit:
        pass
    except Exception as error:
        failures.append(f"{type(error).__name__}: {str(error)[:90]} ({place_of(error)})")
    return failures, changed


def _declared(content: Any, folder: Path) -> None:
    file = folder / "declared.toml"
    if not _written(content, file):
        return
    system = System.load(file)
    system.run(step=0.01, stop=0.02)


def _drawn(content: Any, folder: Path) -> None:
    campaign = Campaign(content, folder / "campaign")
    for index in (0, 1, 10**17):
        campaign.values(index)
    campaign.identify()


def _written(content: Any, file: Path) -> bool:
    """Write what TOML can express; return whether it can."""
    try:
        file.write_text(_toml(content), encoding="utf-8")
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def _toml(content: Any) -> str:
    return "".join(f"{json.dumps(str(key))} = {_value(value)}\n" for key, value in content.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        raise TypeError("TOML has no null")
    return repr(value)


def run(first: int, count: int) -> int:
    """Try seeds; print what fails and a summary; return the number of seeds that failed."""
    from tests.fuzz.sound import sound_run

    with tempfile.TemporaryDirectory() as scratch:
        sound = sound_run(Path(scratch) / "sound") / "pair.ssp"
        return try_seeds(first, count, scratch, lambda folder, seed: trial(sound, folder, seed))


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]))))
