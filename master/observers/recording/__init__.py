"""Recordings in HDF5 files: written while the run goes on, read back at any time, also after a kill or damage."""

RESULTS = "results.h5"
"""Name of the recording in the folder of a run."""
