"""Progress of a campaign: what was made, how fast, how long it takes still, and what came out."""

from dockfmu.campaign import progress
from dockfmu.campaign.progress import CampaignProgress


def test_progress_says_rate_time_left_and_outcomes(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    said = []
    # an interrupted campaign: 40 of 1000 runs were there, and do not count for the rate
    shown = CampaignProgress(1000, 40, said.append)
    assert shown.line() == "40 of 1000 runs; 0 runs/s"
    for k in range(60):
        shown.count({"outcome": "docked" if k % 3 else "missed"})
    now[0] += 0.5
    shown.tick()
    assert said == []
    now[0] += 9.5
    shown.tick()
    shown.tick()
    # 900 runs at 6 a second
    assert said == ["100 of 1000 runs; 6 runs/s; 2 min left; docked 40, missed 20"]
    for _ in range(840):
        shown.count({"outcome": "docked"})
    shown.end()
    assert said[1] == "940 of 1000 runs; 90 runs/s; 1 s left; docked 880, missed 20"
