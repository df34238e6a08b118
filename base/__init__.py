"""What components, exporter and master share: the cache folder, and compilation of Python functions to machine code.

It imports none of them.
"""
