"""What the library of one FMU may change for all others of its process is restored, or kept in a process of its own."""

import ctypes
import locale
import os
import resource
import signal
import subprocess
import sys
import threading
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from dockfmu.base.platforms import this_platform
from dockfmu.master.algorithms import Jacobi
from dockfmu.master.fmi.surroundings import Surroundings, modes, undo, undo_modes
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.run import step_threads
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from tests.master.fmus.habits import CHANGES_FOLDER, ROUNDS, SIGNALS, description

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="FMUs run in separate processes on Linux only")

ONE_THIRD_UPWARD, UP = 0.33333333333333337, 0x800
"""1 / 3 with rounding upward, and that mode in fesetround (x86-64)."""


def third():
    """Return 1 / 3 as this thread rounds; Python would compute a constant once."""
    one, three = ctypes.c_double(1.0), ctypes.c_double(3.0)
    return one.value / three.value


def alone(file, habit=0):
    system = Structure("alone")
    system.add("a", file, {"habit": habit})
    return system


@contextmanager
def undisturbed():
    """The surroundings are the same at the end of the block."""
    before = Surroundings.now()
    yield before
    after = Surroundings.now()
    try:
        assert before.changes(after) == []
    finally:
        before.restore(after)


@pytest.fixture(autouse=True)
def in_a_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def the_locale_of_before():
    before = locale.setlocale(locale.LC_ALL)
    yield
    locale.setlocale(locale.LC_ALL, before)


HABITS = {
    "c": "the working directory",
    "u": "the mask of new files",
    "l": "the locale",
    "e": "the environment (HABIT_ENVIRONMENT)",
    "r": "the rounding or denormal mode",
    "d": "the rounding or denormal mode",
    "s": "the handling of signals (SIGINT, SIGTERM)",
    "f": "the limits of resources (RLIMIT_NOFILE)",
    "p": "the processors that may be used",
}


@pytest.mark.parametrize("habit", HABITS)
def test_an_fmu_that_disturbs_its_process_gets_one_of_its_own(habits, monkeypatch, habit):
    """It keeps what it has changed, nobody else sees it, and the run says so."""
    if habit == "p" and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one processor")
    if habit == "l":
        locale.setlocale(locale.LC_ALL, "C")
    monkeypatch.setenv("HABITS", habit)
    system, observers = alone(habits()), [Recorder(Path("r.h5"))]
    with (
        undisturbed() as before,
        CoSimulation(system, Schedule(step=0.1, stop=1.0), observers=observers).open() as simulation,
    ):
        assert simulation.instances["a"].remote
        assert before.changes(Surroundings.now()) == []
        simulation.advance(1.0)
        folder, variable, small = simulation.get(["a.folder", "a.variable", "a.small"])
    assert simulation.result.status == "completed", simulation.result.message
    (note,) = simulation.result.warnings
    assert note == f"a changed {HABITS[habit]} of this process: it runs in a separate process"
    assert folder == ("/" if habit == "c" else str(Path.cwd()))
    assert variable == ("set" if habit == "e" else "")
    assert (small == 0.0) == (habit == "d")
    assert Path("r.h5").is_file()


def test_a_well_behaved_fmu_stays(habits):
    with undisturbed(), CoSimulation(alone(habits()), Schedule(step=0.1, stop=1.0)).open() as simulation:
        assert not simulation.instances["a"].remote
        simulation.advance(1.0)
    assert simulation.result.warnings == []


@pytest.mark.parametrize(
    ("habit", "what"),
    [
        (CHANGES_FOLDER, "the working directory"),
        (ROUNDS, "the rounding or denormal mode"),
        (SIGNALS, "the handling of signals (SIGINT)"),
    ],
)
def test_what_changes_while_it_steps_is_restored_and_told(habits, habit, what):
    with undisturbed() as before:
        recorder = Recorder(Path("r.h5"))
        with CoSimulation(
            alone(habits(), habit), Schedule(step=0.1, stop=1.0), observers=[recorder]
        ).open() as simulation:
            simulation.advance(1.0)
            assert before.changes(Surroundings.now()) == []
            assert third() == 1.0 / 3.0 != ONE_THIRD_UPWARD
    assert simulation.result.status == "completed", simulation.result.message
    (note,) = simulation.result.warnings
    assert note.startswith(f"a changed {what} of this process while it stepped, by t = ")
    assert Path("r.h5").is_file()


