"""Reference pages written from the code, so that they cannot be out of date.

A page asks for Markdown in the place of one of these:

```{components}                 the list of the exported components, each with its page
```{component} Spacecraft        variables, parameter sets and messages of an exported component
```{system} atv_probe_cone       elements, connections, initial conditions, events of a system
```{command-line}                every command of dockfmu with its options

Each component and each system has a page of its own that asks for itself; these pages are written before the others are
read, so that a new component or system needs none by hand.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from citations import citations
from sphinx.application import Sphinx

from dockfmu.base.cache import ROOT
from dockfmu.cli import argument_parser
from dockfmu.components.core.component import Component
from dockfmu.components.core.field import Field
from dockfmu.components.core.parameters import parameter_leaves
from dockfmu.declare.declaration import SYSTEMS, read_tables
from dockfmu.fmus import catalogue
from dockfmu.fmus.documentation import public_arrays, start_text

FEW = 4
"""Most arguments and options of a command that are not folded."""
HEADINGS = {"input": "Inputs", "output": "Outputs", "parameter": "Parameters", "local": "Local variables"}


def escaped(text: str) -> str:
    """Return `text` for a cell of a table in Markdown."""
    return re.sub(r"([\\`*_\[\]<>$|#{}])", r"\\\1", " ".join(str(text).split()))


def linked(source: str) -> str:
    """Return `source` as Markdown, each citation a link to its target."""
    found = {citation.text: citation.target for citation in citations(source)}
    if not found:
        return escaped(source)
    longest_first = sorted(found, key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, longest_first))})", source)
    text = " ".join(f"[{part}](#{found[part]})" if part in found else escaped(part) for part in parts)
    return re.sub(r" (?=[:,.;)])|(?<=\() ", "", text)


def code(text: Any) -> str:
    return f"`{text}`"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, nothing if it has no rows."""
    rows = list(rows)
    if rows:
        yield from ("", f"| {' | '.join(header)} |", "|" + "---|" * len(header))
        for row in rows:
            cells = (re.sub(r"(?<!\\)\|", r"\|", cell) for cell in row)
            yield f"| {' | '.join(cells)} |"
        yield ""


def sentence(text: str) -> str:
    text = escaped(text)
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def described(field: Field) -> str:
    """Return the description of a variable, with the items of an enumeration and what is special about it."""
    text = escaped(field.description)
    if field.type.items:
        items = (f"{n} = {escaped(item)}" for n, (item, _) in enumerate(field.type.items, start=1))
        text += f": {', '.join(items)}"
    notes = ["mean over the step"] * (field.causality == "input" and field.evaluated == "mean") + [
        "tunable"
    ] * field.tunable
    return f"{text} *({', '.join(notes)})*" if notes else text


def unit(field: Field) -> str:
    return code(field.type.name or (field.unit if field.type.fmi == "Real" else field.type.fmi))


def interval(field: Field) -> str:
    low, high = field.minimum, field.maximum
    if low is None and high is None:
        return ""
    return f"{'-∞' if low is None else f'{low:g}'} to {'∞' if high is None else f'{high:g}'}"


def components(_: str) -> Iterator[str]:
    yield "```{toctree}\n:maxdepth: 1\n"
    yield from catalogue.names()
    yield "```"


def component_page(name: str) -> Iterator[str]:
    component = catalogue.component(name)
    yield sentence(catalogue.entry(name).summary)
    count = len(component.record.variables)
    yield (
        f"\nFMI 2.0 for co-simulation, {count} variables, default step {component.default_step:g} s. "
        f"Build it with `dockfmu build {name}`. Values are in the units shown; an array is written "
        "once, with the range of its indices.\n"
    )
    arrays = list(public_arrays(component.record.members, ""))
    for causality, heading in HEADINGS.items():
        fields = [(name, field) for name, field in arrays if field.causality == causality]
        if not fields:
            continue
        yield f"## {heading}"
        if causality in ("input", "parameter"):
            yield from table(
                ("Name", "Description", "Unit or type", "Start", "Range"),
                (
                    (code(name), described(field), unit(field), escaped(start_text(field)), interval(field))
                    for name, field in fields
                ),
            )
        else:
            yield from table(
                ("Name", "Description", "Unit or type"),
                ((code(name), described(field), unit(field)) for name, field in fields),
            )
    yield from _build_options(name)
    yield from _parameter_sets(component)
    yield from _messages(component)
    yield from _model(component)


