"""Systems declare limits of their interface loads; runs, reports and exit status tell the verdict (issue 35)."""

import json

import pytest

import dockfmu
from dockfmu import LoadLimit, System
from dockfmu.commands.arguments import DONE, NO_SUCCESS
from dockfmu.declare.declaration import DeclarationError, read
from dockfmu.declare.plan import Plan
from dockfmu.master.errors import StructureError
from tests.dockfmu.command_line import status_of
from tests.dockfmu.small_systems import TOML

IDSS = LoadLimit(3500.0, 6500.0, 0.1, "peripheral-docking 11.3")


@pytest.fixture
def pulsed(python_fmu):
    """Return a system whose interface has one pulse of this height, N, and length, s, from 0.2 s on."""

    def make(height, length, decides=False):
        system = System("pulsed")
        start = {"parameters.height": height, "parameters.begin": 0.2, "parameters.length": length}
        system.add("mechanism", python_fmu("load_pulse"), start)
        system.plan = Plan(step=1e-3, stop=0.5, record_every=10)
        system.limit_loads("mechanism", {"compression": IDSS}, decides=decides)
        return system

    return make


@pytest.mark.slow
@pytest.mark.parametrize(
    ("height", "length", "exceeds"), [(6.4e3, 0.099, None), (3.6e3, 0.1, "static"), (6.6e3, 0.001, "short")]
)
def test_a_pulse_is_judged_by_its_height_and_length(pulsed, height, length, exceeds):
    """Below 0.1 s, as long, and one macro step long, which no recorded row has: every tenth is recorded."""
    outcome = pulsed(height, length).run()
    found = outcome.result.loads
    assert found["verdict"] == ("within" if exceeds is None else "exceeded")
    entry = found["limits"]["compression"]
    assert (entry["exceeds"], entry["max"]) == (exceeds, height)
    assert entry["longest"] == pytest.approx(length, abs=1e-9)
    assert entry["t_longest"] == pytest.approx(0.2)
    assert outcome.success, "the loads do not decide"
    assert outcome.result.peaks["mechanism.load.compression"]["max"] == height


