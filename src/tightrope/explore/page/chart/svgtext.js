// Writing SVG as text: elements, escaped strings, and room for words that cannot be measured.

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
export const TO_THE_LEFT = {"text-anchor": "end"};
export const CENTRED = {"text-anchor": "middle"};

export const escaped = (text) =>
  String(text)
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
    // Characters that no XML file may hold.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");

export const short = (number) => String(Number(number.toFixed(2)));

/** Width of a text, guessed: a file cannot measure, and a little too much room does no harm. */
export const guessed = (text, size) => Array.from(text).length * size * 0.56;

export const cut = (text, size, room) => {
  const letters = Array.from(text);
  const fitting = Math.floor(room / (size * 0.56));
  return letters.length <= fitting ? text : `${letters.slice(0, Math.max(1, fitting - 1)).join("")}…`;
};

export function element(name, attributes, inner = "") {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${typeof value === "number" ? short(value) : escaped(value)}"`)
    .join("");
  return inner === "" ? `<${name}${written}/>` : `<${name}${written}>${inner}</${name}>`;
}

export const text = (said, x, y, size, fill, more = {}) =>
  said === "" ? "" : element("text", {x, y, "font-size": size, fill, ...more}, escaped(said));

/** Text with a border in the colour of the ground, so that it can be read across lines. */
export const haloed = (said, x, y, size, fill, theme, more = {}) =>
  text(said, x, y, size, fill, {
    stroke: theme.surface,
    "stroke-width": 4,
    "stroke-linejoin": "round",
    "paint-order": "stroke",
    ...more,
  });

/** Words in lines of at most this many pixels. */
export function wrapped(said, size, room) {
  return said
    .split(" ")
    .reduce(
      (lines, word) => {
        const longer = `${lines.at(-1)} ${word}`.trim();
        return guessed(longer, size) <= room ? [...lines.slice(0, -1), longer] : [...lines, word];
      },
      [""],
    )
    .filter((line) => line !== "");
}
