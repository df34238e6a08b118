"""What an FMU of another origin must have to take the place of an element, and a beginning of one."""
