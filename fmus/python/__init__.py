"""FMUs that run the kernels in the importer's Python, through pythonfmu: for debugging and for comparison."""
