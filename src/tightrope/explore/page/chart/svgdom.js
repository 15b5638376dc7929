// Small helpers for charts made of SVG elements.

const NAMESPACE = "http://www.w3.org/2000/svg";

/** An SVG element with attributes and, optionally, text. */
export function shape(name, attributes = {}, text) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  if (text !== undefined) {
    element.textContent = text;
  }
  return element;
}

/** Cuts a text element that is already in the document to a width; the whole text stays as its title. */
export function shorten(element, room) {
  const whole = element.textContent;
  if (element.getComputedTextLength() <= room) {
    return;
  }
  let kept = whole.length;
  while (kept > 1 && element.getComputedTextLength() > room) {
    kept -= 1;
    element.textContent = `${whole.slice(0, kept).trimEnd()}…`;
  }
  element.append(shape("title", {}, whole));
}

const drawings = new WeakMap();

/** Draws with `draw(svg, width)` into a container, again whenever the container's width changes; gives the SVG. */
export function drawToWidth(container, className, label, draw) {
  drawings.get(container)?.disconnect();
  const svg = shape("svg", {class: className, role: "img", "aria-label": label});
  container.replaceChildren(svg);
  let drawnWidth = 0;
  const redraw = () => {
    const width = Math.floor(container.clientWidth);
    if (width > 0 && width !== drawnWidth) {
      drawnWidth = width;
      svg.replaceChildren();
      const height = draw(svg, width);
      svg.setAttribute("width", width);
      svg.setAttribute("height", height);
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    }
  };
  redraw();
  const observer = new ResizeObserver(() => (svg.isConnected ? redraw() : observer.disconnect()));
  observer.observe(container);
  drawings.set(container, observer);
  return svg;
}

/** A row of marks with names, wrapped to the width; `makeMark(entry)` draws at (0, 0) in 14 x 10. Gives its height. */
export function keyRow(svg, entries, width, top, makeMark) {
  let left = 0;
  let line = top + 2;
  for (const entry of entries) {
    const group = shape("g");
    const name = shape("text", {class: "tr-svg-key", x: 20, y: 9}, entry.label);
    group.append(makeMark(entry), name);
    svg.append(group);
    shorten(name, width - 24);
    const needed = 20 + name.getComputedTextLength() + 18;
    if (left > 0 && left + needed - 18 > width) {
      left = 0;
      line += 20;
    }
    group.setAttribute("transform", `translate(${left}, ${line})`);
    left += needed;
  }
  return entries.length ? line - top + 18 : 0;
}
