// Epsilon at one delta as a run goes on: by steps, or by epochs of a training run.

import {make} from "../dom.js";
import {spelt} from "../spelling.js";
import {zoomOf} from "../state.js";
import {Lines, nice} from "./lines.js";

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
    if (!this.byEpochs) return answer.points;
    return answer.points
      .filter((point) => point.epoch > 0)
      .map((point) => ({...point, x: point.epoch, xText: point.epochText}));
  }

  axes(series, answers) {
    const units = new Set(answers.map(([, answer]) => answer.unit).filter(Boolean));
    const label = this.byEpochs ? "epochs" : units.size === 1 ? [...units][0] : "steps, or uses";
    const zoom = zoomOf(this.page.state);
    const xs = series.flatMap((each) => each.points.map((point) => point.x));
    const {min, max} = zoom ?? {min: 0, max: Math.max(1, ...xs)};
    const highs = series.flatMap((each) =>
      each.points.filter((point) => point.x >= min && point.x <= max).map((point) => point.high),
    );
    const lows = series.flatMap((each) =>
      each.points.filter((point) => point.x >= min && point.x <= max).map((point) => point.low),
    );
    const most = Math.max(0, ...highs.filter(Number.isFinite));
    const least = zoom ? Math.min(most, ...lows) : 0;
    return {
      title: `Epsilon at delta ${this.page.state.delta}`,
      x: {label: label.length > 60 ? `${label.slice(0, 60)} …` : label, scale: "linear", min, max},
      y: {
        label: `epsilon at delta ${spelt(this.page.state.delta)}`,
        scale: "linear",
        min: least,
        max: zoom && most > least ? most : nice(most * 1.05),
      },
      guides: [],
      targets: [],
    };
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

  caption() {
    return `Epsilon at delta ${spelt(this.page.state.delta)}, both ends`;
  }

  heading() {
    return this.byEpochs ? "epochs" : "steps";
  }
}
