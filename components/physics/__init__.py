"""Shared physics: what several components are built of, and no component by itself."""
