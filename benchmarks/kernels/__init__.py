"""Cost of the kernels of the components."""
