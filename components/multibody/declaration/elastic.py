"""Elastic bodies of a declaration: their files, which the text of the declaration then contains."""

from __future__ import annotations

import base64
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from dockfmu.base.messages import shown
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.components.multibody.declaration.problems import Entries
from dockfmu.components.multibody.model.elastic import NEAR, attachments, elastic_rigid_body, nearest_node, node_name
from dockfmu.components.multibody.model.parts import Model, RigidBody
from dockfmu.components.physics.elastic.body import ElasticBody, ElasticBodyError

ELASTIC_KEYS = ("elastic", "elastic_start", "reach", "description")
DATA = "data:application/x-npz;base64,"
"""Begins the value of `elastic` where the file itself stands in the declaration."""
LONGEST_NAME = 4096
"""Most characters of the name of a file."""
MOST_MODES = 60
"""Of one body: the record holds a number for each pair of them."""


def read_elastic(name: str, entries: Entries, folder: Path) -> RigidBody:
    """Return an elastic body; a rigid one in its place if its file cannot be read."""
    entries = Entries(entries.content, entries.where, entries.problems, ELASTIC_KEYS)
    given = entries.text("elastic")
    settled = entries.text("elastic_start", "rest", ("rest", "static")) == "static"
    reach = entries.quantity("reach", "m", NEAR)
    if not reach >= 0.0:
        entries.problem("reach", "must not be negative")
    body = _load(entries, given, folder)
    if body is None:
        return RigidBody(name, 1.0)
    count = len(body.frequency)
    if count > MOST_MODES:
        entries.problem(
            "elastic",
            f"{body.name} has {count} shapes, a body of a multibody system at most {MOST_MODES}; reduce it to fewer "
            "interface nodes and modes, `dockfmu reduce --modes`",
        )
        return RigidBody(name, 1.0)
    cuts = () if body.sections is None else body.sections.names
    unfit = [cut for cut in cuts if not (cut.isascii() and cut.isidentifier())]
    if unfit or len(set(cuts)) < len(cuts):
        entries.problem(
            "elastic",
            f"section {shown((unfit or list(cuts))[0])} of {body.name} makes no name of a variable, or is there twice; "
            "reduce the model again with names of letters, digits and underscores",
        )
        return RigidBody(name, 1.0)
    return elastic_rigid_body(name, body, settled, max(reach, NEAR))


def _load(entries: Entries, given: str, folder: Path) -> ElasticBody | None:
    if len(given) > LONGEST_NAME and not given.startswith(DATA):
        entries.problem("elastic", f"{shown(given)} is neither the name of a file nor one that is embedded")
        return None
    try:
        if not given.startswith(DATA):
            return ElasticBody.load(folder / given)
        with TemporaryFolder("body") as place:
            file = place / "body.npz"
            file.write_bytes(base64.b64decode(given.removeprefix(DATA), validate=True))
            return ElasticBody.load(file)
    except ElasticBodyError as error:
        entries.problems.add(f"{entries.where}.elastic", str(error))
    except ValueError as error:
        # of binascii, and of b64decode for characters that are no ASCII
        entries.problems.add(f"{entries.where}.elastic", f"the embedded file is damaged: {error}")
    return None


def embedded(text: str, folder: Path) -> str:
    """Return the text of a declaration with the files of its elastic bodies in the place of their names.

    The text is then complete: an FMU carries it. Raises ValueError for a name that is not written as `elastic = "..."`.
    """
    names = {
        body["elastic"]
        for body in tomllib.loads(text).get("bodies", {}).values()
        if isinstance(body.get("elastic"), str) and not body["elastic"].startswith(DATA)
    }
    for name in names:
        data = DATA + base64.b64encode((folder / name).read_bytes()).decode()
        found = re.subn(rf"""(\belastic\s*=\s*)(["']){re.escape(name)}\2""", lambda m: f'{m[1]}"{data}"', text)  # noqa: B023
        if not found[1]:
            raise ValueError(f"write the file of an elastic body as elastic = {name!r}")
        text = found[0]
    return text


def check_elastic(model: Model) -> Iterator[tuple[str, str]]:
    """Yield (place, what is wrong and what to do) of each mistake with elastic bodies."""
    bodies = {body.name: body for body in model.bodies}
    for where, name, point in attachments(model):
        body = bodies[name]
        index, distance = nearest_node(body, point)
        if distance > body.reach:
            assert body.elastic is not None
            place = ", ".join(f"{x:.6g}" for x in body.elastic.place[index])
            yield (
                where,
                f"[{', '.join(f'{x:.6g}' for x in point)}] on the elastic body {name} is {distance:.4g} m from its "
                f"nearest interface node, {body.elastic.nodes[index]} at [{place}] m in its frame: attach it there, "
                f"reduce the model with an interface node here, or give bodies.{name}.reach",
            )
    for body in bodies.values():
        if body.elastic is None:
            continue
        for number in body.elastic.nodes:
            if node_name(body.name, int(number)) in bodies:
                yield (
                    f"bodies.{node_name(body.name, int(number))}",
                    f"this is the name of node {number} of the elastic body {body.name}; choose another",
                )
