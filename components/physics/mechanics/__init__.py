"""Mechanics of rigid bodies: vectors, small matrices, rotations, mass data, spatial vectors, relative motion."""
