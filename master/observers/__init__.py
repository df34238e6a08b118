"""Watching a run: recorder, progress, events, peaks, audit."""
