"""The tables of docs/guide/interoperability.md: what the tests found, kept as JSON and written as Markdown.

`python -m tests.fmus.importers.interoperability` writes the tables after a run of the tests beside this file.
"""

import json

from base.cache import ROOT

RESULTS = ROOT / "build" / "interoperability"
PAGE = ROOT / "docs" / "guide" / "interoperability.md"
BEGIN, END = "<!-- begin of the {} -->", "<!-- end of the {} -->"

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


def cell(fmu: str, column: str) -> str | None:
    """Return what the table says of a result; None where there is none."""
    file = RESULTS / f"{fmu}.{column}.json"
    return json.loads(file.read_text())["text"] if file.is_file() else None


def _row(words) -> str:
    return f"| {' | '.join(words)} |"


def table(fmus) -> str:
    """Return the table; a cell of an importer that is not here stays as the page has it."""
    earlier = documented()
    lines = [_row(["", *COLUMNS.values()]), _row(["---"] * (len(COLUMNS) + 1))]
    for name in fmus:
        kept = earlier.get(name, {})
        lines.append(_row([name, *(cell(name, column) or kept.get(column, "not run") for column in COLUMNS)]))
    return "\n".join(lines)


def sizes(fmus) -> str:
    titles = ("", ".fmu, 5 platforms", "library", "state", "load", "instantiate", "initialize", "step")
    lines = [_row(titles), _row(["---"] * len(titles))]
    for name in fmus:
        found = json.loads((RESULTS / f"{name}.linux64.json").read_text())
        kilobytes = [f"{found[key] / 1000:.0f} kB" for key in ("archive", "library", "state")]
        times = [f"{found['times'][key] * 1e6:.3g} µs" for key in ("load", "instantiate", "initialize", "step")]
        lines.append(_row([name, *kilobytes, *times]))
    return "\n".join(lines)


def section(name: str) -> str:
    """Return what stands in the page between the marks of a table."""
    begin, end = (mark.format(name) for mark in (BEGIN, END))
    return PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0].strip()


def documented() -> dict[str, dict[str, str]]:
    """The table of importers and platforms in the page: FMU -> column -> cell."""
    head, _, *rows = ([word.strip() for word in line.split("|")[1:-1]] for line in section("table").splitlines())
    keys = {title: key for key, title in COLUMNS.items()}
    return {row[0]: {keys[t]: word for t, word in zip(head[1:], row[1:], strict=True)} for row in rows}


def main() -> None:
    fmus = sorted({file.name.partition(".")[0] for file in RESULTS.glob("*.linux64.json")})
    text = PAGE.read_text(encoding="utf-8")
    for name, made in (("table", table(fmus)), ("sizes", sizes(fmus))):
        begin, end = (mark.format(name) for mark in (BEGIN, END))
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{made}\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
