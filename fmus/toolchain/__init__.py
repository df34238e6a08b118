"""The tool chain: platforms, the C compiler for all of them, and readers of the shared libraries that it makes."""
