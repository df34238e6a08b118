"""What all tests share."""

from hypothesis import settings

# the first call of a kernel compiles it: a deadline per example would fail by chance
settings.register_profile("dockfmu", deadline=None, derandomize=True)
settings.load_profile("dockfmu")
