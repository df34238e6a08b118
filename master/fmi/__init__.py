"""One FMU of any version, in this process or a separate one, independent of any system."""
