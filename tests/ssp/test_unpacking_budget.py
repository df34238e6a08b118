"""One budget for all that is unpacked for a system: archives inside archives, each within its limits."""

import zipfile

import pytest

from dockfmu.master.errors import ArchiveError
from dockfmu.master.fmi import archive
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.ssp.archive import read_ssp, write_ssp
from dockfmu.ssp.to_system import to_system
from dockfmu.ssp.validate import validate
from tests.ssp.test_foreign_packages import description, lag_component, package_component, system


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Let the limits be a hundredth, so that bombs fit into a test."""
    monkeypatch.setattr(archive, "SMALL_BYTES", 1_000_000)


def pack(file, members):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in members.items():
            out.writestr(name, data)
    return file


def nested(folder, inner, *, refers=True, name="in.ssp"):
    """Write a package around another one, to which it refers or not."""
    component = package_component("a", name) if refers else lag_component("a")
    ssd = description(system(component))
    return pack(folder / f"around-{inner.name}", {"SystemStructure.ssd": ssd, name: inner.read_bytes()})


@pytest.fixture
def bomb(lag, tmp_path):
    """Write a package with zeros that is within its limits: 200 times its size, by some bytes that do not shrink."""
    zeros = 40_000_000
    file = pack(
        tmp_path / "bomb.ssp",
        {
            "SystemStructure.ssd": description(system(lag_component("a"))),
            "Lag.fmu": lag.read_bytes(),
            "zeros": bytes(zeros),
        },
    )
    missing = zeros // 150 - file.stat().st_size
    assert missing > 0
    with zipfile.ZipFile(file, "a", zipfile.ZIP_STORED) as out:
        out.writestr("padding", b"\0" * missing)
    read_ssp(file, tmp_path / "alone")
    return file


def test_a_bomb_in_a_package_within_a_package_is_refused(bomb, tmp_path):
    """Each level is within 200 times its size; both together are not: the padding shrinks in the outer one."""
    file = nested(tmp_path, bomb)
    assert bomb.stat().st_size / file.stat().st_size < archive.MAX_RATIO
    with pytest.raises(
        ArchiveError, match=r"in\.ssp: with the archives around it, .* would be unpacked from .*refused"
    ):
        read_ssp(file, tmp_path / "out")
    assert not (tmp_path / "out" / "in.ssp.unpacked").exists()
    assert any("refused" in fault for fault in validate(file))


def test_what_no_description_refers_to_stays_packed(bomb, tmp_path, lag):
    file = nested(tmp_path, bomb, refers=False)
    package = read_ssp(file, tmp_path / "out")
    assert package.packages == {}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["SystemStructure.ssd", "in.ssp"]
    # it goes along when the package is written again
    with zipfile.ZipFile(write_ssp(package, tmp_path / "again.ssp")) as again:
        assert again.read("in.ssp") == bomb.read_bytes()


def test_bombs_side_by_side_share_the_budget(bomb, tmp_path):
    components = "".join(package_component(f"c{k}", f"{k}.ssp") for k in range(8))
    inner = {f"{k}.ssp": bomb.read_bytes() for k in range(8)}
    file = pack(tmp_path / "many.ssp", {"SystemStructure.ssd": description(system(components)), **inner})
    with pytest.raises(ArchiveError, match="refused"):
        read_ssp(file, tmp_path / "out")


def test_a_bomb_of_an_fmu_in_a_package_is_refused_before_it_is_unpacked(lag, tmp_path):
    fmu = tmp_path / "Lag.fmu"
    fmu.write_bytes(lag.read_bytes())
    size = fmu.stat().st_size
    zeros = 300 * size
    with zipfile.ZipFile(fmu, "a", zipfile.ZIP_DEFLATED) as out:
        out.writestr("resources/zeros", bytes(zeros))
    with zipfile.ZipFile(fmu, "a", zipfile.ZIP_STORED) as out:
        out.writestr("resources/padding", bytes(size))
    archive.members(fmu)
    ssd = description(system(lag_component("a")))
    made, _ = to_system(
        read_ssp(pack(tmp_path / "a.ssp", {"SystemStructure.ssd": ssd, "Lag.fmu": fmu.read_bytes()}), tmp_path / "out")
    )
    refused = CoSimulation(made, Schedule(step=0.1, stop=0.1)).run()
    assert refused.status == "failed"
    assert "Lag.fmu: with the archives around it" in refused.message
    # as a file of its own it is within its limits
    made.elements["a"].file = fmu
    assert CoSimulation(made, Schedule(step=0.1, stop=0.1)).run().status == "completed"


def test_a_sound_system_has_enough(lag, tmp_path):
    """A package within a package within a package, with an FMU in each."""
    ssd = description(system(lag_component("a")))
    file = pack(tmp_path / "1.ssp", {"SystemStructure.ssd": ssd, "Lag.fmu": lag.read_bytes()})
    for _ in range(2):
        file = nested(tmp_path, file)
    made, _ = to_system(read_ssp(file, tmp_path / "out"))
    assert CoSimulation(made, Schedule(step=0.1, stop=0.1)).run().status == "completed"
