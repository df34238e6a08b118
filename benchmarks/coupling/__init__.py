"""Accuracy of the coupling, and systems whose coupling can be computed by hand, for tests and figures."""
