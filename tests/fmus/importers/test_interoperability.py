"""Every FMU in every importer and on every platform: the cells of the table in docs/guide/interoperability.md.

All run the same experiment, in which the inputs move, and are compared with the kernels without FMI. The deviation of
an output is relative to its greatest value, or to 1 where that is smaller. Each test compares what it found with its
cell of the page; "not run" there is what nobody has written yet, and gives a warning.
"""

import shutil
import warnings
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from dockfmu import fmus
from dockfmu.components.core.component import Component, Instance
from dockfmu.fmus import catalogue, crosscheck
from dockfmu.fmus.check import examine, importer, process
from dockfmu.fmus.check.importer.program import stand_in
from dockfmu.fmus.check.memory import VALGRIND
from dockfmu.fmus.toolchain.libraries import check_library
from dockfmu.fmus.toolchain.targets import HOST, TARGETS
from dockfmu.master.fmi.description import read_description
from tests.fmus.importers import other_importers
from tests.fmus.importers.interoperability import COLUMNS, NOT_RUN, documented, keep
from tests.importers_environment import Missing

pytestmark = pytest.mark.slow

CYCLES = 20

TOLERANCES = {
    # the same code on the same machine, stepped with the same numbers
    "linux64": 0.0,
    "container": 0.0,
    "cofmpy": 0.0,
    # sin, exp, ... of other C libraries may differ in the last bit
    "win64": 1e-12,
    "aarch64-linux": 1e-12,
    "fmpy": 1e-12,
    "libcosim": 1e-12,
    # six decimals
    "ecos": 0.51e-6,
}
RINGS = ("ElectricRingMechanism", "GearedRingMechanism", "HuntRingMechanism", "HydraulicRingMechanism")
LAST_BIT = 1e-9
"""How far these may be off on Windows' library: 6e-10 seen. A last bit of a length of 1 m is 1e-10 N at stops of
5e5 N/m, and forces are of 1 N here. Windows' cosine has another last bit at 3.944 rad, the azimuth of a joint of leg 5:
placing that joint as there takes the deviation of HydraulicRingMechanism from 4.4e-10 to 1.9e-10."""
AGREEMENT = {0.0: "same bits", 1e-12: "1e-12", LAST_BIT: "1e-9", 0.51e-6: "6 decimals"}
WORDS = {column: AGREEMENT[limit] for column, limit in TOLERANCES.items()} | {
    "darwin64": "linked",
    "aarch64-darwin": "linked",
    "memory": "clean",
}
"""What a cell says of a test that passes, by column, but for the rings on Windows' library"""
WRITE = "python -m tests.fmus.importers.interoperability"

UNMOVED = ("ContactAirlock",)
"""its start values are far from contact"""


@dataclass(frozen=True)
class Subject:
    component: Component
    file: Path
    experiment: importer.Experiment
    expected: np.ndarray


@pytest.fixture(scope="module")
def subjects(tmp_path_factory):
    """Each component as an FMU for all platforms, and what its kernels give: made when first asked for."""
    made = {}

    def subject(name: str) -> Subject:
        if name not in made:
            component = catalogue.component(name)
            file = fmus.build(component, tmp_path_factory.mktemp(name), platforms=tuple(TARGETS))
            experiment = importer.experiment_for(read_description(file))
            made[name] = Subject(component, file, experiment, crosscheck.reference(component, experiment))
        return made[name]

    return subject


def _held(subject: Subject) -> importer.Experiment:
    inputs = {name: np.full(len(values), values[0]) for name, values in subject.experiment.inputs.items()}
    return replace(subject.experiment, inputs=inputs)


def _reals(subject: Subject) -> importer.Experiment:
    variables = read_description(subject.file).variables
    inputs = {name: values for name, values in subject.experiment.inputs.items() if variables[name].type == "Real"}
    return replace(subject.experiment, inputs=inputs)


LIMITED = {"ecos": _held, "cofmpy": _reals}
"""What an importer can do of the experiment: inputs as start values; inputs of type Real"""

