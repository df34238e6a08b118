"""Rules of the house that no linter checks: unique class names, one root of all errors, closed public signatures."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections import defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path

import dockfmu
from dockfmu.base.errors import FAILED, WRONG, DockfmuError

ROOT = Path(__file__).parents[1]
ROOMS = ("base", "components", "fmus", "master", "ssp", "dockfmu")

NOT_PUBLIC = {
    "Component",  # for authors of components: dockfmu.components.core.component
    "RunChanges",  # the fields of RunOptions as keywords
    "Scheme",  # between an algorithm and the loop
    "Table",  # between a declaration and what is read from it
    "Unit",  # what a Description knows of a unit; `str` of it is its name
}
"""Classes of public signatures that a user of `import dockfmu` neither makes nor takes apart."""


@cache
def classes():
    """{name of a class: the places where it is defined}, at any depth."""
    found = defaultdict(list)
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(f"{file.relative_to(ROOT)}:{node.lineno}")
    return found


def modules():
    for room in ROOMS:
        name = room if room == "dockfmu" else f"dockfmu.{room}"
        for found in pkgutil.walk_packages([str(ROOT / room)], f"{name}."):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def test_a_class_name_is_used_once():
    found = classes()
    assert len(found) > 250
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_every_error_descends_from_one():
    errors = {
        value
        for module in modules()
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Exception) and not issubclass(value, Warning)
        if value.__module__.split(".")[0] == "dockfmu" and not name.startswith("_")
    }
    assert len(errors) > 20
    assert sorted(error.__qualname__ for error in errors if not issubclass(error, DockfmuError)) == []
    assert {error.exit_status for error in errors} == {FAILED, WRONG}


def public_functions():
    for name in dockfmu.__all__:
        value = getattr(dockfmu, name)
        if inspect.isfunction(value):
            yield name, value
        for member, attribute in vars(value).items() if inspect.isclass(value) else ():
            function = getattr(attribute, "fget", None) or getattr(attribute, "__func__", attribute)
            if inspect.isfunction(function) and not member.startswith("_"):
                yield f"{name}.{member}", function


def test_public_signatures_use_public_classes():
    strange = {}
    for name, function in public_functions():
        words = {word for text in function.__annotations__.values() for word in re.findall(r"\w+", str(text))}
        if unknown := words & set(classes()) - set(dockfmu.__all__) - NOT_PUBLIC:
            strange[name] = unknown
    assert strange == {}


def test_public_signatures_are_explicit():
    """Keywords without names are allowed only with a type that names them."""
    loose = [
        f"{name}: {parameter}"
        for name, function in public_functions()
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.VAR_KEYWORD and "Unpack[" not in str(parameter.annotation)
    ]
    assert loose == []


def test_the_walk_to_a_contact_force_is_short_and_each_file_names_the_next():
    """The walk that the page on the architecture describes, from the command to a contact force."""
    page = (ROOT / "docs" / "develop" / "architecture.md").read_text(encoding="utf-8")
    files = re.findall(r"^\| `([\w/]+\.(?:py|c))` \|", page, re.MULTILINE)
    assert 15 < len(files) <= 20
    assert (files[0], files[-1]) == ("dockfmu/cli.py", "components/physics/contact/force.py")
    library = "fmus/native/shim/step.c"
    for file, following in pairwise(files):
        # only the FMI lies between the loop, a library and its kernels
        if library not in (file, following):
            inside = following.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")
            module = inside if inside.startswith("dockfmu.") else f"dockfmu.{inside}"
            package, _, name = module.rpartition(".")
            several = rf"from {package} import (\([^)]*|[^\n]*)\b{name}\b"
            text = (ROOT / file).read_text(encoding="utf-8")
            assert re.search(rf"\b{module}\b|{several}", text), (file, following)


def calls(file):
    """Yield (name, qualified) of all calls of a file: `qualified` is the module for `module.name(...)`."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr, node.func.value.id if isinstance(node.func.value, ast.Name) else ""


def test_one_law_of_contact_whatever_touches():
    """Units, mechanisms, devices and declared systems share lists, law, sums and friction."""
    room = ROOT / "components"
    law = ("normal_force", "friction_force", "contact_force")
    found = {
        file.relative_to(room).as_posix()
        for file in room.rglob("*.py")
        if any(name in law for name, _ in calls(file)) and file.name != "force.py"
    }
    assert found == {"physics/contact/list_forces.py", "physics/contact/held_friction.py"}
    listing = {
        file.relative_to(room).parts[0]
        for file in room.rglob("*.py")
        if any(n == "list_contact" for n, _ in calls(file))
    }
    assert listing == {"multibody", "physics"}


