"""Derivatives of inputs, of outputs, and directional derivatives, against closed forms of the gadget."""

import ctypes

import pytest

from dockfmu import fmus
from dockfmu.fmus import catalogue
from tests.fmus.library import DISCARD, ERROR, OK, Library


def set_slopes(instance, orders=None, **slopes):
    count = len(slopes)
    return instance(
        "SetRealInputDerivatives",
        instance.references(*slopes),
        ctypes.c_size_t(count),
        (ctypes.c_int * count)(*(orders or [1] * count)),
        (ctypes.c_double * count)(*slopes.values()),
    )


def rates(instance, *names, order=1):
    block = (ctypes.c_double * len(names))()
    orders = (ctypes.c_int * len(names))(*[order] * len(names))
    status = instance(
        "GetRealOutputDerivatives", instance.references(*names), ctypes.c_size_t(len(names)), orders, block
    )
    return status, list(block)


def derivative(instance, unknowns, **direction):
    names = [name.replace("__", ".") for name in direction]
    block = (ctypes.c_double * len(unknowns))()
    status = instance(
        "GetDirectionalDerivative",
        instance.references(*unknowns),
        ctypes.c_size_t(len(unknowns)),
        instance.references(*names),
        ctypes.c_size_t(len(names)),
        (ctypes.c_double * len(names))(*direction.values()),
        block,
    )
    return status, list(block)


def test_mean_input_gets_its_mean_and_start_input_its_start(gadget_library):
    """Integral of 2 (1 + 4 t) + 10 and of 0.5 over a step of 0.5; then the derivative is gone and the value is back."""
    instance = gadget_library.running(signal=1.0)
    assert set_slopes(instance, signal=4.0, held=100.0) == OK
    assert instance.step(0.0, 0.5) == OK
    assert instance.get("total") == 2.0 * (0.5 + 0.5 * 4.0 * 0.25) + 10.0 * 0.5
    assert instance.get("held_total") == 0.25
    assert instance.get("signal") == 1.0
    assert instance.step(0.5, 0.5) == OK
    assert instance.get("total") == 2.0 * 1.0 + 10.0 * 0.5 + 2.0 * 0.5 + 10.0 * 0.5


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"orders": [2], "signal": 1.0}, "signal: order 2 is not supported"),
        ({"orders": [0], "signal": 1.0}, "signal: order 0 is not supported"),
        ({"signal": float("nan")}, "derivative nan of signal is not finite"),
        ({"command": 1.0}, "command is not a continuous input"),
        ({"total": 1.0}, "total is not a continuous input"),
        ({"count": 1.0}, "count is not a continuous input"),
    ],
)
def test_refused_input_derivatives(gadget_library, arguments, text):
    instance = gadget_library.running()
    assert set_slopes(instance, **arguments) == ERROR
    assert text in instance.last


def test_output_derivative_is_the_mean_rate_over_the_last_step(gadget_library):
    instance = gadget_library.running(signal=3.0)
    assert instance.step(0.0, 0.25) == OK
    assert rates(instance, "total", "square") == (OK, [16.0, 36.0])
    assert rates(instance, "total", order=2)[0] == ERROR
    assert rates(instance, "counted")[0] == ERROR
    assert rates(instance, "signal")[0] == ERROR


def test_output_derivative_before_the_first_step_is_that_of_a_default_step(gadget_library):
    """Section 4.2.4 allows the call as soon as steps may be done. total = h (gain signal + 10); nothing has changed."""
    instance = gadget_library.running(signal=3.0)
    state = instance.serialize(instance.save())
    status, (total, held) = rates(instance, "total", "held_total")
    assert status == OK, instance.messages
    assert total == pytest.approx(16.0, rel=1e-12)
    assert held == pytest.approx(0.5, rel=1e-12)
    assert instance.serialize(instance.save()) == state
    assert instance.step(0.0, 0.25) == OK
    assert instance.get("total") == 4.0
    failing = gadget_library.running(mode=3)
    assert rates(failing, "total")[0] == ERROR
    assert "told to fail" in failing.last
    shy = gadget_library.running(parameters__longest_step=1e-6)
    assert rates(shy, "total")[0] == DISCARD
    assert shy.step(0.0, 0.25) == DISCARD
    assert rates(shy, "total")[0] == DISCARD
    assert "the first step has failed" in shy.last


