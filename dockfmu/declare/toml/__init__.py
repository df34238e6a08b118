"""The reading of TOML tables: values, quantities with units, files."""
