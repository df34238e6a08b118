"""What all other packages share, each fact once; it imports none of them.

`errors` has the error above all others, `names` near matches and names of files, `units` units in SI base units, `fmi`
status codes and types of the standard, `platforms` platforms and the baseline processor, `files` atomic writing
and locks, `cache` the cache folder, `compiler` the compilation of Python functions to machine code.
"""
