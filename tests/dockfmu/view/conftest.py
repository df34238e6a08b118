"""The browser of the tests of the page."""

import pytest

from tests.dockfmu.view.browser import CHROMIUM


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium of the system; tests are skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install dockfmu[test]")
    with sync_api.sync_playwright() as play:
        launched = play.chromium.launch(executable_path=CHROMIUM, headless=True)
        yield launched
        launched.close()
