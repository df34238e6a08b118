"""Single FMUs: values, states, and FMUs that differ from their model descriptions."""

import _ctypes
from pathlib import Path

import pytest

from dockfmu.master.errors import DescriptionError, FmuError
from dockfmu.master.fmi.description import read_description
from dockfmu.master.fmi.instance import Fmu


def test_values_of_all_types_are_set_and_read_by_name(lag):
    with Fmu(lag) as fmu:
        instance = fmu.instantiate("a")
        values = {"u[1]": 0.25, "count_in": -4, "enable": False, "label": "Grüße"}
        instance.set(values)
        assert dict(zip(values, instance.get(list(values)), strict=True)) == values


def test_states_are_saved_restored_and_serialised(lag):
    with Fmu(lag) as fmu:
        instance = fmu.instantiate("a")
        instance.set({"u[1]": 1.0})
        instance.initialize()

        def advance():
            rows = []
            for k in range(10):
                instance.step(0.1 * k, 0.1)
                rows.append(instance.get(["y[1]", "count", "high"]))
            return rows

        state = instance.get_state()
        first = advance()
        instance.set_state(state)
        assert advance() == first
        copy = instance.deserialize(instance.serialize(state))
        instance.free_state(state)
        instance.set_state(copy)
        assert advance() == first
        instance.free_state(copy)


def test_instances_of_one_fmu_are_independent(lag):
    with Fmu(lag) as fmu:
        one, two = fmu.instantiate("one"), fmu.instantiate("two")
        one.set({"gain": 2.0})
        assert two.get(["gain"]) == [1.0]
        one.initialize()
        one.free()
        two.initialize()
        two.step(0.0, 0.1)


def test_the_folder_is_removed(lag):
    with Fmu(lag) as fmu:
        folder = fmu.folder
        assert folder.is_dir()
    assert not folder.exists()


def test_failures_quote_the_fmu_with_names_for_references(lag):
    with Fmu(lag) as fmu:
        instance = fmu.instantiate("craft")
        instance.initialize()
        instance.set({"fail.function": 1, "fail.status": 3})
        with pytest.raises(FmuError) as caught:
            instance.step(0.5, 0.1)
        error = caught.value
        assert (error.instance, error.function, error.status, error.time) == ("craft", "fmi2DoStep", "fmi2Error", 0.5)
        assert error.message == "fmi2DoStep fails on purpose at 0.500 s, y[1] = 0"
        assert "craft: fmi2DoStep gave fmi2Error at t = 0.5 s" in str(error)


def test_a_fatal_fmu_is_not_called_again(lag):
    with Fmu(lag) as fmu:
        instance = fmu.instantiate("a")
        instance.initialize()
        instance.set({"fail.function": 1, "fail.status": 4})
        with pytest.raises(FmuError, match="fmi2Fatal"):
            instance.step(0.0, 0.1)
        with pytest.raises(FmuError, match="cannot be called after fmi2Fatal"):
            instance.step(0.1, 0.1)


def test_an_unknown_variable_is_named(lag):
    with Fmu(lag) as fmu, pytest.raises(FmuError, match="a: has no variable 'gian'"):
        fmu.instantiate("a").set({"gian": 1.0})


def test_a_library_with_another_guid(third_party, tmp_path):
    file = third_party.build(tmp_path, guid="description", library_guid="library")
    with (
        Fmu(file) as fmu,
        pytest.raises(FmuError, match=r'refuses.*GUID description.*"GUID description is not library"'),
    ):
        fmu.instantiate("a")


def test_a_library_for_another_platform(third_party, tmp_path):
    file = third_party.build(tmp_path, platform="win32")
    assert read_description(file).binaries == ("win32",)
    with pytest.raises(FmuError, match=r"has no binaries/.*it holds binaries/win32/Lag"):
        Fmu(file)


def test_a_library_of_another_name(third_party, tmp_path):
    file = third_party.build(tmp_path, identifier="Gal")
    with pytest.raises(FmuError, match=r"for modelIdentifier 'Lag'; it holds binaries/.*Gal"):
        Fmu(file)


def test_a_library_that_is_none(third_party, tmp_path, monkeypatch):
    monkeypatch.setattr(third_party, "library", lambda *arguments: b"no library")
    with pytest.raises(FmuError, match="its library cannot be loaded"):
        Fmu(third_party.build(tmp_path))


def test_a_library_without_the_functions_of_fmi(third_party, tmp_path, monkeypatch):
    content = Path(_ctypes.__file__).read_bytes()
    monkeypatch.setattr(third_party, "library", lambda *arguments: content)
    with pytest.raises(FmuError, match="its library lacks fmi2GetTypesPlatform, fmi2GetVersion"):
        Fmu(third_party.build(tmp_path))


def test_variables_that_the_library_does_not_know(third_party, tmp_path):
    xml = third_party.description().replace('name="gain" valueReference="2"', 'name="gain" valueReference="99"')
    with Fmu(third_party.build(tmp_path, xml=xml)) as fmu:
        instance = fmu.instantiate("a")
        with pytest.raises(FmuError, match=r'fmi2SetReal gave fmi2Error for gain = 1\.0.*"fmi2SetReal: no variable'):
            instance.set({"gain": 1.0})


def test_an_fmu_for_model_exchange_only(third_party, tmp_path):
    xml = third_party.description().replace("CoSimulation", "ModelExchange")
    with pytest.raises(DescriptionError, match="but one for model exchange"):
        Fmu(third_party.build(tmp_path, xml=xml))


def test_one_instance_per_process_is_respected(third_party, tmp_path):
    xml = third_party.description().replace(
        'modelIdentifier="Lag"', 'modelIdentifier="Lag" canBeInstantiatedOnlyOncePerProcess="true"'
    )
    with Fmu(third_party.build(tmp_path, xml=xml)) as fmu:
        fmu.instantiate("a")
        with pytest.raises(FmuError, match="only once per process"):
            fmu.instantiate("b")
