"""Frame models in TOML: nodes, straight beams of Euler and Bernoulli with section and material, lumped masses."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.units import parse_unit
from dockfmu.components.physics.elastic.body import ElasticBodyError
from dockfmu.declare.toml.quantities import in_unit
from dockfmu.declare.toml.tables import NEEDED, Table, finite_number
from dockfmu.elastic.model import DENSE, MOST_FREEDOMS, FullModel, NodeBodies

SECTION = {"area": "m2", "bending_y": "m4", "bending_z": "m4", "torsion": "m4", "polar": "m4"}
MATERIAL = {"modulus": "Pa", "shear": "Pa", "density": "kg/m3"}
MOST_ELEMENTS = 1000
"""Largest number of elements of one beam."""


@dataclass
class _Assembly:
    """Nodes, and entries of the matrices as they are added."""

    position: dict[int, np.ndarray]
    bodies: dict[int, list[tuple[float, np.ndarray, np.ndarray]]] = field(default_factory=dict)
    lines: list[tuple[int, int]] = field(default_factory=list)
    blocks: list[tuple[int, int, np.ndarray, np.ndarray]] = field(default_factory=list)
    lumps: list[tuple[int, np.ndarray]] = field(default_factory=list)

    def add_body(self, node: int, mass: float, offset: np.ndarray, inertia: np.ndarray) -> None:
        """Add a rigid body to a node: inertia about its own centre of mass."""
        self.bodies.setdefault(node, []).append((mass, offset, inertia))


def read_frame(file: Path) -> tuple[FullModel, FullModel]:
    """Return the model of a TOML file with displaced rigid bodies, and with consistent masses; in SI.

    Raises ElasticBodyError, DeclarationError or UnitError that names the file, the entry and what to do.
    """
    from dockfmu.declare.toml.files import read_tables

    top = Table(read_tables(file), str(file), ("name", "nodes", "sections", "materials", "beams", "masses"))
    sections = {
        name: _quantities(table, SECTION, {"polar": None})
        for name, table in top.tables("sections", tuple(SECTION), "section").items()
    }
    materials = {
        name: _quantities(table, MATERIAL, {})
        for name, table in top.tables("materials", tuple(MATERIAL), "material").items()
    }
    assembly = _Assembly(_nodes(top))
    named = list(assembly.position)
    for beam in top.rows("beams", ("nodes", "section", "material", "up", "elements")):
        ends = [_node(beam, node, named) for node in _list(beam, "nodes", 2)]
        section = sections[beam.text("section", choices=tuple(sections))]
        material = materials[beam.text("material", choices=tuple(materials))]
        up = np.array(_numbers(beam, "up", "1", [0.0, 0.0, 1.0]))
        elements = beam.whole("elements", 1, most=MOST_ELEMENTS)
        if 6 * (len(assembly.position) + elements) > MOST_FREEDOMS:
            raise ElasticBodyError(f"{beam.where}: more than {MOST_FREEDOMS} degrees of freedom; use fewer elements")
        _add_beam(assembly, beam.where, ends, section, material, up, elements)
    for mass in top.rows("masses", ("node", "mass", "inertia", "offset")) if "masses" in top.content else ():
        node = _node(mass, mass.content.get("node"), named)
        inertia = _inertia(mass, _numbers(mass, "inertia", "kg.m2", [0.0, 0.0, 0.0]))
        size = _one(mass, "mass", "kg")
        offset = np.array(_numbers(mass, "offset", "m", [0.0, 0.0, 0.0]))
        assembly.add_body(node, size, offset, inertia)
        assembly.lumps.append((node, _body_matrix(size, offset, inertia)))
    return _models(top.text("name", file.stem), file, assembly)


def _quantities(table: Table, units: dict[str, str], defaults: dict[str, Any]) -> dict[str, float]:
    found = {name: _one(table, name, unit, defaults.get(name, NEEDED)) for name, unit in units.items()}
    if "polar" in found and found["polar"] is None:
        found["polar"] = found["bending_y"] + found["bending_z"]
    return found


def _one(table: Table, name: str, unit: str, default: Any = NEEDED) -> Any:
    """Return a positive quantity in SI."""
    if name not in table.content:
        return table.number(name, default)
    value = finite_number(in_unit(table.content[name], parse_unit(unit), f"{table.where}: {name}"))
    if value is None or value <= 0.0:
        raise ElasticBodyError(f"{table.where}: {name} = {table.content[name]!r} must be a positive quantity in {unit}")
    return value


def _list(table: Table, name: str, size: int) -> list[Any]:
    items = table.items(name)
    if len(items) != size:
        raise ElasticBodyError(f"{table.where}: {name} must have {size} entries, not {len(items)}")
    return items


def _numbers(table: Table, name: str, unit: str, default: list[float]) -> list[float]:
    """Return a list of quantities in SI; inertia has three or six, the rest has as many as its default."""
    if name not in table.content:
        return default
    given = in_unit(table.content[name], parse_unit(unit), f"{table.where}: {name}")
    sizes = (3, 6) if name == "inertia" else (len(default),)
    numbers = [finite_number(value) for value in given] if isinstance(given, list) else []
    if len(numbers) not in sizes or any(number is None for number in numbers):
        raise ElasticBodyError(f"{table.where}: {name} must be a list of {sizes[0]} quantities in {unit}")
    return [number for number in numbers if number is not None]


def _inertia(table: Table, numbers: list[float]) -> np.ndarray:
    """Return the tensor of [xx, yy, zz] or [xx, yy, zz, xy, xz, yz], about the centre of mass."""
    xx, yy, zz, xy, xz, yz = [*numbers, 0.0, 0.0, 0.0][:6]
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if np.linalg.eigvalsh(tensor)[0] < -1e-12 * np.abs(tensor).max():
        raise ElasticBodyError(f"{table.where}: inertia {numbers} is not positive; products are entries of the tensor")
    return tensor


def _nodes(top: Table) -> dict[int, np.ndarray]:
    table = top.table("nodes")
    found = {}
    for name in table.content:
        if not (name.isascii() and name.isdecimal() and 0 < len(name) < 9 and int(name) > 0):
            raise ElasticBodyError(f"{table.where}: node {name!r} must be a positive number")
        if int(name) in found:
            raise ElasticBodyError(f"{table.where}: node {int(name)} is given twice; remove one")
        found[int(name)] = np.array(_numbers(table, name, "m", [0.0, 0.0, 0.0]))
    return found


def _node(table: Table, node: Any, named: list[int]) -> int:
    if type(node) is not int or node not in named:
        listed = ", ".join(map(str, named[:8]))
        raise ElasticBodyError(f"{table.where}: node {node!r} is no node of [nodes], which has {listed}")
    return node


def _body_matrix(mass: float, offset: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    x, y, z = offset
    tilde = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.block([[mass * np.eye(3), -mass * tilde], [mass * tilde, inertia - mass * tilde @ tilde]])


def _add_beam(
    assembly: _Assembly, where: str, ends: list[int], section: dict[str, float], material: dict[str, float],
    up: np.ndarray, elements: int,
) -> None:  # fmt: skip
    first, last = (assembly.position[node] for node in ends)
    length = float(np.linalg.norm(last - first))
    if length < 1e-9:
        raise ElasticBodyError(f"{where}: nodes {ends[0]} and {ends[1]} are at one place; a beam needs a length")
    along = (last - first) / length
    across = up - along * (along @ up)
    if np.linalg.norm(across) <= 1e-6 * np.linalg.norm(up):
        if not np.allclose(up, [0.0, 0.0, 1.0]):
            raise ElasticBodyError(
                f"{where}: up is along the beam; give another direction for the z axis of its section"
            )
        across = np.array([1.0, 0.0, 0.0]) - along * along[0]  # a vertical beam without `up`: z of its section along x
    across /= np.linalg.norm(across)
    axes = np.array([along, np.cross(across, along), across])
    h = length / elements
    stiffness, mass = beam_matrices(h, section, material)
    turn = np.kron(np.eye(4), axes)
    stiffness, mass = turn.T @ stiffness @ turn, turn.T @ mass @ turn
    number = max(assembly.position)
    chain = [ends[0], *range(number + 1, number + elements), ends[1]]
    for k, node in enumerate(chain[1:-1], 1):
        assembly.position[node] = first + along * (h * k)
    half = 0.5 * h
    own = material["density"] * section["area"] * half
    turning = np.diag([material["density"] * section["polar"] * half, own * half**2 / 12.0, own * half**2 / 12.0])
    for one, two in pairwise(chain):
        assembly.lines.append((one, two))
        assembly.blocks.append((one, two, stiffness, mass))
        for node, side in ((one, 1.0), (two, -1.0)):
            assembly.add_body(node, own, side * 0.5 * half * along, axes.T @ turning @ axes)


def beam_matrices(h: float, section: dict[str, float], material: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return stiffness and consistent mass of an element, 12 x 12: (x, y, z, rx, ry, rz) of both ends, own axes.

    Cubic shapes of Euler and Bernoulli: no shear deformation, no rotary inertia across the beam.
    """
    stiffness, mass = np.zeros((12, 12)), np.zeros((12, 12))
    line = material["density"] * section["area"]
    for place, rigidity, inertia in (
        (0, material["modulus"] * section["area"], line),
        (3, material["shear"] * section["torsion"], material["density"] * section["polar"]),
    ):
        at = np.ix_([place, place + 6], [place, place + 6])
        stiffness[at] += rigidity / h * np.array([[1.0, -1.0], [-1.0, 1.0]])
        mass[at] += inertia * h / 6.0 * np.array([[2.0, 1.0], [1.0, 2.0]])
    bend = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                     [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h * h, -6 * h, 4 * h * h]]) / h**3  # fmt: skip
    inert = np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h * h, 13 * h, -3 * h * h],
                      [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h * h, -22 * h, 4 * h * h]])  # fmt: skip
    inert = inert * (line * h / 420.0)
    # the slope dy/dx is +rz, dz/dx is -ry
    for move, turn, sign, moment in ((1, 5, 1.0, "bending_z"), (2, 4, -1.0, "bending_y")):
        at = np.ix_([move, turn, move + 6, turn + 6], [move, turn, move + 6, turn + 6])
        signs = np.outer([1.0, sign, 1.0, sign], [1.0, sign, 1.0, sign])
        stiffness[at] += material["modulus"] * section[moment] * bend * signs
        mass[at] += inert * signs
    return stiffness, mass


