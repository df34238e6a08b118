"""The chains in numpy of the tests of `linkage` serve here too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "linkage"))
