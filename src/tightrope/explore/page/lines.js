// The three charts of lines: delta over epsilon, epsilon over steps, and the trade-off of an attacker.

import {makeChart} from "./chart/chart.js";
import {localised} from "./chart/numbers.js";
import {fill, make, replace} from "./dom.js";
import {chosen} from "./fields.js";
import {Spot} from "./spot.js";
import {pinsOf, zoomOf} from "./state.js";
import {pointTable} from "./table.js";

const LOCALE = navigator.language;
const NICE = [1, 1.5, 2, 3, 4, 6, 8, 10]; // of which 60 cells have short ends
const BEYOND = 1.4; // times the largest epsilon that was asked for
const DECADES_BELOW = 3; // the target
const SMALLEST = 1e-320;
const WIDE = 2; // times: a first answer
const CELLS = 60; // of a fine curve

const number = (value) => (value === "inf" ? Infinity : value);
const drawn = (points) => points.map((point) => ({...point, low: number(point.low), high: number(point.high)}));

/** The next number that is easy to read. */
export function nice(value) {
  if (!(value > 0) || !Number.isFinite(value)) return 10;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = NICE.find((each) => each * power >= value * (1 - 1e-9));
  return Number((step * power).toPrecision(3));
}

/** What the three have in common: a question per run, a chart, a table. */
class Lines {
  constructor(page) {
    this.page = page;
    this.spots = new Map(); // by run
    this.answers = new Map();
    this.controls = make("div", {class: "controls row"});
    this.box = make("div", {class: "chart-box"});
    this.notes = make("div", {class: "view-notes"});
    this.table = make("div", {class: "beside"});
    this.element = make(
      "div",
      {class: "two"},
      make("div", {class: "chart-side"}, this.controls, this.box, this.notes),
      this.table,
    );
    this.chart = null;
  }

  open() {
    if (this.chart !== null) return;
    this.buildControls();
    this.chart = makeChart(this.box, {
      zoom: (range) => this.page.set({zoom: range === null ? "" : this.zoomed(range)}),
      pin: (point) => this.page.pin(point.xText),
      target: (target) => this.moved(target),
      hover: () => {},
      announce: (text) => this.page.announce(text),
    });
  }

  close() {
    for (const spot of this.spots.values()) spot.rest();
  }

  retheme() {
    this.chart?.retheme?.();
  }

  zoomed({min, max}) {
    return `${min},${max}`;
  }

  moved({id, value}) {
    this.page.set({[id]: chosen(value, false)});
  }

  /** Asks what is not known, and draws what is. */
  update() {
    const cards = this.page.shown();
    const wanted = new Set(cards.map((card) => card.run.id));
    for (const [id, spot] of this.spots) {
      if (!wanted.has(id)) {
        spot.close();
        this.spots.delete(id);
        this.answers.delete(id);
      }
    }
    for (const card of cards) {
      const {id} = card.run;
      if (!this.spots.has(id)) {
        this.spots.set(
          id,
          new Spot(`${id}.${this.kind}`, (answer, question, fine) => {
            this.answers.set(id, {...answer, fine});
            this.page.redraw();
          }),
        );
      }
      const question = card.text === null ? null : this.question(card);
      if (question === null) {
        this.spots.get(id).rest();
        if (card.wrong !== null) this.answers.delete(id);
      } else {
        this.spots.get(id).want({...question, text: card.text});
      }
    }
    this.draw(cards);
  }

