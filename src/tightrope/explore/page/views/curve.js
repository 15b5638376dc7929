// Delta over epsilon: the privacy curve of every run, and targets that can be dragged.

import {double, spelt} from "../spelling.js";
import {zoomOf} from "../state.js";
import {Lines, nice} from "./lines.js";

const BEYOND = 1.4; // times the largest epsilon that was asked for
const DECADES_BELOW = 3; // the target
const SMALLEST = 1e-320;
const WIDE = 2; // times: a first answer
const CELLS = 60; // of a fine curve

export class CurveView extends Lines {
  kind = "curve";
  hint = "Drag over the chart to zoom, click to pin, drag the target.";

  /** As far as what is asked for, and a little beyond, in round numbers, so that the axis stays while one drags. */
  range() {
    const zoom = zoomOf(this.page.state);
    if (zoom) return zoom;
    const {ask, epsilon} = this.page.state;
    const asked = ask === "epsilon" ? [] : [Number(epsilon)];
    const known = ask === "delta" ? [] : this.page.shown().map(reached);
    const most = Math.max(0, ...asked, ...known.filter(Number.isFinite));
    return {min: 0, max: nice(most * BEYOND)};
  }

  /** Ends on a grid of sixty cells, so that places between them are short. */
  zoomed({min, max}) {
    const cell = (max - min) / CELLS;
    const power = 10 ** (Math.floor(Math.log10(cell)) - 1);
    const step = Math.ceil(cell / power - 1e-9) * power; // two digits
    const digits = Math.min(18, Math.max(0, -Math.floor(Math.log10(power))));
    const first = Math.max(0, Math.floor(min / step)) * step;
    return `${Number(first.toFixed(digits))},${Number((first + CELLS * step).toFixed(digits))}`;
  }

  question() {
    const {min, max} = this.range();
    return {kind: "curve", from: min, to: max, pins: this.page.pins("curve")};
  }

  points(answer) {
    return answer.points;
  }

  axes(series) {
    const {ask, delta, epsilon} = this.page.state;
    const {min, max} = this.range();
    const targets = [];
    if (ask !== "delta")
      targets.push({
        id: "delta",
        axis: "y",
        value: Number(delta),
        label: "delta",
        text: `δ = ${spelt(delta)}`,
      });
    if (ask !== "epsilon")
      targets.push({
        id: "epsilon",
        axis: "x",
        value: Number(epsilon),
        label: "epsilon",
        text: `ε = ${spelt(epsilon)}`,
      });
    return {
      title: "Delta over epsilon, both ends",
      x: {label: "epsilon", scale: "linear", min, max},
      y: {label: "delta", scale: "log", ...this.heights(series, min, max)},
      guides: [],
      targets,
    };
  }

  heights(series, min, max) {
    const {ask, delta} = this.page.state;
    const seen = series.flatMap((each) => each.points.filter((point) => point.x >= min && point.x <= max));
    const highs = seen.map((point) => point.high).filter((high) => high > 0);
    const most = highs.length ? Math.min(1, Math.max(...highs)) : 1;
    if (zoomOf(this.page.state)) {
      const lows = seen.map((point) => point.low).filter((low) => low > 0);
      const least = Math.min(most, ...lows);
      return most > least ? {min: least, max: most} : {min: most / 2, max: Math.min(1, most * 2)};
    }
    const aim = Number(delta) > 0 ? Number(delta) : 1e-5;
    const floor = ask === "delta" ? 1e-12 : aim * 10 ** -DECADES_BELOW;
    const least = Math.max(Math.min(...highs, aim / 10), floor, SMALLEST);
    return {min: decade(Math.min(least, most), Math.floor), max: decade(Math.max(most, aim * 2), Math.ceil)};
  }

  columns() {
    return ["epsilon", "delta_lower", "delta_upper"];
  }

  heading() {
    return "epsilon";
  }
}

/** The epsilon of a run that the axis makes room for: of a first answer that is wide, only what is certain. */
function reached(card) {
  const answer = card.shown;
  if (!answer || answer.error || answer.asked.kind === "delta") return 0;
  const [low, high] = [double(answer.low), double(answer.high)];
  return card.fine || high <= WIDE * low ? high : low;
}

const decade = (value, to) => Math.min(1, 10 ** to(Math.log10(value) + (to === Math.floor ? 1e-9 : -1e-9)));
