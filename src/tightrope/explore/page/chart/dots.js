// A dot chart that compares a certified interval with other bounds.
//
// model = {
//   title, label (of the axis), scale: "linear" | "log", min, max (optional), locale (optional),
//   rows: [{label, value: number | Infinity | null, text, kind: "bound" | "approximation" | "certified",
//           low, high (certified only), note}],
//   words: {bound, approximation, certified} (names in the key, optional)
// }
// Texts come from the server; values place the dots. A row without a value shows its note.

import {usable, placeOf, inside, drawable} from "./scale.js";
import {levelTicks} from "./ticks.js";
import {localised, tick} from "./numbers.js";
import {shape, shorten, drawToWidth, keyRow} from "./svgdom.js";

export {barsChart} from "./bars.js";

const WORDS = {certified: "certified interval", bound: "bound", approximation: "approximation"};
const KINDS = ["certified", "bound", "approximation"];
const EDGE = 14;

/** The axis: as given, or wide enough for every dot, from zero where it is linear. */
function dotsAxis({label, scale, min, max, rows}) {
  const values = rows
    .flatMap(({value, low, high}) => [value, low, high])
    .filter((value) => Number.isFinite(value) && (scale !== "log" || value > 0));
  const least = Math.min(...values, scale === "log" ? Infinity : 0);
  const most = Math.max(...values);
  const [low, high] = scale === "log" ? [least / 1.5, most * 1.5] : [least, most * 1.08];
  return usable({label, scale, min: min ?? low, max: max ?? high});
}

/** The mark of a kind around (x, y): a disc, a diamond left open, or a bar. */
function mark(kind, x, y, width = 4) {
  if (kind === "certified") {
    return shape("rect", {class: "tr-mark-certified", x: x - width / 2, y: y - 7, width, height: 14, rx: 1});
  }
  if (kind === "approximation") {
    return shape("path", {class: "tr-mark-approximation", d: `M${x - 5},${y} l5,-5 l5,5 l-5,5 Z`});
  }
  return shape("circle", {class: "tr-mark-bound", cx: x, cy: y, r: 5});
}

/** An arrow out of the plot for a value without end. */
function endless(x, y) {
  return shape("path", {class: "tr-mark-endless", d: `M${x - 12},${y} h12 m-5,-4 l5,4 l-5,4`});
}

const centred = (className, x, y, text) => shape("text", {class: className, x, y, "text-anchor": "middle"}, text);

function drawGrid(svg, axis, frame, locale) {
  const {major} = levelTicks(axis, frame.width);
  for (const value of major) {
    const x = frame.left + placeOf(axis, value) * frame.width;
    svg.append(
      shape("line", {class: "tr-svg-grid", x1: x, x2: x, y1: frame.top, y2: frame.bottom}),
      centred("tr-svg-tick", x, frame.bottom + 16, localised(tick(value), locale)),
    );
  }
  const right = frame.left + frame.width;
  svg.append(
    shape("line", {class: "tr-svg-axis", x1: frame.left, x2: right, y1: frame.bottom, y2: frame.bottom}),
    centred("tr-svg-label", (frame.left + right) / 2, frame.bottom + 36, axis.label),
  );
}

/** The certified interval across all rows, never thinner than a hair. */
function drawBand(svg, axis, frame, certified) {
  for (const {low, high} of certified) {
    const from = frame.left + inside(placeOf(axis, low)) * frame.width;
    const to = frame.left + inside(drawable(placeOf(axis, high))) * frame.width;
    const width = Math.max(2, to - from);
    svg.append(
      shape("rect", {
        class: "tr-svg-band",
        x: (from + to - width) / 2,
        y: frame.top,
        width,
        height: frame.bottom - frame.top,
      }),
    );
  }
}

/** A row's mark with its text on the side that has room, or its note where there is no value. */
function drawValue(svg, row, axis, frame, y, locale) {
  const isCertified = row.kind === "certified" && Number.isFinite(row.low);
  const value = isCertified ? row.high : row.value;
  if (value === null || value === undefined || Number.isNaN(value)) {
    const note = shape("text", {class: "tr-svg-note", x: frame.left + 6, y: y + 4}, row.note ?? "");
    svg.append(note);
    shorten(note, frame.width - 6);
    return;
  }
  const x = frame.left + inside(drawable(placeOf(axis, value))) * frame.width;
  if (value === Infinity) {
    svg.append(endless(x, y));
  } else if (isCertified) {
    const from = frame.left + inside(placeOf(axis, row.low)) * frame.width;
    svg.append(mark("certified", (from + x) / 2, y, Math.max(4, x - from)));
  } else {
    svg.append(mark(row.kind, x, y));
  }
  const text = shape("text", {class: `tr-svg-value is-${row.kind}`, y: y + 4}, localised(row.text ?? "", locale));
  if (row.note) {
    text.append(shape("title", {}, row.note));
  }
  svg.append(text);
  const length = text.getComputedTextLength();
  const fits = x + 10 + length <= frame.left + frame.width + EDGE;
  text.setAttribute("x", fits ? x + 10 : x - (value === Infinity ? 18 : 10));
  text.setAttribute("text-anchor", fits ? "start" : "end");
}

/** Draws the dot chart into a container and gives its SVG element; it follows the container's width. */
export function dotsChart(container, model) {
  const words = {...WORDS, ...model.words};
  const locale = model.locale ?? document.documentElement.lang;
  const axis = dotsAxis(model);
  const certified = model.rows.filter(({kind, low}) => kind === "certified" && Number.isFinite(low));
  const kinds = KINDS.filter((kind) => model.rows.some((row) => row.kind === kind)).map((kind) => ({
    kind,
    label: words[kind],
  }));
  const said = model.rows.map(({label, text, note}) => `${label}: ${localised(text || note || "", locale)}`);
  const summary = [model.title, said.join("; ")].filter(Boolean).join(". ");

  return drawToWidth(container, "tr-svg tr-dots-chart", summary, (svg, width) => {
    const narrow = width < 560;
    const rowHeight = narrow ? 46 : 32;
    const labels = narrow ? 0 : Math.min(260, width * 0.34);
    const top = keyRow(svg, kinds, width, 0, ({kind}) => mark(kind, 7, 5, 4)) + 8;
    const frame = {
      left: labels + (narrow ? EDGE : 16),
      top,
      width: width - labels - (narrow ? 2 * EDGE : 16 + EDGE),
      bottom: top + rowHeight * model.rows.length,
    };
    drawGrid(svg, axis, frame, locale);
    drawBand(svg, axis, frame, certified);
    model.rows.forEach((row, index) => {
      const middle = top + rowHeight * (index + (narrow ? 0.68 : 0.5));
      const label = shape(
        "text",
        {
          class: `tr-svg-row is-${row.kind}`,
          x: narrow ? EDGE : labels,
          y: narrow ? middle - 17 : middle + 4,
          "text-anchor": narrow ? "start" : "end",
        },
        row.label,
      );
      svg.append(label);
      shorten(label, narrow ? width - 2 * EDGE : labels);
      drawValue(svg, row, axis, frame, middle, locale);
    });
    return frame.bottom + 44;
  });
}