def _build_options(name: str) -> Iterator[str]:
    """Describe the build options of a component by the signature and the docstring of its factory."""
    entry = catalogue.entry(name)
    factory = import_module(entry.module).component
    options = inspect.signature(factory).parameters
    if not options:
        return
    yield "## Build options\n"
    yield f"Give them in `dockfmu build {name} --option NAME=VALUE`, `options` in TOML, or `dockfmu.build` in Python.\n"
    yield from table(
        ("Name", "In this FMU"),
        (
            (code(option), code(value) if (value := entry.options.get(option, known.default)) is not None else "")
            for option, known in options.items()
        ),
    )
    yield re.split(r"\s+Raises ", inspect.getdoc(factory) or "")[0] + "\n"


def _parameter_sets(component: Component) -> Iterator[str]:
    if component.parameter_sets:
        yield "## Parameter sets\n"
        yield "A system names them in `sets`; the FMU carries each as `resources/parameters/NAME.ssv`.\n"
    for chosen in component.parameter_sets:
        yield f"### {chosen.name}\n\n{sentence(chosen.description)}\n" if chosen.description else f"### {chosen.name}\n"
        yield from table(
            ("Name", "Value", "Unit", "Source"),
            (
                (code(name), escaped(value), code(chosen.units[name]), linked(chosen.sources[name]))
                for name, value in chosen.values.items()
            ),
        )


def _model(component: Component) -> Iterator[str]:
    """Include the page of the component's folder, without its title."""
    readme = component.module.parent / "README.md"
    yield "## The model"
    yield f"\n```{{include}} ../../../{readme.relative_to(ROOT)}"
    yield ":start-line: 1\n:heading-offset: 1\n:relative-docs: .\n:relative-images:\n```\n"


def _messages(component: Component) -> Iterator[str]:
    if component.messages:
        yield "## Messages of a failed step\n"
        yield "Names in braces are printed as values. A failure that a shorter step could avoid is `fmi2Discard`.\n"
        yield from table(
            ("Code", "Status", "Message"),
            (
                (str(number), code("fmi2Discard" if message.discard else "fmi2Error"), escaped(message.text))
                for number, message in component.messages.items()
            ),
        )


def system_page(name: str) -> Iterator[str]:
    content = read_tables(SYSTEMS / f"{name}.toml")
    yield sentence(content["description"])
    yield f"\n```\ndockfmu run {content['name']}\n```\n"
    yield "## Elements"
    yield from table(
        ("Element", "FMU", "Options", "Parameter sets"),
        (
            (code(name), _component_link(element), _listed(_options_of(element)), _sets(element))
            for name, element in content["elements"].items()
        ),
    )
    values = [
        (code(f"{name}.{path}"), escaped(leaf["value"]), code(leaf["unit"]), linked(leaf["source"]))
        for name, element in content["elements"].items()
        for path, leaf in parameter_leaves(element.get("values", {}))
    ]
    if values:
        yield "Single values that go over the parameter sets:"
        yield from table(("Variable", "Value", "Unit", "Source"), values)
    if connections := content.get("connections"):
        yield "## Connections\n\nTwo ports are joined whole: each output goes to the input of the same name.\n"
        yield from table(("Port", "Port"), ((code(first), code(second)) for first, second in map(_ports, connections)))
    yield from _conditions(content.get("initial_conditions", {}))
    yield from _events(content)
    yield from _run(content)


def _component_link(element: Mapping[str, Any]) -> str:
    name = catalogue.entry(element["component"]).name
    if element.get("options", {}).get("contact") == "external":
        name += "External"
    return f"[{name}](../fmus/{name}.md)"


def _options_of(element: Mapping[str, Any]) -> dict[str, Any]:
    model = {"model": Path(element["model"]).name} if "model" in element else {}
    return {**element.get("options", {}), **model}


def _listed(entries: Mapping[str, Any]) -> str:
    return ", ".join(code(f"{name} = {value}") for name, value in entries.items())


def _sets(element: Mapping[str, Any]) -> str:
    return ", ".join(map(code, element.get("sets", ())))


def _ports(connection: Mapping[str, Any]) -> tuple[str, str]:
    first, second = connection["ports"]
    return first, second


def _conditions(conditions: Mapping[str, Any]) -> Iterator[str]:
    if not conditions:
        return
    yield "## Initial conditions\n"
    yield "Change one with `--set initial_conditions.NAME=VALUE`.\n"
    limits = {f"limits.{name}": entry for name, entry in conditions.get("limits", {}).items()}
    yield from table(
        ("Name", "Value", "Unit", "Source"),
        (
            (code(name), escaped(entry["value"]), code(entry["unit"]), linked(entry["source"]))
            if isinstance(entry, dict) and "value" in entry
            else (code(name), code(entry), "", "")
            for name, entry in {**conditions, **limits}.items()
            if name != "limits"
        ),
    )


