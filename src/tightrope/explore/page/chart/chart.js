// A chart of certified curves.
//
// model = {
//   id: "curve", title: "...", locale: "de" (optional; else the language of the document),
//   x: {label, scale: "linear" | "log" | "time" (milliseconds, UTC), min, max}, y: the same,
//   series: [{id, label, colour, dashed, stepped (each point holds until the next), points: [{x, low, high, xText, lowText, highText}]}],
//     x rises; low <= high are doubles for drawing only, high may be Infinity; every series has its own grid of x;
//     the texts are the server's, rounded outward, and are the only numbers shown
//   guides: [{label, points: [{x, y}]}],
//   targets: [{id, axis: "x" | "y", value, label, text}],
//   pins: [{x, text}],
//   empty: "text to show when there is nothing to draw" | null
// }
//
// uPlot draws the axes, in places from 0 to 1 (scale.js), so that zooming or changing to a logarithmic axis changes
// only the gridlines: one instance serves for the life of the chart, and no update can make it flicker.

import uPlot from "../vendor/uplot/uPlot.esm.js";
import {placeOf} from "./scale.js";
import {uprightTicks, levelTicks, tickText} from "./ticks.js";
import {localised} from "./numbers.js";
import {makeView} from "./view.js";
import {readTheme} from "./theme.js";
import {paintMinorGrid, paintGuides, paintSeries, paintPins} from "./paint.js";
import {makeHover, snapped, leading} from "./hover.js";
import {makeTargets} from "./targets.js";
import {listenToPointer} from "./pointer.js";
import {listenToKeys} from "./keys.js";

const WORDS = {
  role: "interactive chart",
  against: "against",
  to: "to",
  keys:
    "Left and right arrow keys read along a curve, up and down change the curve, Enter pins a point, " +
    "plus and minus zoom, 0 shows everything.",
};
const EMPTY = {title: "", x: {min: 0, max: 1}, y: {min: 0, max: 1}};
const AXIS_FONT = 12;
const LABEL_ROOM = 26;
const X_AXIS_HEIGHT = 46;
const RIGHT_ROOM = 18;
const WIDTH_STEP = 8;

function part(className, parent) {
  const element = document.createElement("div");
  element.className = className;
  parent.append(element);
  return element;
}

