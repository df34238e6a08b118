"""Files of the user with the names of dockfmu's packages."""

import subprocess
import sys

import pytest


def python(folder, *arguments):
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("file", ["base.py", "components/__init__.py", "fmus/__init__.py", "master.py", "ssp.py"])
def test_modules_of_the_user_may_have_the_names_of_packages(tmp_path, file):
    """Both are imported: all of dockfmu lies below one name."""
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("MINE = True\n")
    name = file.split("/")[0].removesuffix(".py")
    code = (
        f"import {name}, dockfmu; from dockfmu import {name} as ours; assert {name}.MINE and not hasattr(ours, 'MINE')"
    )
    done = python(tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    assert python(tmp_path, "-c", "import dockfmu; dockfmu.list_systems(); dockfmu.System").returncode == 0


@pytest.mark.parametrize("file", ["base.py", "json.py"])
def test_processes_of_fmus_import_nothing_from_the_current_folder(pair, tmp_path, file):
    (tmp_path / file).write_text("print('executed')")
    command = ("run", pair, "--stop", "0.1", "--no-report", "-o", "out", "--process", "first")
    code = "import sys; from dockfmu.cli import main; sys.exit(main(sys.argv[1:]))"
    done = python(tmp_path, "-P", "-c", code, *map(str, command))
    assert (done.returncode, "executed" in done.stdout + done.stderr) == (0, False), done.stderr
