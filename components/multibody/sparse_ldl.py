"""L D L^T of a sparse symmetric positive matrix in blocks, on a pattern that is known beforehand.

The unknowns are the bonds of ties, in the order of elimination (`sparse_order`). The columns of a tie are a panel: its
own rows first, then those of the later ties that are coupled to it when it is eliminated, rows after rows, as long as
the tie has bonds. A row that takes no part is zero, with one on the diagonal.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel

LEAST_PIVOT = 1e-12
"""Of the diagonal before the elimination: below it a bond depends on those before."""


@kernel
def _factor_panel(t, bond, panel):
    """Factor the columns of a tie, the rows of later ties with them. Returns 0, or 1 + a bond that has no pivot."""
    width = int(t.bonds)
    height = int(t.height)
    begin = int(t.panel)
    first = int(t.first_bond)
    for c in range(width):
        column = begin + c
        pivot = panel[column + c * width]
        if not pivot > LEAST_PIVOT * bond[first + c].strength:
            return first + c + 1
        bond[first + c].pivot = pivot
        inverse = 1.0 / pivot
        for k in range(c + 1, width):
            factor = panel[column + k * width] * inverse
            if factor != 0.0:
                for r in range(k, height):
                    panel[begin + r * width + k] -= factor * panel[column + r * width]
        for r in range(c + 1, height):
            panel[column + r * width] *= inverse
    return 0


@kernel
def _reduce_block(panel, place, rows, width, scaled, columns, target):
    """Take from a block (rows, columns) at `target` the product of one (rows, width) at `place` with `scaled`."""
    for r in range(rows):
        own = place + r * width
        to = target + r * columns
        if width == 3:
            # most joints are of three constraints
            x = panel[own]
            y = panel[own + 1]
            z = panel[own + 2]
            for k in range(columns):
                panel[to + k] -= x * scaled[k] + y * scaled[columns + k] + z * scaled[2 * columns + k]
        else:
            for c in range(width):
                x = panel[own + c]
                for k in range(columns):
                    panel[to + k] -= x * scaled[c * columns + k]


@kernel
def _reduce_later(t, tie, bond, below, panel, scaled):
    """Take from the panels of later ties what the elimination of the tie t changes in them."""
    width = int(t.bonds)
    first = int(t.first_bond)
    last_below = int(t.first_below + t.belows)
    from_row = int(t.panel) + width * width
    for a in range(int(t.first_below), last_below):
        later = tie[int(below[a].tie)]
        size = int(later.bonds)
        for c in range(width):
            pivot = bond[first + c].pivot
            for r in range(size):
                scaled[c * size + r] = panel[from_row + r * width + c] * pivot
        to_row = int(later.panel)
        _reduce_block(panel, from_row, size, width, scaled, size, to_row)
        to_row += size * size
        from_row += size * width
        # both lists are in the order of elimination, and that of the later tie has all that follow in this one
        search = int(later.first_below)
        other_row = from_row
        for b in range(a + 1, last_below):
            number = below[b].tie
            while below[search].tie != number:
                to_row += int(tie[int(below[search].tie)].bonds) * size
                search += 1
            rows = int(tie[int(number)].bonds)
            _reduce_block(panel, other_row, rows, width, scaled, size, to_row)
            other_row += rows * width


@kernel
def factor(tie, bond, below, panel, scaled):
    """Factor the matrix in place. Returns 0, or 1 + a bond that depends on those before."""
    for j in range(len(tie)):
        t = tie[j]
        failed = _factor_panel(t, bond, panel)
        if failed:
            return failed
        _reduce_later(t, tie, bond, below, panel, scaled)
    return 0


@kernel
def solve(tie, bond, below, panel):
    """Solve for `value` of all bonds in place, after `factor`."""
    for j in range(len(tie)):
        t = tie[j]
        width = int(t.bonds)
        first = int(t.first_bond)
        place = int(t.panel)
        for c in range(width):
            x = bond[first + c].value
            for r in range(c + 1, width):
                bond[first + r].value -= panel[place + r * width + c] * x
        place += width * width
        for b in range(int(t.first_below), int(t.first_below + t.belows)):
            later = tie[int(below[b].tie)]
            for r in range(int(later.bonds)):
                total = 0.0
                for c in range(width):
                    total += panel[place + r * width + c] * bond[first + c].value
                bond[int(later.first_bond) + r].value -= total
            place += int(later.bonds) * width
    for j in range(len(tie) - 1, -1, -1):
        t = tie[j]
        width = int(t.bonds)
        first = int(t.first_bond)
        place = int(t.panel) + width * width
        for c in range(width):
            bond[first + c].value /= bond[first + c].pivot
        for b in range(int(t.first_below), int(t.first_below + t.belows)):
            later = tie[int(below[b].tie)]
            for r in range(int(later.bonds)):
                x = bond[int(later.first_bond) + r].value
                for c in range(width):
                    bond[first + c].value -= panel[place + r * width + c] * x
            place += int(later.bonds) * width
        place = int(t.panel)
        for c in range(width - 1, -1, -1):
            for r in range(c + 1, width):
                bond[first + c].value -= panel[place + r * width + c] * bond[first + r].value
