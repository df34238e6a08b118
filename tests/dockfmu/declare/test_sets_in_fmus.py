"""Parameter sets that FMUs carry: valid by the schema of SSP, and reported if they are not."""

import zipfile

import pytest

from dockfmu.declare.parameters import parameters, sets_of_fmu
from dockfmu.fmus import catalogue
from dockfmu.fmus.resources import write_parameter_set
from dockfmu.ssp.read import read_parameter_set
from tests.dockfmu.command_line import status_of


@pytest.mark.parametrize("name", catalogue.names())
def test_every_set_of_the_catalogue_is_a_valid_ssv(name):
    component = catalogue.component(name)
    for chosen in component.parameter_sets:
        read = read_parameter_set(write_parameter_set(component.record, chosen), chosen.name)
        assert (read.name, bool(read.parameters)) == (chosen.name, True)


@pytest.fixture
def with_bad_set(oscillator, tmp_path):
    file = tmp_path / "Oscillator.fmu"
    with zipfile.ZipFile(oscillator) as source, zipfile.ZipFile(file, "w") as target:
        for member in source.namelist():
            target.writestr(member, source.read(member))
        target.writestr("resources/parameters/bad.ssv", "<no/>")
    return file


@pytest.mark.slow
def test_a_set_that_cannot_be_read_is_reported_and_hides_no_parameter(with_bad_set, capsys):
    _, problems = sets_of_fmu(with_bad_set)
    assert len(problems) == 1
    assert f"{with_bad_set}, resources/parameters/bad.ssv" in problems[0]
    assert parameters(str(with_bad_set))
    assert status_of("validate", with_bad_set) == 1
    assert "bad.ssv" in capsys.readouterr().out
