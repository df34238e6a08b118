"""Elastic bodies in large motion: inertia invariants of a reduced finite-element body, and its file."""
