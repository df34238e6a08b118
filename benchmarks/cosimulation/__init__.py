"""Cost of co-simulation: a macro step of this master and of others, processes, threads."""
