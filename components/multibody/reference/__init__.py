"""Reference formulations of multibody dynamics in numpy, which share nothing with the kernels.

Theory: multibody-formulations.
"""
