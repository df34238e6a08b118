"""Packages that only some users need."""

import sys

import pytest

from dockfmu.base.extras import MissingPackageError, load_extra
from dockfmu.master.observers.recording.results import Results

pytestmark = pytest.mark.quick


def test_a_package_that_is_there_is_returned():
    assert load_extra("os.path", "a path", "paths").join("a", "b") == "a/b"


def test_what_is_missing_says_what_needs_it_and_what_to_install():
    with pytest.raises(MissingPackageError, match=r"^a chart needs nobody, which .* 'dockfmu\[charts\]'"):
        load_extra("nobody.at_home", "a chart", "charts")


def test_a_package_that_lacks_another_names_that_one(tmp_path, monkeypatch):
    (tmp_path / "has_need.py").write_text("import nobody\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingPackageError, match="needs nobody"):
        load_extra("has_need", "a chart", "charts")


def test_results_say_that_tables_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match=r"pandas.*dockfmu\[campaign\]"):
        Results.to_pandas(object(), [])