@pytest.mark.parametrize("place", ["get", "terminate", "free", "unload"])
@pytest.mark.parametrize("again", [False, True])
def test_what_changes_outside_of_steps_is_restored_and_told(habits, monkeypatch, place, again):
    """Whoever disturbs others by its outputs is moved apart; nothing is written elsewhere or with other rights."""
    monkeypatch.setenv("HABIT_PLACE", place)
    with undisturbed() as before:
        observers = [] if again else [Recorder(Path("r.h5"))]
        with CoSimulation(alone(habits()), Schedule(step=0.1, stop=1.0), observers=observers).open() as simulation:
            assert simulation.instances["a"].remote == (place == "get")
            simulation.advance(1.0)
            first = simulation.result
            if again:
                simulation.reset()
                simulation.advance(1.0)
        assert before.changes(Surroundings.now()) == []
    assert simulation.result.status == "completed", simulation.result.message
    told = first.warnings if place == "get" else simulation.result.warnings
    notes = [note for note in told if note.startswith("a changed the working directory and ")]
    assert len(notes) == 1, told
    assert notes[0].endswith("it runs in a separate process" if place == "get" else ": restored")
    assert again or Path("r.h5").stat().st_mode & 0o600 == 0o600


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="a second thread needs a second core")
def test_modes_of_threads_are_kept_apart(habits):
    """Step FMUs by whichever thread is free: none of them may keep a mode from one chunk to the next."""
    system = Structure("three")
    for name in ("a", "b", "c"):
        system.add(name, habits(), {"habit": ROUNDS})
    seen = []
    serve = step_threads._serve

    def watched(tables, mode):
        before = third()
        disturbed = serve(tables, mode)
        seen.append((before, disturbed, third()))
        return disturbed

    with pytest.MonkeyPatch.context() as patch, undisturbed():
        patch.setattr(step_threads, "_serve", watched)
        with CoSimulation(system, Schedule(step=0.1, stop=1.0), algorithm=Jacobi(), threads=2).open() as simulation:
            for k in range(1, 11):
                simulation.advance(0.1 * k)
        assert third() == 1.0 / 3.0
    assert {before for before, _, _ in seen} == {after for _, _, after in seen} == {1.0 / 3.0}
    assert simulation.result.status == "completed", simulation.result.message
    (note,) = simulation.result.warnings
    assert "one of a, b, c changed the rounding or denormal mode of this process while it stepped" in note


def test_a_thread_takes_the_mode_of_the_one_that_runs_the_loop():
    math = ctypes.CDLL("libm.so.6")
    mine = modes()
    found = []

    def disturbed():
        math.fesetround(UP)
        found.append(third())
        found.append(undo_modes(mine))
        found.append(third())
        found.append(undo_modes(mine))

    thread = threading.Thread(target=disturbed)
    thread.start()
    thread.join()
    assert found == [ONE_THIRD_UPWARD, True, 1.0 / 3.0, False]


