"""Comparison of whole dockings with what the source publishes: `python -m benchmarks.validation`."""
