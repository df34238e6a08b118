"""The archive: reproducible, complete, free of this machine, built once."""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import fmpy
import pytest
from fmpy.ssp import ssd
from lxml import etree

from dockfmu import fmus
from dockfmu.base.cache import cache_root
from dockfmu.components.core.component import Message
from dockfmu.components.oscillator import component as oscillator
from tests.fmus import gadget


def content(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.slow
def test_two_builds_from_scratch_are_the_same_bytes(oscillator_fmu, tmp_path):
    """The second one in another process with an empty cache at another place, but for the compiler's own libraries."""
    cache = tmp_path / "another cache"
    cache.mkdir()
    (cache / "zig").symlink_to(cache_root() / "zig", target_is_directory=True)
    code = (
        "import sys, fmus; from pathlib import Path; from dockfmu.components.oscillator import component; "
        "fmus.build(component(), Path(sys.argv[1]))"
    )
    environment = {**os.environ, "DOCKFMU_CACHE": str(cache)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment, check=True)
    assert (tmp_path / "Oscillator.fmu").read_bytes() == oscillator_fmu.read_bytes()


def test_second_build_compiles_nothing(oscillator_fmu, tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError("compiled again")

    monkeypatch.setattr(fmus.package, "build_native", refuse)
    said = []
    again = fmus.build(oscillator(), tmp_path, progress=said.append)
    assert again.read_bytes() == oscillator_fmu.read_bytes()
    assert said == []


def test_any_change_of_the_component_is_another_fmu(tmp_path):
    def key(component, kind="native"):
        platforms = ("linux64",)
        return fmus.package._key(component, kind, platforms, fmus.package._common(component, kind, platforms))

    made = gadget.component()
    assert key(gadget.component()) == key(made)
    assert key(made, "python") != key(made)
    (tmp_path / "README.md").write_text("another page")
    (tmp_path / "gadget.py").write_text(Path(gadget.__file__).read_text())
    for change in (
        {"messages": {1: Message("other")}},
        {"default_step": 0.5},
        {"options": {"modes": 3}},
        {"resources": {"table.f64": made.resources["table.f64"] + 1.0}},
        {"parameter_sets": (replace(oscillator().parameter_sets[0], values={}),)},
        {"step": made.initialize},
        {"module": tmp_path / "gadget.py"},
    ):
        assert key(replace(made, **change)) != key(made), change


def test_guid_changes_with_the_content(tmp_path):
    made = gadget.component()
    other = replace(made, messages={**made.messages, 1: Message("another text")})
    guids = {
        etree.fromstring(content(fmus.build(each, tmp_path / str(k)))["modelDescription.xml"]).get("guid")
        for k, each in enumerate((made, other))
    }
    assert len(guids) == 2
    assert all(re.fullmatch(r"\{[0-9a-f-]{36}\}", guid) for guid in guids)


def test_guid_is_of_the_model_and_not_of_the_platforms(oscillator_fmu, tmp_path):
    """A state saved on one platform is one on the others; the library and the sources carry the GUID too."""
    other = content(fmus.build(oscillator(), tmp_path, platforms=("win64", "sources")))
    guid = etree.fromstring(content(oscillator_fmu)["modelDescription.xml"]).get("guid")
    assert etree.fromstring(other["modelDescription.xml"]).get("guid") == guid
    assert guid.encode() in other["binaries/win64/Oscillator.dll"]
    assert guid.encode() in other["sources/tables.c"]
    python = content(fmus.build(oscillator(), tmp_path, kind="python"))
    # other capabilities, other states
    assert etree.fromstring(python["modelDescription.xml"]).get("guid") != guid


def test_archive_holds_what_it_should(gadget_fmu):
    files = content(gadget_fmu)
    assert set(files) == {
        "modelDescription.xml",
        "model.png",
        "binaries/linux64/Gadget.so",
        "resources/table.f64",
        "resources/saved_state.csv",
        "documentation/index.html",
        "documentation/licenses/license.txt",
        "documentation/sources.sha256",
    }
    assert files["resources/table.f64"] == gadget.component().resources["table.f64"].astype("<f8").tobytes()
    listed = dict(line.split("  ")[::-1] for line in files["documentation/sources.sha256"].decode().splitlines())

    assert {"components/core/record.py", "tests/fmus/gadget.py"} <= listed.keys()
    root = Path(__file__).parents[2]
    for name, value in listed.items():
        assert hashlib.sha256((root / name).read_bytes()).hexdigest() == value


def test_no_path_of_this_machine_is_in_the_archive(gadget_fmu, oscillator_fmu):
    for file in (gadget_fmu, oscillator_fmu):
        for name, data in content(file).items():
            for place in (str(Path.home()), str(Path(__file__).parents[2]), "/tmp", "site-packages"):
                assert place.encode() not in data, (name, place)


def test_page_names_every_array(gadget_fmu):
    page = content(gadget_fmu)["documentation/index.html"].decode()
    for text in ("parameters.matrix[1..2, 1..2]", "GadgetMode", "integrated, mean over the step", "0.0 … 10.0"):
        assert text in page
    assert "hidden" not in page.split("<h2>Messages")[0]
    for start in ("1.0, 2.0, 3.0, 4.0", "false"):
        assert f"<td>{start}</td>" in page


def test_parameter_sets_are_valid_ssv(oscillator_fmu, tmp_path):
    schema_file = Path(ssd.__file__).parent / "schema" / "SystemStructureParameterValues.xsd"
    schema = etree.XMLSchema(etree.parse(str(schema_file)))
    document = etree.fromstring(content(oscillator_fmu)["resources/parameters/soft.ssv"])
    assert schema.validate(document), schema.error_log
    values = {p.get("name"): p[0].get("value") for p in document.iterfind(".//{*}Parameter")}
    assert values["parameters.damping"] == "0.02"


def test_independent_importers_run_it(oscillator_fmu):
    """fmpy against the closed form x = cos t; its step size is the difference of rounded times."""
    import math

    result = fmpy.simulate_fmu(
        str(oscillator_fmu),
        start_values={"parameters.initial_position": 1.0},
        stop_time=1.0,
        output_interval=0.01,
        output=["position", "velocity"],
    )
    assert result["position"][-1] == pytest.approx(math.cos(1.0), abs=1e-13)
    assert result["velocity"][-1] == pytest.approx(-math.sin(1.0), abs=1e-13)


def test_libcosim_runs_it(oscillator_fmu):
    """An importer written in C++, which counts time in nanoseconds: x = cos t."""
    import math

    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    reference = oscillator().record.index
    execution = CosimExecution.from_step_size(step_size=10_000_000)
    slave = execution.add_local_slave(CosimLocalSlave(fmu_path=str(oscillator_fmu), instance_name="one"))
    execution.real_initial_value(slave, variable_reference=reference["parameters.initial_position"], value=1.0)
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer)
    execution.simulate_until(target_time=1_000_000_000)
    (position,) = observer.last_real_values(slave_index=slave, variable_references=[reference["position"]])
    assert position == pytest.approx(math.cos(1.0), abs=1e-12)
