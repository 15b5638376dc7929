// What the three charts of lines have in common: a question per run, a chart, a table.

import {makeChart} from "../chart/chart.js";
import {fill, make, replace} from "../dom.js";
import {numeral} from "../fields.js";
import {LOCALE, double} from "../spelling.js";
import {Spot} from "../spot.js";
import {zoomOf} from "../state.js";
import {pointTable} from "../table.js";

const NICE = [1, 1.5, 2, 3, 4, 6, 8, 10]; // of which 60 cells have short ends

const drawn = (points) => points.map((point) => ({...point, low: double(point.low), high: double(point.high)}));

/** The next number that is easy to read. */
export function nice(value) {
  if (!(value > 0) || !Number.isFinite(value)) return 10;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = NICE.find((each) => each * power >= value * (1 - 1e-9));
  return Number((step * power).toPrecision(3));
}

/** A view with a line for every run; those that derive from it say what is asked, and which axes there are. */
export class Lines {
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
      pin: (point) => this.page.pin(this.axis, point.xText),
      target: (target) => this.moved(target),
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
    this.page.set({[id]: numeral(value)});
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
          new Spot(`${id}.${this.kind}`, (answer) => {
            this.answers.set(id, answer);
            this.page.redraw();
          }),
        );
      }
      const question = card.text === null ? null : this.question(card);
      if (question === null) {
        this.spots.get(id).rest();
        if (card.failed) this.answers.delete(id); // else it is looked for, and what was there stays, dimmed
      } else {
        this.spots.get(id).want({...question, text: card.text});
      }
    }
    this.draw(cards);
  }

  draw(cards) {
    const known = cards.map((card) => [card, this.answers.get(card.run.id)]).filter(([, answer]) => answer);
    const answers = known.filter(([, answer]) => this.fits(answer, known[0][1]));
    this.element.classList.toggle("unsettled", !this.settled);
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
              answer,
            },
          ]
        : [];
    });
    const pins = this.page.pins(this.axis);
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
        ? pointTable(this.model.title, this.heading(), series, pins)
        : make("p", {class: "quiet"}, "The numbers of the chart will stand here."),
    );
  }

  /** Whether two answers can stand on one axis; where not, one of them waits for its next answer. */
  fits() {
    return true;
  }

  /** What pins are about: places of one axis. */
  get axis() {
    return this.kind;
  }

  said(answers) {
    const lines = answers.flatMap(([card, answer]) => {
      const wide =
        answer.wide &&
        (this.spots.get(card.run.id)?.settled ? `wide: ${answer.wide}` : "a first picture; the fine one follows");
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
    this.clearPins = link("Clear pins", () => this.page.unpin(this.axis));
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
    this.clearPins.hidden = this.page.pins(this.axis).length === 0;
  }

  /** The questions that make the document of this view. */
  questions() {
    return this.page
      .shown()
      .filter((card) => card.text !== null)
      .map((card) => ({...this.question(card), text: card.text, kind: this.kind}));
  }

  /** Whether all that is drawn is the last word on what is asked now. */
  get settled() {
    return this.page
      .shown()
      .every((card) => (card.text === null ? card.failed : card.fine && this.spots.get(card.run.id)?.settled));
  }

  /** Whether nothing is drawn. */
  get nothing() {
    return !this.model?.series.length;
  }

  /** What the chosen run is drawn by, as others ask for it. */
  copies() {
    return this.answers.get(this.page.currentCard()?.run.id) ?? null;
  }

  /** One row per point; `columns` says what its numbers are. */
  csv() {
    const rows = this.model.series.flatMap((each) =>
      each.points.map((point) => [each.title, ...this.row(point, each)]),
    );
    return [["run", ...this.columns()], ...rows];
  }

  row(point) {
    return [point.x, point.low, point.high];
  }
}
