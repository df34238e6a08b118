"""`python -m components.codegen`: regenerate every generated module of the repository."""

from base.cache import ROOT
from components.codegen.products import PRODUCTS

for path, source in PRODUCTS.items():
    (ROOT / path).write_text(source(), encoding="utf-8")
    print(path)
