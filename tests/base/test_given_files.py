"""Files of others are read whole or refused: never waited for, never without an end, and with errors of two kinds."""

import os
import re
import socket
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import process_time, sleep

import pytest

from dockfmu.base import given_files
from dockfmu.base.given_files import (
    MOST_PARTS,
    accept_pipe,
    check_plain,
    parse_json,
    parse_toml,
    read_bytes,
    read_json,
    read_toml,
)
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
    begun = process_time()
    with pytest.raises(ValueError, match=r"nested too deeply|line 1: a key has more than 64 parts|Exceeds the limit"):
        parse_toml(BOTTOMLESS[kind])
    assert process_time() - begun < 5.0


def test_what_is_long_without_being_deep_is_read():
    keys = ".".join(["a"] * MOST_PARTS)
    text = f'{keys} = 1\nb = "{"Some words. " * LONG}"\nc = [{"0.5, " * LONG}]\nd = "{"AZ09+/" * LONG}=="'
    assert parse_toml(text) == tomllib.loads(text)


WORDS = ".".join(["word"] * (MOST_PARTS + 1))
STRINGS_AND_COMMENTS = (
    f'a = "{WORDS}"',
    f"a = '{WORDS}'",
    f"# {WORDS}\na = 1",
    f'a = "\\" {WORDS}"',
    f'"a" = "{WORDS}" # "{WORDS}\nb = "x#"',
    f'a = """\n{WORDS}\n"" {WORDS} \\" """""\nb = 1',
    f"a = '''{WORDS} '' {WORDS}'''''\nb = 2",
    f"a = [\"{WORDS}\", '{WORDS}']",
)


@pytest.mark.parametrize("text", STRINGS_AND_COMMENTS)
def test_words_in_strings_and_comments_are_no_keys(text):
    assert parse_toml(text) == tomllib.loads(text)


BEFORE = ('a = "\\""', "a = 'it\\'", 'a = """x"""""', '# "', "a = '''x''''", '"" = 1', "a = [1, 'b', # '\n2]")


@pytest.mark.parametrize("before", BEFORE)
def test_strings_and_comments_hide_no_long_key(before):
    with pytest.raises(ValueError, match=f"line {before.count(chr(10)) + 2}: a key has more than 64 parts"):
        parse_toml(f"{before}\n{WORDS} = 1")


KEY = ".".join(["a"] * MOST_PARTS)
ENDLESS = ('"', "'", '"\\', '"a\n', "'''", "\"'\n", '"""x\\', "#", "a ", KEY + "\n", KEY.replace("a", '"aa"') + "\n")


@pytest.mark.parametrize("part", ENDLESS)
def test_what_does_not_end_takes_no_time(part):
    begun = process_time()
    with suppress(ValueError):
        parse_toml(part * (1_000_000 // len(part)))
    assert process_time() - begun < 5.0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes in folders")
class TestPipes:
    """Check pipes that are named on a command line: read once, to their end, within bounds."""

    def test_its_content_is_kept(self, tmp_path):
        file = tmp_path / "pipe"
        os.mkfifo(file)
        # more than a pipe holds
        text = "a = 1\n" + "# and so on\n" * 50_000

        def write():
            sleep(0.1)
            file.write_text(text, encoding="utf-8")

        with ThreadPoolExecutor() as pool:
            pool.submit(write)
            accept_pipe(file)
        accept_pipe(file)
        assert read_bytes(file) == text.encode()
        assert read_toml(file) == {"a": 1}
        with pytest.raises(OSError, match="has more than 100 bytes"):
            read_bytes(file, 100)

    @pytest.mark.parametrize("flags", [None, os.O_RDWR], ids=["without a writer", "with a silent writer"])
    def test_one_without_an_end_is_refused_in_time(self, tmp_path, flags):
        file = tmp_path / "pipe"
        os.mkfifo(file)
        writer = None if flags is None else os.open(file, flags)
        with pytest.raises(OSError, match=r"has no end after 0\.1 s: write it to a file"):
            accept_pipe(file, 0.1)
        with pytest.raises(OSError, match="is a pipe"):
            read_bytes(file)
        if writer is not None:
            os.close(writer)

    def test_one_without_bounds_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setattr(given_files, "LARGEST", 100_000)
        file = tmp_path / "pipe"
        os.mkfifo(file)

        def write():
            with suppress(BrokenPipeError):
                file.write_bytes(bytes(1_000_000))

        with ThreadPoolExecutor() as pool:
            pool.submit(write)
            with pytest.raises(OSError, match="has more than 100000 bytes"):
                accept_pipe(file)

    def test_other_files_are_left_to_their_readers(self, tmp_path):
        accept_pipe(tmp_path / "missing")
        accept_pipe(tmp_path)
        (tmp_path / "file").write_bytes(b"x")
        accept_pipe(tmp_path / "file")
        (tmp_path / "file").write_bytes(b"y")
        assert read_bytes(tmp_path / "file") == b"y"


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
        "base/given_files.py", "components/multibody/declaration/elastic.py",
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