def test_directional_derivative_of_the_last_step(gadget_library):
    """total = ... + h (gain signal + 10), square = signal^2; central differences are exact for both but for rounding,
    eps^(2/3) relative."""
    instance = gadget_library.running(signal=3.0)
    assert instance.step(0.0, 0.25) == OK
    instance.set(signal=50.0)  # for the next step; the derivative is that of the last
    state = instance.serialize(instance.save())
    status, (total, square) = derivative(instance, ["total", "square"], signal=1.0)
    assert status == OK, instance.messages
    assert total == pytest.approx(0.5, rel=1e-9)
    assert square == pytest.approx(6.0, rel=1e-9)
    assert instance.serialize(instance.save()) == state  # nothing has changed
    _, (total, square) = derivative(instance, ["total", "square"], signal=-2.0, parameters__gain=4.0)
    assert total == pytest.approx(-1.0 + 0.25 * 3.0 * 4.0, rel=1e-9)
    assert square == pytest.approx(-12.0, rel=1e-9)
    assert derivative(instance, ["total"], signal=0.0) == (OK, [0.0])


def test_directional_derivative_of_the_initialization(gadget_library):
    instance = gadget_library.instance(parameters__offset=7.0)
    assert instance.setup() == instance("EnterInitializationMode") == OK
    status, (total, square) = derivative(instance, ["total", "square"], parameters__offset=1.0)
    assert status == OK
    assert total == pytest.approx(1.0, rel=1e-9)
    assert square == pytest.approx(14.0, rel=1e-9)
    assert instance("ExitInitializationMode") == OK
    assert instance.get("total") == 7.0
    # before the first step the outputs still stem from the initialization
    assert derivative(instance, ["total"], signal=1.0) == (OK, [0.0])


def test_derivative_at_the_end_of_a_range_is_one_sided(gadget_library):
    instance = gadget_library.running(signal=3.0, parameters__gain=0.0)
    assert instance.step(0.0, 0.25) == OK
    status, (total,) = derivative(instance, ["total"], parameters__gain=1.0)
    assert status == OK
    assert total == pytest.approx(0.75, rel=1e-9)


@pytest.mark.parametrize(
    ("unknowns", "direction"),
    [
        (["signal"], {"signal": 1.0}),
        (["counted"], {"signal": 1.0}),
        (["total"], {"count": 1.0}),
        (["total"], {"square": 1.0}),
        (["total"], {"parameters__offset": 1.0}),
        (["total"], {"signal": float("inf")}),
    ],
)
def test_refused_directional_derivatives(gadget_library, unknowns, direction):
    instance = gadget_library.running()
    assert instance.step(0.0, 0.25) == OK
    assert derivative(instance, unknowns, **direction)[0] == ERROR
    assert instance.last.startswith("fmi2GetDirectionalDerivative: ")


def test_a_derivative_that_meets_a_failure_is_an_error_and_changes_nothing(gadget_library):
    """The offset at its limit of validity: the run with a larger one is refused."""
    instance = gadget_library.instance(parameters__offset=100.0)
    assert instance.setup() == instance("EnterInitializationMode") == OK
    assert derivative(instance, ["total"], parameters__offset=1.0)[0] == ERROR
    assert "is more than 100 N" in instance.last
    assert instance.get("total") == 100.0
    assert instance("ExitInitializationMode") == OK


def test_derivatives_do_not_depend_on_where_the_origin_is(tmp_path):
    """Stiffness of the socket's bottom under the head, about which ports stand 0, 20 and 1000 m from the origin.

    A position of 1 km rounds to 1e-13 m, a hundred-thousandth of the step, and the force by 1e7 N/m of that.
    """
    library = Library(fmus.build(catalogue.component("ProbeMechanism"), tmp_path), tmp_path / "unpacked")
    found = []
    for shift in (0.0, 20.0, -1000.0):
        instance = library.instance()
        instance.set(**{"target.position[1]": shift, "base.position[1]": shift - 0.4660})
        assert instance.setup() == OK, instance.messages
        assert instance("EnterInitializationMode") == OK, instance.messages
        status, (slope,) = derivative(instance, ["target.force_now[1]"], **{"base__position[1]": 1.0})
        assert status == OK, instance.messages
        found.append(slope)
    assert abs(found[0]) > 1e6
    assert found == pytest.approx([found[0]] * 3, rel=1e-3)
