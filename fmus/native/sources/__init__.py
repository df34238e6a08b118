"""C sources of an FMU: the kernels translated from LLVM assembly, the shim, and how to compile them."""
