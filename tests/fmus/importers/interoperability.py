"""The tables of docs/guide/interoperability.md: what the tests found, kept as JSON and written as Markdown.

`python -m tests.fmus.importers.interoperability` writes the tables after a run of the tests beside this file. What
they did not run stays as the page has it.
"""

import json

from dockfmu.base.cache import ROOT
from dockfmu.fmus import catalogue

RESULTS = ROOT / "build" / "interoperability"
PAGE = ROOT / "docs" / "guide" / "interoperability.md"
BEGIN, END = "<!-- begin of the {} -->", "<!-- end of the {} -->"
NOT_RUN = "not run"

COLUMNS = {
    "linux64": "linux64",
    "win64": "win64 (Wine)",
    "aarch64-linux": "aarch64-linux (qemu)",
    "darwin64": "darwin64",
    "aarch64-darwin": "aarch64-darwin",
    "memory": "valgrind",
    "fmpy": "FMPy",
    "libcosim": "libcosim",
    "ecos": "ecos",
    "container": "FMU container",
    "cofmpy": "CoFMPy",
}


def keep(fmu: str, column: str, text: str, **more) -> None:
    """Remember one cell; for linux64 also sizes and times."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{fmu}.{column}.json").write_text(json.dumps({"text": text, **more}, indent=1))


def _kept(fmu: str, column: str) -> dict:
    """Return what `keep` remembers of a cell; empty if it was not run."""
    file = RESULTS / f"{fmu}.{column}.json"
    return json.loads(file.read_text()) if file.is_file() else {}


def _line(words) -> str:
    return f"| {' | '.join(words)} |"


def _table(titles, rows) -> str:
    return "\n".join(_line(words) for words in (titles, ["---"] * len(titles), *rows))


def table() -> str:
    """Return the table of importers and platforms: a row for each component of the catalogue."""
    earlier = documented()
    rows = []
    for name in sorted(catalogue.names()):
        before = earlier.get(name, {})
        rows.append([name, *(_kept(name, key).get("text") or before.get(key, NOT_RUN) for key in COLUMNS)])
    return _table(["", *COLUMNS.values()], rows)


def sizes() -> str:
    """Return the table of sizes and times; a component that was never measured has no row."""
    earlier = {row[0]: row for row in _rows("sizes")[2:]}
    rows = []
    for name in sorted(catalogue.names()):
        if found := _kept(name, "linux64"):
            kilobytes = [f"{found[key] / 1000:.0f} kB" for key in ("archive", "library", "state")]
            times = [f"{found['times'][key] * 1e6:.3g} µs" for key in ("load", "instantiate", "initialize", "step")]
            rows.append([name, *kilobytes, *times])
        elif name in earlier:
            rows.append(earlier[name])
    return _table(["", ".fmu, 5 platforms", "library", "state", "load", "instantiate", "initialize", "step"], rows)


def section(name: str) -> str:
    """Return what stands in the page between the marks of a table."""
    begin, end = (mark.format(name) for mark in (BEGIN, END))
    return PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0].strip()


def _rows(name: str) -> list[list[str]]:
    """Return the lines of a table in the page: the titles, the rule, the rows."""
    return [[word.strip() for word in line.split("|")[1:-1]] for line in section(name).splitlines()]


def documented() -> dict[str, dict[str, str]]:
    """Return the table of importers and platforms in the page: FMU -> column -> cell."""
    titles, _, *rows = _rows("table")
    keys = {title: key for key, title in COLUMNS.items()}
    return {row[0]: {keys[t]: word for t, word in zip(titles[1:], row[1:], strict=True)} for row in rows}


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, made in (("table", table()), ("sizes", sizes())):
        begin, end = (mark.format(name) for mark in (BEGIN, END))
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{made}\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
