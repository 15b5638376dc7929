// A number with a slider: the text is what counts, and the slider writes it.

import {make} from "./dom.js";
import {grouped, typed} from "./spelling.js";

const REACH = 20; // times as much, and as little, at the ends of a slider
const FINENESS = 1000;
const LETTERS_LEAST = 6;

/** A field of text in which numbers are typed; change(text) is told plain numbers, and nothing that can be misread. */
export function textField(label, text, change, more = {}) {
  let before = text; // what it was when somebody began to type
  const judge = (wrong) => {
    input.setCustomValidity(wrong);
    input.setAttribute("aria-invalid", String(Boolean(wrong)));
    if (wrong) input.reportValidity();
    return !wrong;
  };
  const read = () => {
    const wrong = grouped(input.value) ? `${input.value} can be read in two ways: write it without a point` : "";
    change(judge(wrong) ? typed(input.value) : before);
  };
  const input = make("input", {
    type: "text",
    value: text,
    "aria-label": label,
    autocomplete: "off",
    spellcheck: "false",
    oninput: read,
    onfocus: () => {
      before = typed(input.value);
    },
    onblur: () => {
      if (!input.validity.valid) input.put(before); // what was refused does not stand beside another answer
    },
    ...more,
  });
  input.put = (value) => {
    input.value = value;
    judge("");
  };
  return input;
}

/** Whether a text is one positive number, which a slider can move. */
const slidable = (text) => /^[0-9.]+(e[+-]?[0-9]+)?$/i.test(text) && Number(text) > 0 && Number.isFinite(Number(text));

/** Three digits of a chosen number: it is what somebody asks for, no result. */
function chosen(value, whole) {
  return whole ? String(Math.max(1, Math.round(value))) : numeral(Number(value.toPrecision(3)));
}

/** A number as people write it, with all its digits. */
export function numeral(value) {
  return value !== 0 && (value < 1e-4 || value >= 1e6) ? value.toExponential().replace("e+", "e") : String(value);
}

/**
 * A field and its slider. most, least, fixed: ends of what makes sense; whole: only whole numbers.
 * The element has set(text), which changes nothing while somebody is typing or dragging there.
 */
export function numberField(label, text, change, {whole = false, most = Infinity, least = 0, fixed = null} = {}) {
  const told = (now) => {
    place(now);
    change(now);
  };
  const input = textField(label, text, told, {inputmode: "decimal", class: "number"});
  const slider = make("input", {
    type: "range",
    min: "0",
    max: String(FINENESS),
    "aria-label": `${label}, slider`,
    oninput: () => slide(),
    onchange: () => place(input.value), // its ends lie around the new value
  });
  let ends = null;

  function slide() {
    if (ends === null) return;
    const value = Math.exp(ends.low + ((ends.high - ends.low) * Number(slider.value)) / FINENESS);
    input.put(chosen(Math.min(value, most), whole));
    grow();
    slider.setAttribute("aria-valuetext", input.value);
    change(input.value);
  }

  function place(now) {
    const known = slidable(now);
    slider.hidden = !known;
    ends = null;
    if (!known) return;
    const value = Number(now);
    const [low, high] = fixed ?? [Math.max(value / REACH, whole ? 1 : least), Math.min(value * REACH, most)];
    ends = {low: Math.log(low), high: Math.log(Math.max(high, low * 1.000001))};
    slider.value = String(Math.round(((Math.log(value) - ends.low) / (ends.high - ends.low)) * FINENESS));
    slider.setAttribute("aria-valuetext", now);
    grow();
  }

  function grow() {
    input.size = Math.max(LETTERS_LEAST, Math.min(input.value.length, 24));
  }

  place(text);
  const element = make("span", {class: "number-field"}, input, slider);
  element.set = (value) => {
    if (element.contains(document.activeElement) || input.value === value) return;
    input.put(value);
    place(value);
  };
  return element;
}
