"""What the generator writes is C, whatever a component declares."""

import ctypes
from dataclasses import replace

import pytest

from dockfmu import fmus
from dockfmu.components.core.component import Component, Message
from dockfmu.components.core.field import output
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.record import Record
from dockfmu.fmus.native.tables import write_tables
from tests.fmus import gadget
from tests.fmus.library import ERROR, Library

NASTY = 'quotes " and \\ and ??/ and ä and 100% {parameters.gain:8.3f}\n7'


@kernel
def _nothing(m):
    return 0


@kernel
def _no_step(m, t, h):
    return 7


def test_any_text_of_a_message_comes_out_as_it_went_in(tmp_path):
    made = replace(gadget.component(), messages={7: Message(NASTY)}, name="Nasty")
    instance = Library(fmus.build(made, tmp_path), tmp_path / "unpacked").running(mode=3)
    assert instance.step(0.0, 0.1) == ERROR
    # per cent signs are doubled for importers that print messages as formats
    assert instance.last.endswith(": " + NASTY.format(parameters=made.record.memory().parameters).replace("%", "%%"))


def test_a_component_with_nothing_but_an_output(tmp_path):
    """No inputs, parameters, start values, messages or resources; a status without a message."""
    record = Record(output("x", "m", ""))
    made = Component("Bare", "", record, _nothing, _no_step, {}, gadget.component().module)
    instance = Library(fmus.build(made, tmp_path), tmp_path / "unpacked").running()
    assert instance.get("x") == 0.0
    assert instance.step(0.0, 0.1) == ERROR
    assert instance.last.endswith("the component returned the unknown status 7")
    nothing = ctypes.c_size_t(0)
    assert instance("SetReal", None, nothing, None) == ERROR  # after an error


@pytest.mark.parametrize("text", ["{total:d}", "{total:>10}", "{total:%}", "{total:,}", "{total:8}"])
def test_formats_that_c_does_not_know_are_refused(text):
    with pytest.raises(ValueError, match="only e, f and g formats"):
        write_tables(replace(gadget.component(), messages={1: Message(text)}), "{}")


@pytest.mark.parametrize("specification", ["", "g", ".3g", "+.2e", "10.4f", " .3f"])
def test_formats_print_as_in_python(tmp_path, specification):
    made = replace(gadget.component(), messages={7: Message(f"<{{signal:{specification}}}>")}, name="Format")
    instance = Library(fmus.build(made, tmp_path), tmp_path / "unpacked").running(mode=3, signal=-1234.56789)
    assert instance.step(0.0, 0.1) == ERROR
    block = made.start(signal=-1234.56789)
    assert instance.last.endswith(made.explain(7, block))
