// The best attacker beside one who guesses: what is missed over false alarms, or what is found at small rates.

import {make} from "../dom.js";
import {zoomOf} from "../state.js";
import {Lines} from "./lines.js";

export class TradeoffView extends Lines {
  kind = "tradeoff";
  hint = "The grey line is an attacker who guesses.";

  question() {
    return {kind: "tradeoff"};
  }

  get log() {
    return this.page.state.log === "1";
  }

  points(answer) {
    return this.log ? answer.hits.filter((point) => point.x > 0) : answer.points;
  }

  axes(series) {
    const zoom = zoomOf(this.page.state);
    return tradeoffAxes(this.log, zoom, series, []);
  }

  choices() {
    this.logBox = make("input", {
      type: "checkbox",
      onchange: () => this.page.set({log: this.logBox.checked ? "1" : "", zoom: ""}),
    });
    return [make("label", {class: "choice"}, this.logBox, "Logarithmic axes, true positives")];
  }

  drawControls() {
    super.drawControls();
    this.logBox.checked = this.log;
  }

  columns() {
    const rate = this.log ? "true_positive_rate" : "false_negative_rate";
    return ["false_positive_rate", `${rate}_lower`, `${rate}_upper`];
  }

  heading() {
    return "false positive rate";
  }
}

/** The axes of a trade-off: what is missed over false alarms, or what is found, both logarithmic. */
export function tradeoffAxes(log, zoom, series, targets) {
  if (!log) {
    const {min, max} = zoom ?? {min: 0, max: 1};
    const seen = zoom ? series.flatMap((each) => each.points.filter((point) => point.x >= min && point.x <= max)) : [];
    const high = zoom && seen.length ? Math.max(...seen.map((point) => point.high)) : 1;
    const low = zoom && seen.length ? Math.min(...seen.map((point) => point.low)) : 0;
    return {
      title: "The least false negative rate, both ends",
      x: {label: "false positive rate", scale: "linear", min, max},
      y: {label: "false negative rate", scale: "linear", min: high > low ? low : 0, max: high > low ? high : 1},
      guides: [
        {
          label: "guessing",
          points: [
            {x: 0, y: 1},
            {x: 1, y: 0},
          ],
        },
      ],
      targets,
    };
  }
  const {min, max} = zoom ?? {min: 1e-6, max: 1};
  const least = Math.max(min, 1e-300);
  return {
    title: "The highest true positive rate, both ends",
    x: {label: "false positive rate", scale: "log", min: least, max},
    y: {label: "true positive rate", scale: "log", min: least, max: 1},
    guides: [
      {
        label: "guessing",
        points: [
          {x: least, y: least},
          {x: 1, y: 1},
        ],
      },
    ],
    targets,
  };
}
