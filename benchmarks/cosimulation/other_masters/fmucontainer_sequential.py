# /// script
# dependencies = ["fmu-manipulation-toolbox==2.0", "fmpy==0.3.32"]
# ///
"""The same container with its FMUs stepped one after the other."""

import fmucontainer
from job import answer

if __name__ == "__main__":
    fmucontainer.SEQUENTIAL = True
    answer(fmucontainer.run)
