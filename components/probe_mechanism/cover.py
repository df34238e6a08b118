"""Hatch cover: axial compliance of the mechanism's base on a ground stand, off in flight. spec/06 section 5.9."""

from components.core.kernel import kernel


@kernel
def advance(p, cover, force, h):
    """One implicit Euler step (S 6.1.6) of the cover under the mechanism's axial force on its base (N, along x_0).

    Stable for any stiffness; exact solution of the implicit 2 x 2 system. `travel` and `rate` along x_0.
    """
    ratio = h / p.mass
    stiffness = p.stiffness
    damping = p.damping
    determinant = 1.0 + (damping + h * stiffness) * ratio
    rate = (cover.rate + (force - stiffness * cover.travel) * ratio) / determinant
    travel = (cover.travel * (1.0 + damping * ratio) + h * (cover.rate + force * ratio)) / determinant
    cover.work += force * (travel - cover.travel)
    cover.dissipated += damping * rate * rate * h
    cover.travel = travel
    cover.rate = rate


@kernel
def transmitted(p, cover):
    """Axial force in N that the cover passes on to the craft."""
    return p.stiffness * cover.travel + p.damping * cover.rate
