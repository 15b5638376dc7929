// A number with a slider: the text is what counts, and the slider writes it.

import {make} from "./dom.js";
import {typed} from "./spelling.js";

const REACH = 20; // times as much, and as little, at the ends of a slider
const FINENESS = 1000;
const LETTERS_LEAST = 6;

/** A field of text in which numbers are typed; change(text, done) is told plain numbers. */
export function textField(label, text, change, more = {}) {
  const input = make("input", {
    type: "text",
    value: text,
    "aria-label": label,
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => change(typed(input.value), false),
    onchange: () => change(typed(input.value), true),
    ...more,
  });
  return input;
}

/** Whether a text is one positive number, which a slider can move. */
const slidable = (text) => /^[0-9.]+(e[+-]?[0-9]+)?$/i.test(text) && Number(text) > 0 && Number.isFinite(Number(text));

/** Three digits of a chosen number: it is what somebody asks for, no result. */
export function chosen(value, whole) {
  if (whole) return String(Math.max(1, Math.round(value)));
  const short = Number(value.toPrecision(3));
  return short < 1e-4 || short >= 1e6 ? short.toExponential().replace("e+", "e") : String(short);
}

/**
 * A field and its slider. between: ends of what makes sense, if known; whole: only whole numbers.
 * The element has set(text), which changes nothing while somebody is typing or dragging there.
 */
export function numberField(label, text, change, {whole = false, most = Infinity, least = 0, fixed = null} = {}) {
  const input = textField(
    label,
    text,
    (text, done) => {
      place(text);
      change(text, done);
    },
    {inputmode: "decimal", class: "number"},
  );
  const slider = make("input", {
    type: "range",
    min: "0",
    max: String(FINENESS),
    "aria-label": `${label}, slider`,
    oninput: () => slide(false),
    onchange: () => {
      slide(true);
      place(input.value);
    },
  });
  let ends = null;

  function slide(done) {
    if (ends === null) return;
    const value = Math.exp(ends.low + ((ends.high - ends.low) * Number(slider.value)) / FINENESS);
    input.value = chosen(Math.min(value, most), whole);
    grow();
    slider.setAttribute("aria-valuetext", input.value);
    change(input.value, done);
  }

  function place(text) {
    const known = slidable(text);
    slider.hidden = !known;
    ends = null;
    if (!known) return;
    const value = Number(text);
    const [low, high] = fixed ?? [Math.max(value / REACH, whole ? 1 : least), Math.min(value * REACH, most)];
    ends = {low: Math.log(low), high: Math.log(Math.max(high, low * 1.000001))};
    slider.value = String(Math.round(((Math.log(value) - ends.low) / (ends.high - ends.low)) * FINENESS));
    slider.setAttribute("aria-valuetext", text);
    grow();
  }

  function grow() {
    input.size = Math.max(LETTERS_LEAST, Math.min(input.value.length, 24));
  }

  place(text);
  const element = make("span", {class: "number-field"}, input, slider);
  element.set = (value) => {
    if (element.contains(document.activeElement) || input.value === value) return;
    input.value = value;
    place(value);
  };
  return element;
}
