"""`validate` finds each of these faults, and nothing in a sound FMU.

Faults of the model description are edits of a sound one; faults of behaviour are kernels written in C, linked with the
real shim; faults of the functions of the standard are edits of the shim.
"""

import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import replace

import pytest

from dockfmu.components.oscillator import component as oscillator
from dockfmu.fmus import catalogue, package
from dockfmu.fmus.check import dependencies, process, validate
from dockfmu.fmus.check.__main__ import main
from dockfmu.fmus.check.memory import check_memory
from dockfmu.fmus.check.subject import Subject
from dockfmu.fmus.description import NATIVE_CAPABILITIES, describe
from dockfmu.fmus.native import build as linking
from dockfmu.fmus.native.tables import write_tables
from dockfmu.fmus.toolchain.targets import HOST
from dockfmu.fmus.toolchain.zig import LinkError
from dockfmu.master.fmi.instance import Fmu

pytestmark = pytest.mark.slow

XML, LIBRARY = "modelDescription.xml", "binaries/linux64/Oscillator.so"


@pytest.fixture
def damaged(oscillator_fmu, gadget_fmu, tmp_path):
    """Write an FMU with some files replaced: name -> bytes, a function of the bytes, or None to leave it out."""

    def write(base="oscillator", **changes):
        source = oscillator_fmu if base == "oscillator" else gadget_fmu
        with zipfile.ZipFile(source) as archive:
            content = {name: archive.read(name) for name in archive.namelist()}
        for name, change in {**changes.pop("files", {}), **changes}.items():
            content[name] = change(content[name]) if callable(change) else change
        file = tmp_path / "Damaged.fmu"
        file.write_bytes(package.pack({name: data for name, data in content.items() if data is not None}))
        return file

    return write


def edit(old: str, new: str):
    """A change of text that must apply exactly once."""

    def apply(data: bytes) -> bytes:
        assert data.count(old.encode()) == 1, (old, data.count(old.encode()))
        return data.replace(old.encode(), new.encode())

    return apply


def attribute(variable: str, name: str, value: str):
    """Set an attribute in the element of a variable or of its type."""

    def apply(data: bytes) -> bytes:
        text = data.decode()
        start = text.index(f'<ScalarVariable name="{variable}"')
        end = text.index("</ScalarVariable>", start)
        block = text[start:end]
        if re.search(rf'\b{name}="[^"]*"', block):
            block = re.sub(rf'\b{name}="[^"]*"', f'{name}="{value}"', block, count=1)
        else:
            block = re.sub(r"<(Real|Integer|Boolean|Enumeration)\b", rf'<\1 {name}="{value}"', block)
        return (text[:start] + block + text[end:]).encode()

    return apply


def expect(file, severity: str, place: str, text: str) -> None:
    findings = validate(file)
    assert any(
        f.severity == severity and re.search(place, f"{f.file}, {f.element}") and re.search(text, f.text)
        for f in findings
    ), "\n".join(map(str, findings))
    assert all(f.advice and str(f) for f in findings)


def test_sound_fmus_have_no_findings(oscillator_fmu, gadget_fmu):
    assert validate(oscillator_fmu) == []
    assert validate(gadget_fmu) == []


def delete(pattern: str):
    return lambda data: re.sub(pattern.encode(), b"", data, flags=re.S)


CODE = str(oscillator().record.index["status.code"])

