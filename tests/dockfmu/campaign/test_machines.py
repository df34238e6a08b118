"""Campaigns on several machines: processes with their own copies of dockfmu, caches, homes and folders, none shared.

What is not shown here is a network between them.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import dockfmu
from dockfmu.campaign.runner import Runner, RunPoint, WorkerMismatchError
from dockfmu.campaign.worker import pack
from dockfmu.declare.files import SYSTEMS, read_tables
from ssp.model import SsvParameter, SsvParameterSet
from ssp.write import write_parameter_set
from tests.dockfmu.campaign.stand_in import address_in
from tests.dockfmu.small_systems import TOML, as_toml, write_pair

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PACKAGES = ("base", "components", "dockfmu", "fmus", "master", "ssp")
MASS = "mass.parameters.mass"
CONTENT = {
    "name": "machines", "system": "mine.toml", "runs": 12, "seed": 3, "keep": {"peaks": True}, "refined": 0.0,
    "vary": [
        {"name": MASS, "law": "uniform", "low": "1 kg", "high": "2 kg"},
        {"name": "kind", "law": "choice", "options": [
            {"label": "own"},
            {"label": "swapped", "swap": {"mass": "files/other.fmu"}},
            {"label": "stiff", "parameters": ["files/stiff.ssv"]},
        ]},
    ],
    "measures": {"far": {"signal": "mass.position"}, "speed": {"signal": "mass.velocity", "kind": "final"}},
}  # fmt: skip


class Machines:
    """Processes, each in a folder of its own that stands for a machine."""

    def __init__(self, folder):
        self.folder, self.processes, self.environments = folder, [], []

    def new(self, change=""):
        """Return the environment of another machine; `change` is added to a source file of its dockfmu."""
        place = self.folder / f"machine{len(self.environments)}"
        for name in ("home", "temporary", "work", "site"):
            (place / name).mkdir(parents=True)
        for package in PACKAGES:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / package, place / "site" / package, ignore=ignored)
        with (place / "site" / "dockfmu" / "outcome.py").open("a") as file:
            file.write(change)
        found = {"PATH": os.environ["PATH"], "HOME": str(place / "home"), "TMPDIR": str(place / "temporary"),
                 "PYTHONPATH": str(place / "site"), "OMP_NUM_THREADS": "1"}  # fmt: skip
        if len(self.environments) % 2:
            # the other ones keep theirs at home
            found["DOCKFMU_CACHE"] = str(place / "cache")
        self.environments.append(found)
        return found, place / "work"

    def start(self, module, *arguments, change="", **options):
        environment, work = self.new(change)
        self.processes.append(
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *arguments], cwd=work, env=environment, **options
            )
        )
        return self.processes[-1]

    def scheduler(self):
        """Start a scheduler, and return its address."""
        arguments = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        log = self.folder / "scheduler.log"
        with log.open("w") as file:
            process = self.start("dask_scheduler", *arguments, stderr=file)
        return address_in(log, process)

    def worker(self, address, change=""):
        self.start("dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "1GiB",
                   change=change, stderr=subprocess.DEVNULL)  # fmt: skip


@pytest.fixture
def machines(tmp_path):
    made = Machines(tmp_path)
    yield made
    for process in made.processes:
        process.kill()
        process.wait()


@pytest.fixture
def study_file(tmp_path, oscillator):
    """A campaign whose system extends another file, with a parameter set and an FMU, all beside it."""
    folder = tmp_path / "client"
    (folder / "files").mkdir(parents=True)
    (folder / "alone.toml").write_text(TOML)
    (folder / "mine.toml").write_text('name = "mine"\nextends = "alone"\n')
    shutil.copy(oscillator, folder / "files" / "other.fmu")
    stiff = SsvParameterSet("stiff", [SsvParameter("mass.parameters.stiffness", "Real", 40.0)])
    (folder / "files" / "stiff.ssv").write_bytes(write_parameter_set(stiff))
    file = folder / "machines.toml"
    file.write_text(as_toml(CONTENT))
    return file


def test_nothing_is_shared_but_the_scheduler(machines, study_file, tmp_path):
    address = machines.scheduler()
    for _ in range(2):
        machines.worker(address)
    campaign = dockfmu.Campaign(study_file, tmp_path / "out")
    table = campaign.run(scheduler=address, answer=False).set_index("index")
    runner = Runner(campaign.study)
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
    campaign = dockfmu.Campaign(study_file, tmp_path / "out")
    with pytest.raises(WorkerMismatchError, match="sources"):
        campaign.run(scheduler=address, answer=False)


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
    for name, beside in (("mine.toml", {"mine.toml", "sub/middle.toml", "sub/deep/end.toml"}),
                         ("sub/deep/mine.toml", {"deep/mine.toml", "middle.toml", "deep/end.toml"})):  # fmt: skip
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
