// The crosshair, the dots on the curves and the box of values beside them.

import {placeOf, drawable, inside} from "./scale.js";
import {nearestIndex} from "./geometry.js";
import {localised} from "./numbers.js";

const GAP = 14;

/** The point of each series nearest to a place on the x axis: [{series, index, point}]. */
export function snapped(view, place) {
  return view.series
    .map((series) => ({series, index: nearestIndex(series.points, view.x, place)}))
    .filter(({index}) => index >= 0)
    .map((hit) => ({...hit, point: hit.series.points[hit.index]}));
}

/** Position of a hit in the plot, in CSS pixels; `high` and `low` are the heights of its ends. */
export function hitPixels(view, {point}) {
  const top = (value) => (1 - inside(drawable(placeOf(view.y, value)))) * view.height;
  return {left: placeOf(view.x, point.x) * view.width, high: top(point.high), low: top(point.low)};
}

/** The hit nearest to a pointer: by height first, since all hits share nearly one x. */
export function leading(view, hits, pointer) {
  const distance = (hit) => {
    const {left, high, low} = hitPixels(view, hit);
    const above = Math.max(0, high - pointer.top);
    const below = Math.max(0, pointer.top - low);
    return Math.hypot(left - pointer.left, above + below);
  };
  return hits.reduce((best, hit) => (best && distance(best) <= distance(hit) ? best : hit), null);
}

/** "xText: [lowText, highText]" in the characters of the locale. */
function pointText(point, locale) {
  const interval = localised(`[${point.lowText}, ${point.highText}]`, locale);
  return `${localised(point.xText, locale)}: ${interval}`;
}

function part(className, text) {
  const element = document.createElement("div");
  element.className = className;
  if (text !== undefined) {
    element.textContent = text;
  }
  return element;
}

/** Makes the hover parts in a layer that covers the plot: {show(view, hits, lead, pointer), hide()}. */
export function makeHover(layer) {
  const cross = part("tr-cross");
  const dots = part("tr-dots");
  const box = part("tr-tip");
  const parts = [cross, dots, box];
  parts.forEach((element) => {
    element.hidden = true;
    element.setAttribute("aria-hidden", "true");
  });
  layer.append(...parts);

  function dot(colour, left, top) {
    const element = part("tr-dot");
    element.style.backgroundColor = colour;
    element.style.transform = `translate(${left}px, ${top}px)`;
    return element;
  }

  function row(view, hit, isLead) {
    const element = part(isLead ? "tr-tip-row is-lead" : "tr-tip-row");
    const mark = part("tr-tip-mark");
    mark.style.backgroundColor = hit.series.colour;
    const value = part("tr-tip-value");
    // Numbers in pieces that do not break: a browser would else end a line after the minus of an exponent.
    pointText(hit.point, view.locale)
      .split(" ")
      .forEach((piece) => {
        const span = document.createElement("span");
        span.textContent = piece;
        value.append(value.hasChildNodes() ? " " : "", span);
      });
    element.append(mark, part("tr-tip-label", hit.series.label), value);
    return element;
  }

  function placeBox(view, left, top) {
    const {offsetWidth, offsetHeight} = box;
    const fitsRight = left + GAP + offsetWidth <= view.width;
    const fitsLeft = left - GAP - offsetWidth >= 0;
    const start = fitsRight ? left + GAP : left - GAP - offsetWidth;
    // Where neither side has room the box goes above or below the pointer instead of covering it.
    const away = top > view.height / 2 ? 4 : view.height - offsetHeight - 4;
    const level = fitsRight || fitsLeft ? top - offsetHeight / 2 : away;
    const held = (position, size, room) => Math.max(0, Math.min(position, room - size));
    box.style.transform = `translate(${Math.round(held(start, offsetWidth, view.width))}px, ${Math.round(
      held(level, offsetHeight, view.height),
    )}px)`;
  }

  return {
    show(view, hits, lead, pointer) {
      const spot = hitPixels(view, lead);
      const visible = (left) => left >= -0.5 && left <= view.width + 0.5;
      cross.hidden = !visible(spot.left);
      cross.style.transform = `translateX(${Math.round(spot.left)}px)`;
      dots.replaceChildren(
        ...hits.flatMap((hit) => {
          const {left, high, low} = hitPixels(view, hit);
          const ends = low - high > 3 ? [high, low] : [high];
          return visible(left) ? ends.map((top) => dot(hit.series.colour, left, top)) : [];
        }),
      );
      box.replaceChildren(...hits.map((hit) => row(view, hit, hits.length > 1 && hit === lead)));
      box.classList.toggle("is-narrow", view.width < 480);
      dots.hidden = false;
      box.hidden = false;
      placeBox(view, inside(spot.left / view.width) * view.width, pointer ? pointer.top : spot.high);
    },
    hide() {
      parts.forEach((element) => {
        element.hidden = true;
      });
    },
  };
}
