"""A clock for paced runs that takes no time."""

from dockfmu.master.drivers.driver import Function
from dockfmu.master.observers import pacing


class Clock:
    """Clock that is advanced only by sleep, by the spinning at the end of a wait, and by `busy`."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(pacing, "time", self)

    def perf_counter(self):
        self.now += 1e-6
        return self.now

    def sleep(self, seconds):
        assert seconds > 0.0
        self.now += seconds

    def busy(self, times):
        """Return a driver that takes a given time before the steps that begin at these times."""

        def work(t):
            self.now += sum(seconds for at, seconds in times.items() if abs(at - t) < 1e-9)
            return {}

        return Function(["a.u[1]"], work)
