"""Temporary folders: gone at their end, at the end of their process, and after a kill."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from dockfmu.base.temporary import PREFIX, REMNANT_S, TemporaryFolder, folder_for_others, remove_given

MAKER = """
import os, sys
from dockfmu.base.temporary import TemporaryFolder
folder = TemporaryFolder("work")
(folder.path / "large").write_bytes(bytes(1000))
print(folder.path, flush=True)
if sys.argv[1] == "wait":
    sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Use a folder of its own for temporary files, in this process and in those that it starts."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def maker(what):
    command = [sys.executable, "-c", MAKER, what]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, Path(process.stdout.readline().strip())


def ended(process):
    process.stdin.close()
    process.stdout.close()
    process.wait(60.0)


@pytest.mark.quick
def test_a_folder_is_private_and_ends_with_its_block(place):
    with TemporaryFolder("work") as folder:
        assert not list(folder.iterdir())
        (folder / "file").write_text("x", encoding="utf-8")
        outer = folder.parent
        assert outer.parent == place
        assert outer.stat().st_mode & 0o077 == 0
    assert not list(place.iterdir())


def test_a_folder_ends_with_its_object_and_with_its_process(place):
    folder = TemporaryFolder("work")
    assert folder.path.is_dir()
    del folder
    assert not list(place.iterdir())
    process, path = maker("end")
    ended(process)
    assert path.parent.parent == place
    assert not list(place.iterdir())


def test_a_later_process_removes_what_a_killed_one_has_left_and_nothing_else(place):
    killed, left = maker("wait")
    killed.send_signal(signal.SIGKILL)
    ended(killed)
    running, in_use = maker("wait")
    assert not left.exists(), "the folder of the killed process is still there"
    # others with the same prefix: of somebody who has no lock, of another machine, a link, and a file
    (place / f"{PREFIX}other").mkdir(mode=0o700)
    remote = place / f"{PREFIX}remote"
    remote.mkdir(mode=0o700)
    (remote / "owner").write_text('{"host": "another.machine", "pid": 4194304}', encoding="utf-8")
    (place / f"{PREFIX}link").symlink_to(remote)
    (place / f"{PREFIX}file").write_text("x", encoding="utf-8")
    # owners that have no end
    if os.name == "posix":
        for name, make in (("pipe", os.mkfifo), ("device", lambda file: file.symlink_to("/dev/zero"))):
            (place / f"{PREFIX}{name}").mkdir(mode=0o700)
            make(place / f"{PREFIX}{name}" / "owner")
    before = sorted(place.iterdir())
    ended(maker("end")[0])
    assert sorted(place.iterdir()) == before
    assert (in_use / "large").stat().st_size == 1000
    ended(running)
    assert not in_use.exists()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root may give a folder away")
def test_folders_that_others_could_have_filled_are_left(place):
    killed, left = maker("wait")
    killed.send_signal(signal.SIGKILL)
    ended(killed)
    os.chown(left.parent, 12345, 12345)
    ended(maker("end")[0])
    assert left.exists()
    os.chown(left.parent, 0, 0)
    left.parent.chmod(0o755)
    ended(maker("end")[0])
    assert left.exists()


def test_a_folder_whose_process_number_is_another_s_by_now_is_removed(place):
    killed, left = maker("wait")
    killed.send_signal(signal.SIGKILL)
    ended(killed)
    owner = left.parent / "owner"
    owner.write_text(owner.read_text(encoding="utf-8").replace(f"{killed.pid},", f"{os.getpid()},"), encoding="utf-8")
    ended(maker("end")[0])
    assert not left.exists()


def test_an_interruption_of_the_removal_is_raised_when_the_folder_is_gone(place):
    folder = TemporaryFolder("work")
    for k in range(3000):
        (folder.path / f"{k}").touch()
    number = len(os.listdir(folder.path))  # noqa: PTH208

    def interrupt():
        while len(os.listdir(folder.path)) == number:  # noqa: PTH208
            time.sleep(1e-4)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        folder.remove()
    thread.join()
    assert not list(place.iterdir())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a forked process")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_leaves_the_folder_of_its_parent(place):
    folder = TemporaryFolder("work")
    child = os.fork()
    if child == 0:
        folder.remove()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.path.is_dir()


def test_remnants_of_an_earlier_day_are_removed(place):
    """Folders whose making or removal was cut short, and those that were given to a process which was killed."""
    page, cut, others = folder_for_others("page"), place / f"{PREFIX}cut", place / f"{PREFIX}others"
    (page / "dockfmu.html").touch()
    cut.mkdir(mode=0o700)
    others.mkdir(mode=0o700)
    (others / "results").touch()
    ended(maker("end")[0])
    assert page.is_dir()
    assert cut.is_dir()
    earlier = time.time() - REMNANT_S - 1.0
    for path in (page.parent, cut, others):
        os.utime(path, (earlier, earlier))
    ended(maker("end")[0])
    assert list(place.iterdir()) == [others]


@pytest.mark.quick
def test_a_given_folder_is_private_and_removed_by_its_path(place):
    given = folder_for_others("page")
    assert given.parent.stat().st_mode & 0o077 == 0
    remove_given(given)
    assert not list(place.iterdir())
