// Epsilon at one delta as a run goes on: by steps, or by epochs of a training run.

import {make} from "../dom.js";
import {spelt} from "../spelling.js";
import {zoomOf} from "../state.js";
import {Lines, nice} from "./lines.js";

const LABEL_MOST = 60; // characters

export class StepsView extends Lines {
  kind = "steps";
  hint = "Between two points epsilon lies between their ends.";

  question() {
    return {kind: "steps", delta: this.page.state.delta};
  }

  get byEpochs() {
    return this.page.state.axis === "epochs";
  }

  points(answer) {
    const points = answer.points.map((point) => ({...point, steps: point.x}));
    if (!this.byEpochs) return points;
    return points
      .filter((point) => point.epoch > 0)
      .map((point) => ({...point, x: point.epoch, xText: point.epochText}));
  }

  /** Epsilons at one delta only: while it is dragged, some runs are ahead of others. */
  fits(answer, first) {
    return answer.asked.delta === first.asked.delta;
  }

  get axis() {
    return this.byEpochs ? "epochs" : "steps";
  }

  axes(series, answers) {
    const delta = answers[0]?.[1].asked.delta ?? this.page.state.delta;
    const zoom = zoomOf(this.page.state);
    const places = series.flatMap((each) => each.points.map((point) => point.x));
    const {min, max} = zoom ?? {min: 0, max: Math.max(1, ...places)};
    const seen = series.flatMap((each) => each.points.filter((point) => point.x >= min && point.x <= max));
    const most = Math.max(0, ...seen.map((point) => point.high).filter(Number.isFinite));
    const least = zoom ? Math.min(most, ...seen.map((point) => point.low)) : 0;
    const label = this.unitOf(series);
    return {
      title: `Epsilon at delta ${spelt(delta)}, both ends`,
      x: {label: label.length > LABEL_MOST ? `${label.slice(0, LABEL_MOST)} …` : label, scale: "linear", min, max},
      y: {
        label: `epsilon at delta ${spelt(delta)}`,
        scale: "linear",
        min: least,
        max: zoom && most > least ? most : nice(most * 1.05),
      },
      guides: [],
      targets: [],
    };
  }

  /** What is counted; of runs that count other things, each says its own beside its name. */
  unitOf(series) {
    if (this.byEpochs) return "epochs";
    const units = new Set(series.map((each) => each.answer.unit));
    if (units.size > 1) for (const each of series) each.label = `${each.label}, ${each.answer.unit}`;
    return units.size === 1 ? [...units][0] : "steps, uses or times, as each run says";
  }

  choices() {
    const radio = (value) =>
      make("input", {type: "radio", name: "axis", value, onchange: () => this.page.set({axis: value, zoom: ""})});
    this.radios = [radio("steps"), radio("epochs")];
    const [steps, epochs] = this.radios;
    return [
      make(
        "span",
        {role: "radiogroup", "aria-label": "Counted in", class: "row"},
        make("label", {class: "choice"}, steps, "steps"),
        make("label", {class: "choice"}, epochs, "epochs of training runs"),
      ),
    ];
  }

  drawControls() {
    super.drawControls();
    for (const each of this.radios) each.checked = each.value === this.page.state.axis;
  }

  copies() {
    return null; // many runs, of which no command asks at once
  }

  columns() {
    return ["counted_in", "count", "epochs", "delta", "epsilon_lower", "epsilon_upper"];
  }

  row(point, {answer}) {
    return [answer.unit, point.steps, point.epoch || "", answer.asked.delta, point.low, point.high];
  }

  heading() {
    return this.byEpochs ? "epochs" : "count";
  }
}
