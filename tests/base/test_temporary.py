"""Temporary folders: gone at their end, at the end of their process, and after a kill."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dockfmu.base.temporary import PREFIX, TemporaryFolder

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