ROUNDED = {
    "fmpy": lambda experiment: np.diff(experiment.times),
    "libcosim": lambda experiment: np.diff(np.arange(experiment.steps + 1) * round(experiment.step * 1e9) / 1e9),
}
"""Lengths of the steps of importers that take differences of rounded times: off by 1e-13 of a step, which decides when
a clutch acts that waits for a time."""


def deviation(found: np.ndarray, expected: np.ndarray) -> float:
    """Greatest relative deviation; NaN in `found` is what an importer does not tell."""
    assert found.shape == expected.shape
    told = ~np.isnan(found)
    assert told.mean() > 0.3
    return float((np.abs(found - expected) / np.maximum(1.0, np.abs(expected).max(axis=0)))[told].max())


def tolerance(name: str, column: str) -> float:
    """Return the largest deviation allowed."""
    return LAST_BIT if name in RINGS and column == "win64" else TOLERANCES[column]


def wanted(name: str, column: str) -> str:
    """Return what the cell says of a test that passes."""
    return AGREEMENT[tolerance(name, column)] if column in TOLERANCES else WORDS[column]


def passed(name: str, column: str, **more) -> None:
    """Keep the word for the table, and compare the table with it."""
    found = wanted(name, column)
    keep(name, column, text=found, **more)
    word = documented().get(name, {}).get(column, NOT_RUN)
    if word == NOT_RUN:
        warnings.warn(f"{name}, {column}: the page says {NOT_RUN!r}, found {found!r}: {WRITE}", stacklevel=2)
    else:
        assert word == found, f"{WRITE} writes the table"


def judge(name: str, column: str, found: float, **more) -> None:
    assert found <= tolerance(name, column)
    passed(name, column, **more)


@pytest.mark.parametrize("name", catalogue.names())
def test_inputs_matter(subjects, name):
    """The experiment would show an importer that loses inputs or steps."""
    subject = subjects(name)
    moved = deviation(crosscheck.reference(subject.component, _held(subject)), subject.expected)
    assert (moved > 1e-5) == (name not in UNMOVED)


@pytest.mark.parametrize("name", catalogue.names())
def test_temporaries_and_constants_are_what_they_say(subjects, name):
    """NaN in temporaries before each call of a kernel changes no bit; no step changes a constant."""
    subject = subjects(name)
    record, experiment = subject.component.record, subject.experiment
    causality = np.array([slot.field.causality for slot in record.slots])
    temporary, constant = (np.flatnonzero(causality == kind) for kind in ("temporary", "constant"))
    rows = np.array(list(experiment.inputs.values())).T
    instance = Instance(subject.component, **dict(zip(experiment.inputs, rows[0], strict=True)))
    instance.block[temporary] = np.nan
    instance.initialize()
    outputs = [record.index[name] for name in experiment.outputs]
    found, kept = [instance.block[outputs].copy()], instance.block[constant].copy()
    for k, row in enumerate(rows):
        instance.block[temporary] = np.nan
        instance.block[[record.index[name] for name in experiment.inputs]] = row
        instance.step(experiment.start + k * experiment.step, experiment.step)
        found.append(instance.block[outputs].copy())
    assert np.array(found).tobytes() == subject.expected.tobytes()
    assert instance.block[constant].tobytes() == kept.tobytes()


@pytest.mark.parametrize("name", catalogue.names())
def test_this_platform(subjects, name):
    """Our importer in C: no Python in its process."""
    subject = subjects(name)
    ran = importer.run(subject.file, subject.experiment, cycles=CYCLES)
    place = f"binaries/{HOST.folder}/{subject.component.name}{HOST.extension}"
    with zipfile.ZipFile(subject.file) as archive:
        library = archive.getinfo(place).file_size
    record = subject.component.record
    judge(
        name,
        HOST.folder,
        deviation(ran.outputs, subject.expected),
        times=ran.times,
        library=library,
        archive=subject.file.stat().st_size,
        state=8 * sum(span.count for span in (*record.saved, *record.changing)),
    )


