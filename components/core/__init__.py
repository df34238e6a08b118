"""Building blocks of every component: its record, ports and parameters, the decorator of kernels, tables, noise."""