def test_what_the_user_changes_between_two_steps_stays(habits, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    with CoSimulation(alone(habits()), Schedule(step=0.1, stop=1.0)).open() as simulation:
        simulation.advance(0.5)
        monkeypatch.chdir(tmp_path / "other")
        monkeypatch.setenv("MINE", "1")
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        simulation.advance(1.0)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        signal.signal(signal.SIGINT, before)
        assert Path.cwd() == tmp_path / "other"
        assert os.environ["MINE"] == "1"
    assert simulation.result.warnings == []


OUTSIDE = """
import os, resource
from dockfmu.master.run.disturbances import Disturbances
disturbances = Disturbances()
disturbances.begin()
before = os.getpriority(os.PRIO_PROCESS, 0)
os.setpriority(os.PRIO_PROCESS, 0, before + 3)
resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))
found = disturbances.undo(whole=True)
print(found, os.getpriority(os.PRIO_PROCESS, 0) - before, resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def test_what_is_changed_from_outside_between_two_looks_stays():
    """By `renice` and `prlimit` of a long run: no FMU is blamed, and nobody undoes it."""
    words = [sys.executable, "-c", OUTSIDE]
    said = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    assert said.strip() == "[] 3 (500, 500)"


def test_each_kind_of_change_is_found_and_undone():
    """By functions of C, as a library calls them: Python does not notice."""
    c, math = ctypes.CDLL(None), ctypes.CDLL("libm.so.6")
    with undisturbed() as before:
        c.chdir(b"/")
        c.umask(0o77)
        c.setenv(b"BORDER", b"1", 1)
        c.unsetenv(b"PATH")
        math.fesetround(UP)
        handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: None)
        c.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
        assert undo(before) == [
            "the working directory",
            "the mask of new files",
            "the environment (PATH, BORDER)",
            "the handling of signals (SIGINT)",
            "the signals blocked (SIGTERM)",
            "the limits of resources (RLIMIT_NOFILE)",
            "the rounding or denormal mode",
        ]
        assert undo(before) == []
    c.getenv.restype = ctypes.c_char_p
    assert c.getenv(b"BORDER") is None
    assert c.getenv(b"PATH").decode() == os.environ["PATH"]


PRIORITY = """
import os, resource
from dockfmu.master.fmi.surroundings import Surroundings, undo
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
before = Surroundings.now()
os.nice(1)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
print(undo(before), undo(before), undo(Surroundings.now()), os.getpriority(os.PRIO_PROCESS, 0))
"""


def test_what_a_process_has_no_right_to_restore_is_told():
    """In a process of its own, and as another user if this one may restore everything."""
    limit = resource.getrlimit(resource.RLIMIT_CORE)
    words = [sys.executable, "-c", PRIORITY]
    said = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    changed = ["the limits of resources (RLIMIT_CORE) for good"] if limit[1] else []
    changed.append("the priority for good")
    assert said.strip() == f"{changed} {changed} [] 1"


def with_helper(third_party, folder, version):
    """An FMU whose library needs libhelper.so, which is beside it."""
    folder.mkdir()
    (folder / "helper.c").write_text(f"int helper_version(void) {{ return {version}; }}\n")
    helper = third_party.compiled(folder, str(folder / "helper.c"), "-Wl,-soname,libhelper.so", "-fvisibility=default")
    (folder / "libhelper.so").write_bytes(helper)
    links = (f"-L{folder}", "-lhelper", "-Wl,-rpath,$ORIGIN")
    library = third_party.compiled(folder, "habits.c", *links, HELPER="1")
    with zipfile.ZipFile(folder / "Habits.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", description())
        for name, content in (("Habits.so", library), ("libhelper.so", helper)):
            archive.writestr(f"binaries/{this_platform()}/{name}", content)
    return folder / "Habits.fmu"


def test_an_fmu_whose_library_another_has_loaded_gets_its_own_process(third_party, tmp_path):
    """Both bring libhelper.so, of two versions: in one process the second gets that of the first."""
    system = Structure("two")
    for name, version in (("a", 1), ("b", 2)):
        system.add(name, with_helper(third_party, tmp_path / name, version))
    with CoSimulation(system, Schedule(step=0.1, stop=1.0)).open() as simulation:
        assert simulation.get(["a.excess", "b.excess"]) == [1.0, 2.0]
        assert [simulation.instances[name].remote for name in "ab"] == [False, True]
    (note,) = simulation.result.warnings
    assert (
        note == "b brings another libhelper.so than the one that another FMU has loaded: it runs in a separate process"
    )


def test_the_process_of_an_fmu_has_its_own_group(habits):
    """Ctrl-C of the terminal reaches the master alone."""
    system = alone(habits())
    system.elements["a"].process = True
    with CoSimulation(system, Schedule(step=0.1, stop=1.0)).open() as simulation:
        pid = simulation.instances["a"].process.pid
        assert os.getpgid(pid) == pid != os.getpgid(0)