DESCRIPTION_FAULTS = {
    "min_greater_than_max": (attribute("parameters.mass", "max", "1e-12"), "parameters.mass", "min 1e-09 is greater"),
    "start_below_min": (attribute("parameters.mass", "start", "-2"), "parameters.mass", r"start -2 lies outside"),
    "start_above_max": (attribute("parameters.mass", "max", "0.5"), "parameters.mass", r"outside \[1e-09, 0.5\]"),
    "nominal_zero": (attribute("position", "nominal", "0"), "position", "nominal is zero"),
    "negative_step": (edit('stepSize="0.001"', 'stepSize="-0.001"'), "DefaultExperiment", "not positive"),
    "stop_before_start": (edit('stopTime="10.0"', 'stopTime="-1"'), "DefaultExperiment", "before startTime"),
    "alias_with_two_starts": (attribute("parameters.damping", "valueReference", "4"), "damping", "more than one start"),
    "alias_of_two_units": (attribute("velocity", "valueReference", "1"), "position, velocity", "differ in unit"),
    "unknown_attribute": (attribute("force", "colour", "red"), "line", "colour"),
    "undefined_unit": (attribute("force", "unit", "lbf"), XML, "lbf"),
    "no_initial_unknowns": (delete("<InitialUnknowns>.*</InitialUnknowns>"), XML, "InitialUnknowns"),
    "duplicate_name": (edit('name="velocity"', 'name="position"'), XML, "not unique"),
    "start_of_calculated": (attribute("position", "start", "1.0"), XML, "provides a start value"),
    "output_that_is_fixed": (attribute("velocity", "variability", "fixed"), "velocity", "with variability fixed"),
    "parameter_calculated": (attribute("parameters.mass", "initial", "calculated"), "mass", "with initial calculated"),
    "initial_of_an_input": (edit('="force" valueReference="0"', '="force" valueReference="0" initial="exact"'), "force",
                            "input and variability continuous with initial exact"),
    "name": (edit('name="velocity"', 'name="velocity[x]"'), r"velocity\[x\]", "not a legal name"),
    "name_with_a_tab": (lambda data: re.sub(b' variableNamingConvention="[a-z]*"', b"", data).replace(
        b'name="velocity"', b'name="vel&#9;ocity"'), "vel\tocity", "name holds"),
    "no_co_simulation": (edit("<CoSimulation ", "<ModelExchange "), "fmiModelDescription", "not an FMI 2.0 co-sim"),
    "identifier": (edit('Identifier="Oscillator"', 'Identifier="Oscil-lator"'), "CoSimulation", "C identifier"),
    "wrong_guid": (edit('guid="{', 'guid="{0'), "fmi2Instantiate", "refuses the GUID"),
    "library_has_another_name": (edit('Identifier="Oscillator"', 'Identifier="Other"'), "Other.so", "is missing"),
    "start_differs": (attribute("parameters.mass", "start", "2.0"), "parameters.mass", "1.0 in the library and 2.0"),
    "unreadable": (attribute("status.value", "valueReference", "999"), "status.value", "cannot be read as Real"),
    "wrong_type": (attribute("status.value", "valueReference", CODE), "status.value", "cannot be read as Real"),
    "not_tunable": (attribute("parameters.mass", "variability", "tunable"), "parameters.mass", "cannot be set between"),
}  # fmt: skip


@pytest.mark.parametrize("fault", DESCRIPTION_FAULTS)
def test_faults_of_the_model_description(damaged, fault):
    change, place, text = DESCRIPTION_FAULTS[fault]
    expect(damaged(files={XML: change}), "error", place, text)


def test_an_fmu_for_another_platform_is_not_run(damaged, oscillator_fmu):
    with zipfile.ZipFile(oscillator_fmu) as archive:
        library = archive.read(LIBRARY)
    file = damaged(files={LIBRARY: None, "binaries/linux32/Oscillator.so": library})
    (finding,) = validate(file)
    assert finding.severity == "warning"
    assert finding.text == "there is no library for linux64"


def test_missing_dependencies_are_a_warning(damaged):
    file = damaged(files={XML: lambda data: data.replace(b' dependencies=""', b"")})
    expect(file, "warning", "ModelStructure/Outputs", "state no dependencies")


def test_what_the_description_forbids_is_tried(damaged):
    """The library lets `gain` be tuned."""
    change = attribute("parameters.gain", "variability", "fixed")
    expect(damaged("gadget", files={XML: change}), "warning", "parameters.gain", "can be set between steps")


LIBRARY_FAULTS = {
    "function_missing": (
        lambda data: data.replace(b"\0fmi2CancelStep", b"\0fmi2CancelStap"),
        "fmi2CancelStep",
        "does not export",
    ),
    "foreign_library": (edit("libm.so.6", "libq.so.6"), "libq.so.6", "not every machine has"),
    "damaged": (lambda data: data[:1000], "Oscillator.so", "damaged shared library|no segment"),
    "no_library": (b"text", "Oscillator.so", "not a 64-bit ELF library"),
    "missing": (None, "binaries", "no library for any platform"),
}


@pytest.mark.parametrize("fault", LIBRARY_FAULTS)
def test_faults_of_the_library(damaged, fault):
    change, place, text = LIBRARY_FAULTS[fault]
    expect(damaged(files={LIBRARY: change}), "warning" if fault == "foreign_library" else "error", place, text)


KERNEL = """
#include <stdint.h>
#include <stdlib.h>
enum {{ FORCE, POSITION, VELOCITY }};
static double shared;
int32_t kernel_initialize(int32_t *result, void **exception, double *memory)
{{
    *result = 0; (void)exception; (void)shared;
    {initialize}
    return 0;
}}
int32_t kernel_step(int32_t *result, void **exception, double *memory, double t, double h)
{{
    *result = 0; (void)exception; (void)t; (void)h;
    {step}
    return 0;
}}
"""


