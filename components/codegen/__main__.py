"""`python -m components.codegen`: write every generated module of the repository anew."""

from components.codegen.products import PRODUCTS
from components.core.sources import ROOT

for path, make in PRODUCTS.items():
    (ROOT / path).write_text(make(), encoding="utf-8")
    print(path)
