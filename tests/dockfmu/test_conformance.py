"""`python -m dockfmu.conformance` runs every installed checker and reports a table and an exit status."""

import zipfile

import pytest

from dockfmu import conformance
from dockfmu.fmus.package import pack


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Put stand-ins for checkers that are not installed on the PATH."""

    def write(**said):
        for name, text in said.items():
            file = tmp_path / "bin" / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
            file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")

    return write


SUMMARY = (
    "FMU check summary:\nFMU reported:\n\t{} warning(s) and error(s)\nChecker reported:\n\t{} Warning(s)\n\t{} Error(s)"
)


def only(monkeypatch, *names):
    monkeypatch.setattr(conformance, "CHECKERS", [c for c in conformance.CHECKERS if c.name in names])


@pytest.mark.slow
def test_a_sound_fmu_passes_all_that_is_here(oscillator, capsys):
    assert conformance.main([str(oscillator)]) == 0
    head, row, *_ = capsys.readouterr().out.splitlines()
    assert "ok" in row
    assert "wrong" not in row
    assert {"dockfmu", "C importer", "libcosim"} <= {word.strip() for word in head.split("  ")}


def test_checkers_of_others_are_taken_from_the_path(oscillator, programs, monkeypatch, capsys):
    only(monkeypatch, "VDMCheck", "fmuCheck", "fmusim")
    programs()
    assert conformance.check(oscillator) == {"VDMCheck": None, "fmuCheck": None, "fmusim": None}
    programs(**{"VDMCheck2.sh": "No errors found.", "fmuCheck": SUMMARY.format(0, 0, 0)})
    assert conformance.check(oscillator) == {"VDMCheck": [], "fmuCheck": [], "fmusim": None}
    programs(**{"VDMCheck2.sh": "2.2.1 rule broken", "fmuCheck": SUMMARY.format(3, 0, 1)})
    assert conformance.main([str(oscillator)]) == 1
    said = capsys.readouterr().out
    for text in (
        "VDMCheck: 2.2.1 rule broken",
        "fmuCheck: 3 warning(s) and error(s)",
        "fmuCheck: 1 Error(s)",
        "2 wrong",
    ):
        assert text in said


def test_a_package_and_its_faults(pair, tmp_path, monkeypatch, capsys):
    assert conformance.main([str(pair)]) == 0
    with zipfile.ZipFile(pair) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    description = content["SystemStructure.ssd"]
    broken = tmp_path / "broken.ssp"
    broken.write_bytes(
        pack({**content, "SystemStructure.ssd": description.replace(b"endConnector=", b"endConnect=", 1)})
    )
    only(monkeypatch, "dockfmu", "fmpy")
    assert conformance.main([str(pair), str(broken)]) == 1
    said = capsys.readouterr().out
    assert "broken.ssp: dockfmu: " in said
    assert "broken.ssp: fmpy: " in said


def test_wrong_words_are_refused(tmp_path):
    for words in ([str(tmp_path / "none.fmu")], [__file__]):
        with pytest.raises(SystemExit) as end:
            conformance.main(words)
        assert end.value.code == 2
