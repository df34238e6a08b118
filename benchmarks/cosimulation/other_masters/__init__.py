"""Runners of other masters, each for its own environment."""
