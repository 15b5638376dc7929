// Numbers as the reader's locale writes them. Certified ones are texts of the server, and stay what they are.

import {localised, plain} from "./chart/numbers.js";
import {make} from "./dom.js";

export const LOCALE = navigator.language;

/** A number of the server, in the characters of the reader. */
export const spelt = (text) => localised(text, LOCALE);

/** What the reader typed, as the server reads it. */
export const typed = (text) => plain(text, LOCALE);

/** Whether a point groups thousands where a comma is the decimal sign, and would be read as one here. */
export const grouped = (text) => localised("1.5", LOCALE).includes(",") && /^\s*[1-9]\d{0,2}(\.\d{3})+\s*$/.test(text);

/** A double of the server, to draw by. */
export const double = (value) => (value === "inf" ? Infinity : value);

/** Both ends, as the server rounded them. */
export const interval = (ends) => spelt(`[${ends.lowText}, ${ends.highText}]`);

/** The same on one line, or on two where there is no room: no end is broken. */
export function intervalCell(ends) {
  const [low, high] = interval(ends).split(" ");
  return [make("span", {class: "end"}, low), " ", make("span", {class: "end"}, high)];
}
