"""One FMU of any version, in this process or in one of its own; knows no system."""
