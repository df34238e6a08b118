"""`python -m master`: the loop is compiled before there is a system."""

from master import loop
from master.__main__ import main
from master.run.simulation import run


def test_a_run_compiles_the_loop_no_more(swing):
    """The tables of no elements are of the same type as those of a system."""
    main()
    before = len(loop.advance.loaded)
    assert run(swing, step=0.01, stop=0.1).status == "completed"
    assert len(loop.advance.loaded) == before
