"""Names of files that are no UTF-8, and texts that have no place in it, wherever the product writes them."""

import json
import os
import shutil
import sys

import numpy as np
import pytest

from dockfmu.base.files import write_text
from dockfmu.campaign.campaign import Campaign
from dockfmu.campaign.dataset import read_runs
from dockfmu.campaign.folder import data_set
from dockfmu.master.checkpoint import _FIRST_LINE
from dockfmu.master.errors import StructureError
from dockfmu.master.sealed_arrays import read_arrays, write_arrays
from tests.dockfmu.command_line import status_of
from tests.dockfmu.small_systems import TOML
from tests.dockfmu.test_names import EQUAL, alone
from tests.fuzz.campaigns import DESCRIPTION
from tests.fuzz.sound import sound_run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have names in Unicode only")

ODD = os.fsdecode(b"odd\xff")


@pytest.fixture
def odd(pair, tmp_path, monkeypatch):
    """A current folder whose name has a byte that is no UTF-8, with a package of such a name."""
    folder = tmp_path / ODD
    folder.mkdir()
    shutil.copy(pair, folder / f"{ODD}.ssp")
    monkeypatch.chdir(folder)
    return folder


def test_files_are_written_with_escapes(tmp_path):
    file = write_text(tmp_path / ODD, "a\udcff\ud800b")
    assert file.read_bytes() == rb"a\udcff\ud800b"


def test_results_of_any_name_are_reported_exported_and_compared(odd, capsys):
    """Regression: report, comparison and Parquet ended in a traceback."""
    run = ["run", f"{ODD}.ssp", "--stop", "0.1", "-o"]
    assert status_of(*run, ODD) == 0
    assert status_of(*run, "other") == 0
    assert status_of("report", ODD) == 0
    assert rb"odd\udcff" in (odd / ODD / "report.html").read_bytes()
    for form in ("--csv", "--fmi-csv", "--parquet", "--mat"):
        assert status_of("export", ODD, form, "-o", f"{ODD}{form}") in (0, 2)
        assert status_of("export", ODD, form) == 0
    assert status_of("compare", ODD, "other") == 0
    assert status_of("view", ODD, "other", "--export", f"{ODD}.html") == 0
    assert status_of("diagram", f"{ODD}.ssp", "-o", f"{ODD}.svg") == 0
    assert status_of("validate", f"{ODD}.ssp") == 0
    assert "odd\udcff" not in capsys.readouterr().out


def test_a_declaration_of_any_name_is_run_twice(odd):
    (odd / f"{ODD}.toml").write_text(TOML)
    for _ in range(2):
        assert status_of("run", f"{ODD}.toml", "--stop", "0.1") == 0


def test_a_campaign_in_a_folder_of_any_name_keeps_its_rows(odd):
    """Reasons of failures name files."""
    campaign = Campaign({**DESCRIPTION, "system": str(odd / f"{ODD}.ssp")}, odd / ODD)
    with data_set(campaign) as data:
        campaign.write_manifest(campaign.identify())
        for index in range(3):
            data.add({**campaign.row(index), "reason": f"{ODD} and \ud800"})
        data.flush()
        assert list(data.read()["reason"]) == [r"odd\udcff and \ud800"] * 3
    assert len(read_runs(odd / ODD / "runs.parquet", ["reach"])) == 3


def test_a_checkpoint_with_half_a_surrogate_pair_is_resumed_and_reported(tmp_path):
    """Regression: the differences that --force passes over are in the report, which could not be written."""
    sound = sound_run(tmp_path / "sound")
    file = sound / "run.checkpoint"
    content = read_arrays(file, _FIRST_LINE)
    head = json.loads(content["head"].tobytes())
    head["connections"][0] = "\udc80"
    content["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
    write_arrays(file, _FIRST_LINE, content)
    command = ["run", sound / "pair.ssp", "--resume", file, "-o", tmp_path / "out"]
    assert status_of(*command) == 2
    assert status_of(*command, "--force") == 0
    assert rb"\udc80" in (tmp_path / "out" / "report.html").read_bytes()


@pytest.mark.parametrize(
    ("text", "problem"), [("a\0b", "must not contain the character NUL"), (ODD, "must be text in UTF-8"), ("", "")]
)
def test_a_text_that_fmi_cannot_pass_is_refused(third_party, tmp_path, text, problem):
    """Regression: the FMU was given the part before a NUL, and a byte that is no UTF-8 ended in a traceback."""
    system = alone(third_party, tmp_path, extra=EQUAL)
    system.elements["a"].start["label=a"] = text
    if problem:
        with pytest.raises(StructureError, match=problem):
            system.check()
    else:
        system.check()
