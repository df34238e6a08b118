"""The benchmarks that `python -m benchmarks` lists can be run, and no other module looks like one."""

import ast
import sys
from types import SimpleNamespace

import pytest

from benchmarks import __main__ as benchmarks
from dockfmu.base.cache import ROOT

pytestmark = pytest.mark.quick

FOLDER = ROOT / "benchmarks"
NAMES = [f"{folder}/{name}" for folder, names in benchmarks.BENCHMARKS.items() for name in names]


def module(name):
    return ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8")).body


def has_main(name):
    return any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in module(name))


def is_program(name):
    return any(isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'" for node in module(name))


def test_listed_benchmarks_have_a_main_and_are_programs():
    assert [name for name in NAMES if not (has_main(name) and is_program(name))] == []


def test_every_module_with_a_main_is_listed():
    files = [f"{folder}/{file.stem}" for folder in benchmarks.BENCHMARKS for file in (FOLDER / folder).glob("*.py")]
    assert sorted(name for name in files if has_main(name)) == sorted(NAMES)


def test_names_are_unique():
    assert len(benchmarks.MODULES) == len(NAMES)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("contact threads", [("contact", []), ("threads", [])]),
        ("stand delay --output images", [("stand", ["delay", "--output", "images"])]),
        ("", [(name, []) for name in benchmarks.MODULES]),
    ],
)
def test_names_come_first_and_options_go_to_one_benchmark(monkeypatch, words, expected):
    called = []

    def imported(name):
        return SimpleNamespace(main=lambda: called.append((name.rpartition(".")[2], sys.argv[1:])))

    monkeypatch.setattr(benchmarks, "import_module", imported)
    monkeypatch.setattr(sys, "argv", ["benchmarks", *words.split()])
    assert benchmarks.main() == 0
    assert called == expected


@pytest.mark.parametrize("words", ["--help", "nothing", "contact threads --help"])
def test_options_without_their_benchmark_are_refused(monkeypatch, capsys, words):
    monkeypatch.setattr(sys, "argv", ["benchmarks", *words.split()])
    assert benchmarks.main() == 2
    assert "contact_ring" in capsys.readouterr().err