/** Draws a chart in a container: {element, update(model), cursor(x | null), resize(), retheme(), destroy()}. */
export function makeChart(container, handlers = {}) {
  const words = {...WORDS, ...handlers.words};
  const element = part("tr-chart", container);
  const yLabel = part("tr-chart-y", element);
  const xLabel = part("tr-chart-x", element);
  const emptyArea = part("tr-chart-empty", element);
  const emptyText = part("tr-chart-empty-text", emptyArea);
  const call = (name, ...given) => handlers[name]?.(...given);
  let theme = readTheme(element);
  let view = makeView(EMPTY);
  let reading = null;

  const grids = {x: {major: [], minor: []}, y: {major: [], minor: []}};
  let yAxisWidth = 40;

  function gridlines(name, find) {
    return (plot) => {
      const pixels = (name === "x" ? plot.bbox.width : plot.bbox.height) / uPlot.pxRatio;
      grids[name] = find(view[name], pixels);
      return grids[name].major.map((value) => placeOf(view[name], value));
    };
  }

  const labels = (name) => () => grids[name].major.map((value) => tickText(view[name], value, view.locale));

  /** Room for the longest label so far: it only grows, and in steps, so that the plot does not jump while dragging. */
  function widthOfLabels(plot, values) {
    const longest = Math.max(0, ...(values ?? []).map((text) => text.length));
    yAxisWidth = Math.max(yAxisWidth, Math.ceil((longest * 6.7 + 14) / WIDTH_STEP) * WIDTH_STEP);
    return yAxisWidth;
  }

  const axisLook = () => ({
    font: `${AXIS_FONT}px ${theme.font}`,
    stroke: () => theme.quiet,
    gap: 6,
    grid: {stroke: () => theme.line, width: 1},
    ticks: {show: false},
    border: {show: true, stroke: () => theme.quiet, width: 1},
  });

  const sheet = (plot) => ({ctx: plot.ctx, box: plot.bbox, ratio: uPlot.pxRatio, theme});

  const plot = new uPlot(
    {
      width: Math.max(1, element.clientWidth),
      height: Math.max(1, element.clientHeight),
      padding: [LABEL_ROOM, RIGHT_ROOM, 0, 0],
      legend: {show: false},
      cursor: {show: false},
      select: {show: false},
      scales: {x: {time: false, auto: false, range: [0, 1]}, y: {auto: false, range: [0, 1]}},
      series: [{}, {paths: () => null, points: {show: false}}],
      axes: [
        {...axisLook(), size: X_AXIS_HEIGHT, splits: gridlines("x", levelTicks), values: labels("x")},
        {...axisLook(), size: widthOfLabels, splits: gridlines("y", uprightTicks), values: labels("y")},
      ],
      hooks: {
        drawClear: [(drawn) => paintMinorGrid(sheet(drawn), view.x, view.y, grids.x.minor, grids.y.minor)],
        draw: [
          (drawn) => {
            paintGuides(sheet(drawn), view.guides, view.guideLines);
            paintSeries(sheet(drawn), view.series, view.outlines);
            paintPins(sheet(drawn), view.pins, view.x, view.series, view.outlines);
            arrange();
          },
        ],
      },
    },
    [
      [0, 1],
      [0, 1],
    ],
    element,
  );

  const layer = part("tr-chart-layer", plot.over.parentNode);
  const hover = makeHover(layer);
  const targets = makeTargets(layer, (change) => call("target", change));
  plot.over.tabIndex = 0;
  plot.over.setAttribute("role", "application");
  plot.over.setAttribute("aria-roledescription", words.role);
  emptyArea.hidden = true;

  /** Lays the layer and the labels over the plot uPlot has just drawn. */
  function arrange() {
    const {left, top, width, height} = plot.over.style;
    Object.assign(layer.style, {left, top, width, height});
    Object.assign(emptyArea.style, {left, top, width, height});
    Object.assign(xLabel.style, {left, width});
    view.width = Math.max(1, parseFloat(width));
    view.height = Math.max(1, parseFloat(height));
    targets.update(view);
    refreshReading();
  }

  /** What the hover shows is asked again after each update, since the curves under it may have moved. */
  function refreshReading() {
    const hits = reading ? snapped(view, reading.place()) : [];
    if (hits.length === 0) {
      hover.hide();
      return;
    }
    const lead = reading.lead(hits) ?? hits[0];
    hover.show(view, hits, lead, reading.pointer);
  }

  function read(next) {
    const was = reading;
    reading = next;
    refreshReading();
    if (next) {
      const hits = snapped(view, next.place());
      call(
        "hover",
        hits.map(({series, point}) => ({id: series.id, label: series.label, ...point})),
      );
    } else if (was) {
      call("hover", null);
    }
  }

  const byPointer = (pointer) => ({
    pointer,
    place: () => pointer.left / view.width,
    lead: (hits) => leading(view, hits, pointer),
  });

  const byValue = (x, id) => ({
    pointer: null,
    place: () => placeOf(view.x, x),
    lead: (hits) => hits.find(({series}) => series.id === id),
  });

  function announce({label}, point) {
    const [x, low, high] = [point.xText, point.lowText, point.highText].map((text) => localised(text, view.locale));
    call("announce", `${label}, ${x}, ${low} ${words.to} ${high}`);
  }

  const pin = ({x, xText}) => call("pin", {x, xText});

  const stopPointer = listenToPointer(plot.over, layer, () => view, {
    hover: (pointer) => read(byPointer(pointer)),
    leave: () => read(null),
    click: (pointer) => {
      const lead = leading(view, snapped(view, pointer.left / view.width), pointer);
      if (lead) {
        pin(lead.point);
      }
    },
    zoom: (range) => call("zoom", range),
  });

  const stopKeys = listenToKeys(plot.over, () => view, {
    read: (series, index) => {
      const point = series.points[index];
      read(byValue(point.x, series.id));
      announce(series, point);
    },
    leave: () => read(null),
    pin,
    zoom: (range) => call("zoom", range),
  });

  function writeTexts() {
    const names = view.series.map(({label}) => label).join(", ");
    const axes = `${view.y.label} ${words.against} ${view.x.label}`;
    const summary = [view.title, axes, names, words.keys].filter((text) => text !== "").join(". ");
    for (const [target, text] of [
      [yLabel, view.y.label],
      [xLabel, view.x.label],
      [emptyText, view.empty ?? ""],
    ]) {
      if (target.textContent !== text) {
        target.textContent = text;
      }
    }
    if (plot.over.getAttribute("aria-label") !== summary) {
      plot.over.setAttribute("aria-label", summary);
    }
    emptyArea.hidden = view.empty === null;
  }

  function retheme() {
    theme = readTheme(element);
    plot.redraw(false, true);
  }

  function fit() {
    const width = element.clientWidth;
    const height = element.clientHeight;
    if (width > 0 && height > 0 && (width !== plot.width || height !== plot.height)) {
      plot.setSize({width, height});
    }
  }

  const sizes = new ResizeObserver(fit);
  sizes.observe(element);

  return {
    element,
    update(model) {
      const {width, height} = view;
      view = {...makeView(model), width, height};
      writeTexts();
      plot.redraw(false, true);
    },
    cursor(x) {
      read(x === null ? null : byValue(x));
    },
    resize() {
      fit();
      retheme();
    },
    retheme,
    destroy() {
      sizes.disconnect();
      stopPointer();
      stopKeys();
      targets.destroy();
      plot.destroy();
      element.remove();
    },
  };
}
