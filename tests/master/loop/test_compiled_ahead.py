"""`python -m dockfmu.master` compiles the loop ahead of the first run."""

from dockfmu.master import loop
from dockfmu.master.__main__ import main
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation


def test_a_run_compiles_the_loop_no_more(swing):
    """The tables of an empty system have the same types as those of any other system."""
    main()
    before = len(loop.advance.loaded)
    assert CoSimulation(swing, Schedule(step=0.01, stop=0.1)).run().status == "completed"
    assert len(loop.advance.loaded) == before
