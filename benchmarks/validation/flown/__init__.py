"""Held against what flew: campaigns and searches around the named systems of docs/validation/flown.md."""