def _models(name: str, file: Path, assembly: _Assembly) -> tuple[FullModel, FullModel]:
    from scipy import sparse

    nodes = np.array(sorted(assembly.position))
    index = {int(node): k for k, node in enumerate(nodes)}
    joined = {node for line in assembly.lines for node in line}
    for node in nodes:
        if int(node) not in joined:
            raise ElasticBodyError(f"{file}: node {node} is at no beam; remove it or join it by a beam")
    size = 6 * len(nodes)

    def assembled(blocks: list[tuple[list[int], np.ndarray]]) -> Any:
        rows, columns, values = [], [], []
        for ids, block in blocks:
            at = np.concatenate([6 * index[node] + np.arange(6) for node in ids])
            rows.append(np.repeat(at, len(at)))
            columns.append(np.tile(at, len(at)))
            values.append(block.ravel())
        entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        matrix = sparse.coo_array(entries, shape=(size, size)).tocsc()
        return matrix.toarray() if size <= DENSE else matrix

    total: dict[int, float] = {}
    centre: dict[int, np.ndarray] = {}
    tensor: dict[int, np.ndarray] = {}
    for node, parts in assembly.bodies.items():
        total[node] = sum(mass for mass, _, _ in parts)
        centre[node] = np.sum([mass * at for mass, at, _ in parts], axis=0) / total[node]
        tensor[node] = np.zeros((3, 3))
        for mass, at, own in parts:
            arm = at - centre[node]
            tensor[node] += own + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    order = [int(node) for node in nodes]
    bodies = NodeBodies(*(np.array([found[node] for node in order]) for found in (total, centre, tensor)))
    shared: dict[str, Any] = {
        "name": name,
        "source": str(file),
        "stiffness": assembled([([one, two], stiffness) for one, two, stiffness, _ in assembly.blocks]),
        "freedom": np.array([(node, component) for node in order for component in range(1, 7)]),
        "nodes": nodes,
        "position": np.array([assembly.position[node] for node in order]),
        "lines": np.array([(index[one], index[two]) for one, two in assembly.lines]),
        "members": True,
    }
    lumped = assembled([([node], _body_matrix(total[node], centre[node], tensor[node])) for node in order])
    consistent = assembled(
        [([one, two], mass) for one, two, _, mass in assembly.blocks]
        + [([node], block) for node, block in assembly.lumps]
    )
    return FullModel(**shared, mass=lumped, bodies=bodies), FullModel(**shared, mass=consistent)
