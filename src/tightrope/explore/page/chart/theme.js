// Colours and type of a chart, read from the custom properties and the font of its container.

const NAMES = ["ink", "quiet", "line", "surface", "accent"];

/** The theme in force at an element: {ink, quiet, line, surface, accent, font}. */
export function readTheme(element) {
  const style = getComputedStyle(element);
  const theme = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  theme.ink ||= style.color;
  for (const name of ["quiet", "line", "accent"]) {
    theme[name] ||= theme.ink;
  }
  theme.surface ||= "transparent";
  theme.font = style.fontFamily;
  return theme;
}
