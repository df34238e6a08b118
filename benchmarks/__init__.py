"""Costs in this machine's time, printed as tables."""
