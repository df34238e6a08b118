"""Draws of the assumed data of the cases that flew: strata, what is kept, and what the rows say."""

from __future__ import annotations

import numpy as np
import pytest

import dockfmu
from benchmarks.validation.flown import draws
from benchmarks.validation.flown.__main__ import CASES

RANGES = {"first": (1.0, 3.0), "second": (-1.0, 1.0)}


def case(measure):
    return draws.Case((draws.Quantity("sum", "at most 2", high=2.0), draws.Quantity("first", "any")), RANGES, measure)


def both(x):
    return x["first"] + x["second"], x["first"]


def test_each_datum_has_one_draw_in_each_part_of_its_range():
    drawn = draws.points(case(both), 16)
    for column, (low, high) in zip(drawn.T, RANGES.values(), strict=True):
        assert sorted(np.floor((column - low) / (high - low) * 16)) == list(range(16))


def test_quantiles_of_what_one_datum_decides_are_known_within_a_part():
    found = draws.collect("linear", case(both), 32)
    assert np.quantile(found[:, 1], [0.1, 0.9]) == pytest.approx([1.2, 2.8], abs=2.0 / 32)


def test_an_interrupted_campaign_goes_on_and_a_line_cut_off_is_run_again(tmp_path):
    runs = []

    def counted(x):
        runs.append(x)
        if len(runs) == 6:
            raise KeyboardInterrupt
        return both(x)

    with pytest.raises(KeyboardInterrupt):
        draws.collect("sum", case(counted), 8, tmp_path)
    file = tmp_path / "sum.jsonl"
    file.write_text(file.read_text()[:-20])
    found = draws.collect("sum", case(counted), 8, tmp_path)
    assert len(runs) == 6 + 8 - 4
    np.testing.assert_array_equal(found, draws.collect("sum", case(both), 8))


def test_a_run_that_fails_has_no_number_and_does_not_agree():
    def failing(x):
        if x["first"] > 2.0:
            raise dockfmu.DockfmuError("beyond a limit of the model")
        return both(x)

    found = draws.collect("sum", case(failing), 8)
    assert np.isnan(found).all(axis=1).sum() == 4
    assert "of 8, 4 without a number" in draws.rows(case(failing), found)[0]


def test_rows_count_the_draws_that_agree_and_name_what_they_follow():
    found = draws.collect("sum", case(both), 16)
    first, second = draws.rows(case(both), found)
    assert f"{int((found[:, 0] <= 2.0).sum())} of 16" in first
    assert "no number, 16 draws" in second
    assert "first +1.0" in second


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fall", "recoil", "legs"])
def test_cases_give_a_number_for_each_quantity_in_the_middle_of_their_ranges(name):
    """Three of those that take little time: a share of the peak that falls, a recoil, and legs of another geometry."""
    chosen = CASES[name]
    found = chosen.measure({name: 0.5 * (low + high) for name, (low, high) in chosen.ranges.items()})
    assert len(found) == len(chosen.quantities)
    assert np.isfinite(found).all()
