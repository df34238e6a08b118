"""System Structure and Parameterization 1.0: read, write, check, and turn into a system that the master runs."""
