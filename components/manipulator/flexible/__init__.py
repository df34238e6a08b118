"""Flexible links: beams as elastic bodies and lumped segments as springs in the recursion of declared systems."""
