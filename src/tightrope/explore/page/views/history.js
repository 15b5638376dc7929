// What was spent and held of a budget over time, as a chart: the band between both ends is what is held.

const LEAST = 60_000; // milliseconds that the axis spans
const SPARE = 1.05; // of the axis, above the highest
const BAND = "Thin line: spent. Thick line: with what is held, the band between them.";
const COUNTS = "What is held counts as used.";

/** The model of a chart, from the server's answer; `said` is the line beneath it. */
export function historyModel(past, colours, zoom) {
  const times = past?.times ?? [];
  const series = (past?.series ?? [])
    .filter((each) => each.points.length)
    .map((each, place) => ({
      id: each.label,
      label: each.label,
      title: `${past.name}, ${each.label}`,
      colour: colours[place],
      stepped: true,
      dashed: false,
      points: each.points.map((point, at) => ({...point, ...times[at]})),
    }));
  const first = times[0]?.x ?? 0;
  const last = Math.max(times.at(-1)?.x ?? 0, first + LEAST);
  const {min, max} = zoom ?? {min: first, max: last};
  const highs = series.flatMap((each) => each.points.map((point) => point.high));
  const most = past?.most ?? (Math.max(0, ...highs) || 1);
  return {
    id: "ledger",
    title: past ? `${past.name}: ${past.title}` : "",
    x: {label: "time (UTC)", scale: "time", min, max},
    y: {label: past?.unit ?? "", scale: "linear", min: 0, max: most * SPARE},
    series,
    guides: (past?.guides ?? []).map(({label, y}) => ({
      label,
      points: [
        {x: min, y},
        {x: max, y},
      ],
    })),
    targets: [],
    pins: [],
    empty: past ? "Nothing to draw" : "What was used is being read",
    said: past ? (past.most === null ? COUNTS : BAND) : "",
  };
}
