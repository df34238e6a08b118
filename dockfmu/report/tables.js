"use strict";
// Fold tables that are wider than the page: each row becomes a block of its values, with the heads of the columns.
{
  const boxes = [...document.querySelectorAll(".wide")].filter((box) => box.querySelector("thead"));
  for (const box of boxes) {
    const heads = [...box.querySelectorAll("thead th")].map((head) => head.textContent);
    for (const row of box.querySelectorAll("tbody tr"))
      [...row.cells].forEach((cell, k) => {
        // a word that begins a row needs no head, a number does
        if (k > 0 || cell.classList.contains("number")) cell.dataset.head = heads[k];
      });
  }
  // all are measured before one is folded, so that the page is laid out twice, not once for each
  const fold = (some) => {
    for (const box of some) box.classList.remove("folded");
    const wide = some.map((box) => box.scrollWidth > box.clientWidth);
    some.forEach((box, k) => box.classList.toggle("folded", wide[k]));
  };
  fold(boxes);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) fold(boxes); width = innerWidth; });
  // a table in closed details has no width
  for (const part of document.querySelectorAll("details"))
    part.addEventListener("toggle", () => fold(boxes.filter((box) => part.contains(box))));
}
