"""The physics: components as kernels over records. Kernels use no FMI, no files and no clock."""
