"""The kernels that know the record hand on arrays whose types do not have their lengths: others are compiled once."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

from dockfmu.components.multibody import component, kernel
from dockfmu.components.multibody.groups import groups_of

pytestmark = pytest.mark.quick

FILES = [Path(__file__).parent / f"{name}.toml" for name in ("mixed", "ring")]
PROBE = Path(__file__).parents[3] / "components" / "multibody" / "models" / "small_probe.toml"


def paths(dtype, prefix=""):
    """Return the shapes of all fields of a record by their paths, elements of arrays of groups left out."""
    found = {}
    for name, (field, *_) in dtype.fields.items():
        path = f"{prefix}{name}"
        found[path] = field.shape
        if field.shape == () and field.fields is not None:
            found |= paths(field, f"{path}.")
    return found


def plain(value):
    """Return the Python function of a kernel; what is none as it is."""
    return getattr(value, "py_func", value)


def handed_on(function):
    """Return the paths of the record's fields that a kernel names, and of those the ones that it slices."""
    tree = ast.parse(inspect.getsource(function))
    sliced = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Subscript)}
    inner = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
    named, cut = set(), set()
    for one in ast.walk(tree):
        if isinstance(one, ast.Attribute) and id(one) not in inner:
            path = ast.unparse(one)
            root, _, rest = path.partition(".")
            path = {"m": rest, "p": f"parameters.{rest}"}.get(root, "")
            named.add(path)
            if id(one) in sliced:
                cut.add(path)
    return named, cut


def test_arrays_whose_lengths_depend_on_the_model_are_handed_on_as_slices():
    shapes = [paths(component(file).record.dtype) for file in (*FILES, PROBE)]
    variable = {path for path in shapes[0] if len({one.get(path) for one in shapes}) > 1}
    assert {"link", "coordinate", "parameters.body", "closure.matrix", "face", "parameters.sensor"} <= variable
    sliced = set()
    own = [plain(one) for one in vars(kernel).values() if getattr(plain(one), "__module__", "") == kernel.__name__]
    for function in (plain(groups_of), *own):
        named, cut = handed_on(function)
        assert named & variable <= cut
        sliced |= cut & variable
    assert len(sliced) > 25
    # the list of contacts, sums and laws come in a few sizes
    assert {np.prod(one["kind"]) for one in shapes} == {16}
