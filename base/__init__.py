"""Facts and helpers that all other packages share, each stated once; this package imports none of them.

`errors` defines the base class of all errors, `names` near matches and file names, `units` units in terms of SI base
units, `numbers` numbers in JSON, `fmi` status codes and types of the standard, `platforms` platform names and the
baseline processor, `files` atomic writing and locks, `cache` the cache folder, `scene` the scenes of FMUs. `compiler`
and `object_code` compile Python functions to machine code, which `entry_points` calls.
"""
