// Where the parts of a model lie in the plot, in places from 0 to 1: shared by the canvas and the SVG file.

import {placeOf, drawable} from "./scale.js";

/** One end of a series as places [{x, y}]; where it is below the axis, the line leaves the plot. */
function endLine(points, end, x, y) {
  return points.map((point) => ({x: drawable(placeOf(x, point.x)), y: drawable(placeOf(y, point[end]))}));
}

/** The same line in steps: what was there holds until the next point. */
function stepped(line) {
  return line.flatMap((place, index) => (index ? [{x: place.x, y: line[index - 1].y}, place] : [place]));
}

/** Both ends of a series as lines of places: {high, low}. */
export function outline(series, x, y) {
  const [high, low] = ["high", "low"].map((end) => endLine(series.points, end, x, y));
  return series.stepped ? {high: stepped(high), low: stepped(low)} : {high, low};
}

/** A guide as places. */
export function guideLine(guide, x, y) {
  return guide.points.map((point) => ({x: drawable(placeOf(x, point.x)), y: drawable(placeOf(y, point.y))}));
}

/** Height of a line of places at x, for drawing only; null beside the line. */
export function heightAt(line, x) {
  const after = line.findIndex((place) => place.x >= x);
  if (after < 0) {
    return null;
  }
  const right = line[after];
  if (after === 0 || right.x === x) {
    return Math.abs(right.x - x) < 1e-9 ? right.y : null;
  }
  const left = line[after - 1];
  return left.y + (right.y - left.y) * ((x - left.x) / (right.x - left.x));
}

/** Index of the point nearest to a place on the x axis; -1 without points. */
export function nearestIndex(points, x, place) {
  let low = 0;
  let high = points.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (placeOf(x, points[middle].x) < place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  if (high < 0) {
    return -1;
  }
  return Math.abs(placeOf(x, points[low].x) - place) <= Math.abs(placeOf(x, points[high].x) - place) ? low : high;
}

/** The part of a segment inside a rectangle from (0, 0) to (width, height), or null (Liang and Barsky). */
function clipped(from, to, width, height) {
  let enter = 0;
  let leave = 1;
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  for (const [step, room] of [
    [-dx, from.x],
    [dx, width - from.x],
    [-dy, from.y],
    [dy, height - from.y],
  ]) {
    if (step === 0 && room < 0) {
      return null;
    }
    if (step < 0) {
      enter = Math.max(enter, room / step);
    } else if (step > 0) {
      leave = Math.min(leave, room / step);
    }
  }
  const at = (share) => ({x: from.x + dx * share, y: from.y + dy * share});
  return enter < leave ? [at(enter), at(leave)] : null;
}

/**
 * Where the label of a guide goes: along the line, in the middle of what is seen of it, on the side without curves.
 * Takes pixels from the top left of the plot; gives {x, y, angle} of the middle of the text, or null.
 */
export function guideLabel(pixels, textWidth, width, height) {
  const visible = [];
  for (let index = 1; index < pixels.length; index += 1) {
    const part = clipped(pixels[index - 1], pixels[index], width, height);
    if (part) {
      visible.push({from: part[0], to: part[1], length: Math.hypot(part[1].x - part[0].x, part[1].y - part[0].y)});
    }
  }
  const total = visible.reduce((sum, part) => sum + part.length, 0);
  if (total < textWidth * 1.2) {
    return null;
  }
  const along = (distance) => {
    let left = distance;
    const part =
      visible.find((candidate) => (left <= candidate.length ? true : ((left -= candidate.length), false))) ??
      visible[visible.length - 1];
    const share = Math.min(1, left / part.length);
    return {x: part.from.x + (part.to.x - part.from.x) * share, y: part.from.y + (part.to.y - part.from.y) * share};
  };
  const start = along((total - textWidth) / 2);
  const end = along((total + textWidth) / 2);
  const slope = Math.atan2(end.y - start.y, end.x - start.x);
  // Never upside down, whichever way the guide runs.
  const angle = Math.abs(slope) > Math.PI / 2 ? slope - Math.sign(slope) * Math.PI : slope;
  const middle = {x: (start.x + end.x) / 2, y: (start.y + end.y) / 2};
  // An attacker does better than guessing: below a falling line of misses, above a rising one of hits.
  const side = angle < 0 ? 10 : -10;
  return {x: middle.x - Math.sin(angle) * side, y: middle.y + Math.cos(angle) * side, angle};
}
