// The table beside a chart: some of its places, all of its runs, both ends as they were rounded.

import {make} from "./dom.js";
import {intervalCell, spelt} from "./spelling.js";

const ROWS = 11;

/** series: those of the chart; pins: places that are always shown. */
export function pointTable(caption, heading, series, pins) {
  const known = series.map((each) => new Map(each.points.map((point) => [point.xText, point])));
  const places = new Map();
  const most = Math.max(...series.map((each) => each.points.length));
  for (const each of series) {
    if (each.points.length < most / 2) continue; // a first picture, whose places are others
    const points = each.points.filter((point) => !point.between); // those that the server was asked for
    const rows = Math.min(ROWS, points.length);
    for (let row = 0; row < rows; row += 1) {
      const point = points[Math.round((row * (points.length - 1)) / Math.max(rows - 1, 1))];
      places.set(point.xText, point.x);
    }
  }
  for (const pin of pins) if (known.some((points) => points.has(pin))) places.set(pin, Number(pin));
  const rows = [...places].sort((one, two) => one[1] - two[1]);
  return scrolled(
    caption,
    make(
      "table",
      {},
      make("caption", {}, caption),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", {scope: "col"}, heading),
          series.map((each) =>
            make(
              "th",
              {scope: "col"},
              make("span", {class: `dot small-dot colour-${each.number}`, "aria-hidden": "true"}),
              each.label,
            ),
          ),
        ),
      ),
      make(
        "tbody",
        {},
        rows.map(([text]) =>
          make(
            "tr",
            {class: pins.includes(text) ? "pinned" : null},
            make("th", {scope: "row"}, `${spelt(text)}${pins.includes(text) ? " (pinned)" : ""}`),
            known.map((points) => make("td", {}, points.has(text) ? intervalCell(points.get(text)) : "–")),
          ),
        ),
      ),
    ),
  );
}

/** A table of texts. */
export function plainTable(caption, headings, rows) {
  return scrolled(
    caption,
    make(
      "table",
      {},
      make("caption", {}, caption),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          headings.map((each) => make("th", {scope: "col"}, each)),
        ),
      ),
      make(
        "tbody",
        {},
        rows.map(([first, ...rest]) =>
          make(
            "tr",
            {},
            make("th", {scope: "row"}, first),
            rest.map((each) => make("td", {}, each)),
          ),
        ),
      ),
    ),
  );
}

function scrolled(name, table) {
  return make("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": name}, table);
}
