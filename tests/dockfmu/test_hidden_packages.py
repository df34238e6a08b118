"""Files of the user with the names of dockfmu's packages."""

import subprocess
import sys

import pytest


def python(folder, *arguments):
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("file", ["base.py", "components/__init__.py", "ssp.py"])
def test_a_module_that_hides_a_package_is_named(tmp_path, file):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("")
    done = python(tmp_path, "-c", "import dockfmu")
    package = file.split("/")[0].removesuffix(".py")
    assert f"ImportError: {tmp_path / file} hides the package '{package}' of dockfmu: rename it" in done.stderr


def test_a_folder_without_modules_hides_nothing(tmp_path):
    (tmp_path / "master").mkdir()
    assert python(tmp_path, "-c", "import dockfmu; dockfmu.systems()").returncode == 0


@pytest.mark.parametrize("file", ["base.py", "json.py"])
def test_processes_of_fmus_import_nothing_from_the_current_folder(pair, tmp_path, file):
    (tmp_path / file).write_text("print('executed')")
    command = ("run", pair, "--stop", "0.1", "--no-report", "-o", "out", "--process", "first")
    code = "import sys; from dockfmu.cli import main; sys.exit(main(sys.argv[1:]))"
    done = python(tmp_path, "-P", "-c", code, *map(str, command))
    assert (done.returncode, "executed" in done.stdout + done.stderr) == (0, False), done.stderr
