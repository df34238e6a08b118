"""FMUs that run the kernels in the importer's Python, through pythonfmu: to debug, and to compare with the native."""
