// What the page shows, as one value; its address says the same, so that a link is the whole page.
//
//   #run=EXPR&run=EXPR&colours=0,3&hidden=1&current=0&view=curve&ask=epsilon&delta=1e-5&epsilon=1&...
// `of` is the budget of a ledger that is looked at, `design` what was decided by chance in an audit.
// What equals the usual value is left out.

export const RUNS_MOST = 8;
export const VIEWS = ["curve", "steps", "tradeoff", "risk", "compare", "budget", "audit", "ledger"];
export const ASKS = ["epsilon", "delta", "calibrate"];

const USUAL = {
  view: "curve",
  ask: "epsilon",
  delta: "1e-5",
  epsilon: "1",
  prior: "0.1",
  fpr: "0.001",
  baseline: "1e-4",
  axis: "steps",
  log: "",
  zoom: "",
  pins: "",
  of: "",
  design: "",
};

let counter = 0;

/** A run of this text; its number is for this page alone. */
export function newRun(text, colour) {
  counter += 1;
  return {id: `r${counter}`, text, colour, hidden: false};
}

/** A colour that no run has, or the first. */
export function freeColour(runs) {
  const taken = new Set(runs.map((run) => run.colour));
  for (let colour = 0; colour < RUNS_MOST; colour += 1) if (!taken.has(colour)) return colour;
  return 0;
}

/** The value that an address says; anything that it does not say is as usual. */
export function read(fragment) {
  const said = new URLSearchParams(fragment.replace(/^#/, ""));
  const state = {runs: [], current: 0, ...USUAL};
  for (const key of Object.keys(USUAL)) if (said.has(key)) state[key] = said.get(key);
  if (!VIEWS.includes(state.view)) state.view = USUAL.view;
  if (!ASKS.includes(state.ask)) state.ask = USUAL.ask;
  const colours = (said.get("colours") ?? "").split(",").map(Number);
  const hidden = (said.get("hidden") ?? "").split(",");
  for (const [place, text] of said.getAll("run").slice(0, RUNS_MOST).entries()) {
    const wanted = colours[place];
    const known = said.has("colours") && Number.isInteger(wanted) && wanted >= 0 && wanted < RUNS_MOST;
    const run = newRun(text, known ? wanted : freeColour(state.runs));
    run.hidden = hidden.includes(String(place));
    state.runs.push(run);
  }
  const current = Number(said.get("current") ?? 0);
  state.current = Number.isInteger(current) && current >= 0 && current < state.runs.length ? current : 0;
  return state;
}

/** The end of an address that says this value. */
export function write(state) {
  const said = new URLSearchParams();
  for (const run of state.runs) said.append("run", run.text);
  if (state.runs.some((run, place) => run.colour !== place)) {
    said.set("colours", state.runs.map((run) => run.colour).join(","));
  }
  const hidden = state.runs.flatMap((run, place) => (run.hidden ? [place] : []));
  if (hidden.length) said.set("hidden", hidden.join(","));
  if (state.current) said.set("current", String(state.current));
  for (const [key, usual] of Object.entries(USUAL)) if (state[key] !== usual) said.set(key, state[key]);
  return said.toString();
}

/** Whether an address says anything about the page. */
export const saysState = (fragment) =>
  [...new URLSearchParams(fragment.replace(/^#/, "")).keys()].some((key) => key === "run" || key in USUAL);

/** The part of the axis that is looked at, or null for all of it. */
export function zoomOf(state) {
  const ends = state.zoom.split(",").map(Number);
  return ends.length === 2 && ends.every(Number.isFinite) && ends[0] < ends[1] ? {min: ends[0], max: ends[1]} : null;
}
