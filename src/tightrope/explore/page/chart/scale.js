// Axis arithmetic shared by the screen, the SVG file and the targets. A value becomes a place, 0 at the lower end of
// the axis and 1 at its upper end, so that nothing else needs to know whether the axis is logarithmic.

// Lines that leave the plot stop this far outside: canvases lose precision with coordinates of many millions.
const FAR = 50;
// Where an infinite end is drawn: just outside, so that its line is not taken for a value at the edge.
const BEYOND = 1.05;
const BENEATH = -0.05; // and zero on a logarithmic axis

/** An axis that can be drawn, linear, logarithmic or of time: finite ends that rise, positive where it is logarithmic. */
export function usable({label = "", scale = "linear", min, max}) {
  const log = scale === "log";
  let low = Number.isFinite(min) ? min : 0;
  let high = Number.isFinite(max) ? max : Math.max(low, 1);
  if (log) {
    high = high > 0 ? high : 1;
    low = low > 0 ? low : high * 1e-6;
  }
  if (!(high > low)) {
    const middle = low;
    const half = Math.abs(middle) / 2 || 0.5;
    low = log ? middle / 2 : middle - half;
    high = log ? middle * 2 : middle + half;
  }
  const start = log ? Math.log10(low) : low;
  const span = (log ? Math.log10(high) : high) - start;
  return {label, scale, min: low, max: high, start, span};
}

/** Where on the axis a value lies: 0 to 1 inside, less or more outside, -Infinity for zero on a logarithmic axis. */
export function placeOf(axis, value) {
  if (axis.scale === "log") {
    return value > 0 ? (Math.log10(value) - axis.start) / axis.span : -Infinity;
  }
  return (value - axis.start) / axis.span;
}

/** The value at a place of the axis. */
export function valueAt(axis, place) {
  const position = axis.start + place * axis.span;
  return axis.scale === "log" ? 10 ** position : position;
}

/** A place that can be handed to a drawing: infinities just outside the plot, everything else not far outside. */
export function drawable(place) {
  if (place === Infinity) {
    return BEYOND;
  }
  if (place === -Infinity) {
    return BENEATH;
  }
  return Math.min(FAR, Math.max(-FAR, place));
}

/** The place held inside the axis. */
export function inside(place) {
  return Math.min(1, Math.max(0, place));
}

/** How many significant digits tell this value from its neighbours when the axis is cut into so many steps. */
function digitsNeeded(axis, value, steps) {
  const place = placeOf(axis, value);
  const grain = Math.abs(valueAt(axis, place + 1 / steps) - value);
  const digits = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(grain)) + 1;
  return Number.isFinite(digits) ? Math.min(15, Math.max(1, digits)) : 1;
}

/** An input chosen by hand: three significant digits, or more where the axis is zoomed in so far that they stick. */
export function chosen(axis, value) {
  const held = Math.min(axis.max, Math.max(axis.min, value));
  if (Math.abs(placeOf(axis, 0) - placeOf(axis, held)) < 1e-6) {
    return 0;
  }
  return Number(held.toPrecision(Math.max(3, digitsNeeded(axis, held, 200))));
}

/** The range between two places as numbers with no more digits than a thousandth of the range needs. */
export function rangeBetween(axis, from, to) {
  const part = usable({...axis, min: valueAt(axis, from), max: valueAt(axis, to)});
  const ends = [part.min, part.max].map((end) => Number(end.toPrecision(digitsNeeded(part, end, 1000))));
  // An axis of what cannot be negative does not become one by zooming out.
  const min = axis.min >= 0 ? Math.max(ends[0], 0) : ends[0];
  return {min, max: ends[1]};
}
