"""Campaigns: runs per second, and results that are computed by many runs."""
