"""`python -m dockfmu.components.codegen`: regenerate every generated module of the repository."""

from dockfmu.base.cache import ROOT
from dockfmu.components.codegen.products import PRODUCTS

for path, source in PRODUCTS.items():
    (ROOT / path).write_text(source(), encoding="utf-8")
    print(path)