  draw(cards) {
    const answers = cards.map((card) => [card, this.answers.get(card.run.id)]).filter(([, answer]) => answer);
    const series = answers.flatMap(([card, answer]) => {
      const points = answer.error ? [] : this.points(answer);
      return points.length
        ? [
            {
              id: card.run.id,
              label: card.short,
              title: card.title,
              number: card.run.colour,
              colour: this.page.colours[card.run.colour],
              points: drawn(points),
              dashed: card.open,
            },
          ]
        : [];
    });
    const pins = this.page.pins(this.kind);
    this.model = {
      ...this.axes(series, answers),
      id: this.kind,
      locale: LOCALE,
      series,
      pins: pins.map((text) => ({x: Number(text), text})),
      empty: cards.length ? "Nothing to draw yet" : "Add a run to see its curve",
    };
    this.chart.update(this.model);
    this.drawControls();
    fill(this.notes, this.said(answers));
    replace(
      this.table,
      series.length
        ? pointTable(this.caption(), this.heading(), series, pins)
        : make("p", {class: "quiet"}, "The numbers of the chart will stand here."),
    );
  }

  said(answers) {
    const lines = answers.flatMap(([card, answer]) => {
      const wide = answer.wide && (answer.fine ? `wide: ${answer.wide}` : "a first picture; the fine one follows");
      const told = [answer.error, wide, ...(answer.notes ?? [])].filter(Boolean);
      return told.map((text) => make("li", {}, make("b", {}, `${card.short}: `), text));
    });
    return lines.length ? make("ul", {class: "notes"}, lines) : null;
  }

  /** Made once: what has the keyboard keeps it while numbers change. */
  buildControls() {
    const link = (name, act) =>
      make(
        "button",
        {
          type: "button",
          class: "link",
          onclick: () => {
            act();
            this.box.querySelector(".u-over")?.focus(); // the button goes away
          },
        },
        name,
      );
    this.showAll = link("Show all", () => this.page.set({zoom: ""}));
    this.clearPins = link("Clear pins", () => this.page.unpin(this.kind));
    fill(
      this.controls,
      ...this.choices(),
      this.showAll,
      this.clearPins,
      make("span", {class: "quiet hint"}, this.hint),
    );
  }

  /** Switches of one view. */
  choices() {
    return [];
  }

  drawControls() {
    this.showAll.hidden = zoomOf(this.page.state) === null;
    this.clearPins.hidden = this.page.pins(this.kind).length === 0;
  }

  /** The questions that make the document of this view. */
  questions() {
    return this.page
      .shown()
      .filter((card) => card.text !== null)
      .map((card) => ({...this.question(card), text: card.text, kind: this.kind}));
  }

  /** What the chosen run is drawn by, as others ask for it. */
  copies() {
    return this.answers.get(this.page.currentCard()?.run.id) ?? null;
  }

  csv() {
    const rows = this.model.series.flatMap((each) =>
      each.points.map((point) => [each.label, point.x, point.low, point.high]),
    );
    return [["run", this.heading(), "lower", "upper"], ...rows];
  }
}

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
        text: `δ = ${localised(delta, LOCALE)}`,
      });
    if (ask !== "epsilon")
      targets.push({
        id: "epsilon",
        axis: "x",
        value: Number(epsilon),
        label: "epsilon",
        text: `ε = ${localised(epsilon, LOCALE)}`,
      });
    return {
      title: "Privacy curve",
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

  caption() {
    return "Delta at some epsilons, both ends";
  }

  heading() {
    return "epsilon";
  }
}

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
        label: `epsilon at delta ${localised(this.page.state.delta, LOCALE)}`,
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
    return `Epsilon at delta ${localised(this.page.state.delta, LOCALE)}, both ends`;
  }

  heading() {
    return this.byEpochs ? "epochs" : "steps";
  }
}

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

  caption() {
    return this.log ? "The highest true positive rate, both ends" : "The least false negative rate, both ends";
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
      title: "Trade-off",
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
    title: "Trade-off at small rates",
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

/** The epsilon of a run that the axis makes room for: of a first answer that is wide, only what is certain. */
function reached(card) {
  const answer = card.found ?? card.answer;
  const [low, high] = [number(answer?.low), number(answer?.high)];
  return card.fine || high <= WIDE * low ? high : low;
}

const decade = (value, to) => Math.min(1, 10 ** to(Math.log10(value) + (to === Math.floor ? 1e-9 : -1e-9)));
