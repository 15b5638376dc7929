// Charts as standalone SVG files: the line chart drawn anew from its model, the others copied from the page.

import {usable, placeOf} from "./scale.js";
import {uprightTicks, levelTicks, tickText} from "./ticks.js";
import {outline} from "./geometry.js";
import {BAND_OPACITY, HIGH_WIDTH} from "./paint.js";
import {element, text, escaped, guessed, cut, short, wrapped, FONT, CENTRED, TO_THE_LEFT} from "./svgtext.js";
import {across, upwards, dashes, drawSeries, drawGuides, drawPins, drawTargets} from "./svgmarks.js";

export {nodeSvg, NODE_MARGIN} from "./svgnode.js";

const LINE = 20;

/** The key of the series, wrapped to the width: {height, draw(top)}. */
function keyOf(series, width, theme) {
  let left = 0;
  let line = 0;
  const spots = series.map((one) => {
    const label = cut(one.label, 12, width - 30);
    const needed = 26 + guessed(label, 12) + 18;
    if (left > 0 && left + needed - 18 > width) {
      left = 0;
      line += 1;
    }
    const spot = {one, label, left, line};
    left += needed;
    return spot;
  });
  return {
    height: series.length ? (line + 1) * LINE : 0,
    draw: (start, top) =>
      spots
        .map(({one, label, left: x, line: row}) => {
          const y = top + row * LINE;
          return (
            element("rect", {
              x: start + x,
              y: y + 4,
              width: 20,
              height: 8,
              fill: one.colour,
              "fill-opacity": BAND_OPACITY,
            }) +
            element("line", {
              x1: start + x,
              x2: start + x + 20,
              y1: y + 4,
              y2: y + 4,
              stroke: one.colour,
              "stroke-width": HIGH_WIDTH,
              ...dashes(one.dashed),
            }) +
            text(label, start + x + 26, y + 12, 12, theme.ink)
          );
        })
        .join(""),
  };
}

function drawAxes(frame, x, y, theme, locale) {
  const level = (value, more) =>
    element("line", {
      x1: frame.left,
      x2: frame.left + frame.width,
      y1: upwards(frame, placeOf(y, value)),
      y2: upwards(frame, placeOf(y, value)),
      stroke: theme.line,
      ...more,
    });
  const upright = (value, more) =>
    element("line", {
      x1: across(frame, placeOf(x, value)),
      x2: across(frame, placeOf(x, value)),
      y1: frame.top,
      y2: frame.top + frame.height,
      stroke: theme.line,
      ...more,
    });
  const faint = {"stroke-opacity": 0.4};
  const foot = frame.top + frame.height;
  return [
    ...frame.xTicks.minor.map((value) => upright(value, faint)),
    ...frame.yTicks.minor.map((value) => level(value, faint)),
    ...frame.xTicks.major.map((value) => upright(value)),
    ...frame.yTicks.major.map((value) => level(value)),
    ...frame.xTicks.major.map((value) =>
      text(tickText(x, value, locale), across(frame, placeOf(x, value)), foot + 17, 12, theme.quiet, CENTRED),
    ),
    ...frame.yTicks.major.map((value) =>
      text(tickText(y, value, locale), frame.left - 7, upwards(frame, placeOf(y, value)) + 4, 12, theme.quiet, TO_THE_LEFT),
    ),
    element("path", {
      d: `M${short(frame.left)},${short(frame.top)}V${short(foot)}H${short(frame.left + frame.width)}`,
      fill: "none",
      stroke: theme.quiet,
    }),
    text(x.label, frame.left + frame.width / 2, foot + 37, 13, theme.ink, CENTRED),
    text(y.label, 12, frame.top - 10, 13, theme.ink),
  ].join("");
}

/** What is said in the middle of a plot with nothing in it. */
function emptyText(frame, said, theme) {
  const lines = wrapped(said, 13, frame.width * 0.8);
  const middle = frame.left + frame.width / 2;
  const top = frame.top + frame.height / 2 - (lines.length - 1) * 9;
  const more = {...CENTRED, stroke: theme.surface, "stroke-width": 6, "paint-order": "stroke"};
  return lines.map((line, index) => text(line, middle, top + index * 18, 13, theme.quiet, more)).join("");
}

/** The line chart of a model as the text of an SVG file of this size. */
export function chartSvg(model, theme, size) {
  const {width, height} = size;
  const locale = model.locale ?? globalThis.document?.documentElement.lang;
  const axes = {x: usable(model.x), y: usable(model.y)};
  const series = model.series ?? [];
  const outlines = series.map((one) => outline(one, axes.x, axes.y));
  const key = keyOf(series, width - 24, theme);
  const titleHeight = model.title ? 28 : 0;
  const frame = {top: titleHeight + 32};
  frame.height = Math.max(40, height - frame.top - 50 - key.height - 6);
  frame.yTicks = uprightTicks(axes.y, frame.height);
  frame.left = 18 + Math.max(22, ...frame.yTicks.major.map((value) => guessed(tickText(axes.y, value), 12) + 6));
  frame.width = Math.max(40, width - frame.left - 22);
  frame.xTicks = levelTicks(axes.x, frame.width);
  const clip = element(
    "clipPath",
    {id: "plot"},
    element("rect", {
      x: frame.left,
      y: frame.top - 2,
      width: frame.width,
      height: frame.height + 4,
    }),
  );
  const nothing = !series.some(({points}) => points.length > 0) && model.empty;
  const inner = [
    drawGuides(frame, model.guides ?? [], axes.x, axes.y, theme),
    drawSeries(frame, series, outlines),
    drawPins(frame, model.pins ?? [], axes.x, outlines, series, theme),
    drawTargets(frame, model.targets ?? [], axes, theme),
  ].join("");
  return element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-family": FONT,
    },
    [
      element("title", {}, escaped(model.title ?? "")),
      element("rect", {width, height, fill: theme.surface}),
      element("defs", {}, clip),
      model.title ? text(cut(model.title, 16, width - 24), 12, 24, 16, theme.ink, {"font-weight": 600}) : "",
      drawAxes(frame, axes.x, axes.y, theme, locale),
      element("g", {"clip-path": "url(#plot)"}, inner),
      emptyText(frame, nothing || "", theme),
      key.draw(12, height - key.height - 4),
    ].join(""),
  );
}
