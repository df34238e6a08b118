"""The sub-commands of `dockfmu`: each adds its parser, calls the Python API and prints."""
