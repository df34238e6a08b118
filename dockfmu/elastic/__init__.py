"""Reduction of finite-element models to elastic bodies: readers, Craig-Bampton reduction, checks, pictures."""