THREAD = """
    extern long syscall(long, ...);
    static long first;
    long thread = syscall(186L);  /* gettid */
    if (!first) first = thread;
    memory[POSITION] += thread == first ? h : 2.0 * h;
"""


@pytest.fixture
def written_in_c(damaged, tmp_path):
    """The oscillator's FMU with kernels in C, for once with what kernels cannot do."""

    def write(initialize="memory[POSITION] = 0.0;", step="memory[POSITION] += h;", flags=HOST.flags):
        (tmp_path / "kernel.c").write_text(KERNEL.format(initialize=initialize, step=step))
        compiler = [sys.executable, "-m", "ziglang", "cc", "-target", HOST.zig]
        subprocess.run(
            [*compiler, "-O1", "-fno-sanitize=undefined", "-fPIC", "-c", "kernel.c", "-o", "kernel.o"],
            cwd=tmp_path,
            check=True,
        )
        component, guid = oscillator(), "{c}"
        library = linking.link(
            "Oscillator",
            write_tables(component, guid),
            [(tmp_path / "kernel.o").read_bytes()],
            replace(HOST, flags=flags),
        )
        description = describe(component, guid, NATIVE_CAPABILITIES)
        return damaged(files={XML: description, LIBRARY: library})

    return write


def test_sound_kernel_in_c_has_no_findings(written_in_c):
    assert validate(written_in_c()) == []


@pytest.mark.parametrize(
    ("kernels", "place", "text"),
    [
        ({"step": "memory[POSITION] += ++shared;"}, "fmi2DoStep", "two equal runs differ after step 1: position"),
        ({"step": "memory[POSITION] += ++shared;"}, "fmi2Reset", "after a reset between steps, step 1 differs"),
        ({"initialize": "memory[POSITION] = ++shared > 900.0;"}, "fmi2DoStep", "instance .* of 1000 differs in step 1"),
        ({"step": THREAD}, "fmi2DoStep", "in one of two threads step 1 differs: position"),
        ({"step": "static double own; if (t == 0.0) own = 0.0; memory[POSITION] = own += h;"}, "fmi2SetFMUstate",
         "1 steps after a state was restored.*position"),
        ({"initialize": "memory[POSITION] = ++shared;"}, "", "outputs differ"),
        ({"step": "*(volatile int *)0 = 1;"}, "Damaged.fmu, check_start", "ended with signal 11"),
        ({"step": "abort();"}, "Damaged.fmu, check_start", "ended with signal 6"),
        ({"step": "*result = 2;"}, "Oscillator", "does not run with its start values.*displacement"),
        ({"initialize": "*result = 1;"}, "Oscillator", "does not run with its start values.*is not finite"),
    ],
)  # fmt: skip
def test_faults_of_behaviour(written_in_c, kernels, place, text):
    expect(written_in_c(**kernels), "error", place, text)


def test_an_fmu_that_crashes_leaves_no_temporary_files(written_in_c, tmp_path, monkeypatch):
    """Regression: what the process of the checks had unpacked stayed for ever."""
    file = written_in_c(step="abort();")
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    expect(file, "error", "Damaged.fmu, check_start", "ended with signal 6")
    assert list(place.iterdir()) == []


def test_step_size_that_is_ignored(written_in_c):
    expect(written_in_c(step="memory[POSITION] += 1e-3;"), "warning", "position", "10 steps of 0.002 s end at 0.01")


@pytest.fixture
def edited_shim(tmp_path, monkeypatch):
    """Change a line of a file of the shim for the FMUs that are linked from now on."""

    def edit_file(file, old, new):
        shim = tmp_path / "shim"
        shutil.copytree(linking.SHIM, shim)
        source = (shim / file).read_text()
        assert old in source
        # a step backwards would otherwise fail where it does not begin at the end of the last
        (shim / file).write_text(source.replace(old, new).replace("<= 1e-3 * step", "<= 1e-3 * fabs(step)"))
        monkeypatch.setattr(linking, "SHIM", shim)
        monkeypatch.setattr(linking, "shim_digest", linking.shim_digest.__wrapped__)

    return edit_file


INFINITE = "memory[VELOCITY] = 1.0 / memory[POSITION];"


def test_values_that_are_not_finite_are_refused_by_the_shim(written_in_c):
    expect(written_in_c(initialize=INFINITE), "error", "Oscillator", "does not run .*velocity = inf is not finite")


def test_values_that_are_not_finite(written_in_c, edited_shim):
    edited_shim("instance.c", "seen >> 63 ?", "seen == 0 ?")
    expect(written_in_c(initialize=INFINITE), "warning", "velocity", "is inf")