def test_vectors_have_one_dialect():
    """Functions on vectors and rotations are called by their names, unless the file has another of that name."""
    strange = []
    for file in sorted((ROOT / "components").rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        if not re.search(r"mechanics import [^\n]*\b(vector|rotation)\b", file.read_text(encoding="utf-8")):
            continue
        own |= {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and not str(node.module).endswith((".vector", ".rotation"))
            for alias in node.names
        }
        strange += [
            f"{file.relative_to(ROOT)}: {module}.{name}"
            for name, module in calls(file)
            if module in ("vector", "rotation") and name not in own
        ]
    assert strange == []


PRIVATE = {
    "tests/base/test_compiler.py": "how a kernel is compiled for other kernels",
    "tests/base/test_entry_points.py": "what machine code is named by, looked up anew",
    "tests/base/test_private_parts_ahead_of_time.py": "parts of numba, which it is about",
    "tests/base/test_private_parts_of_numba.py": "parts of numba, which it is about",
    "tests/components/multibody/test_analysis_contacts.py": "the motion of a state, which the analysis starts from",
    "tests/components/multibody/test_random_claims.py": "rates that are held, to leave singular starts out",
    "tests/components/multibody/test_random_declarations.py": "rates that are held, to leave singular starts out",
    "tests/components/multibody/test_random_equipment.py": "rates that are held, to leave singular starts out",
    "tests/components/physics/contact/probe_cone/test_contact_validity.py": "a micro-step that is tried, then taken",
    "tests/components/ring_mechanism/test_gear_tree.py": "the matrix of the kernel",
    "tests/dockfmu/campaign/stand_in.py": "workers of the cluster, to kill them",
    "tests/dockfmu/campaign/test_campaign.py": "the end of a campaign without a cluster",
    "tests/dockfmu/campaign/test_execution.py": "addresses of the cluster, as a neighbour finds them",
    "tests/dockfmu/campaign/test_machine_faults.py": "workers that died of memory, without a day of runs",
    "tests/dockfmu/commands/test_completion.py": "argparse has no other list of options",
    "tests/dockfmu/declare/test_declaration.py": "a declaration of hypothesis, without a file for each",
    "tests/dockfmu/declare/test_package_cache.py": "digests of sources, made anew; products before they are published",
    "tests/dockfmu/report/test_conditions_and_resultants.py": "vectors of an observer without a run",
    "tests/dockfmu/test_heavy_mechanisms.py": "how often a ratio is computed",
    "tests/dockfmu/test_python_api.py": "the energy that an audit divides by",
    "tests/dockfmu/test_warm_runs.py": "instances, to see that none is loaded again",
    "tests/dockfmu/view/test_gltf.py": "a model without a run",
    "tests/dockfmu/view/test_hub.py": "messages of pages without pages",
    "tests/docs/test_site.py": "argparse has no other list of options",
    "tests/fmus/check/test_libraries.py": "the list of libraries that every machine has",
    "tests/fmus/native/test_compile.py": "assembly and sources between two steps of a build",
    "tests/fmus/test_outcome_categories.py": "pythonfmu's functions for states",
    "tests/fmus/test_package.py": "the key of an FMU",
    "tests/fmus/test_ranges_of_inputs.py": "values that wait for the next step",
    "tests/master/drivers/test_live.py": "sockets that are flooded and buffers that are small",
    "tests/master/drivers/test_operator.py": "an operator without a run",
    "tests/master/fmi/test_process.py": "the shared memory, written over as an FMU could",
    "tests/master/observers/recording/test_damaged_recordings.py": "a file that cannot be written any more",
    "tests/master/observers/recording/test_killed.py": "blocks that HDF5 reads of a file",
    "tests/master/observers/recording/test_recorder.py": "a look between two writes",
    "tests/master/run/test_once_per_process.py": "the folder of an FMU, which must go",
    "tests/master/run/test_surroundings.py": "the loop of a thread",
    "tests/test_two_users.py": "addresses of the cluster, as a neighbour finds them",
    "tests/mutation/reach.py": "the fixtures of a test, which pytest keeps to itself",
}
"""Tests that use private attributes of others, and what for: there is no other way to see or to break it."""

OPEN = {"_replace", "_asdict", "_fields", "_exit", "_repr_html_", "_repr_png_"}
"""Public names that begin with an underscore: of named tuples, `os` and Jupyter."""


def test_private_attributes_are_used_where_nothing_public_shows_it():
    found = set()
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Attribute) or not re.match(r"_[^_]", node.attr) or node.attr in OPEN:
                continue
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                found.add(file.relative_to(ROOT).as_posix())
    assert found == PRIVATE.keys()
