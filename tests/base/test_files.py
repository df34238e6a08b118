"""Files are written whole or not at all."""

import os
import threading

import pytest

from dockfmu.base.errors import DockfmuError
from dockfmu.base.files import Reserve, WriteError, atomic_file, open_in_place, write_file
from dockfmu.base.locks import Lock

pytestmark = pytest.mark.quick


def test_a_file_is_written_with_its_folder_and_nothing_else_is_left(tmp_path):
    file = tmp_path / "new" / "file.txt"
    assert write_file(file, b"one") == file
    write_file(file, b"two", durable=False)
    assert file.read_bytes() == b"two"
    assert list(file.parent.iterdir()) == [file]


def test_the_old_file_stays_when_writing_the_new_one_fails(tmp_path):
    file = tmp_path / "file.txt"
    file.write_bytes(b"old")

    def write_half():
        with atomic_file(file) as unfinished:
            unfinished.write_bytes(b"ne")
            assert file.read_bytes() == b"old"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_threads_that_write_one_file_do_not_mix(tmp_path):
    file = tmp_path / "file.bin"
    contents = [bytes([k]) * 100_000 for k in range(8)]
    threads = [threading.Thread(target=write_file, args=(file, content)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("kind", [DockfmuError, OSError])
def test_a_file_that_cannot_be_written_is_named(tmp_path, kind):
    (tmp_path / "taken").write_bytes(b"")
    with pytest.raises(kind, match=r"taken.file\.txt: cannot be written") as caught:
        write_file(tmp_path / "taken" / "file.txt", b"")
    assert isinstance(caught.value, WriteError)


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links of POSIX")
def test_links_at_the_places_of_files_are_not_followed(tmp_path):
    """Somebody who may write to a folder must not choose which file of another user is overwritten there."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / ".x.lock").symlink_to(precious)
    with pytest.raises(OSError, match="symbolic link"):
        Lock(tmp_path / ".x.lock", "x").take()
    seen = []
    for _ in range(2):
        with atomic_file(tmp_path / "x") as unfinished:
            seen.append(unfinished.name)
            unfinished.write_text("new")
    assert seen[0] != seen[1]
    (tmp_path / "link").symlink_to(precious)
    write_file(tmp_path / "link", b"new")
    (tmp_path / "reserve").symlink_to(precious)
    with pytest.raises(OSError, match="symbolic link"):
        Reserve(tmp_path / "reserve", 4096)
    assert precious.read_text() == "precious"
    assert not (tmp_path / "link").is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_a_pipe_at_the_place_of_a_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        open_in_place(tmp_path / "pipe", "wb")
