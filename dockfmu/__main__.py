"""The entry of the command `dockfmu`, also as `python -m dockfmu`."""

# the module `signal` makes enumerations first, milliseconds in which Ctrl-C may come
import _signal as signal  # type: ignore[import-not-found]


def main() -> int:
    """Run the command.

    Outside the work of the command, while modules are imported and at exit, Ctrl-C ends the process as it ends a
    program in C: at once, without a traceback, by the signal itself. An interruption of an import leaves nothing to
    close, and can come at any of a thousand lines.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from dockfmu.cli import main as command

    return command()


if __name__ == "__main__":
    raise SystemExit(main())
