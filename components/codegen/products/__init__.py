"""The generated products: each is a module of kernels, checked in where it is used.

`PRODUCTS` maps the path of a module in the repository to the function that returns its source.
"""

from collections.abc import Callable

from dockfmu.components.codegen.emit import module
from dockfmu.components.codegen.mechanism import X, Y, Z
from dockfmu.components.codegen.products import arm_joint, hexapod, probe_chains, probe_tree

CHAINS = "kinematics 8, dynamics 6 to 8 and 10, with their errata."
ARM = "manipulator 3.1, 3.2, 3.5 and E31."
TREE = "dynamics 9 and 10, D9 and D11, by Kane's form of symbolic 3.2."


def _chain(kind: str) -> Callable[[], str]:
    name = {"UPS": "Spring mechanism, U P S", "RUS": "Magnetic brake, R U S"}[kind]
    return lambda: module(probe_chains.chain(kind), f"{name}, of links with mass.", CHAINS)


def _joint(axis: int, name: str) -> Callable[[], str]:
    title = f"Revolute joint about {name} with the link that it carries."
    return lambda: module(arm_joint.joint(axis), title, ARM)


PRODUCTS: dict[str, Callable[[], str]] = {
    "components/physics/linkage/generated/strut.py": lambda: module(
        hexapod.strut(), "Strut U C U with a differential ball screw on a free node body.", CHAINS
    ),
    "components/physics/linkage/generated/crank.py": lambda: module(
        hexapod.crank(), "Crank with its rod, R U S, on a free node body.", CHAINS
    ),
    "components/physics/linkage/generated/ring.py": lambda: module(
        hexapod.ring(), "Ring on struts: its own motion, and the solution of all.", "dynamics 4.4, 7."
    ),
    "components/probe_mechanism/generated/spring.py": _chain("UPS"),
    "components/probe_mechanism/generated/brake.py": _chain("RUS"),
    "components/probe_mechanism/generated/housing_and_probe.py": lambda: module(
        probe_tree.tree(), "Housing and flexible probe.", TREE
    ),
    "components/probe_mechanism/generated/with_movable_limiter.py": lambda: module(
        probe_tree.tree(movable_limiter=True), "Housing, flexible probe and movable limiter.", TREE
    ),
    **{
        f"components/manipulator/generated/about_{name}.py": _joint(axis, name)
        for axis, name in ((X, "x"), (Y, "y"), (Z, "z"))
    },
}
