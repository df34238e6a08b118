"""Shell completion, suggestions for mistyped commands, and colours."""

import os
import subprocess
import sys

import pytest

from dockfmu import list_systems
from dockfmu.cli import COMMANDS, argument_parser
from dockfmu.commands.completion import COMPLETERS, FILES, offers, steps
from dockfmu.fmus import catalogue
from dockfmu.master.algorithms import ALGORITHMS
from tests.dockfmu.command_line import dockfmu, status_of


def offered(line, tmp_path, cwd=None):
    """Return the completions of a line, requested as the scripts of argcomplete do."""
    told = tmp_path / "told"
    asked = {
        "COMP_LINE": line, "COMP_POINT": str(len(line)), "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(told), "_ARGCOMPLETE_SHELL": "fish",
    }  # fmt: skip
    command = [sys.executable, "-c", "from dockfmu.cli import main; main()"]
    done = subprocess.run(command, env=os.environ | asked, check=False, capture_output=True, text=True, cwd=cwd)
    assert done.stdout == ""
    return [word.rstrip() for word in told.read_text().split("\n") if word]


def test_commands_are_offered(tmp_path):
    assert {"run", "parameters", "compare", "export", "completion"} <= set(offered("dockfmu ", tmp_path))
    assert offered("dockfmu ru", tmp_path) == ["run"]


def test_systems_and_files_are_offered(tmp_path):
    (tmp_path / "atv_px.toml").touch()
    (tmp_path / "atv_px.txt").touch()
    found = offered("dockfmu run atv_p", tmp_path, cwd=tmp_path)
    variants = sorted(name for name in list_systems() if name.startswith("atv_p"))
    assert {"atv_probe_cone", "atv_probe_cone_external", "atv_probe_cone_v2"} <= set(variants)
    assert found == [*variants, "atv_px.toml"]


@pytest.mark.slow
def test_parameters_are_offered(tmp_path):
    found = offered("dockfmu run atv_probe_cone --set chaser.parameters.m", tmp_path)
    assert found == ["chaser.parameters.mass="]
    elements = offered("dockfmu parameters atv_probe_cone.c", tmp_path)
    assert elements == ["atv_probe_cone.chaser.", "atv_probe_cone.cyclogram."]


def test_components_and_algorithms_are_offered(tmp_path):
    assert set(catalogue.names()) <= set(offered("dockfmu build ", tmp_path))
    assert set(offered("dockfmu run x --algorithm ", tmp_path)) == set(ALGORITHMS)


def test_nothing_is_offered_for_a_system_that_does_not_exist(tmp_path):
    assert offered("dockfmu run nosuch --set ", tmp_path) == []


def test_every_completer_has_its_argument():
    assert len(offers(argument_parser())) == len(COMPLETERS)


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("", ["a.", "b"]),
        ("a", ["a.b.c.x", "a.b.c.y"]),
        ("a.b.c.x", ["a.b.c.x"]),
        ("b", ["b"]),
        ("c", []),
    ],
)
def test_names_are_offered_part_by_part(prefix, found):
    assert steps(prefix, ["a.b.c.x", "a.b.c.y", "b"]) == found


@pytest.mark.parametrize("shell", FILES)
def test_scripts(shell, capsys):
    assert status_of("completion", shell) == 0
    script = capsys.readouterr().out
    assert "dockfmu" in script
    assert "_ARGCOMPLETE" in script


def test_bash_completes(tmp_path):
    """Run the script in bash and read COMPREPLY."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "dockfmu").write_text(f'#!/bin/sh\nexec {sys.executable} -m dockfmu "$@"\n')
    (bin_ / "dockfmu").chmod(0o755)
    script = (
        'eval "$(dockfmu completion bash)"; COMP_WORDS=(dockfmu par); COMP_CWORD=1; COMP_LINE="dockfmu par"; '
        'COMP_POINT=11; COMP_TYPE=9; _python_argcomplete dockfmu; echo "${COMPREPLY[@]}"'
    )
    environment = os.environ | {"PATH": f"{bin_}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "parameters", done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("rnu", "atv_probe_cone"), "there is no command 'rnu'; did you mean run?"),
        (("paramters",), "there is no command 'paramters'; did you mean parameters?"),
        (("run", "x", "--algoritm", "jacobi"), "arguments: --algoritm jacobi; did you mean --algorithm?"),
        (("run", "x", "--algoritm=jacobi"), "did you mean --algorithm?"),
        (("list", "x"), "unrecognized arguments: x"),
        (("--versoin",), "did you mean --version?"),
        ((), "a COMMAND is needed"),
    ],
)
def test_mistyped_commands_and_options(arguments, words, capsys):
    assert status_of(*arguments) == 2
    assert words in capsys.readouterr().err


def test_names_of_commands_are_those_of_their_functions():
    (commands,) = (action for action in argument_parser()._actions if action.dest == "command")
    assert list(commands.choices) == [add.__name__.removeprefix("add_").replace("_", "-") for add in COMMANDS]


@pytest.mark.slow
def test_colours_only_where_they_are_wanted(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert "\x1b" not in dockfmu("run", "nosuch").stderr
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert dockfmu("run", "nosuch").stderr.startswith("\x1b[31mdockfmu:\x1b[0m ")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in dockfmu("run", "nosuch").stderr
