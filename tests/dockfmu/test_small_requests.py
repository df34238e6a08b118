"""What newcomers tried first: arrays of recordings, progress, an audit, plain values, and degrees that are radians."""

import math
import re

import h5py
import numpy as np
import pytest

import dockfmu as package
from dockfmu.base.names import vector
from dockfmu.declare import declaration
from dockfmu.declare.conditions.initial_conditions import InitialConditions, with_condition
from dockfmu.declare.toml.quantities import AngleWarning
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.errors import MasterError, StructureError
from tests.dockfmu.command_line import status_of
from tests.dockfmu.small_systems import TOML


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "alone.toml"
    file.write_text(TOML)
    return file


def test_a_recording_gives_whole_arrays_as_an_outcome_does(tmp_path):
    """Also of two dimensions, and whatever the order of the elements in the file."""
    values = np.arange(12.0).reshape(3, 2, 2)
    about = {"unit": "N", "variability": "continuous", "type": "Real"}
    with h5py.File(tmp_path / "results.h5", "w") as out:
        out["time"] = np.arange(3.0)
        for name, column in {f"a/m[{i},{k}]": values[:, i - 1, k - 1] for i in (2, 1) for k in (1, 2)}.items():
            out[name] = column
            out[name].attrs.update(about)
        for k, name in enumerate(vector("a/force")):
            out[name] = np.full(3, float(k))
            out[name].attrs.update(about)
    with package.read_results(tmp_path / "results.h5") as results:
        assert np.array_equal(results["a.m"], values)
        assert np.array_equal(results["a.force"], np.tile([0.0, 1.0, 2.0], (3, 1)))
        assert (results.unit("a.force"), "a.force" in results, "a.forc" in results) == ("N", True, False)
        with pytest.raises(MasterError, match=r"holds no 'a\.forc'; did you mean a\.force"):
            results["a.forc"]


def test_a_run_in_memory_tells_its_progress(file):
    said = []
    package.load(str(file)).run(progress=said.append)
    assert said[0] == "alone: loading 1 FMUs"
    assert re.fullmatch(r"alone: completed at 1\.000 s", said[-1])


@pytest.mark.quick
def test_messages_of_progress_have_time_share_and_speed():
    from types import SimpleNamespace

    from dockfmu.watch.progress_messages import ProgressMessages

    said = []
    messages = ProgressMessages(said.append, period=0.0)
    messages.begin(SimpleNamespace(start=0.0, stop=8.0, system=SimpleNamespace(name="s")))
    messages.progress(2.0, 0.5)
    assert said == ["s: t = 2.000 of 8 s (25%), 4 times real time"]


def test_python_systems_declare_an_audit(oscillator):
    system = package.System("pair")
    for name in ("left", "right"):
        system.add(name, oscillator, {"parameters.initial_position": 0.1})
    system.declare_audit(["left", "right"], supplied=["left.audit.work_force"], limits={"linear_momentum_drift": False})
    result = system.run(step=1e-2, stop=1.0).result
    assert 0.0 <= result.audit["energy_residual"] < result.checks["energy_residual"]["limit"]
    with pytest.raises(StructureError, match="did you mean left"):
        system.declare_audit(["lef"])
    with pytest.raises(DeclarationError, match="there is no line 'energy'"):
        system.declare_audit(["left"], limits={"energy": 1.0})
    with pytest.raises(StructureError, match="work"):
        system.declare_audit(["left"], supplied=["left.audit.work"])


def test_plain_values_in_a_file_are_those_of_set(file):
    """A Boolean, a number and an array, in the unit of the variable; `{ value = 1.0 }` still needs its unit."""
    (file.parent / "plain.toml").write_text(
        'extends = "atv_probe_cone"\nname = "plain"\n[elements.chaser.values.parameters]\nmass = 21e3\n'
        "inertia_about_origin = false\ncenter_of_mass = [0, 0.0, 0.01]\n"
    )
    values = declaration.read(str(file.parent / "plain.toml")).elements["chaser"].values
    plain = {path: values.values[path] for path in values.values if values.units[path] == ""}
    assert plain["parameters.mass"] == 21e3
    assert plain["parameters.inertia_about_origin"] is False
    assert plain["parameters.center_of_mass"] == [0, 0.0, 0.01]
    file.write_text(TOML.replace('{ value = 0.5, unit = "m", source = "assumed" }', "0.5"))
    assert package.load(str(file)).run()["mass.position"][0] == 0.5
    file.write_text(TOML.replace('{ value = 0.5, unit = "m", source = "assumed" }', "{ value = 0.5 }"))
    with pytest.raises(DeclarationError, match="unit"):
        declaration.read(str(file))


@pytest.mark.quick
def test_two_radians_of_yaw_are_told():
    conditions = InitialConditions(active="a", target="b", mechanism="m")
    with pytest.warns(AngleWarning, match=r"initial_conditions\.yaw: 2 rad = 114\.6 deg; did you mean 2deg"):
        changed = with_condition(conditions, "yaw", 2)
    assert changed.angles[0] == 2.0
    assert with_condition(conditions, "yaw", 0.1).angles[0] == 0.1
    assert with_condition(conditions, "roll", "90deg").angles[2] == pytest.approx(0.5 * math.pi)


@pytest.mark.slow
def test_a_line_that_is_no_balance_of_the_system_is_not_printed(pair, tmp_path, capsys):
    """The pair is tied to the ground, which takes momentum: its momentum tells nothing."""
    assert status_of("run", pair, "-o", tmp_path / "run") in (0, 4)
    said = capsys.readouterr().out
    page = (tmp_path / "run" / "report.html").read_text()
    assert "energy residual" in said
    assert ">energy residual<" in page
    assert "linear momentum drift" not in said + page