@pytest.mark.parametrize("platform", [name for name in ("win64", "aarch64-linux") if name != HOST.folder])
@pytest.mark.parametrize("name", catalogue.names())
def test_other_platforms(subjects, name, platform):
    if stand_in(TARGETS[platform]) is None:
        pytest.skip(f"nothing here runs programs for {platform}: install wine64, qemu-user and libc6-arm64-cross")
    subject = subjects(name)
    found = importer.run(subject.file, subject.experiment, platform)
    judge(name, platform, deviation(found.outputs, subject.expected))


@pytest.mark.parametrize("name", ["HydraulicRingMechanism"])
def test_the_last_bit_of_a_joint(subjects, name):
    """A joint moved by one last bit, in this process, moves outputs by more than 1e-12, and less than LAST_BIT."""
    subject = subjects(name)
    record, experiment = subject.component.record, subject.experiment
    rows = np.array(list(experiment.inputs.values())).T
    instance = Instance(subject.component, **dict(zip(experiment.inputs, rows[0], strict=True)))
    place = record.view(instance.block).hexapod.strut[4].base_point
    place[1] = np.nextafter(place[1], 0.0)
    wanted = [record.index[output] for output in experiment.outputs]
    found = [instance.block[wanted].copy()]
    for k, row in enumerate(rows):
        instance.block[[record.index[name] for name in experiment.inputs]] = row
        instance.step(experiment.start + k * experiment.step, experiment.step)
        found.append(instance.block[wanted].copy())
    assert TOLERANCES["win64"] < deviation(np.array(found), subject.expected) < LAST_BIT


@pytest.mark.parametrize("platform", [name for name in ("darwin64", "aarch64-darwin") if name != HOST.folder])
@pytest.mark.parametrize("name", catalogue.names())
def test_platforms_that_nothing_stands_in_for(subjects, name, platform):
    """The library has all functions and needs nothing but what is on every machine; it is not run."""
    subject, target = subjects(name), TARGETS[platform]
    with zipfile.ZipFile(subject.file) as archive:
        check_library(archive.read(f"binaries/{platform}/{subject.component.name}{target.extension}"), target)
    passed(name, platform)


@pytest.mark.parametrize("name", catalogue.names())
def test_memory(subjects, name):
    """Whole lives of instances under valgrind: no invalid access, nothing uninitialised that matters, no leak."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    subject = subjects(name)
    short = replace(
        subject.experiment, steps=20, inputs={n: values[:20] for n, values in subject.experiment.inputs.items()}
    )
    found = importer.run(subject.file, short, cycles=3, wrapper=VALGRIND)
    assert deviation(found.outputs, subject.expected[:21]) == 0.0
    passed(name, "memory")


@pytest.mark.parametrize("column", ["fmpy", "libcosim", "ecos", "container", "cofmpy"])
@pytest.mark.parametrize("name", catalogue.names())
def test_importers_of_others(subjects, name, column, tmp_path):
    subject = subjects(name)
    experiment, expected = subject.experiment, subject.expected
    if column in LIMITED:
        experiment = LIMITED[column](subject)
        expected = crosscheck.reference(subject.component, experiment)
    if column in ROUNDED:
        expected = crosscheck.reference(subject.component, experiment, ROUNDED[column](experiment))
    try:
        found = getattr(other_importers, f"with_{column}")(subject.file, experiment, tmp_path)
    except Missing as missing:
        pytest.skip(str(missing))
    judge(name, column, deviation(found, expected))


@pytest.mark.parametrize("name", catalogue.names())
def test_conformance(subjects, name):
    """No check of `dockfmu.fmus.check` finds anything."""
    found = examine(subjects(name).file)
    assert [str(finding) for findings in found.values() for finding in findings] == []
    assert {check.__name__ for check in process.CHECKS} <= found.keys()


def test_the_table_has_a_row_for_each_component():
    assert list(documented()) == sorted(catalogue.names()), f"{WRITE} writes the table"


@pytest.mark.parametrize("name", catalogue.names())
def test_a_row_says_nothing_that_no_test_can_find(name):
    """The tests above look at the cells whose importer is here; this one at all of them."""
    row = documented()[name]
    assert row.keys() == WORDS.keys() == COLUMNS.keys()
    assert {column: word for column, word in row.items() if word not in (wanted(name, column), NOT_RUN)} == {}