def test_undefined_symbol_is_found_by_the_linker_and_by_the_check(written_in_c):
    call = "extern void numba_gil_ensure(void); numba_gil_ensure();"
    with pytest.raises(LinkError, match="numba_gil_ensure"):
        written_in_c(step=call)
    expect(
        written_in_c(step=call, flags=(*HOST.flags, "-Wl,-z,undefs")),
        "error",
        "numba_gil_ensure",
        "neither libc nor libm",
    )


SHIM_FAULTS = {
    "negative_step": ("step.c", "isfinite(h) && h > 0.0", "isfinite(h)",
                      "warning", "fmi2DoStep", "a negative step size is accepted"),
    "guid": ("lifecycle.c", "!guid || strcmp(guid, model.guid) != 0", "0",
             "warning", "fmi2Instantiate", "accepts a foreign GUID"),
    "strict": ("variables.c", "STEP_FAILED | TERMINATED | FAILED };", "STEP_FAILED | FAILED };",
               "error", "fmi2GetReal", "refused in the phase 'terminated'"),
    "lax": ("lifecycle.c", "STEP_COMPLETE | STEP_FAILED", "ANY_PHASE",
            "warning", "Oscillator", "forbids: fmi2Terminate in 'instantiated', .*fmi2Terminate in 'terminated'"),
    "feedthrough": ("variables.c", "values[i] = instance->memory[references[i]];",
                    "values[i] = instance->memory[references[i]] + (references[i] ? instance->memory[0] : 0.0);",
                    "error", "force", "position, .*depend on it between steps, which the description denies"),
    "derivatives": ("derivatives.c", "orders[i] != 1", "orders[i] < 1",
                    "warning", "fmi2GetRealOutputDerivatives", "order 2 is given although .* is 1"),
}  # fmt: skip


@pytest.mark.parametrize("fault", SHIM_FAULTS)
def test_faults_of_the_shim(written_in_c, edited_shim, fault):
    file, old, new, severity, place, text = SHIM_FAULTS[fault]
    edited_shim(file, old, new)
    expect(written_in_c(), severity, place, text)


INDEPENDENT = (r"(<InitialUnknowns>.*?</InitialUnknowns>)", r'<Unknown index="(\d+)"/>')


def denied(data: bytes) -> bytes:
    """The model description with InitialUnknowns that depend on nothing."""
    block, unknown = INDEPENDENT
    return re.sub(
        block.encode(),
        lambda match: re.sub(unknown.encode(), rb'<Unknown index="\1" dependencies=""/>', match[1]),
        data,
        flags=re.S,
    )


def test_dependencies_that_are_denied(damaged):
    """The start of `total` depends on the offset."""
    expect(
        damaged("gadget", files={XML: denied}), "error", "parameters.offset", "total, square depend on it in initial"
    )


FORCE, INITIAL_POSITION = (
    f"memory[{oscillator().record.index[name]}]" for name in ("force", "parameters.initial_position")
)


@pytest.mark.parametrize(
    "law",
    [
        # a product of two that are zero at the start, as the wrench and its arm
        f"{FORCE} * {INITIAL_POSITION}",
        # a branch that the start values do not take, as `first_contact` in the cyclogram
        f"{INITIAL_POSITION} > 0.5 ? {FORCE} : 0.0",
        # two conditions at once
        f"{INITIAL_POSITION} > 0.5 && {FORCE} > 0.5",
    ],
)
def test_dependencies_that_show_only_where_several_variables_move_at_once(written_in_c, damaged, law):
    """One variable at a time about the start values changes nothing in these laws."""
    sound = written_in_c(initialize=f"memory[POSITION] = {law};")
    assert not [f for f in validate(sound) if "depend" in f.text]
    with zipfile.ZipFile(sound) as archive:
        content = {name: archive.read(name) for name in (XML, LIBRARY)}
    wrong = damaged(files={**content, XML: denied(content[XML])})
    expect(wrong, "error", "force|initial_position", "position depend on it in initialization mode")


@pytest.mark.parametrize("name", ["Spacecraft", "ProbeCyclogram", "ContactProbeCone", "ContactRing"])
def test_no_output_changes_with_what_it_is_declared_independent_of(name, tmp_path):
    """Random inputs and parameters about random points, for components whose lists were once found and false."""
    with Fmu(package.build(catalogue.component(name), tmp_path)) as fmu:
        subject = Subject(fmu)
        assert set(fmu.description.outputs.values()) == {()}
        assert list(dependencies.check_dependencies(subject)) == []
        assert list(dependencies.check_initial_dependencies(subject)) == []