@pytest.mark.slow
@pytest.mark.parametrize("decides", [False, True])
def test_the_command_tells_the_verdict_and_exits_by_it_if_loads_decide(pulsed, decides, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    file = pulsed(7e3, 0.05, decides).write(tmp_path / "pulsed.ssp")
    assert status_of("run", file, "-o", "out") == (NO_SUCCESS if decides else DONE)
    said = capfd.readouterr()
    assert "compression         7 kN at 0.201 s  NOT OK: above 6.5 kN at 0.201 s" in said.out
    assert ("the loads exceed their limits: compression" in said.err) == decides
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert (summary["loads"]["verdict"], summary["success"]) == ("exceeded", not decides)
    page = (tmp_path / "out/report.html").read_text()
    assert "not ok: above 6.5 kN at 0.201 s" in page
    assert "peripheral-docking 11.3" in page
    within = pulsed(6e3, 0.05, decides).write(tmp_path / "within.ssp")
    assert status_of("run", within, "-o", "within", "--no-report") == DONE
    assert "ok, limit 3.5 kN, for less than 0.1 s 6.5 kN" in capfd.readouterr().out


@pytest.mark.slow
def test_a_campaign_tells_how_often_loads_exceed_their_limits(pulsed, tmp_path):
    """Heights drawn between 5 and 8 kN for 50 ms, limit 6.5 kN: the runs above it are exceeded, and counted."""
    file = pulsed(7e3, 0.05).write(tmp_path / "pulsed.ssp")
    height = {"name": "mechanism.parameters.height", "law": "uniform", "low": 5e3, "high": 8e3}
    study = {"name": "pulses", "system": str(file), "runs": 8, "seed": 3, "vary": [height]}
    campaign = dockfmu.Campaign(study, tmp_path / "campaign")
    campaign.run(workers=1)
    above = [campaign.values(k)["mechanism.parameters.height"] > 6.5e3 for k in range(8)]
    rows = [campaign.row(k) for k in range(8)]
    assert 0 < sum(above) < 8
    assert [row["loads"] for row in rows] == ["exceeded" if one else "within" for one in above]
    assert [row["loads_exceeded"] for row in rows] == ["compression" if one else "" for one in above]
    answers = json.loads((tmp_path / "campaign" / "answers" / "answers.json").read_text())
    (found,) = [answer for answer in answers if answer["name"] == "interface_loads"]
    counted = {row[0]: row for row in found["table"]}
    assert set(counted) == {"exceeded", "compression"}
    assert all(row[found["head"].index("runs")] == sum(above) for row in counted.values())
    assert "Loads of 8 runs beyond their limits" in (tmp_path / "campaign" / "report.html").read_text()


LOADS = """
[loads]
element = "mass"
decides = true
[loads.limits]
compression = { static = "3.5 kN", short = "6.5 kN", short_time = "100 ms", source = "peripheral-docking 11.3" }
bending = { static = "2.8 kN.m", source = "peripheral-docking 11.3" }
"""


@pytest.mark.quick
def test_a_declaration_of_limits_is_read_in_SI_and_kept_in_the_package(tmp_path):
    file = tmp_path / "limited.toml"
    file.write_text(TOML + LOADS)
    plan = read(str(file)).plan
    assert plan.loads.decides
    assert plan.loads.limits["compression"] == LoadLimit(3500.0, 6500.0, 0.1, "peripheral-docking 11.3")
    assert plan.loads.limits["bending"] == LoadLimit(2800.0, source="peripheral-docking 11.3")
    assert Plan.from_json(plan.to_json()) == plan
    changed, notes = plan.without({"mass.load.bending"})
    assert list(changed.loads.limits) == ["compression"]
    assert notes == ["the bending is not judged: there is no mass.load.bending"]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('element = "mass"', 'element = "mas"', "loads: element: there is no element 'mas'; did you mean mass?"),
        ('element = "mass"', "", "loads: lacks 'element'"),
        ("decides = true", "decides = 1", "loads: decides = 1: must be true or false"),
        ("bending = {", "bendin = {", "loads, limits: there is no entry 'bendin' here"),
        ('"3.5 kN"', "3500", "loads, limits, compression: static = 3500: must be a string"),
        ('"3.5 kN"', '"3.5 kg"', "loads, limits, compression, static = '3.5 kg': another quantity"),
        (
            '"3.5 kN"',
            '"much"',
            "loads, limits, compression, static = 'much': give a number with a unit, such as \"1 N\"",
        ),
        ('"3.5 kN"', '"7 kN"', "loads, limits, compression: short = 6500 is below static = 7000"),
        (', short_time = "100 ms"', "", "loads, limits, compression: short without short_time"),
        (
            ', source = "peripheral-docking 11.3" }\nbending',
            " }\nbending",
            "loads, limits, compression: lacks 'source'",
        ),
        (
            '2.8 kN.m", source = "peripheral-docking 11.3"',
            '2.8 kN.m", source = ""',
            "loads, limits, bending: source is empty",
        ),
    ],
)
def test_a_wrong_declaration_names_file_table_and_key(tmp_path, old, new, problem):
    assert old in LOADS
    file = tmp_path / "wrong.toml"
    file.write_text(TOML + LOADS.replace(old, new, 1))
    with pytest.raises(DeclarationError) as error:
        read(str(file))
    assert str(error.value).startswith(str(file))
    assert problem in str(error.value)


@pytest.mark.slow
def test_limits_of_loads_that_an_element_does_not_have_are_refused(pulsed, tmp_path):
    system = pulsed(1.0, 0.1)
    with pytest.raises(StructureError, match=r"loads: .*mechanism.*load\.shear"):
        system.limit_loads("mechanism", {"shear": IDSS})
    file = tmp_path / "limited.toml"
    file.write_text(TOML + LOADS)
    with pytest.raises(StructureError, match=r"loads: .*load\.compression"):
        System.load(file)
