// Elements made of data: every text is set as text, so nothing that somebody typed becomes markup.

/** An element with attributes, listeners (onclick: ...) and children (texts or elements; null is left out). */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (key === "value") element.value = value;
    else if (key === "checked" || key === "selected" || key === "open") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

/** Puts children at the end. */
export function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/** Puts these in place of what is inside. */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/** Puts one element in place of what is inside, where it says something else: what has the keyboard keeps it. */
export function replace(element, child) {
  const now = element.firstElementChild;
  if (now?.isEqualNode(child)) return;
  if (now?.matches(".scroll") && child.matches(".scroll")) {
    now.setAttribute("aria-label", child.getAttribute("aria-label"));
    now.replaceChildren(...child.childNodes);
  } else {
    element.replaceChildren(child);
  }
}

/** Sets a text only where it differs, so that nothing is drawn or announced anew. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A button with a sign for the eye and a name for everybody. */
export function button(sign, name, onclick, more = {}) {
  return make("button", {type: "button", "aria-label": name, title: name, onclick, ...more}, sign);
}

const SVG = "http://www.w3.org/2000/svg";

/** A small drawing of one path, 24 units wide, in the colour of the text. */
export function icon(path) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

export const ICONS = {
  eye: "M2 12s3.6-6.5 10-6.5S22 12 22 12s-3.6 6.5-10 6.5S2 12 2 12zm10 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  hidden:
    "M3 3l18 18M10 6a9 9 0 0 1 2-.5C18.4 5.5 22 12 22 12a17 17 0 0 1-3 3.6M6.5 7.5A16 16 0 0 0 2 12s3.6 6.5 10 6.5c1.5 0 2.9-.4 4-.9",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  remove: "M5 5l14 14M19 5L5 19",
  plus: "M12 5v14M5 12h14",
  grip: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
  sun: "M12 17a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z",
  share: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.6-5.6l-1.4 1.4M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.6 5.6l1.4-1.4",
  export: "M12 4v11M7 10l5 5 5-5M5 20h14",
};
