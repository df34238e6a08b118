"""The process in which an FMU under test runs: prints a line of JSON for each check that begins and each finding."""

import json
import sys
from pathlib import Path

from fmus.check.process import run_checks

run_checks(Path(sys.argv[1]), lambda said: print(json.dumps(said), flush=True))
