"""Systems built before come from the cache, but never those of other sources, tools or settings."""

import os

import pytest

from dockfmu.base.cache import cache_root
from dockfmu.declare.packages import package_cache
from dockfmu.system import System

NAME = "central_impact_20t"


@pytest.fixture
def house(tmp_path, monkeypatch):
    """Return a checkout of two files, its own cache, and a folder of products."""
    root = tmp_path / "checkout"
    for name in ("base/a.py", "components/b/table.toml"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("1")
        # older than any process that may run these tests, however long it has run
        os.utime(root / name, (0.0, 1e9))
    (tmp_path / "made" / "fmus").mkdir(parents=True)
    (tmp_path / "made" / "s.ssp").write_bytes(b"package")
    (tmp_path / "made" / "fmus" / "A.fmu").write_bytes(b"fmu")
    monkeypatch.setattr(package_cache, "ROOT", root)
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    package_cache._sources.cache_clear()
    yield tmp_path
    package_cache._sources.cache_clear()


def test_what_was_stored_is_restored_under_its_key_alone(house):
    key = package_cache.key("s")
    assert not package_cache.restore("s", key, house / "again")
    package_cache.store("s", key, house / "made")
    assert package_cache.restore("s", key, house / "again")
    assert (house / "again" / "s.ssp").read_bytes() == b"package"
    assert (house / "again" / "fmus" / "A.fmu").read_bytes() == b"fmu"
    assert not package_cache.restore("s", key[:24] + "0" * 40, house / "other")


def test_a_damaged_file_is_not_restored(house):
    key = package_cache.key("s")
    package_cache.store("s", key, house / "made")
    (file,) = (cache_root() / "systems").iterdir()
    file.write_bytes(file.read_bytes().replace(b"package", b"garbage"))
    assert not package_cache.restore("s", key, house / "again")


def test_the_key_follows_sources_tools_and_settings_of_the_compiler(house, monkeypatch):
    keys = [package_cache.key("s"), package_cache.key("t")]
    (house / "checkout" / "components" / "b" / "table.toml").write_text("2")
    keys.append(package_cache.key("s"))
    (house / "checkout" / "components" / "b" / "table.toml").rename(house / "checkout" / "components" / "b" / "c.toml")
    package_cache._sources.cache_clear()
    keys.append(package_cache.key("s"))
    monkeypatch.setenv("NUMBA_OPT", "1")
    keys.append(package_cache.key("s"))
    (house / ".numba_config.yaml").write_text("opt: 2")
    keys.append(package_cache.key("s"))
    monkeypatch.setattr("dockfmu.base.cache.version", lambda _: "0")
    keys.append(package_cache.key("s"))
    assert len(set(keys)) == len(keys)


def test_what_was_made_from_sources_younger_than_this_process_is_not_stored(house):
    key = package_cache.key("s")
    os.utime(house / "checkout" / "base" / "a.py")
    package_cache.store("s", key, house / "made")
    assert not package_cache.restore("s", key, house / "again")


@pytest.mark.slow
def test_a_kept_system_is_the_one_that_is_made_and_other_values_are_made_anew(tmp_path, monkeypatch):
    real, stored = package_cache.restore, {}
    monkeypatch.setattr(package_cache, "restore", lambda *_: False)
    monkeypatch.setattr(package_cache, "store", lambda name, key, folder: stored.update({name: (key, folder)}))
    made = System.load(NAME)
    made._products.publish(tmp_path / "made")
    key, folder = stored.pop(NAME)
    monkeypatch.undo()
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(package_cache, "_IMPORTED", float("inf"))
    package_cache.store(NAME, key, folder)
    asked = []
    monkeypatch.setattr(package_cache, "restore", lambda *given: asked.append(given[0]) or real(*given))
    monkeypatch.setattr("dockfmu.declare.packages.assembly.make_component", None)
    again = System.load(NAME)
    again._products.publish(tmp_path / "kept")
    assert asked == [NAME]
    files = sorted(path.relative_to(tmp_path / "made") for path in (tmp_path / "made").rglob("*") if path.is_file())
    assert any(file.suffix == ".ssp" for file in files)
    for file in files:
        assert (tmp_path / "kept" / file).read_bytes() == (tmp_path / "made" / file).read_bytes()
    with pytest.raises(TypeError):
        System.load(NAME, {"chaser.parameters.mass": 19e3})
    assert asked == [NAME]
