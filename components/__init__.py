"""The physics: components as kernels over records. Nothing here knows FMI, files of results, or clocks."""
