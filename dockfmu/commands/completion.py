"""`dockfmu completion`: completion of names in bash, zsh and fish, by argcomplete."""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr
from typing import Any

from dockfmu.commands.arguments import DONE, command

Completer = Callable[..., Iterable[str]]
"""A function that returns the candidates for a word: `completer(prefix=..., parsed_args=...)`."""

FILES = {
    "bash": 'eval "$(dockfmu completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(dockfmu completion zsh)" in ~/.zshrc, after compinit',
    "fish": "dockfmu completion fish > ~/.config/fish/completions/dockfmu.fish",
}


def add_completion(commands: Any) -> None:
    """Add the parser of `completion`."""
    parser = command(commands, "completion", "print the script with which a shell completes names")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "to enable it in every session:\n" + "\n".join(f"  {shell:5} {how}" for shell, how in FILES.items())
    parser.add_argument("shell", choices=tuple(FILES), help="the shell")
    parser.set_defaults(action=_completion)


def _completion(arguments: argparse.Namespace) -> int:
    import argcomplete

    print(argcomplete.shellcode(["dockfmu"], shell=arguments.shell))
    return DONE


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a completion request of a shell and exit; return at once if there is none."""
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        for action, completer in offers(parser):
            action.completer = completer  # type: ignore[attr-defined]
        argcomplete.autocomplete(parser)


def offers(parser: argparse.ArgumentParser) -> list[tuple[argparse.Action, Completer]]:
    """Return the arguments of sub-commands that have a completer in `COMPLETERS`."""
    # argparse has no public access to its arguments; argcomplete uses this one too
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return [
        (action, COMPLETERS[name, action.dest])
        for name, command in commands.choices.items()
        for action in command._actions
        if (name, action.dest) in COMPLETERS
    ]


def systems(prefix: str, **_: Any) -> list[str]:
    """Return the names of systems, and the files of systems that begin with `prefix`."""
    from dockfmu.declare.toml import files

    return [*files.names(), *_files(prefix, "ssp", "toml")]


def components(**_: Any) -> list[str]:
    """Return the names of components."""
    from dockfmu.fmus import catalogue

    return list(catalogue.names())


def algorithms(**_: Any) -> list[str]:
    """Return the names of coupling algorithms."""
    from dockfmu.master.algorithms import ALGORITHMS

    return list(ALGORITHMS)


def settings(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Return the parameters of the system of `dockfmu run`, as `--set` takes them."""
    from dockfmu.declare.parameters import parameters

    with _quiet():
        return steps(prefix, [f"{p.full_name}=" for p in parameters(parsed_args.system)])


def places(prefix: str, **_: Any) -> list[str]:
    """Return the names that `dockfmu parameters` takes: systems, and after SYSTEM. its elements and parameters."""
    from dockfmu.declare.packages.unbuilt import split_name
    from dockfmu.declare.parameters import parameters

    origin, dot, _rest = split_name(prefix)
    if not dot:
        return systems(prefix)
    with _quiet():
        return steps(prefix, [f"{origin}.{p.full_name}" for p in parameters(origin)])


def elements(prefix: str, **_: Any) -> list[str]:
    """Return SYSTEM.ELEMENT for the systems of dockfmu, and the names of components."""
    from dockfmu.declare import declaration

    with _quiet():
        known = [f"{name}.{element}" for name in declaration.names() for element in declaration.read(name).elements]
    return [*steps(prefix, known), *components()]


def signals(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Return the variables of the recording that a command reads."""
    from dockfmu.report.comparison import open_run

    with _quiet():
        results = open_run(getattr(parsed_args, "results", None) or parsed_args.a).results
    *before, last = prefix.rpartition(",")
    return ["".join(before) + name for name in steps(last, results.variables if results is not None else [])]


def steps(prefix: str, names: Iterable[str]) -> list[str]:
    """Return the names that begin with `prefix`, cut at the next dot if several continue there."""
    fitting = [name for name in names if name.startswith(prefix)]
    start = len(prefix)
    while True:
        cut = list(dict.fromkeys(_to_next_dot(name, start) for name in fitting))
        if len(cut) != 1 or not cut[0].endswith("."):
            return cut
        start = len(cut[0])


def _to_next_dot(name: str, start: int) -> str:
    end = name.find(".", start)
    return name if end < 0 else name[: end + 1]


def _files(prefix: str, *endings: str) -> list[str]:
    from argcomplete.completers import FilesCompleter

    return list(FilesCompleter(endings)(prefix))


def _quiet() -> redirect_stderr[io.StringIO]:
    """Suppress standard error, which would disturb the line that is being typed."""
    return redirect_stderr(io.StringIO())


COMPLETERS: dict[tuple[str, str], Completer] = {
    ("run", "system"): systems,
    ("run", "settings"): settings,
    ("run", "algorithm"): algorithms,
    ("build", "names"): components,
    ("parameters", "name"): places,
    ("ports", "place"): elements,
    ("check-swap", "place"): elements,
    ("diagram", "system"): systems,
    ("export", "signals"): signals,
    ("compare", "signals"): signals,
}
"""Completers by sub-command and the name of the argument in argparse."""
