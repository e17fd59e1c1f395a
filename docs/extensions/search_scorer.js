// How the search of the site sorts its results: pages for users come first, and those with the query in their title or
// file name.
const searchQuery = (new URLSearchParams(window.location.search).get("q") ?? "").trim().toLowerCase();
const searchSections = {howto: 6, start: 6, explanation: 4, gallery: 2, development: -4};

var Scorer = {
  score: ([page, title, , , score]) =>
    score + (searchSections[page.split("/")[0]] ?? 0) + (`${title} ${page}`.toLowerCase().includes(searchQuery) ? 5 : 0),

  // the defaults of Sphinx
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
