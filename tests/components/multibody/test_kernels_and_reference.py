"""The recursion of the FMUs against WITT, CART and the second ABA: oracle 2 of multibody-formulations."""

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.reference.algebra import cross
from dockfmu.components.multibody.reference.articulated import articulated
from dockfmu.components.multibody.reference.cartesian_solution import cartesian
from dockfmu.components.multibody.reference.graph_method import equations, loads, solve
from tests.components.multibody.declared_models import motion_of
from tests.components.multibody.random_models import KINDS, body_accelerations, made, random_model

# accelerations relative to the largest; conditions of mass matrices are up to 1e4
TOLERANCE = 1e-10


@pytest.mark.parametrize("seed", range(12))
def test_spec10_oracle_2_kernels_equal_the_reference_formulations(seed):
    """Trees of all kinds of joints, with predecessors and successors in both directions."""
    model = random_model(100 + seed, 7, (KINDS[1 + seed],) if seed < 8 else KINDS, reverse=0.5)
    found = body_accelerations(Instance(made(model)), model)
    system = Multibody(model)
    motion = motion_of(system)
    given = loads(system.system, model.gravity)
    tree = equations(motion, given)
    cart = cartesian(motion, given)
    for a, e in (tree.accelerations(solve(tree.A, tree.B)[0]), articulated(motion, given)[1:], (cart.a, cart.e)):
        size = 1.0 + max(np.abs(a).max(), np.abs(e).max())
        for k, body in enumerate(model.bodies):
            # from the centre of mass to the origin of the body
            arm, w = -motion.A[k + 1] @ np.array(body.center), motion.w[k + 1]
            origin = a[k] + cross(e[k], arm) + cross(w, cross(w, arm))
            np.testing.assert_allclose(found[body.name][:3], origin, rtol=0, atol=TOLERANCE * size)
            np.testing.assert_allclose(found[body.name][3:], e[k], rtol=0, atol=TOLERANCE * size)
