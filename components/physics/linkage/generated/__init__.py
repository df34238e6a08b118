"""Kernels made by `python -m dockfmu.components.codegen` from the declarations in `components/codegen/products`."""
