// What leaves the page: pictures, tables and documents, as files that the browser saves.

import {NODE_MARGIN, chartSvg, nodeSvg} from "./chart/svg.js";
import {svgToPng} from "./chart/png.js";
import {ask} from "./server.js";

export const UNSETTLED = "The answers are not there yet: try again in a moment";
const PATIENCE = 30_000; // milliseconds
const LOOKED_EVERY = 50;
const SIZE = {width: 960, height: 600};
const NAMES = {ink: "--ink", quiet: "--quiet", line: "--line", surface: "--surface", accent: "--accent"};

/** Saves a file. */
export function save(name, kind, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type: kind}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function theme() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(Object.entries(NAMES).map(([key, name]) => [key, style.getPropertyValue(name).trim()]));
}

/** The picture of a view as SVG, and how large it is. */
function picture(view) {
  const drawn = view.box.querySelector(".dots-box svg");
  if (drawn === null) {
    const series = view.model.series.map((each) => ({...each, label: each.title})); // nothing else says what ran
    return {svg: chartSvg({...view.model, series}, theme(), SIZE), ...SIZE};
  }
  const box = drawn.getBoundingClientRect();
  const [width, height] = [box.width, box.height].map((each) => Math.ceil(each) + 2 * NODE_MARGIN);
  return {svg: nodeSvg(drawn, theme()), width, height};
}

const cell = (value) => {
  // What somebody called a run must not become a formula in a spreadsheet.
  const safe = typeof value === "string" && /^[=+@\t]/.test(value) ? `'${value}` : value;
  const text = safe === Infinity ? "inf" : String(safe);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const EXPORTS = {
  async png(view) {
    const {svg, width, height} = picture(view);
    save(`tightrope-${view.kind}.png`, "image/png", await svgToPng(svg, width, height));
  },
  svg(view) {
    save(`tightrope-${view.kind}.svg`, "image/svg+xml", picture(view).svg);
  },
  csv(view) {
    save(
      `tightrope-${view.kind}.csv`,
      "text/csv",
      `${view
        .csv()
        .map((row) => row.map(cell).join(","))
        .join("\n")}\n`,
    );
  },
  async json(view) {
    const answer = view.document?.() ?? (await ask("export", {kind: "document", questions: view.questions()}));
    if (answer === null || answer.error) return answer?.error ?? "the server did not answer";
    save(`tightrope-${view.kind}.json`, "application/json", `${answer.json}\n`);
    return null;
  },
};

/** Until all that a view shows is the last word; what it shows meanwhile leaves the page in no form. */
export async function settled(view) {
  for (let waited = 0; !view.settled && waited < PATIENCE; waited += LOOKED_EVERY) {
    await new Promise((resolve) => setTimeout(resolve, LOOKED_EVERY));
  }
  return view.settled;
}

/** Writes the view in this format; what went wrong, or null. */
export async function exported(format, view) {
  if (!(await settled(view))) return UNSETTLED;
  if (view.nothing) return "There is nothing to export yet";
  return (await EXPORTS[format](view)) ?? null;
}

/** The report of a run, as the officer files it. */
export async function report(card, state) {
  const {prior, fpr, baseline, delta} = state;
  const answer = await ask("report", {kind: "report", text: card.text, prior, fpr, baseline, delta});
  if (answer === null || answer.error) return answer?.error ?? "the server did not answer";
  save("tightrope-report.html", "text/html", answer.html);
  return null;
}
