"""Twins of dockings: what was made is kept, and a start that failed counts as one whose bands hold nothing."""

import pytest

from benchmarks.validation import twins

pytestmark = pytest.mark.quick


def found(seed, everything, folder, members):
    """Return a start whose bands hold four of five peaks; an estimation that failed, and a start that is excluded."""
    (folder / "left over").touch()
    if seed == 2:
        return {"seed": seed, "error": "no members"}
    if seed == 3:
        return {"seed": seed, "excluded": "no capture"}
    low, middle, high = [99.0, 0.0, 1.0, 1.0, 5.0], [102.0, 0.0, 2.0, 2.0, 6.0], [103.0, 0.0, 3.0, 3.0, 7.0]
    true = [100.0, 0.0, 2.0, 2.0, 8.0]
    return {
        "seed": seed, "capture": 2.0, "end": 3.2, "true": true, "low": low, "middle": middle, "high": high,
        "misfit": 0.2, "runs": 1000, "cpu_s": 80.0,
    }  # fmt: skip


def test_an_interrupted_benchmark_goes_on_with_the_next_start(tmp_path, monkeypatch, capsys):
    made = []

    def stopping(seed, everything, folder, members):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append((seed, everything))
        return found(seed, everything, folder, members)

    monkeypatch.setattr(twins, "twin", stopping)
    with pytest.raises(KeyboardInterrupt):
        twins.main(tmp_path, 3, 1)
    assert made == [(1, True), (1, False)]
    monkeypatch.setattr(twins, "twin", lambda *given: made.append(given[:2]) or found(*given))
    capsys.readouterr()
    twins.main(tmp_path, 3, 1)
    assert made == [(seed, everything) for seed in (1, 2, 3) for everything in (True, False)]
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "| 1 | all | 2.00 s | 100 N | 99 to 103 N | 4 of 5 | 0.20 | 1000 | 80 s |",
        "| 1 | events | 2.00 s | 100 N | 99 to 103 N | 4 of 5 | 0.20 | 1000 | 80 s |",
        "| 2 | all | no members |",
    ]
    # one start of two is lost: none of its five peaks is inside
    assert lines[-2] == "all: 2 starts, 40% of 10 true peaks inside, median error of the axial force inf %"
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"] * 6
