// The error budget: for each answer two stacked bars, what widens it above and what widens it below.
//
// model = {
//   title, locale (optional), words: {above, below} (optional),
//   answers: [{label, above: [{label, colour, share: 0..1, text}], below: [the same]}]
// }

import {localised} from "./numbers.js";
import {readTheme} from "./theme.js";
import {shape, shorten, drawToWidth, keyRow} from "./svgdom.js";

const WORDS = {above: "above", below: "below"};
const SIDES = ["above", "below"];
const BAR = 20;
const SIDE_WIDTH = 52;

const channels = (colour) => (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);

/** Relative luminance of a computed "rgb(...)" colour, as WCAG has it. */
function luminance(colour) {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);

/** Whichever of the theme's two extremes reads better on a segment. */
function readableOn(segment, svg) {
  const {ink, surface} = readTheme(svg);
  const ground = luminance(getComputedStyle(segment).fill);
  const rated = [ink, surface].map((colour) => {
    segment.parentNode.append(shape("rect", {fill: colour}));
    const probe = segment.parentNode.lastChild;
    const brightness = luminance(getComputedStyle(probe).fill);
    probe.remove();
    return {colour, contrast: contrast(ground, brightness)};
  });
  return rated[0].contrast >= rated[1].contrast ? ink : surface;
}

function drawSegments(svg, segments, left, top, width, locale) {
  let from = left;
  for (const {label, colour, share, text} of segments) {
    const length = Math.max(0, Math.min(1, share)) * width;
    const said = localised(text ?? "", locale);
    const segment = shape("rect", {class: "tr-svg-segment", x: from, y: top, width: length, height: BAR, fill: colour});
    segment.append(shape("title", {}, `${label}: ${said}`));
    svg.append(segment);
    const written = shape("text", {class: "tr-svg-share", x: from + length / 2, y: top + BAR / 2 + 4}, said);
    written.setAttribute("text-anchor", "middle");
    svg.append(written);
    if (written.getComputedTextLength() > length - 8) {
      written.remove();
    } else {
      written.style.fill = readableOn(segment, svg);
    }
    from += length;
  }
}

function budgetText({label, above, below}, words, locale) {
  const side = (name, segments) =>
    `${words[name]} ${segments.map((one) => `${one.label} ${localised(one.text ?? "", locale)}`).join(", ")}`;
  return `${label}: ${side("above", above)}; ${side("below", below)}`;
}

/** Draws the bars into a container and gives the SVG element; it follows the container's width. */
export function barsChart(container, model) {
  const words = {...WORDS, ...model.words};
  const locale = model.locale ?? document.documentElement.lang;
  const key = new Map(model.answers.flatMap(({above, below}) => [...above, ...below]).map((one) => [one.label, one]));
  const summary = model.answers.map((answer) => budgetText(answer, words, locale)).join(". ");

  const label = [model.title, summary].filter(Boolean).join(". ");

  return drawToWidth(container, "tr-svg tr-bars-chart", label, (svg, width) => {
    let top =
      keyRow(svg, [...key.values()], width, 0, ({colour}) =>
        shape("rect", {class: "tr-svg-segment", x: 0, y: 0, width: 14, height: 10, rx: 2, fill: colour}),
      ) + 8;
    for (const answer of model.answers) {
      const name = shape("text", {class: "tr-svg-row is-certified", x: 0, y: top + 13}, answer.label);
      svg.append(name);
      shorten(name, width);
      top += 22;
      for (const side of SIDES) {
        svg.append(
          shape(
            "text",
            {
              class: "tr-svg-side",
              x: SIDE_WIDTH - 8,
              y: top + BAR / 2 + 4,
              "text-anchor": "end",
            },
            words[side],
          ),
          shape("rect", {class: "tr-svg-trough", x: SIDE_WIDTH, y: top, width: width - SIDE_WIDTH, height: BAR}),
        );
        drawSegments(svg, answer[side], SIDE_WIDTH, top, width - SIDE_WIDTH, locale);
        top += BAR + 3;
      }
      top += 12;
    }
    return Math.max(1, top - 12);
  });
}
