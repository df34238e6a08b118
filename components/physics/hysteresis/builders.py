"""Laws built from a few numbers: kernels that fill a law's sub-record at initialisation."""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel

# fraction of the range below which the last segment of a branch gets no length: its slope would be a rounding error
SHORTEST = 1e-9


@kernel
def _point(p, side, i, forward, forward_reaction, backward, backward_reaction):
    p.forward_deformation[side, i] = forward
    p.forward_reaction[side, i] = forward_reaction
    p.backward_deformation[side, i] = backward
    p.backward_reaction[side, i] = backward_reaction


@kernel
def largest_loss(common, ratio):
    """Return the largest loss of an `elastic_loop`: its backward branch is then flat from point 2 to the corner."""
    return (1.0 - common) * (1.0 - common) * (1.0 - 1.0 / ratio)


@kernel
def elastic_loop_side(p, side, stiffness, limit, free_play, common, loss, ratio):
    """Fill one `side` of `p` with a loop of straight branches; for the arguments see `elastic_loop`."""
    length = limit - free_play
    k3 = ratio * stiffness
    second = free_play + common * length
    middle = 0.5 * (second + limit)
    # the loop is the triangle of point 2, the last point, and the corner of the backward branch
    corner = limit - loss * length * length / ((1.0 - common) * length * (ratio - 1.0))
    if limit - corner < SHORTEST * limit:
        corner = limit
    start = stiffness * (second - free_play)
    # rounding must not put it below the common segment
    lower = max(start, stiffness * length - k3 * (limit - corner))
    p.points[side] = 4.0
    p.transition_stiffness[side] = k3
    _point(p, side, 0, free_play, 0.0, free_play, 0.0)
    _point(p, side, 1, second, start, second, start)
    _point(p, side, 2, middle, stiffness * (middle - free_play), corner, lower)
    _point(p, side, 3, limit, stiffness * length, limit, stiffness * length)


@kernel
def elastic_loop(p, stiffness, limit, free_play, common, loss, ratio):
    """Fill `p` with a symmetric loop of straight branches.

    `stiffness` of the forward branch; `limit` and `free_play`: deformations where the working range and the free play
    end; `common`: length of the common first segment over limit - free_play (0.02 .. 0.05); `loss`: area of the full
    loop over the work of loading, 0 (elastic) .. `largest_loss`; `ratio` > 1: transition_stiffness over stiffness.
    Beyond `limit` the element is as stiff as in the transitions.
    """
    for side in range(2):
        elastic_loop_side(p, side, stiffness, limit, free_play, common, loss, ratio)
