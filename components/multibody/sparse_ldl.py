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
def _forward(panel, place, rows, width, value, first, target):
    """Take from `value` at `target` the product of a block (rows, width) at `place` with `value` at `first`."""
    if width == 3:
        x = value[first]
        y = value[first + 1]
        z = value[first + 2]
        for r in range(rows):
            own = place + 3 * r
            value[target + r] -= panel[own] * x + panel[own + 1] * y + panel[own + 2] * z
        return
    for r in range(rows):
        total = 0.0
        for c in range(width):
            total += panel[place + r * width + c] * value[first + c]
        value[target + r] -= total


@kernel
def _backward(panel, place, rows, width, value, first, target):
    """Take from `value` at `first` the product of a block (rows, width) at `place`, transposed, with it at `target`."""
    if width == 3:
        x = y = z = 0.0
        for r in range(rows):
            own = place + 3 * r
            known = value[target + r]
            x += panel[own] * known
            y += panel[own + 1] * known
            z += panel[own + 2] * known
        value[first] -= x
        value[first + 1] -= y
        value[first + 2] -= z
        return
    for r in range(rows):
        known = value[target + r]
        for c in range(width):
            value[first + c] -= panel[place + r * width + c] * known


@kernel
def solve(tie, bond, below, panel, value):
    """Solve for all bonds in place: `value` is the right-hand side, then the solution; after `factor`."""
    for j in range(len(tie)):
        t = tie[j]
        width = int(t.bonds)
        first = int(t.first_bond)
        place = int(t.panel)
        for c in range(width):
            for r in range(c + 1, width):
                value[first + r] -= panel[place + r * width + c] * value[first + c]
        place += width * width
        for b in range(int(t.first_below), int(t.first_below + t.belows)):
            later = tie[int(below[b].tie)]
            rows = int(later.bonds)
            _forward(panel, place, rows, width, value, first, int(later.first_bond))
            place += rows * width
    for j in range(len(tie) - 1, -1, -1):
        t = tie[j]
        width = int(t.bonds)
        first = int(t.first_bond)
        place = int(t.panel) + width * width
        for c in range(width):
            value[first + c] /= bond[first + c].pivot
        for b in range(int(t.first_below), int(t.first_below + t.belows)):
            later = tie[int(below[b].tie)]
            rows = int(later.bonds)
            _backward(panel, place, rows, width, value, first, int(later.first_bond))
            place += rows * width
        place = int(t.panel)
        for c in range(width - 1, -1, -1):
            for r in range(c + 1, width):
                value[first + c] -= panel[place + r * width + c] * value[first + r]
