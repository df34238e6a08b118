"""Failures that decide the outcome of a run: the category of their messages."""

import ctypes

import pytest
from lxml import etree

from dockfmu.base.fmi import outcome_category
from dockfmu.fmus.description import NATIVE_CAPABILITIES, describe
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from tests.fmus import gadget
from tests.fmus.library import ERROR, OK, Instance

CATEGORY = "outcome.limit_exceeded"


def test_a_component_declares_the_categories_of_its_outcomes():
    root = etree.fromstring(describe(gadget.component(), "", NATIVE_CAPABILITIES))
    names = [category.get("name") for category in root.iterfind("LogCategories/Category")]
    assert names == ["logEvents", "logStatusDiscard", "logStatusError", "logAll", CATEGORY]
    assert outcome_category("limit_exceeded") == CATEGORY


def test_a_category_of_its_own_can_be_chosen(gadget_library):
    instance = Instance(gadget_library, logging=False)
    for name, status in ((CATEGORY, OK), ("outcome.docked", ERROR)):
        names = (ctypes.c_char_p * 1)(name.encode())
        assert instance("SetDebugLogging", 1, ctypes.c_size_t(1), names) == status
    assert "no category is called outcome.docked" in instance.last


@pytest.mark.parametrize("process", [False, True])
def test_the_failure_of_a_run_has_the_category(gadget_fmu, process):
    def failure(start):
        system = Structure("alone")
        system.add("a", gadget_fmu, start, process=process)
        return CoSimulation(system, Schedule(step=0.1, stop=1.0)).run().failure

    found = failure({"mode": 3})
    assert "told to fail in step 1" in found["says"]
    assert found["category"] == CATEGORY
    # what decides nothing has the category of its status
    assert failure({"parameters.longest_step": 0.01})["category"] == "logStatusDiscard"


def test_an_fmu_in_python_gives_the_category(tmp_path, monkeypatch):
    from dockfmu.fmus.python import slave as module

    monkeypatch.setattr(module, "load_component", lambda resources: gadget.component())
    slave = module.ComponentSlave(instance_name="a", resources=str(tmp_path))
    slave.enter_initialization_mode()
    slave.set_integer([gadget.RECORD.index["mode"]], [3])
    slave.exit_initialization_mode()
    assert not slave.do_step(0.0, 0.1)
    assert not slave.do_step(0.0, 0.1)
    assert {message.category for message in slave.log_queue} == {CATEGORY}
    state = slave._get_fmu_state()
    other = module.ComponentSlave(instance_name="b", resources=str(tmp_path))
    other._set_fmu_state(slave._fmu_state_from_bytes(slave._fmu_state_to_bytes(state)))
    assert not other.do_step(0.0, 0.1)
    assert [message.category for message in other.log_queue] == [CATEGORY]
