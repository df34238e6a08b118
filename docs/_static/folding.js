/* Opens folded parts for a link into them and for printing, in browsers that do not do it themselves. */
"use strict";

const openTo = () => {
  const target = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
  for (let part = target?.closest("details.fold"); part; part = part.parentElement?.closest("details.fold")) {
    part.open = true;
  }
  if (target?.closest("details.fold")) target.scrollIntoView();
};

document.addEventListener("DOMContentLoaded", openTo);
window.addEventListener("hashchange", openTo);
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("details.fold").forEach((part) => { part.open = true; });
});
