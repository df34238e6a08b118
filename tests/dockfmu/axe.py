"""What axe-core finds wrong with a page: contrast, names, roles, keys (WCAG 2.2 A and AA, and best practice).

axe-core (MPL-2.0) is not part of dockfmu: the package axe-playwright-python, which only tests install, carries it.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page) -> list[str]:
    """Return each rule that a page breaks, with the elements that break it; at least 15 rules must have been kept."""
    found = find_spec("axe_playwright_python")
    if found is None:
        pytest.skip("pip install dockfmu[test] for axe-core")
    page.evaluate((Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    answer = page.evaluate("tags => axe.run(document, {runOnly: tags})", RULES)
    assert len(answer["passes"]) >= 15
    return [f"{v['id']}: {v['help']}: {[n['target'] for n in v['nodes']]}" for v in answer["violations"]]
