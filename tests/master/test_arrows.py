"""Which package may import which: the master and SSP work with FMUs that nobody here wrote."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN = {
    "base": {"components", "fmus", "dockfmu", "master", "ssp"},
    "master": {"components", "fmus", "dockfmu", "ssp"},
    "ssp": {"components", "fmus", "dockfmu"},
}


@pytest.mark.parametrize("package", FORBIDDEN)
def test_arrows_run_one_way(package):
    for file in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                assert name.split(".")[0] not in FORBIDDEN[package], f"{file} imports {name}"
