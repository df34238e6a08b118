"""The sub-commands of `dockfmu`: each adds its parser, calls the public interface, and prints."""
