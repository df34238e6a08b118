"""Life spent in recorded runs: stress from signals, extremes between rows, sections and ledgers of strangers."""

import json
import math
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import numpy as np
import pytest

import dockfmu
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.life.ledger import LedgerError, enter, read_ledger
from dockfmu.life.sections import read_sections
from dockfmu.life.spent import life_spent
from tests.dockfmu.command_line import status_of

pytestmark = pytest.mark.slow

SECTION = """
[[section]]
name = "rod"
source = "test"
allowable = "{allowable}"
life_factor = 2.0
[section.stress]
"left.force" = "{factor}"
[section.fatigue]
ranges = ["200 MPa", "100 MPa"]
cycles = [1e4, 1e6]
"""


@pytest.fixture(scope="module")
def signal(pair, tmp_path_factory):
    """Run two oscillators, every macro step and one in fifty recorded; return the folders and the name of a travel."""
    folder = tmp_path_factory.mktemp("life")
    for name, every in (("fine", 1), ("coarse", 50)):
        assert status_of("run", pair, "--stop", 10, "--every", every, "--no-report", "-o", folder / name) == 0
    with dockfmu.read_results(folder / "fine" / "results.h5") as results:
        moving = [name for name in results.variables if results.unit(name) == "m" and np.ptp(results[name]) > 0]
    return folder, moving[0]


def sections(tmp_path: Path, name: str, allowable: str = "1 GPa", factor: str = "30 MPa/m") -> Path:
    file = tmp_path / "sections.toml"
    text = SECTION.format(allowable=allowable.replace("1 GPa", "1000 MPa"), factor=factor)
    file.write_text(text.replace("left.force", name))
    return file


def test_the_stress_of_one_signal_is_that_of_every_step_whatever_is_recorded(signal, tmp_path):
    """The extremes between rows bring back what one row in fifty misses; the order within a row costs small cycles."""
    folder, name = signal
    (fine,), (coarse,) = (life_spent(folder / run, sections(tmp_path, name)) for run in ("fine", "coarse"))
    assert fine.damage == fine.damage_of_rows > 0.0
    assert coarse.peak == fine.peak
    assert coarse.cycles["range"].max() == fine.cycles["range"].max()
    assert coarse.damage == pytest.approx(fine.damage, rel=1e-3)
    with dockfmu.read_results(folder / "fine" / "results.h5") as results:
        largest = results[name][np.argmax(np.abs(results[name]))]
    assert fine.peak == 30e6 * largest


def test_two_signals_bound_the_damage_from_both_sides(signal, tmp_path):
    folder, name = signal
    file = sections(tmp_path, name)
    with dockfmu.read_results(folder / "fine" / "results.h5") as results:
        other = next(v for v in results.variables if results.unit(v) == "m/s" and np.ptp(results[v]) > 0)
    line = f'"{name}" = "30 MPa/m"\n'
    file.write_text(file.read_text().replace(line, f'{line}"{other}" = "20 MPa.s/m"\n'))
    (fine,), (coarse,) = (life_spent(folder / run, file) for run in ("fine", "coarse"))
    assert coarse.damage_of_rows <= fine.damage * (1.0 + 1e-9)
    assert fine.damage <= coarse.damage * (1.0 + 1e-9)


def test_units_and_factors(signal, tmp_path):
    folder, name = signal
    (one,) = life_spent(folder / "fine", sections(tmp_path, name, factor="30 MPa/m"))
    (same,) = life_spent(folder / "fine", sections(tmp_path, name, factor="30000000 kPa/km"))
    (turned,) = life_spent(folder / "fine", sections(tmp_path, name, factor="-30 MPa/m"))
    assert same.peak == pytest.approx(one.peak, rel=1e-15)
    assert turned.peak == -one.peak
    # without an effect of the mean stress the sign does not matter
    assert turned.damage == pytest.approx(one.damage, rel=1e-12)


def test_the_command_says_what_is_not_allowed_and_a_ledger_counts_each_recording_once(signal, tmp_path, capsys):
    folder, name = signal
    file, ledger = sections(tmp_path, name), tmp_path / "station.json"
    arguments = ("life", folder / "fine", folder / "coarse", folder / "fine", "--sections", file, "--ledger", ledger)
    assert status_of(*arguments, "--json") == 0
    said = capsys.readouterr()
    assert "is in" in said.err
    rows = [json.loads(line)["sections"]["rod"] for line in said.out.splitlines()]
    total = math.fsum(row["damage"] for row in rows[:2])
    assert rows[0]["total"] == rows[0]["damage"]
    assert rows[1]["total"] == rows[2]["total"] == total
    assert read_ledger(ledger).total("rod") == total
    assert status_of("life", folder / "fine", "--sections", sections(tmp_path, name, "0.001 MPa")) == 1
    assert "of the allowable one" in capsys.readouterr().out
    # the words of a section may change, its data may not
    assert status_of("life", folder / "fine", "--sections", file, "--ledger", ledger) == 1
    assert "begun with other data of the section rod" in capsys.readouterr().err


