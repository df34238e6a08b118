"""`python -m dockfmu` is the command `dockfmu`."""

from dockfmu.cli import main

raise SystemExit(main())
