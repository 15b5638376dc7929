// A chart made of SVG elements as the text of a file.

import {shape} from "./svgdom.js";
import {FONT} from "./svgtext.js";

const COMPUTED = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "opacity",
  "stroke-linejoin",
  "font-size",
  "font-weight",
  "font-style",
  "paint-order",
  "text-anchor",
];

/** Ground left on every side of a copied chart: its file is this much larger than the element, twice. */
export const NODE_MARGIN = 16;

/** An SVG element of the page as the text of a file, with the colours and type it has on the page written in. */
export function nodeSvg(svgElement, theme) {
  const copy = svgElement.cloneNode(true);
  const originals = [svgElement, ...svgElement.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, index) => {
    const style = getComputedStyle(originals[index]);
    node.removeAttribute("class");
    node.removeAttribute("style");
    if (node.localName !== "title") {
      COMPUTED.forEach((name) => node.setAttribute(name, style.getPropertyValue(name)));
    }
  });
  const size = ["width", "height"].map((name) => Number(svgElement.getAttribute(name)) + 2 * NODE_MARGIN);
  const origin = {x: -NODE_MARGIN, y: -NODE_MARGIN, width: size[0], height: size[1]};
  copy.setAttribute("width", size[0]);
  copy.setAttribute("height", size[1]);
  copy.setAttribute("viewBox", Object.values(origin).join(" "));
  copy.setAttribute("font-family", FONT);
  copy.prepend(shape("rect", {...origin, fill: theme.surface}));
  return new XMLSerializer().serializeToString(copy);
}
