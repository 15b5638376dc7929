// What it means for one person: sentences for a belief and a rate that can be dragged, and the attacker behind them.

import {makeChart} from "../chart/chart.js";
import {fill, make} from "../dom.js";
import {numberField, numeral} from "../fields.js";
import {LOCALE, intervalCell, spelt} from "../spelling.js";
import {Spot} from "../spot.js";
import {plainTable} from "../table.js";
import {ASKING, NO_RUN, Panel} from "./panel.js";
import {tradeoffAxes} from "./tradeoff.js";

const FIRST = "A first answer; the fine one follows.";

export class RiskView extends Panel {
  kind = "risk";

  constructor(page) {
    super(page);
    this.rates = null;
    this.unfolded = [];
    this.spots = [
      new Spot("risk", (answer) => {
        this.answer = answer;
        this.page.redraw();
      }),
      new Spot("risk.tradeoff", (answer) => {
        this.rates = answer;
        this.page.redraw();
      }),
    ];
    const field = (name, label, fixed) => {
      const found = numberField(label, page.state[name], (text) => page.set({[name]: text}), {most: 0.999, fixed});
      return [name, found, make("label", {class: "argument"}, make("span", {class: "argument-name"}, label), found)];
    };
    this.fields = [
      field("prior", "belief beforehand", [1e-4, 0.999]),
      field("fpr", "rate of wrong accusations", [1e-6, 0.5]),
    ];
    this.chartBox = make("div", {class: "chart-box low"});
    this.sentences = make("div", {class: "sentences"});
    this.heading = make("div");
    fill(
      this.controls,
      this.fields.map(([, , row]) => row),
    );
    fill(this.box, this.heading, this.sentences, this.chartBox);
  }

  open() {
    this.chart ??= makeChart(this.chartBox, {
      target: ({id, value}) => this.page.set({[id]: numeral(Math.min(value, 0.5))}),
      announce: (text) => this.page.announce(text),
    });
  }

  question() {
    const {prior, fpr, baseline, delta} = this.page.state;
    return {kind: "risk", prior, fpr, baseline, delta};
  }

  update() {
    for (const [name, field] of this.fields) field.set(this.page.state[name]);
    const text = this.own();
    if (text !== null) {
      this.spots[0].want({...this.question(), text});
      this.spots[1].want({kind: "tradeoff", text});
    }
    this.draw();
  }

  draw() {
    const {answer, card} = this;
    this.element.classList.toggle("unsettled", !this.settled);
    this.chartBox.hidden = this.nothing;
    if (!this.nothing) this.drawChart(card);
    if (!this.changed(answer, this.settled)) return;
    if (this.side.querySelector("details")) {
      // What somebody unfolded stays so, of this run and of the next one.
      this.unfolded = [...this.side.querySelectorAll("details[open] > summary")].map((each) => each.textContent);
    }
    if (this.nothing) {
      fill(
        this.heading,
        make("p", {class: answer?.error ? "error" : "quiet"}, answer?.error ?? (card ? ASKING : NO_RUN)),
      );
      fill(this.sentences);
      fill(this.side);
      return;
    }
    fill(this.heading, this.title());
    fill(
      this.sentences,
      make(
        "dl",
        {},
        answer.rows.flatMap((row) => [make("dt", {}, row.number), make("dd", {}, row.sentence)]),
      ),
    );
    const list = (title, lines) =>
      lines.length > 0 &&
      make(
        "details",
        {open: this.unfolded.includes(title)},
        make("summary", {}, title),
        make(
          "ul",
          {class: "notes"},
          lines.map((line) => make("li", {}, line)),
        ),
      );
    fill(
      this.side,
      plainTable(
        "The same numbers, both ends",
        ["quantity", "lower and upper end"],
        answer.rows.map((row) => [row.quantity, intervalCell(row)]),
      ),
      answer.wide && make("p", {class: "quiet"}, this.settled ? `Wide: ${answer.wide}` : FIRST),
      list("How to read it", answer.meant),
      list("What is assumed", answer.assumed),
      list("What is not covered", answer.notCovered),
    );
  }

  drawChart(card) {
    const points = this.rates && !this.rates.error ? this.rates.hits.filter((point) => point.x > 0) : [];
    const {fpr} = this.page.state; // where the line is: it follows the hand
    const targets =
      Number(fpr) > 0
        ? [{id: "fpr", axis: "x", value: Number(fpr), label: "rate of wrong accusations", text: spelt(fpr)}]
        : [];
    const series = points.length
      ? [
          {
            id: card.run.id,
            label: card.short,
            title: card.title,
            number: card.run.colour,
            colour: this.page.colours[card.run.colour],
            points,
            dashed: false,
          },
        ]
      : [];
    const axes = tradeoffAxes(true, null, series, targets);
    const [wrong, right] = this.answer.axes;
    this.model = {
      ...axes,
      id: "risk",
      locale: LOCALE,
      title: "Attacker against guessing",
      x: {...axes.x, label: wrong},
      y: {...axes.y, label: right},
      series,
      pins: [],
      empty: "Nothing to draw yet",
    };
    this.chart?.update(this.model);
  }

  questions() {
    return this.card?.text ? [{...this.question(), text: this.card.text}] : [];
  }

  csv() {
    return [
      ["run", "quantity", "prior", "fpr", "baseline", "delta", "lower", "upper", "sentence"],
      ...this.answer.rows.map((row) => [
        this.card.title,
        row.quantity,
        ...["prior", "fpr", "baseline", "delta"].map((name) => this.answer.asked[name]),
        row.low,
        row.high,
        row.sentence,
      ]),
    ];
  }
}