def _events(content: Mapping[str, Any]) -> Iterator[str]:
    if events := content.get("events"):
        yield "## Events"
        yield from table(
            ("Event", "Signal", "When"),
            (
                (code(name), code(event["signal"]), f"{event['when']} {event.get('level', '')}".strip())
                for name, event in events.items()
            ),
        )
    if outcome := content.get("outcome"):
        yield "## Outcome\n"
        yield f"The outcome is the final value of {code(outcome['signal'])}. "
        yield f"Success: {', '.join(map(code, outcome['success']))}."
        for name, signal in outcome.get("interim", {}).items():
            yield f"It is {code(name)} if the run ends while nothing is decided and {code(signal)} is true."
        yield ""


def _run(content: Mapping[str, Any]) -> Iterator[str]:
    if run := content.get("run"):
        yield "## Run"
        yield from table(("Setting", "Value"), ((code(name), code(value)) for name, value in run.items()))
    if adaptive := content.get("adaptive"):
        yield "With `--adaptive`:"
        yield from table(("Setting", "Value"), ((code(name), escaped(value)) for name, value in adaptive.items()))


def command_line(_: str) -> Iterator[str]:
    parser = argument_parser()
    yield sentence(parser.description or "")
    yield from _notes(parser)
    yield from _options(parser)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield f"## dockfmu {name}\n"
                yield sentence(command.description or "")
                yield f"\n```text\n{command.format_usage().partition(': ')[2].rstrip()}\n```\n"
                yield from _folded(list(_options(command)))
                yield from _notes(command)


def _folded(lines: list[str]) -> Iterator[str]:
    """Fold the options of a command, if they are many."""
    count = sum(line.startswith(": ") for line in lines)
    if count <= FEW:
        yield from lines
        return
    yield f'<details class="fold"><summary>{count} arguments and options</summary>\n'
    yield from lines
    yield "</details>\n"


def _notes(parser: argparse.ArgumentParser) -> Iterator[str]:
    if not parser.epilog:
        return
    columns = any(line.startswith(" ") for line in parser.epilog.splitlines())
    yield f"\n```text\n{parser.epilog}\n```\n" if columns else f"\n{parser.epilog}\n"


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for group in parser._action_groups:
        actions = [
            action
            for action in group._group_actions
            if action.help != argparse.SUPPRESS
            and not isinstance(action, argparse._SubParsersAction | argparse._HelpAction)
        ]
        if not actions:
            continue
        title = {"positional arguments": "Arguments", "options": "Options"}.get(group.title or "", group.title or "")
        note = f" ({escaped(group.description)})" if group.description else ""
        yield f"**{title[0].upper()}{title[1:]}**{note}\n"
        for action in actions:
            yield f"{code(_invocation(action))}"
            yield f": {_help(parser, action)}\n"


def _invocation(action: argparse.Action) -> str:
    shown = action.metavar or (
        "|".join(map(str, action.choices)) if action.choices else action.dest.upper() if action.nargs != 0 else ""
    )
    value = " ".join(shown) if isinstance(shown, tuple) else str(shown)
    if not action.option_strings:
        return f"[{value} ...]" if action.nargs == "*" else value
    value = f"[{value}]" if action.nargs == "?" else value
    return f"{', '.join(action.option_strings)} {value}".rstrip()


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    text = parser._get_formatter()._expand_help(action) if action.help else ""
    chosen = f" One of {', '.join(map(code, action.choices))}." if action.choices and action.metavar else ""
    return f"{sentence(text) if text else ''}{chosen}"


WRITERS = {
    "components": components,
    "component": component_page,
    "system": system_page,
    "command-line": command_line,
}
"""What writes the Markdown, by the name with which a page asks for it. Other extensions of this folder add theirs."""
ASKED = re.compile(r"^```\{([\w-]+)\} ?(\S*)\n```$", re.MULTILINE)


def write_pages(app: Sphinx, _: str, source: list[str]) -> None:
    """Put what is asked for into the text of a page, which is then read at each build: the code may have changed."""

    def written(match: re.Match[str]) -> str:
        if match[1] not in WRITERS:
            return match[0]
        app.env.note_reread()
        return "\n".join(WRITERS[match[1]](match[2]))

    source[0] = ASKED.sub(written, source[0])


def write_own_pages(app: Sphinx) -> None:
    """Write the page of each component and each system, and remove those of what there is no more."""
    systems = [file.stem for file in SYSTEMS.glob("*.toml")]
    for folder, kind, names in (("fmus", "component", catalogue.names()), ("systems", "system", systems)):
        place = Path(app.srcdir) / "reference" / folder
        for page in place.glob("*.md"):
            if page.stem not in {*names, "index"}:
                page.unlink()
        for name in names:
            page, text = place / f"{name}.md", f"# {name}\n\n```{{{kind}}} {name}\n```\n"
            if not page.exists() or page.read_text(encoding="utf-8") != text:
                page.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_own_pages)
    app.connect("source-read", write_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
