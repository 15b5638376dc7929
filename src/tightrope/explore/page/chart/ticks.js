// Gridlines of an axis, the same on the screen and in the SVG file: labelled ones far enough apart to be read and
// fainter ones between them. Every value is made from a short decimal text, so that it is what its label says.

import {placeOf} from "./scale.js";
import {localised, tick} from "./numbers.js";
import {timeTick, timeTicks} from "./times.js";

const MINOR_GAP = 6;
const UPRIGHT_GAP = 40;
const LEVEL_GAP = 56;
const CHARACTER = 6.7;
const STRIDES = [1, 2, 3, 5, 10, 20, 30, 50, 100, 200];
const MANTISSAS = [
  [1, 2, 3, 4, 5, 6, 7, 8, 9],
  [1, 2, 5],
  [1, 3],
];

/** Multiples of mantissa * 10^exponent within the axis. */
function multiples(axis, mantissa, exponent) {
  const step = Number(`${mantissa}e${exponent}`);
  const first = Math.ceil(axis.min / step - 1e-9);
  const last = Math.floor(axis.max / step + 1e-9);
  return Array.from({length: Math.max(0, last - first + 1)}, (_, index) =>
    Number(`${(first + index) * mantissa}e${exponent}`),
  );
}

/** The finest step of 1, 2 or 5 times a power of ten that is at least this long. */
function niceStep(least) {
  const exponent = Math.floor(Math.log10(least));
  const mantissa = [1, 2, 5].find((digit) => digit * 10 ** exponent >= least * (1 - 1e-9));
  return mantissa ? {mantissa, exponent} : {mantissa: 1, exponent: exponent + 1};
}

function linearTicks(axis, pixels, gap) {
  const {mantissa, exponent} = niceStep((axis.max - axis.min) * Math.min(1, gap / Math.max(1, pixels)));
  const finer = {1: [2, exponent - 1], 2: [5, exponent - 1], 5: [1, exponent]}[mantissa];
  return {major: multiples(axis, mantissa, exponent), minor: multiples(axis, ...finer)};
}

/** Powers of ten whose exponents are multiples of the stride. */
function powers(axis, stride) {
  const first = Math.ceil((axis.start - 1e-9) / stride);
  const last = Math.floor((axis.start + axis.span + 1e-9) / stride);
  return Array.from({length: Math.max(0, last - first + 1)}, (_, index) => Number(`1e${(first + index) * stride}`));
}

/** These mantissas in every decade of the axis. */
function inDecades(axis, mantissas) {
  const found = [];
  for (let exponent = Math.floor(axis.start); exponent <= Math.ceil(axis.start + axis.span); exponent += 1) {
    for (const mantissa of mantissas) {
      const value = Number(`${mantissa}e${exponent}`);
      if (value >= axis.min * (1 - 1e-9) && value <= axis.max * (1 + 1e-9)) {
        found.push(value);
      }
    }
  }
  return found;
}

/** Equal steps on a logarithmic axis too short for powers of ten. */
function equalSteps(axis) {
  return Array.from({length: 12}, (_, index) => {
    const {mantissa, exponent} = niceStep((axis.max - axis.min) / (index + 2));
    return multiples(axis, mantissa, exponent);
  });
}

function apart(axis, values, pixels, gap) {
  const places = values.map((value) => placeOf(axis, value) * pixels);
  return places.every((place, index) => index === 0 || place - places[index - 1] >= gap - 1e-6);
}

/** The fullest of the candidates whose gridlines keep the gap; the first of equals. */
function fullest(axis, candidates, pixels, gap) {
  return candidates.reduce(
    (best, values) => (values.length > best.length && apart(axis, values, pixels, gap) ? values : best),
    [],
  );
}

function logTicks(axis, pixels, gap) {
  const candidates = STRIDES.map((stride) => powers(axis, stride));
  if (axis.span < 20) {
    candidates.push(...MANTISSAS.map((mantissas) => inDecades(axis, mantissas)));
  }
  if (axis.span < 1.3) {
    candidates.push(...equalSteps(axis));
  }
  return {
    major: fullest(axis, candidates, pixels, gap),
    minor: fullest(axis, candidates, pixels, MINOR_GAP),
  };
}

const FINDERS = {linear: linearTicks, log: logTicks, time: timeTicks};

/** What a gridline says, in the characters of the locale. */
export const tickText = (axis, value, locale) =>
  axis.scale === "time" ? timeTick(value, locale) : localised(tick(value), locale);

function spaced(axis, pixels, gap) {
  const {major, minor} = FINDERS[axis.scale](axis, pixels, gap);
  const labelled = new Set(major);
  return {major, minor: minor.filter((value) => !labelled.has(value))};
}

/** Gridlines of an upright axis of so many pixels: {major, minor}. */
export function uprightTicks(axis, pixels) {
  return spaced(axis, pixels, UPRIGHT_GAP);
}

/** Gridlines of a level axis, whose labels stand side by side: the gap grows with the longest label. */
export function levelTicks(axis, pixels) {
  const found = spaced(axis, pixels, LEVEL_GAP);
  const longest = Math.max(0, ...found.major.map((value) => tickText(axis, value).length));
  const needed = longest * CHARACTER + 16;
  return needed > LEVEL_GAP ? spaced(axis, pixels, needed) : found;
}