def test_a_recording_that_is_cut_off_is_told(signal, tmp_path, capsys):
    """The damage of its rows is less than that of the run."""
    folder, name = signal
    (tmp_path / "results.h5").write_bytes((folder / "fine" / "results.h5").read_bytes())
    with h5py.File(tmp_path / "results.h5", "r+") as content:
        content.attrs["t_end"] = 12.0
    assert status_of("life", tmp_path, "--sections", sections(tmp_path, name)) == 0
    assert "is cut off: its rows end at 10 s, and its run at 12 s" in capsys.readouterr().err


def test_a_broken_section_stays_broken_in_the_ledger(signal, tmp_path):
    folder, name = signal
    file = sections(tmp_path, name, factor="3000 MPa/m")
    file.write_text(file.read_text().replace("life_factor = 2.0", 'life_factor = 2.0\nultimate = "1 Pa"'))
    lives = life_spent(folder / "fine", file)
    ledger, added = enter(tmp_path / "ledger.json", {"recording": "1"}, file, lives)
    assert added
    assert ledger.total("rod") == read_ledger(tmp_path / "ledger.json").total("rod") == math.inf


def test_processes_that_write_one_ledger_lose_nothing(signal, tmp_path):
    folder, name = signal
    lives = life_spent(folder / "fine", sections(tmp_path, name))
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(_enter_patiently, tmp_path / "l.json", {"recording": f"{k}"}, lives) for k in range(24)]
        assert all(job.result() for job in jobs)
    assert {docking.recording for docking in read_ledger(tmp_path / "l.json").dockings} == {f"{k}" for k in range(24)}


def _enter_patiently(file, about, lives):
    while True:
        try:
            return enter(file, about, file, lives)[1]
        except dockfmu.LockedError:
            continue


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"30 MPa/m"', '"30 MPa"', r"30 MPa times m is no stress; the factor is in Pa/m"),
        ('"30 MPa/m"', "30.0", r"stress: .* = 30.0: must be a string"),
        ('"30 MPa/m"', '"30"', r'must be a number with a unit, such as "1.5 kPa/N"'),
        ('"30 MPa/m"', '"1e999 MPa/m"', "must be a number with a unit"),
        ('"30 MPa/m"', '"30 MPa/pound"', "'pound' is not known"),
        ('["200 MPa", "100 MPa"]', '["100 MPa", "200 MPa"]', "ranges must fall, and cycles rise"),
        ('["200 MPa", "100 MPa"]', '["200 MPa"]', "the same length, at least 2"),
        ('["200 MPa", "100 MPa"]', '["200 mm", "100 MPa"]', "another quantity"),
        ("[1e4, 1e6]", "[0, 1e6]", "cycles = 0: must be positive numbers"),
        ("life_factor = 2.0", "life_factor = 0.5", "must be at least 1"),
        ('source = "test"', "", "lacks 'source'"),
        ("[section.fatigue]", "[section.fatige]", "no entry 'fatige' here; .* did you mean fatigue"),
        ('name = "rod"', "name = 3", "must be a string"),
        ('allowable = "1000 MPa"', 'allowable = "-1 MPa"', "must be a positive stress"),
    ],
)
def test_what_is_wrong_in_a_file_of_sections_is_named(signal, tmp_path, old, new, says):
    folder, name = signal
    file = sections(tmp_path, name)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(DeclarationError, match=says) as error:
        life_spent(folder / "fine", file)
    assert "rod" in str(error.value) or "section 1" in str(error.value)


def test_an_unknown_signal_is_named_with_the_recording(signal, tmp_path):
    folder, name = signal
    with pytest.raises(DeclarationError, match=re.escape(f"{name}x")) as error:
        life_spent(folder / "fine", sections(tmp_path, f"{name}x"))
    assert f"did you mean {name}" in str(error.value)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"dockings": 3}', '{"dockings": [{}]}', '{"sections": {"a": 1}}', "[" * 100_000, '{"else": 1}',
     '{"dockings": [{"recording": "1", "system": "", "outcome": "", "file": "", "added": "", "sections": {"a": -1}}]}'],
)  # fmt: skip
def test_ledgers_of_strangers_are_refused_by_name(tmp_path, content):
    file = tmp_path / "ledger.json"
    file.write_text(content)
    with pytest.raises(LedgerError, match=r"ledger.json.*: not a ledger of dockings|ledger.json"):
        read_ledger(file)
    assert file.read_text() == content


def test_the_example_of_the_guide_has_two_sections():
    first, second = read_sections(Path("docs/examples/docking_sections.toml"))
    assert first.digest != second.digest
    assert first.curve.cycles_at(np.array([280e6])) == pytest.approx(1e4)
