"""Kernels made by `python -m components.codegen` from the declarations in `components/codegen/products`."""