def test_derivatives_that_are_promised(damaged):
    change = edit('maxOutputDerivativeOrder="1"', 'maxOutputDerivativeOrder="2"')
    expect(damaged(files={XML: change}), "error", "fmi2GetRealOutputDerivatives", "order 2 gives status 3")


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
@pytest.mark.parametrize(
    ("step", "text"),
    [
        ("memory[POSITION] += h;", None),
        ("double *volatile kept = malloc(80); memory[POSITION] += h * (kept != NULL);", "definitely lost"),
        ("memory[POSITION] += h * (memory[-3] == 0.5);", "Invalid read of size 8"),
        ("double *volatile new = malloc(8); if (*new > 0.0) memory[POSITION] += h; free(new);", "uninitialised"),
    ],
)
def test_faults_of_memory(written_in_c, step, text):
    findings = check_memory(written_in_c(step=step))
    if text is None:
        assert findings == []
    else:
        (finding,) = findings
        assert re.search(text, finding.text), finding


def test_report_lists_every_check_and_every_finding(damaged, oscillator_fmu, tmp_path, capsys):
    wrong = damaged(files={XML: attribute("parameters.mass", "start", "2.0")})
    file = tmp_path / "new folder" / "report.md"
    assert main([str(oscillator_fmu), "--report", str(file)]) == 0
    sound = file.read_text()
    assert main([str(oscillator_fmu), str(wrong), "--report", str(file)]) == 1
    report = file.read_text()
    for check in (*process.CHECKS, check_memory):
        assert re.sub("^Check (that )?", "", check.__doc__.splitlines()[0]).rstrip(".").lower() in report.lower()
    assert "error" not in sound
    assert "1 error" in report
    assert "1.0 in the library and 2.0 in the model description" in report
    assert "1.0 in the library and 2.0 in the model description" in capsys.readouterr().out


def archive_with(tmp_path, name, data=b"x", mode=0o644):
    file = tmp_path / "Bad.fmu"
    with zipfile.ZipFile(file, "w") as archive:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode << 16
        archive.writestr(entry, data)
    return file


@pytest.mark.parametrize("name", ["../outside", "/absolute", "binaries/../../outside", "C:\\outside", "..\\outside"])
def test_paths_that_leave_the_archive(tmp_path, name):
    (finding,) = validate(archive_with(tmp_path, name))
    assert finding.severity == "error"
    assert "absolute path" in finding.text or "points out of" in finding.text
    assert not (tmp_path.parent / "outside").exists()


def test_symbolic_links_in_the_archive(tmp_path):
    (finding,) = validate(archive_with(tmp_path, "link", b"/etc/passwd", stat.S_IFLNK | 0o777))
    assert "symbolic link" in finding.text


def test_entities_are_not_expanded(damaged):
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><fmiModelDescription>&b;</fmiModelDescription>'
    (finding,) = validate(damaged(files={XML: bomb}))
    assert "document type declaration" in finding.text


def test_what_is_no_archive(tmp_path, oscillator_fmu):
    (tmp_path / "text.fmu").write_text("text")
    (tmp_path / "half.fmu").write_bytes(oscillator_fmu.read_bytes()[:9000])
    for file, text in (
        (tmp_path / "text.fmu", "not a readable zip archive"),
        (tmp_path / "half.fmu", "not a readable zip archive"),
        (tmp_path / "none.fmu", "no such file"),
    ):
        (finding,) = validate(file)
        assert finding.severity == "error"
        assert text in finding.text


@pytest.mark.parametrize(("content", "text"), [(None, "holds no modelDescription.xml"), (b"<fmi", "not well-formed")])
def test_missing_and_broken_model_description(damaged, content, text):
    (finding,) = validate(damaged(files={XML: content}))
    assert text in finding.text


@pytest.mark.parametrize(
    ("start", "severity", "text"),
    [("INF", "warning", "start inf is infinite"), ("-INF", "warning", "start -inf is infinite"),
     ("NaN", "error", "start nan is not a number")],
)  # fmt: skip
def test_an_infinite_start_is_legal_and_warned_of(damaged, start, severity, text):
    """Regression: it was an error, although xs:double has infinities, and limits that there are not have them."""
    changed = damaged(**{XML: attribute("parameters.initial_position", "start", start)})
    expect(changed, severity, "parameters.initial_position", text)
    if severity == "warning":
        # its library has another start value
        assert {f.file for f in validate(changed) if f.severity == "error"} <= {"binaries/linux64/Oscillator"}
