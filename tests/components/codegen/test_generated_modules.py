"""What is checked in is what the generator makes today, and the documentation says so; the example of a third party."""

import importlib.util
from pathlib import Path

import pytest

from dockfmu.base.cache import ROOT
from dockfmu.components.codegen import counts
from dockfmu.components.codegen.products import PRODUCTS


@pytest.mark.parametrize("path", PRODUCTS)
def test_checked_in_module_is_what_the_generator_makes(path):
    assert (ROOT / path).read_text(encoding="utf-8") == PRODUCTS[path](), (
        f"run `python -m dockfmu.components.codegen`: {path}"
    )


def test_no_other_module_is_in_the_generated_folders():
    folders = {(ROOT / path).parent for path in PRODUCTS}
    found = {str(file.relative_to(ROOT)) for folder in folders for file in folder.glob("*.py")}
    assert found == set(PRODUCTS) | {str(folder.relative_to(ROOT) / "__init__.py") for folder in folders}


def test_tables_of_the_documentation_are_the_counts_of_the_code():
    text = (ROOT / "docs" / "develop" / "codegen.md").read_text(encoding="utf-8")
    for table in (counts.chain_table(), counts.tree_table()):
        assert "\n".join(table) in text, "run `python -m dockfmu.components.codegen.counts`"


def test_generated_functions_are_short_enough_to_compile():
    """Some 3000 rows at most (symbolic section 8)."""
    for path in PRODUCTS:
        assert len((ROOT / path).read_text(encoding="utf-8").splitlines()) < 3000


@pytest.fixture(scope="module")
def scara():
    file = Path(__file__).parents[3] / "docs" / "develop" / "examples" / "scara.py"
    spec = importlib.util.spec_from_file_location("scara", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_example_of_a_third_party_keeps_its_energy(scara, tmp_path):
    """The declared arm, generated, compiled and run: the error of the energy falls as the fourth power of the step."""
    kernels = scara.write(tmp_path)
    start, coarse = scara.run(kernels, 2.0, 2e-3)
    _, fine = scara.run(kernels, 2.0, 1e-3)
    assert start == pytest.approx(13.135, rel=1e-12)
    assert fine < 1e-4
    assert 12.0 < coarse / fine < 40.0
