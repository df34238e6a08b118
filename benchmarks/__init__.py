"""Costs in time on this machine, printed as tables."""
