"""Runners of other masters, each for an environment of its own."""
