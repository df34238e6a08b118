"""Closed chains in the kernels against LOOP and CART: oracle 2 of multibody-formulations, at random states."""

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.loop_order import ROWS
from dockfmu.components.multibody.model import CONSTRAINTS
from dockfmu.components.multibody.reference.algebra import cross
from dockfmu.components.multibody.reference.cartesian_solution import cartesian
from dockfmu.components.multibody.reference.graph_method import loads
from tests.components.multibody import declared_models
from tests.components.multibody.declared_models import motion_of
from tests.components.multibody.random_models import body_accelerations, made


@pytest.mark.parametrize("kind", sorted(set(ROWS) - set(CONSTRAINTS)))
def test_spec10_oracle_2_closed_chains_of_the_kernels_equal_the_cartesian_formulation(kind):
    rng = np.random.default_rng(declared_models.KINDS.index(kind))
    model = declared_models.closed_tree(rng, kind, kinds=("revolute", "universal", "spherical", "cylindrical", "free"))
    system = Multibody(model)
    motion = motion_of(system)
    expected = cartesian(motion, loads(system.system, model.gravity), dense=True)
    found = body_accelerations(Instance(made(model)), model)
    size = 1.0 + max(np.abs(expected.a).max(), np.abs(expected.e).max())
    for k, body in enumerate(model.bodies):
        arm, w = -motion.A[k + 1] @ np.array(body.center), motion.w[k + 1]
        origin = expected.a[k] + cross(expected.e[k], arm) + cross(w, cross(w, arm))
        np.testing.assert_allclose(found[body.name][:3], origin, rtol=0, atol=1e-8 * size)
        np.testing.assert_allclose(found[body.name][3:], expected.e[k], rtol=0, atol=1e-8 * size)
