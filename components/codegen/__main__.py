"""`python -m components.codegen`: write every generated module of the repository anew."""

from base.cache import ROOT
from components.codegen.products import PRODUCTS

for path, make in PRODUCTS.items():
    (ROOT / path).write_text(make(), encoding="utf-8")
    print(path)
