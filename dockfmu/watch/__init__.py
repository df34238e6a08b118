"""Observers and drivers that accompany the run of a system: balance and its judgement, outcome, clock, streams."""
