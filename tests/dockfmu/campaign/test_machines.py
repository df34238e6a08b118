"""Campaigns on several machines: processes with their own copies of dockfmu, caches, homes and folders, none shared.

Where this user can make a network, they reach each other through it alone.
"""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import dockfmu
from dockfmu.campaign.cluster.worker import pack
from dockfmu.campaign.dataset import read_runs
from dockfmu.campaign.runner import Runner, RunPoint
from dockfmu.declare.toml.files import SYSTEMS, read_tables
from tests.dockfmu.campaign.machines import MASS, Machines, write_study
from tests.dockfmu.small_systems import write_pair

pytestmark = pytest.mark.slow


@pytest.fixture
def machines(tmp_path, network):
    with Machines(tmp_path, network) as made:
        yield made


@pytest.fixture
def study_file(tmp_path, oscillator):
    return write_study(tmp_path / "client", oscillator)


def run_over(machines, file, address, out, status=0):
    """Run a campaign from the command line of another machine, and return what it says."""
    process = machines.start(
        "dockfmu",
        "campaign",
        str(file),
        "--scheduler",
        address,
        "-o",
        str(out),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output, _ = process.communicate(timeout=300)
    assert process.returncode == status, output
    return output


def test_nothing_is_shared_but_the_scheduler(machines, study_file, tmp_path):
    address = machines.scheduler()
    for _ in range(2):
        machines.worker(address)
    run_over(machines, study_file, address, tmp_path / "out")
    table = read_runs(tmp_path / "out" / "runs.parquet").set_index("index")
    runner = Runner(dockfmu.Campaign(study_file, tmp_path / "alone").study)
    assert table.index.tolist() == list(range(12))
    assert set(table["kind"]) == {"own", "swapped", "stiff"}
    for k in range(12):
        row = runner.run(RunPoint(k))
        for name in ("outcome", "far", "t_far", "speed", "t_end", "kind", MASS):
            assert table.loc[k, name] == row[name], (k, name)
    assert table.loc[table["kind"] == "stiff", "speed"].nunique() == (table["kind"] == "stiff").sum()
    # each has made its FMUs and code for itself, and keeps no file of the study after the campaign
    for environment in machines.environments[1:]:
        home = Path(environment["HOME"]) / ".cache" / "dockfmu"
        cache = Path(environment.get("DOCKFMU_CACHE", home))
        assert list(cache.rglob("*.fmu"))
        assert not list(Path(environment["TMPDIR"]).rglob("mine.toml"))
        assert not list(Path(environment["TMPDIR"]).rglob("other.fmu"))


def test_a_machine_with_another_version_is_refused(machines, study_file, tmp_path):
    address = machines.scheduler()
    machines.worker(address, change="\n# another version\n")
    output = run_over(machines, study_file, address, tmp_path / "out", status=2)
    assert "differs from this client: sources" in output


def unpack(files, folder):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_a_declared_system_takes_along_what_it_extends(study_file, oscillator):
    study = dockfmu.Campaign(study_file).study
    packed, files = pack(study)
    beside = {name.partition("/")[2] for name in files if name.startswith(packed.system.partition("/")[0] + "/")}
    assert beside == {"mine.toml", "alone.toml"}
    # in other folders: below, and above
    other = study_file.parent / "sub" / "deep"
    other.mkdir(parents=True)
    (other / "end.toml").write_text((study_file.parent / "alone.toml").read_text())
    (study_file.parent / "sub" / "middle.toml").write_text('extends = "deep/end"\n')
    (other / "mine.toml").write_text('extends = "../middle"\n')
    for name, beside in (
        ("mine.toml", {"mine.toml", "sub/middle.toml", "sub/deep/end.toml"}),
        ("sub/deep/mine.toml", {"deep/mine.toml", "middle.toml", "deep/end.toml"}),
    ):
        if name == "mine.toml":
            (study_file.parent / name).write_text('name = "mine"\nextends = "sub/middle"\n')
        packed, files = pack(replace(study, system=name))
        unpack(files, study_file.parent / "unpacked" / name)
        place, _, first = packed.system.partition("/")
        assert {file.partition("/")[2] for file in files if file.startswith(f"{place}/")} == beside
        assert first in beside
        assert read_tables(study_file.parent / "unpacked" / name / packed.system)["elements"].keys() == {"mass"}
    # one that dockfmu has is taken along where a study names its file
    packed, files = pack(replace(study, system=str(SYSTEMS / "atv_no_push.toml")))
    assert packed.system.endswith("/atv_no_push.toml")
    assert files[packed.system] == (SYSTEMS / "atv_no_push.toml").read_bytes()
    (study_file.parent / "mine.toml").write_text('name = "mine"\nextends = "alone"\n')
    (study_file.parent / "alone.toml").write_text('extends = "mine"\n')
    with pytest.raises(dockfmu.DeclarationError, match="extends it"):
        pack(study)
    pair = write_pair(oscillator, study_file.parent)
    content = {"name": "pairs", "system": str(pair), "vary": [], "runs": 1}
    assert list(pack(dockfmu.Campaign(content).study)[1]) == ["0/pair.ssp"]
