"""Files of others are read whole or refused: never waited for, never without an end, and with errors of two kinds."""

import os
import re
import socket
import tomllib
from pathlib import Path
from time import perf_counter

import pytest

from dockfmu.base.given_files import MOST_PARTS, check_plain, parse_json, parse_toml, read_bytes, read_json, read_toml
from dockfmu.base.messages import no_xml

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
LONG = 50_000

BOTTOMLESS = {
    "lists": "a = " + "[" * LONG + "]" * LONG,
    "tables": "a = " + "{a=" * LONG + "1" + "}" * LONG,
    "a dotted key": ".".join(["a"] * LONG) + " = 1",
    "a dotted key with blanks": " . ".join(["a"] * LONG) + " = 1",
    "a dotted header": "[" + ".".join(["a"] * LONG) + "]",
    "a dotted key in a table": "a = {" + ".".join(["a"] * LONG) + " = 1}",
    "a dotted key in quotes": ".".join(['"a"'] * LONG) + " = 1",
    "a dotted key in quotes with quotes": ".".join([r'"\""'] * LONG) + " = 1",
    "a dotted key in single quotes": ".".join(["'a.b'", "c"] * LONG) + " = 1",
    "digits": "a = " + "9" * LONG,
}


@pytest.mark.parametrize("kind", BOTTOMLESS)
def test_texts_without_bottom_are_refused_at_once(kind):
    begun = perf_counter()
    with pytest.raises(ValueError, match=r"nested too deeply|line 1: a key has more than 64 parts|Exceeds the limit"):
        parse_toml(BOTTOMLESS[kind])
    assert perf_counter() - begun < 5.0


def test_what_is_long_without_being_deep_is_read():
    keys = ".".join(["a"] * MOST_PARTS)
    text = f'{keys} = 1\nb = "{"Some words. " * LONG}"\nc = [{"0.5, " * LONG}]\nd = "{"AZ09+/" * LONG}=="'
    assert parse_toml(text) == tomllib.loads(text)


@pytest.mark.parametrize("text", ["[" * LONG, '{"a":' * LONG, "9" * LONG, "[1", "\ufeff{}"])
def test_json_is_a_value_or_one_kind_of_error(text):
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_every_declaration_here_is_read_as_it_stands():
    files = [file for folder in ("ssp", "components") for file in (ROOT / folder).rglob("*.toml")]
    assert len(files) > 100
    for file in files:
        assert read_toml(file) == tomllib.loads(file.read_text(encoding="utf-8")), file


def test_texts_that_are_no_utf_8(tmp_path):
    file = tmp_path / "latin"
    file.write_bytes(b"\xe9")
    for read in (read_toml, read_json):
        with pytest.raises(ValueError, match="utf-8"):
            read(file)


def test_files_larger_than_wanted_are_refused_unread(tmp_path):
    file = tmp_path / "sparse"
    with file.open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(OSError, match="has more than 10 bytes"):
        read_bytes(file, 10)
    with pytest.raises(OSError, match="has more than 67108864 bytes"):
        read_toml(file)


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices have no place among the files of Windows")
def test_what_is_no_plain_file_is_refused_without_waiting(tmp_path):
    pipe, link, there = tmp_path / "pipe", tmp_path / "link", tmp_path / "socket"
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(there))
        for file in (pipe, link, there):
            with pytest.raises(OSError, match="is a pipe, a socket or a device") as found:
                read_bytes(file)
            assert found.value.filename == str(file)
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)
    with pytest.raises(FileNotFoundError):
        check_plain(tmp_path / "missing")


def test_no_module_reads_declarations_and_tables_of_others_by_itself():
    """TOML and JSON files are opened in one place; others know that they wrote the file, or read what they parsed."""
    own = re.compile(r"\btomllib\.load|json\.loads?\(\w+(\.\w+)*\.read_text|json\.load\(")
    allowed = {
        "base/given_files.py", "base/locks.py", "components/multibody/declaration/elastic.py",
    }  # fmt: skip
    found = {
        file.relative_to(ROOT).as_posix()
        for folder in ("base", "components", "dockfmu", "fmus", "master", "ssp")
        for file in (ROOT / folder).rglob("*.py")
        if own.search(file.read_text(encoding="utf-8"))
    }
    assert found == allowed


@pytest.mark.parametrize(
    ("text", "character"),
    [
        ("a\tb\r\n\u00e9\U0001f600", ""),
        ("\x1b[2J", "U+001B"),
        ("a\0", "U+0000"),
        ("\ud800", "U+D800"),
        ("\uffff", "U+FFFF"),
    ],
)
def test_characters_that_no_xml_holds(text, character):
    assert no_xml(text) == character
