"""Observers of a run: recorder, progress, events, peaks, audit and others."""
