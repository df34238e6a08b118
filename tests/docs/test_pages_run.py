"""The guides are worked through as a newcomer does: their files are written, their commands and their Python run."""

import re
import shlex
from pathlib import Path

import pytest

from dockfmu.cli import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`([\w/]+\.toml)`[^`\n]*:\s*\Z")
"""The words before a block that is a file: `my_craft.toml`:"""

WHOLE = ("my-craft", "my-probe", "own-mechanism", "structural-loads", "first-campaign", "reconstruct")

SHORTER = {
    "my-craft": {"--stop 20": "--stop 0.3"},
    "structural-loads": {"--stop 1 ": "--stop 0.5 "},
    "first-campaign": {"--stop 1 ": "--stop 0.3 ", "runs = 12 ": "runs = 9 ", 'stop = "3 s"': 'stop = "0.3 s"'},
}
"""What makes the pages cheap: shorter runs, fewer of them."""

LEFT_OUT = {
    "my-craft": ("dockfmu run my_elastic_craft.toml",),  # compiles ten modes
    "first-campaign": ("dockfmu list",),  # has tests of its own
}


def steps(page):
    """Yield ("file", name, text), ("command", words, comment) and ("python", source, "") in the order of a page."""
    text = (ROOT / "docs" / "guide" / f"{page}.md").read_text(encoding="utf-8")
    for shown, short in SHORTER.get(page, {}).items():
        assert shown in text
        text = text.replace(shown, short)
    for match in BLOCK.finditer(text):
        language, content = match[1], match[2]
        if language == "toml":
            named = NAMED.search(text[: match.start()].rpartition("\n\n")[0].rpartition("\n")[2] + "\n")
            named = named or NAMED.search(text[: match.start()].rstrip().rpartition("\n")[2])
            if named:
                yield "file", named[1], content
        elif language == "sh":
            for line in content.replace("\\\n", " ").splitlines():
                words = shlex.split(line.partition(" #")[0])
                if words[:1] == ["dockfmu"] and not line.startswith(LEFT_OUT.get(page, ("\0",))):
                    yield "command", words[1:], line.partition(" #")[2].strip()
        elif language == "python":
            yield "python", content, ""


@pytest.mark.parametrize("page", WHOLE)
def test_a_guide_is_worked_through(page, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    names, commands = {}, 0
    for kind, first, second in steps(page):
        if kind == "file":
            Path(first).write_text(second, encoding="utf-8")
        elif kind == "python":
            exec(compile(first, page, "exec"), names)
        else:
            status = main(first)
            told = capfd.readouterr()
            commands += 1
            # a shortened run may end before its outcome is decided; other commands find differences
            expected = {"refused": (2,), "says which limit, when, for how long": (3,)}.get(second, (0, 1, 3))
            if first[0] == "compare":
                expected = (0, 1)
            elif expected == (0, 1, 3):
                expected = (0, 3) if first[0] == "run" else (0,)
            assert status in expected, f"{shlex.join(first)}: {status}\n{told.out}{told.err}"
            if second == "refused":
                text = (ROOT / "docs" / "guide" / f"{page}.md").read_text(encoding="utf-8")
                quoted = re.search(r"^```text\n(.*?)\n```", text, re.MULTILINE | re.DOTALL)
                assert quoted is not None
                assert quoted[1] in " ".join(told.err.split())
    assert commands >= 3
