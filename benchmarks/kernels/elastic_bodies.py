"""Time of a micro-step over the number of bodies: chains of elastic and of rigid bodies, grids of rigid ones.

python -m benchmarks elastic_bodies    oracle O9 of flexible 6: published powers are 1.09 (chain) and 1.22 (grid)

Bodies hang on ball joints under gravity, as in the source. A grid has four columns; its loops are closed by cut joints.
In rows on a spine each loop meets at the next row, and the elimination along the tree is the fastest. In columns that
hang side by side all loops meet at the base: the tree serves small ones alone, larger ones the sparse matrix of all
joints, elastic bodies from the first loops on. Times are the shortest of several, of the processor; the exponent is
fitted from 20 bodies.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.kernels.multibody import _exponent, _instance, _micro_step
from dockfmu.components.multibody.model import BASE, Model, Mounting, MultibodyJoint, RigidBody
from dockfmu.components.multibody.model.elastic import elastic_rigid_body
from tests.components.multibody.elastic_models import random_elastic

RIGID = (10, 20, 50, 100, 200, 500)
ELASTIC = (10, 20, 50, 100, 200)
SHAPES = (4, 8)
COLUMNS = 4
ROD = RigidBody("rod", 1.0, (0.5, 0.0, 0.0), ((0.01, 0.0, 0.0), (0.0, 0.09, 0.0), (0.0, 0.0, 0.09)))


def main() -> None:
    """Print the tables."""
    _table("rigid chain", RIGID, rigid_chain)
    for shapes in SHAPES:
        _table(f"elastic chain, {shapes} shapes", ELASTIC, lambda size, shapes=shapes: elastic_chain(size, shapes))
    _table(f"rigid grid of {COLUMNS} columns, rows on a spine", RIGID, spine)
    _table(f"rigid grid of {COLUMNS} columns, columns from the base", RIGID, grid)
    _table(f"grid of {COLUMNS} columns of elastic bodies, 4 shapes, from the base", ELASTIC, elastic_grid)


def _table(name: str, sizes: tuple[int, ...], made) -> None:
    print(f"\n| bodies, {name} | micro-step, us | us a body |\n|---|---|---|")
    times = []
    for size in sizes:
        times.append(_micro_step(_instance(made(size)), size))
        print(f"| {size} | {times[-1]:.2f} | {times[-1] / size:.3f} |", flush=True)
    print(f"\ntime grows with the number of bodies to the power {_exponent(sizes, times):.2f} (from 20 bodies)")


def rigid_chain(size: int) -> Model:
    """Return a chain of rods."""
    bodies = tuple(replace(ROD, name=f"b{k}") for k in range(size))
    ends = [BASE, *(body.name for body in bodies)]
    joints = tuple(
        MultibodyJoint(f"j{k}", "spherical", ends[k], ends[k + 1], Mounting((1.0 if k else 0.0, 0.0, 0.0)))
        for k in range(size)
    )
    return Model("Chain", bodies, joints, gravity=(0.0, 0.0, -9.81))


def elastic_chain(size: int, shapes: int) -> Model:
    """Return a chain of equal elastic bodies, each joined to the next at its second interface node."""
    elastic = random_elastic(1, shapes, 2)
    bodies = tuple(elastic_rigid_body(f"b{k}", elastic) for k in range(size))
    first, second = (tuple(map(float, place)) for place in elastic.place)
    ends = [BASE, *(body.name for body in bodies)]
    joints = tuple(
        MultibodyJoint(f"j{k}", "spherical", ends[k], ends[k + 1], Mounting(second if k else (0.0, 0.0, 0.0)),
                       Mounting(first))
        for k in range(size)
    )  # fmt: skip
    return Model("Chain", bodies, joints, gravity=(0.0, 0.0, -9.81))


def grid(size: int) -> Model:
    """Return rods in rows of four: each hangs on the one above, and its end is joined to that of its neighbour."""
    bodies, joints = [], []
    for k in range(size):
        row, column = divmod(k, COLUMNS)
        # a square of 1 m: the rod along x, its side at y = 1 m
        bodies.append(replace(ROD, name=f"b{k}"))
        above = BASE if row == 0 else f"b{k - COLUMNS}"
        point = (0.0, float(column), 0.0) if row == 0 else (1.0, 0.0, 0.0)
        joints.append(MultibodyJoint(f"j{k}", "spherical", above, f"b{k}", Mounting(point)))
        if column:
            sides = (Mounting((1.0, 1.0, 0.0)), Mounting((1.0, 0.0, 0.0)))
            joints.append(
                MultibodyJoint(f"c{k}", "spherical", f"b{k - 1}", f"b{k}", *sides, cut=True, closure_limit=1.0)
            )
    return Model("Grid", tuple(bodies), tuple(joints), gravity=(0.0, 0.0, -9.81))


def elastic_grid(size: int) -> Model:
    """Return the grid of columns with equal elastic bodies of four shapes and three interface nodes."""
    nodes = np.array(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0)))
    elastic = replace(random_elastic(1, 4, 3), place=nodes)
    model = grid(size)
    return replace(model, bodies=tuple(elastic_rigid_body(body.name, elastic) for body in model.bodies))


def spine(size: int) -> Model:
    """Return the same grid with other joints cut: the first column hangs on the base, each row on its body there."""
    bodies, joints = [], []
    sides = (Mounting((1.0, 1.0, 0.0)), Mounting((1.0, 0.0, 0.0)))
    for k in range(size):
        row, column = divmod(k, COLUMNS)
        bodies.append(replace(ROD, name=f"b{k}"))
        above = BASE if row == 0 else f"b{k - COLUMNS}"
        point = Mounting((0.0, float(column), 0.0) if row == 0 else (1.0, 0.0, 0.0))
        if column:
            joints.append(MultibodyJoint(f"c{k}", "spherical", f"b{k - 1}", f"b{k}", *sides))
            joints.append(MultibodyJoint(f"j{k}", "spherical", above, f"b{k}", point, cut=True, closure_limit=1.0))
        else:
            joints.append(MultibodyJoint(f"j{k}", "spherical", above, f"b{k}", point))
    return Model("Grid", tuple(bodies), tuple(joints), gravity=(0.0, 0.0, -9.81))


if __name__ == "__main__":
    main()
