"""Crafted files give results or an error of dockfmu, in every command that reads one: see the modules beside."""

import subprocess

import pytest

from dockfmu.master.observers.recording import results
from dockfmu.master.observers.recording.results import read_results
from tests.fuzz import campaigns, checkpoints, models, numbers, packages, recordings, records, robots, telemetry
from tests.fuzz.sound import sound_run

pytestmark = pytest.mark.slow

SEEDS = 40
"""Seeds of each kind tried here; `python -m tests.fuzz.recordings FIRST COUNT` tries others."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return sound_run(tmp_path_factory.mktemp("sound") / "run")


def failures_of(trial, seeds=SEEDS):
    """Return the failures of each seed that has some, by seed and what was changed."""
    found = {}
    for seed in range(seeds):
        failures, changed = trial(seed)
        if failures:
            found[f"seed {seed}: {changed}"] = failures
    return found


def test_crafted_recordings_are_read_or_refused(sound, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "probe", recordings.check_here)
    assert failures_of(lambda seed: recordings.trial(sound, tmp_path / str(seed), seed)) == {}


def test_crafted_campaigns_are_read_or_refused(sound, tmp_path):
    campaign = campaigns.sound_campaign(sound / "pair.ssp", tmp_path / "campaign")
    assert failures_of(lambda seed: campaigns.trial(campaign, tmp_path / str(seed), seed)) == {}


def test_crafted_checkpoints_are_resumed_or_refused(sound, tmp_path):
    failures, completed = {}, 0
    for seed in range(SEEDS):
        found, changed, ended = checkpoints.trial(sound, tmp_path / str(seed), seed)
        completed += ended
        if found:
            failures[f"seed {seed}: {changed}"] = found
    assert failures == {}
    # some changes do no harm, most do
    assert 0 < completed < SEEDS


@pytest.mark.parametrize(("kind", "seeds"), [("fmu", SEEDS // 4), ("ssp", SEEDS)])
def test_crafted_packages_are_read_or_refused(sound, oscillator, tmp_path, kind, seeds):
    """An FMU takes a second, in which its library is called in a process of its own."""
    file = oscillator if kind == "fmu" else sound / "pair.ssp"
    assert failures_of(lambda seed: packages.trial(file, tmp_path / str(seed), seed), seeds) == {}


def test_strange_numbers_and_declarations_are_taken_or_refused(sound, tmp_path):
    assert failures_of(lambda seed: numbers.trial(sound / "pair.ssp", tmp_path / str(seed), seed), 3 * SEEDS) == {}


def test_crafted_robot_descriptions_are_imported_or_refused(tmp_path):
    pytest.importorskip("mujoco")
    assert failures_of(lambda seed: robots.trial(tmp_path / str(seed), seed), 2 * SEEDS) == {}


def test_crafted_models_are_reduced_or_refused(tmp_path):
    sound = models.sound_models(tmp_path / "sound")
    assert failures_of(lambda seed: models.trial(sound, tmp_path / str(seed), seed), 5 * SEEDS) == {}


def test_crafted_sensors_sections_ledgers_and_summaries_are_read_or_refused(tmp_path):
    place = records.sound_records(sound_run(tmp_path / "sound"))
    assert failures_of(lambda seed: records.trial(place, tmp_path / str(seed), seed)) == {}


def test_crafted_telemetry_is_read_or_refused(tmp_path):
    pytest.importorskip("pyarrow")
    assert failures_of(lambda seed: telemetry.trial(tmp_path / str(seed), seed), 3 * SEEDS) == {}


def test_an_operator_flies_whatever_reaches_the_page(tmp_path):
    """Bytes, requests and messages of strangers and operators; the session is then repeated from its log, bitwise."""
    pytest.importorskip("websockets")
    from tests.fuzz import station

    failures: list[str] = []
    with station.flown(tmp_path, failures) as place:
        found = failures_of(lambda seed: station.trial(place, seed), SEEDS // 2)
    assert (found, failures) == ({}, [])


def test_a_docking_that_is_killed_leaves_rows_of_the_whole_one_and_goes_on(tmp_path):
    """Three moments of a central impact; `python -m tests.fuzz.killed` tries whole dockings."""
    from tests.fuzz import killed

    system, stop = "central_impact_20t", "1"
    subprocess.run(killed.command(system, stop, tmp_path / "whole"), capture_output=True, check=False)
    with read_results(tmp_path / "whole" / "results.h5") as whole:
        assert failures_of(lambda seed: killed.trial(whole, system, stop, 0.5, tmp_path / str(seed), seed), 3) == {}
