"""Recordings in HDF5 files: written while the run goes on, read back at any time, also after a kill or damage."""
