"""FMUs with C sources under the sanitizers of gcc: addresses, leaks, undefined behaviour."""

import subprocess

import numpy as np
import pytest

from dockfmu import fmus
from dockfmu.fmus import catalogue, crosscheck
from dockfmu.fmus.check import importer
from dockfmu.fmus.check.importer.program import SOURCE
from dockfmu.fmus.native import SHIM
from dockfmu.fmus.toolchain.targets import HOST
from dockfmu.master.fmi.description import read_description
from tests.fmus import gadget
from tests.fmus.native import from_sources

pytestmark = pytest.mark.slow

SANITIZING = ("gcc", "-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.fixture(scope="module")
def sanitizing_importer(tmp_path_factory):
    """The importer in C with the sanitizers for addresses, leaks and undefined behaviour in it."""
    folder = tmp_path_factory.mktemp("sanitizers")
    (folder / "none.c").write_text("int main(void) { return 0; }")
    try:
        subprocess.run([*SANITIZING, "none.c", "-o", "none"], cwd=folder, check=True, capture_output=True)
        subprocess.run([folder / "none"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as fault:
        pytest.skip(f"gcc with its sanitizers does not run here: {fault}")
    command = [*SANITIZING, "-std=gnu11", "-I", str(SHIM), str(SOURCE), "-o", "importer", "-ldl"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "importer"


def find_nothing(component, sanitizing_importer, tmp_path):
    """In whole lives of instances, states saved and restored among them; by another compiler the same bits."""
    file = fmus.build(component, tmp_path, platforms=(HOST.folder, "sources"))
    experiment = importer.experiment_for(read_description(file))
    library = from_sources.compiled(file, tmp_path / "unpacked", SANITIZING)
    found = importer.run(file, experiment, cycles=3, library=library, executable=sanitizing_importer)
    expected = crosscheck.reference(component, experiment)
    np.testing.assert_array_equal(found.outputs.view(np.uint64), expected.view(np.uint64))


def test_nothing_is_found_in_the_shim(sanitizing_importer, tmp_path):
    find_nothing(gadget.component(), sanitizing_importer, tmp_path)


def test_nothing_is_found_in_a_component(sanitizing_importer, tmp_path):
    find_nothing(catalogue.component("Oscillator"), sanitizing_importer, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in catalogue.names() if name != "Oscillator"])
def test_nothing_is_found_in_the_larger_ones(name, sanitizing_importer, tmp_path):
    find_nothing(catalogue.component(name), sanitizing_importer, tmp_path)


FAULTS = {
    "leak": ("lifecycle.c", "    free(instance->before);\n", "", "detected memory leaks"),
    "double_free": ("lifecycle.c", "    free(instance->name);\n", 2 * "    free(instance->name);\n", "double-free"),
    "read_out_of_bounds": ("step.c", "isfinite(h) &&", "instance->memory[-1] != h &&", "heap-buffer-overflow"),
    "undefined_shift": ("step.c", "isfinite(h) &&", "1 << (40 + (int)h) &&", "shift exponent 40 is too large"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(sanitizing_importer, tmp_path, fault):
    name, old, new, said = FAULTS[fault]

    def change(folder):
        text = (folder / name).read_text()
        assert text.count(old) == 1
        (folder / name).write_text(text.replace(old, new))

    file = fmus.build(gadget.component(), tmp_path, platforms=(HOST.folder, "sources"))
    experiment = importer.experiment_for(read_description(file))
    library = from_sources.compiled(file, tmp_path / "unpacked", SANITIZING, change)
    with pytest.raises(importer.RunError, match=said):
        importer.run(file, experiment, library=library, executable=sanitizing_importer)
