"""Configuration of all tests: hypothesis, the order of files, quick tests, and shared FMUs."""

import os
import signal
import subprocess
import sys
import threading

# before numpy is imported: threads of BLAS that wait for each other take six times as long for matrices of 100 rows
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# the tests start several hundred processes: without bytecode files, each would compile the modules of dockfmu again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from dockfmu import fmus  # noqa: E402
from dockfmu.components.oscillator import component as oscillator_component  # noqa: E402
from tests.master.fmus import habits as habits_fmus  # noqa: E402
from tests.master.fmus import third_party as third_party_fmus  # noqa: E402


class OneRoot:
    """Refuses to import a package of dockfmu by its folder's name, which works in a checkout and nowhere else."""

    @staticmethod
    def find_spec(name, _path=None, _target=None):
        if name in ("base", "components", "fmus", "master", "ssp"):
            raise ImportError(f"import dockfmu.{name}")


sys.meta_path.insert(0, OneRoot)

# the first call of a kernel compiles it: a deadline per example would fail by chance
settings.register_profile("dockfmu", deadline=None, derandomize=True)
settings.load_profile("dockfmu")


# a shell that starts the tests in the background has them ignore Ctrl-C, and all programs that they start
if threading.current_thread() is threading.main_thread():
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


QUICK = "quick"


def pytest_ignore_collect(collection_path, config):
    """Do not import files without quick tests when only quick tests are selected."""
    if config.option.markexpr == QUICK and collection_path.name.startswith("test_"):
        return True if f"pytest.mark.{QUICK}" not in collection_path.read_text(encoding="utf-8") else None
    return None


LONGEST = (
    "tests/fmus/importers/test_interoperability.py",
    "tests/test_equality.py",
    "tests/fmus/native/test_sanitizers.py",
    "tests/dockfmu/dockings/test_berthing.py",
    "tests/dockfmu/campaign/test_execution.py",
    "tests/fmus/native/test_sources.py",
    "tests/dockfmu/view/test_arm_by_hand.py",
    "tests/dockfmu/dockings/test_fault_dockings.py",
    "tests/dockfmu/reconstruct/test_by_model.py",
    "tests/docs/test_blocks_run.py",
    "tests/dockfmu/view/test_families.py",
    "tests/dockfmu/campaign/test_whole_campaigns.py",
    "tests/dockfmu/numerics/test_work_space.py",
    "tests/dockfmu/dockings/test_movable_limiter_docking.py",
    "tests/dockfmu/view/test_station.py",
    "tests/dockfmu/test_nothing_lost.py",
    "tests/fmus/check/test_seeded_faults.py",
    "tests/master/observers/test_memory.py",
    "tests/fuzz/test_crafted_files.py",
    "tests/metamorphic/test_frames.py",
    "tests/dockfmu/numerics/test_same_bits.py",
    "tests/docs/test_pages_run.py",
    "tests/components/probe_mechanism/oblique/test_oblique_impact.py",
    "tests/dockfmu/campaign/test_campaign.py",
    "tests/components/multibody/test_declared_as_component.py",
    "tests/components/contact_probe_cone/test_external_contact.py",
    "tests/dockfmu/test_outcomes.py",
    "tests/dockfmu/view/test_replay.py",
    "tests/dockfmu/campaign/test_machines.py",
    "tests/dockfmu/campaign/test_network.py",
    "tests/dockfmu/reconstruct/test_fault_of_a_docking.py",
)
"""Files that take 40 s and more of processor time, or wait as long, the longest first."""


def pytest_collection_modifyitems(items):
    """Run the longest files first, so that no worker ends long after the others."""
    place = {file: number for number, file in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))


@pytest.fixture(autouse=True)
def no_process(request, monkeypatch):
    """Let quick tests fail if they start a process: a compiler, a separate FMU or a command line."""

    def refuse(*_arguments, **_options):
        raise RuntimeError(f"{request.node.nodeid} is marked quick and starts a process")

    if request.node.get_closest_marker(QUICK):
        monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
        monkeypatch.setattr(os, "fork", refuse)


@pytest.fixture(scope="session")
def oscillator(tmp_path_factory):
    """Build Oscillator.fmu."""
    return fmus.build(oscillator_component(), tmp_path_factory.mktemp("oscillator"))


@pytest.fixture(scope="session")
def third_party():
    """Return the module that builds variants of `lag.c`."""
    return third_party_fmus


@pytest.fixture(scope="session")
def habits(tmp_path_factory):
    """A function that builds an FMU with bad or rare habits, `habits.c`, with attributes of its description."""
    folder = tmp_path_factory.mktemp("habits")

    def build(attributes=""):
        place = tmp_path_factory.mktemp("habits")
        habits_fmus.library(folder)
        return habits_fmus.build(folder, attributes).rename(place / "Habits.fmu")

    return build


@pytest.fixture(scope="session")
def lag(tmp_path_factory, third_party):
    """Build a first-order lag y' = gain (u - y), explicit Euler, with Integer, Boolean and String variables."""
    return third_party.build(tmp_path_factory.mktemp("lag"))


@pytest.fixture(scope="session")
def lag12(tmp_path_factory, third_party):
    """Build the lag with twelve inputs and outputs."""
    return third_party.build(tmp_path_factory.mktemp("lag12"), "Lag12", channels=12)
