"""Cache files: damaged, truncated or exchanged ones are detected, and one process makes a file that many need."""

import os
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dockfmu.base import cache
from dockfmu.base.cache import CacheError, alone, cache_root, is_whole, load_cached, load_or_make, seal, store_cached
from dockfmu.base.files import WriteError

pytestmark = pytest.mark.quick


def test_what_is_kept_comes_back_under_its_key_only(tmp_path):
    file = tmp_path / "folder" / "entry"
    assert load_cached(file, "key") is None
    store_cached(file, "key", b"content")
    assert load_cached(file, "key") == b"content"
    assert load_cached(file, "another key") is None


@given(data=st.binary(max_size=100), place=st.integers(0, 131), bit=st.integers(0, 7))
def test_one_bit_of_damage_is_noticed(tmp_path_factory, data, place, bit):
    file = tmp_path_factory.mktemp("cache") / "entry"
    store_cached(file, "key", data)
    content = bytearray(file.read_bytes())
    content[place % len(content)] ^= 1 << bit
    file.write_bytes(content)
    assert load_cached(file, "key") is None


@pytest.mark.parametrize("length", [0, 1, 31, 32, 38])
def test_a_file_that_was_cut_is_noticed(tmp_path, length):
    file = tmp_path / "entry"
    store_cached(file, "key", b"content")
    file.write_bytes(file.read_bytes()[:length])
    assert load_cached(file, "key") is None


def test_one_of_many_makes_what_all_need(tmp_path):
    """A lock file that a killed process left does not count."""
    file, made, found = tmp_path / "folder" / "entry", [], []
    file.parent.mkdir()
    (file.parent / ".entry.lock").write_text("{}")

    def make():
        made.append(1)
        time.sleep(0.3)
        return b"content"

    threads = [threading.Thread(target=lambda: found.append(load_or_make(file, "key", make))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [b"content"] * 4
    assert len(made) == 1
    assert list(file.parent.iterdir()) == [file]


def test_after_a_failure_the_next_one_makes_it(tmp_path):
    def fail():
        raise ZeroDivisionError

    file = tmp_path / "entry"
    with pytest.raises(ZeroDivisionError):
        load_or_make(file, "key", fail)
    assert load_or_make(file, "key", lambda: b"content") == b"content"


def test_nobody_waits_longer_than_the_patience(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "PATIENCE", 0.3)
    file = tmp_path / "entry"
    with alone(file):
        assert load_or_make(file, "key", lambda: b"content") == b"content"
    assert list(tmp_path.iterdir()) == [file]


def test_a_cache_that_cannot_be_written_stops_no_maker(tmp_path):
    (tmp_path / "file").touch()
    with alone(tmp_path / "file" / "entry"):
        pass


def test_a_cache_that_cannot_be_written_is_told_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path))
    (tmp_path / "machine_code").touch()
    with pytest.raises(WriteError, match=r"cannot be written \(.*\): this is the cache; make room there, or set DOCKF"):
        store_cached(tmp_path / "machine_code" / "entry", "key", b"code")


def test_a_sealed_file_is_whole_until_it_is_changed(tmp_path):
    file = tmp_path / "library.so"
    assert not is_whole(file)
    file.write_bytes(b"code")
    assert not is_whole(file)
    seal(file)
    assert is_whole(file)
    file.write_bytes(b"cod")
    assert not is_whole(file)


def test_files_that_were_exchanged_with_their_seals_are_noticed(tmp_path):
    for name in ("step.o", "state.o"):
        (tmp_path / name).write_bytes(name.encode())
        seal(tmp_path / name)
    for end in ("", ".sha256"):
        one, other = tmp_path / f"step.o{end}", tmp_path / f"state.o{end}"
        one.rename(tmp_path / "held")
        other.rename(one)
        (tmp_path / "held").rename(other)
    assert not is_whole(tmp_path / "step.o")
    assert not is_whole(tmp_path / "state.o")


def test_the_cache_folder_is_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOCKFMU_CACHE", "mine")
    assert cache_root() == tmp_path / "mine"
    monkeypatch.delenv("DOCKFMU_CACHE")
    monkeypatch.setattr("dockfmu.base.cache.ROOT", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_root() == Path.home() / ".cache" / "dockfmu"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_root() == tmp_path / "cache" / "dockfmu"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as for a user without an entry in passwd
    with pytest.raises(CacheError, match="no home folder: set DOCKFMU_CACHE"):
        cache_root()


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_a_cache_that_others_may_write_is_refused(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("DOCKFMU_CACHE", str(folder))
    assert cache_root() == folder
    for name, mode in (("open", 0o777), ("sticky", 0o1777), ("others", 0o702)):
        folder = tmp_path / name
        folder.mkdir()
        folder.chmod(mode)
        monkeypatch.setenv("DOCKFMU_CACHE", str(folder))
        with pytest.raises(CacheError, match=f"{name}: other users may write to this cache"):
            cache_root()
    folder = tmp_path / "own"
    folder.mkdir(mode=0o755)
    monkeypatch.setenv("DOCKFMU_CACHE", str(folder))
    assert cache_root() == folder
    if os.getuid() == 0:
        folder = tmp_path / "of another"
        folder.mkdir(mode=0o755)
        os.chown(folder, 12345, 12345)
        monkeypatch.setenv("DOCKFMU_CACHE", str(folder))
        with pytest.raises(CacheError, match="of another: other users"):
            cache_root()
