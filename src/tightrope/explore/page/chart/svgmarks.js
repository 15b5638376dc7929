// What lies inside the plot of an SVG file: bands, guides, pins and targets.
// `frame` is the plot in pixels: {left, top, width, height}.

import {placeOf, inside} from "./scale.js";
import {guideLine, guideLabel, heightAt} from "./geometry.js";
import {BAND_OPACITY, HIGH_WIDTH, LOW_WIDTH, DASH, GUIDE_DASH} from "./paint.js";
import {element, haloed, guessed, short, CENTRED} from "./svgtext.js";

/** The attribute of a dashed line. */
export const dashes = (dashed) => (dashed ? {"stroke-dasharray": DASH.join(" ")} : {});

/** Places to pixels. */
export const across = (frame, place) => frame.left + place * frame.width;
export const upwards = (frame, place) => frame.top + (1 - place) * frame.height;
const pathOf = (frame, line) =>
  line
    .map((place, index) => `${index ? "L" : "M"}${short(across(frame, place.x))},${short(upwards(frame, place.y))}`)
    .join("");

/** Bands first and then their ends, as on the screen. */
export function drawSeries(frame, series, outlines) {
  const bands = series.map(({colour}, index) => {
    const {high, low} = outlines[index];
    const around = `${pathOf(frame, [...high, ...[...low].reverse()])}Z`;
    return element("path", {d: around, fill: colour, "fill-opacity": BAND_OPACITY});
  });
  const ends = series.map(({colour, dashed, points}, index) => {
    const {high, low} = outlines[index];
    const look = {fill: "none", stroke: colour, "stroke-linejoin": "round", ...dashes(dashed)};
    if (points.length === 1) {
      return (
        element("path", {...look, d: pathOf(frame, [high[0], low[0]]), "stroke-width": HIGH_WIDTH}) +
        [high[0], low[0]].map((place) => dot(frame, place.x, place.y, colour)).join("")
      );
    }
    return (
      element("path", {...look, d: pathOf(frame, low), "stroke-width": LOW_WIDTH}) +
      element("path", {...look, d: pathOf(frame, high), "stroke-width": HIGH_WIDTH})
    );
  });
  return bands.join("") + ends.join("");
}

/** A dot at a place. */
const dot = (frame, x, y, fill) => element("circle", {cx: across(frame, x), cy: upwards(frame, y), r: 4, fill});

/** Guides with their names along their ends. */
export function drawGuides(frame, guides, x, y, theme) {
  return guides
    .map((guide) => {
      const line = guideLine(guide, x, y);
      const pixels = line.map((place) => ({x: place.x * frame.width, y: (1 - place.y) * frame.height}));
      const spot = guideLabel(pixels, guessed(guide.label, 12), frame.width, frame.height);
      const look = {fill: "none", stroke: theme.quiet, "stroke-width": 1.25, "stroke-dasharray": GUIDE_DASH.join(" ")};
      const drawn = element("path", {...look, d: pathOf(frame, line)});
      if (!spot) {
        return drawn;
      }
      const shift = `translate(${short(frame.left + spot.x)},${short(frame.top + spot.y)})`;
      const turn = `rotate(${short((spot.angle * 180) / Math.PI)})`;
      const more = {...CENTRED, transform: `${shift} ${turn}`};
      return drawn + haloed(guide.label, 0, 4, 12, theme.quiet, theme, more);
    })
    .join("");
}

/** Pins with their texts at the foot and a dot on each series. */
export function drawPins(frame, pins, x, outlines, series, theme) {
  const visible = pins.map((pin) => ({...pin, place: placeOf(x, pin.x)})).filter(({place}) => inside(place) === place);
  let freeFrom = -Infinity;
  return visible
    .sort((one, other) => one.place - other.place)
    .map(({place, text: said = ""}) => {
      const left = across(frame, place);
      const foot = frame.top + frame.height;
      const length = guessed(said, 11);
      const onRight = left + 4 + length <= frame.left + frame.width;
      const start = onRight ? left + 4 : left - 4 - length;
      // A text that would run into the one before is left out, as on the screen.
      const label = start < freeFrom ? "" : haloed(said, start, foot - 5, 11, theme.ink, theme);
      freeFrom = label ? start + length + 4 : freeFrom;
      const dots = series
        .map(({colour}, index) => ({colour, height: heightAt(outlines[index].high, place)}))
        .filter(({height}) => height !== null)
        .map(({colour, height}) => dot(frame, place, height, colour));
      return (
        element("line", {x1: left, x2: left, y1: frame.top, y2: foot, stroke: theme.quiet}) + dots.join("") + label
      );
    })
    .join("");
}

/** Moves a text off those placed before: down along an upright line, to the left along a level one. */
function freeSpot(first, upright, taken) {
  const spot = {...first};
  const covered = () =>
    taken.some(
      (other) =>
        spot.left < other.left + other.width + 6 &&
        other.left < spot.left + spot.width + 6 &&
        Math.abs(spot.top - other.top) < 15,
    );
  for (let tries = 0; tries < 8 && covered(); tries += 1) {
    spot.left -= upright ? 0 : spot.width / 2;
    spot.top += upright ? 15 : 0;
  }
  taken.push(spot);
  return spot;
}

/** Lines of the targets with their texts; the handles are for the screen only. */
export function drawTargets(frame, targets, axes, theme) {
  const taken = [];
  const right = frame.left + frame.width;
  return targets
    .map((target) => {
      const place = placeOf(axes[target.axis], target.value);
      if (inside(place) !== place) {
        return "";
      }
      const upright = target.axis === "x";
      const width = guessed(target.text, 12);
      const [x, y] = [across(frame, place), upwards(frame, place)];
      const ends = upright
        ? {x1: x, x2: x, y1: frame.top, y2: frame.top + frame.height}
        : {x1: frame.left, x2: right, y1: y, y2: y};
      const first = upright
        ? {left: x + 6 + width <= right ? x + 6 : x - 6 - width, top: frame.top + 14}
        : {left: right - 4 - width, top: y - frame.top < 20 ? y + 15 : y - 6};
      const spot = freeSpot({...first, width}, upright, taken);
      // Set from its middle: the width is a guess, and half its error on either side shows least.
      return (
        element("line", {...ends, stroke: theme.accent, "stroke-width": 1.5}) +
        haloed(target.text, spot.left + width / 2, spot.top, 12, theme.accent, theme, CENTRED)
      );
    })
    .join("");
}
