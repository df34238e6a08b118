"""Native FMUs: kernels compiled ahead of time, a generic C shim, one compiler (zig) for every platform."""
