/* How the search of the site ranks: guides before reference, a page whose title is the query before all. */
"use strict";

var Scorer = (() => {
  const HOW_TO = /^guide\/(first-campaign|my-craft|my-probe|own-mechanism|structural-loads|how-do-i)$|^getting-started$/;
  const EACH = [
    [HOW_TO, 40],
    [/^guide\//, 15],
    [/^(gallery|contents|limits|develop\/component)$/, 10],
    [/^reference\/(systems|api|commands)/, 5],
    [/^(changelog|develop\/|validation\/|theory\/(data|errata|rulings|checks))/, -20],
  ];
  const query = (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase();
  const words = query.split(/[^\w]+/).filter((word) => word.length > 2);

  const score = ([docname, title, , , before]) => {
    const name = `${title} ${docname}`.toLowerCase();
    const named = words.filter((word) => name.includes(word)).length / Math.max(words.length, 1);
    const exact = query && title.toLowerCase() === query ? 200 : 0;
    const place = EACH.find(([pattern]) => pattern.test(docname));
    // what the words of a title say counts more in a guide
    const weight = docname.startsWith("guide/") || docname === "getting-started" ? 60 : 20;
    return before + exact + weight * named + (place ? place[1] : 0);
  };
  // a page that was opened as a file may not read its neighbours for their first lines
  if (window.location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  return {
    score,
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
  };
})();
