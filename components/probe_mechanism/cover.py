"""Hatch cover: axial compliance of the mechanism's base on a ground stand, off in flight. spec/06 section 5.9."""

from components.core.kernel import kernel


@kernel
def initialize(cover):
    cover.travel = 0.0
    cover.rate = 0.0
    cover.dissipated = 0.0


@kernel
def _energy(p, cover):
    return 0.5 * p.mass * cover.rate * cover.rate + 0.5 * p.stiffness * cover.travel * cover.travel


@kernel
def advance(p, cover, force, h):
    """One implicit Euler step (S 6.1.6) of the cover under the mechanism's axial force on its base (N, along x_0).

    Stable for any stiffness; exact solution of the implicit 2 x 2 system. `travel` and `rate` along x_0. The energy
    booked as dissipated holds the numerical damping of implicit Euler.
    """
    ratio = h / p.mass
    stiffness = p.stiffness
    damping = p.damping
    determinant = 1.0 + (damping + h * stiffness) * ratio
    rate = (cover.rate + (force - stiffness * cover.travel) * ratio) / determinant
    travel = (cover.travel * (1.0 + damping * ratio) + h * (cover.rate + force * ratio)) / determinant
    before = _energy(p, cover)
    work = force * (travel - cover.travel)
    cover.travel = travel
    cover.rate = rate
    cover.dissipated += work - (_energy(p, cover) - before)


@kernel
def transmitted(p, cover):
    """Axial force in N that the cover passes on to the craft."""
    return p.stiffness * cover.travel + p.damping * cover.rate
