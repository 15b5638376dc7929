// The budgets of a ledger, parts under what they are a part of: a button each, how much of it is used, and its state.

import {fill, make} from "../dom.js";

/** rows: of the server, parents first; null while nothing is known. What has the keyboard keeps it. */
export function drawTree(element, rows, chosen, choose) {
  const drawn = JSON.stringify([rows, chosen]);
  if (element.drawn === drawn) return;
  element.drawn = drawn;
  if (!rows?.length) {
    const said = rows === null ? "The ledger is being asked." : "There are no budgets yet.";
    fill(element, make("p", {class: rows === null ? "quiet waiting" : "quiet"}, said));
    return;
  }
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset.name : null;
  const {scrollTop} = element;
  fill(
    element,
    make(
      "ul",
      {},
      rows.map((row) => item(row, row.name === chosen, choose)),
    ),
  );
  element.scrollTop = scrollTop;
  if (focused) element.querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus({preventScroll: true});
}

function item(row, current, choose) {
  const found = make(
    "li",
    {},
    make(
      "button",
      {type: "button", "data-name": row.name, "aria-current": current && "true", onclick: () => choose(row.name)},
      make("span", {class: "tree-name"}, row.name),
      row.state === "open" ? null : make("span", {class: "state stopped"}, row.state),
      row.share === null ? null : bar(row.share),
      make("span", {class: "beneath"}, row.words),
    ),
  );
  found.style.setProperty("--depth", Math.min(row.depth, 6));
  return found;
}

/** For the eye alone: the words say the same. */
function bar(share) {
  const inner = make("span", {class: "bar-used"});
  inner.style.inlineSize = `${share * 100}%`;
  return make("span", {class: "bar", "aria-hidden": "true"}, inner);
}
