// The other views: what it means for one person, what other methods say, and where the width of an answer comes from.

import {makeChart} from "./chart/chart.js";
import {barsChart, dotsChart} from "./chart/dots.js";
import {localised} from "./chart/numbers.js";
import {interval, intervalCell} from "./card.js";
import {fill, make} from "./dom.js";
import {chosen, numberField} from "./fields.js";
import {tradeoffAxes} from "./lines.js";
import {Spot} from "./spot.js";
import {plainTable} from "./table.js";

const LOCALE = navigator.language;
const SOURCES = ["discretisation", "truncation", "wrap around", "quadrature", "rounding", "theorem"];
const EMPTY = "Choose a run: its card is the one with the frame.";

/** A view of the run that is chosen. */
class Panel {
  constructor(page) {
    this.page = page;
    this.answer = null;
    this.controls = make("div", {class: "controls row"});
    this.box = make("div", {class: "panel-box"});
    this.side = make("div", {class: "beside"});
    this.element = make("div", {class: "two"}, make("div", {class: "chart-side"}, this.controls, this.box), this.side);
  }

  open() {}

  close() {
    for (const spot of this.spots ?? []) spot.rest();
  }

  retheme() {
    this.drawn = null;
  }

  /** Whether anything that is shown is other than it was: what is open or has the keyboard stays so otherwise. */
  changed(...parts) {
    const now = [this.page.rethemes, this.card?.title, this.card?.run.colour, this.card?.wrong, ...parts];
    const same = this.drawn?.length === now.length && now.every((each, place) => each === this.drawn[place]);
    this.drawn = now;
    return !same;
  }

  get card() {
    return this.page.currentCard();
  }

  /** What the chosen run is shown by, as others ask for it. */
  copies() {
    return this.answer;
  }

  title() {
    return make(
      "p",
      {class: "of-run"},
      make("span", {class: `dot small-dot colour-${this.card.run.colour}`, "aria-hidden": "true"}),
      this.card.title,
    );
  }
}

export class RiskView extends Panel {
  kind = "risk";

  constructor(page) {
    super(page);
    this.rates = null;
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
      zoom: () => {},
      pin: () => {},
      hover: () => {},
      target: ({id, value}) => this.page.set({[id]: chosen(Math.min(value, 0.5), false)}),
      announce: (text) => this.page.announce(text),
    });
  }

  question() {
    const {prior, fpr, baseline, delta} = this.page.state;
    return {kind: "risk", prior, fpr, baseline, delta};
  }

  update() {
    for (const [name, field] of this.fields) field.set(this.page.state[name]);
    const text = this.card?.text ?? null;
    if (text === null) this.close();
    else {
      this.spots[0].want({...this.question(), text});
      this.spots[1].want({kind: "tradeoff", text});
    }
    this.draw();
  }

  draw() {
    const {answer, card} = this;
    if (card && this.answer && !this.answer.error) this.drawChart(card);
    if (!this.changed(answer)) return;
    if (!card || card.text === null || answer === null || answer.error) {
      fill(this.heading, make("p", {class: answer?.error ? "error" : "quiet"}, answer?.error ?? EMPTY));
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
        {},
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
      answer.wide && make("p", {class: "quiet"}, `Wide: ${answer.wide}`),
      list("How to read it", answer.meant),
      list("What is assumed", answer.assumed),
      list("What is not covered", answer.notCovered),
    );
  }

  drawChart(card) {
    const points = this.rates && !this.rates.error ? this.rates.hits.filter((point) => point.x > 0) : [];
    const {fpr} = this.page.state;
    const targets =
      Number(fpr) > 0
        ? [{id: "fpr", axis: "x", value: Number(fpr), label: "rate of wrong accusations", text: localised(fpr, LOCALE)}]
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
      ["quantity", "lower", "upper", "sentence"],
      ...(this.answer?.rows ?? []).map((row) => [row.quantity, row.low, row.high, row.sentence]),
    ];
  }
}

export class CompareView extends Panel {
  kind = "compare";

  constructor(page) {
    super(page);
    this.spots = [
      new Spot(
        "compare",
        (answer) => {
          this.answer = answer;
          this.page.redraw();
        },
        {rough: false},
      ),
    ];
  }

  question() {
    return {kind: "compare", delta: this.page.state.delta};
  }

  update() {
    const text = this.card?.text ?? null;
    if (text === null) this.close();
    else this.spots[0].want({...this.question(), text});
    this.draw();
  }

  draw() {
    const {answer, card} = this;
    this.box.classList.toggle("waiting", this.spots[0].question !== null && this.spots[0].answered === null);
    if (!this.changed(answer)) return;
    if (!card || card.text === null || answer === null || answer.error) {
      fill(
        this.box,
        make(
          "p",
          {class: answer?.error ? "error" : "quiet"},
          answer?.error ?? (card ? "Every method is asked in turn; this takes a second." : EMPTY),
        ),
      );
      fill(this.side);
      fill(this.controls);
      return;
    }
    fill(
      this.controls,
      this.title(),
      make("span", {class: "quiet"}, `epsilon at delta ${localised(this.page.state.delta, LOCALE)}`),
    );
    const {truth} = answer;
    const rows = [
      {
        label: "Tightrope",
        value: null,
        text: `[${truth.lowText}, ${truth.highText}]`,
        kind: "certified",
        low: value(truth.low),
        high: value(truth.high),
        note: "",
      },
      ...answer.rows.map((row) => ({
        label: row.method,
        value: row.value === null ? null : value(row.value),
        text: row.text,
        kind: row.kind === "upper bound" ? "bound" : "approximation",
        note: row.distance,
      })),
    ];
    const finite = rows.flatMap((row) => [row.value, row.high]).filter((each) => Number.isFinite(each) && each > 0);
    const scale = Math.max(...finite) > 20 * Math.min(...finite) ? "log" : "linear";
    this.model = {title: `Epsilon at delta ${this.page.state.delta}`, rows, scale, label: "epsilon", locale: LOCALE};
    const box = make("div", {class: "dots-box"});
    fill(this.box, box);
    dotsChart(box, this.model);
    fill(
      this.side,
      plainTable(
        "What every method says",
        ["method", "epsilon", "distance"],
        [
          [said("Tightrope", "certified interval", answer.why), intervalCell(truth), ""],
          ...answer.rows.map((row) => [
            said(row.method, row.kind, row.why),
            row.value === null ? "–" : localised(row.text, LOCALE),
            row.distance,
          ]),
        ],
      ),
    );
  }

  questions() {
    return this.card?.text ? [{...this.question(), text: this.card.text}] : [];
  }

  csv() {
    const {truth, rows} = this.answer;
    return [
      ["method", "lower", "upper", "kind"],
      ["Tightrope", truth.low, truth.high, "certified interval"],
      ...rows.map((row) => [row.method, "", row.value ?? "", row.kind]),
    ];
  }
}

export class BudgetView extends Panel {
  kind = "budget";

  update() {
    this.draw();
  }

  cards() {
    return this.page.shown().filter((card) => card.answer && !card.answer.error);
  }

  draw() {
    const cards = this.cards();
    if (!this.changed(...cards.flatMap((card) => [card.answer, card.short]))) return;
    fill(
      this.controls,
      make(
        "span",
        {class: "quiet hint"},
        "What each source of error added above and took away below, in units of delta: the whole width of an answer.",
      ),
    );
    if (!cards.length) {
      fill(this.box, make("p", {class: "quiet"}, "Ask for epsilon or delta of a run: its answer has a budget."));
      fill(this.side);
      return;
    }
    const answers = cards.map((card) => {
      const all = card.answer.budget.reduce((sum, line) => sum + line.above + line.below, 0);
      const side = (which) =>
        card.answer.budget
          .filter((line) => line[which] > 0)
          .map((line) => ({
            label: line.source,
            colour: this.page.colours[SOURCES.indexOf(line.source) % 8],
            share: line[which] / all,
            text: line[`${which}Text`],
          }));
      return {label: card.short, above: all ? side("above") : [], below: all ? side("below") : []};
    });
    this.model = {title: "Where the width of each answer comes from", answers, locale: LOCALE};
    const box = make("div", {class: "dots-box"});
    fill(this.box, box);
    barsChart(box, this.model);
    fill(
      this.side,
      cards.map((card) =>
        plainTable(
          `${card.short}: ${interval(card.answer)}`,
          ["source", "above", "below"],
          card.answer.budget
            .filter((line) => line.above > 0 || line.below > 0)
            .map((line) => [line.source, localised(line.aboveText, LOCALE), localised(line.belowText, LOCALE)]),
        ),
      ),
    );
  }

  copies() {
    return this.card?.answer ?? null;
  }

  questions() {
    return this.cards().map((card) => card.asking.question);
  }

  csv() {
    return [
      ["run", "source", "above", "below"],
      ...this.cards().flatMap((card) =>
        card.answer.budget.map((line) => [card.title, line.source, line.above, line.below]),
      ),
    ];
  }
}

/** A method, with what kind of statement it makes and why it says what it says. */
const said = (name, kind, why) => [name, make("span", {class: "beneath"}, `${kind}: ${why}`)];

const value = (each) => (each === "inf" ? Infinity : each);
