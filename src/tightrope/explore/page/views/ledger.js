// The ledger that the explorer was started with: its budgets, and one of them closely. All of it is read, nothing moves.

import {makeChart} from "../chart/chart.js";
import {button, fill, make, replace, say} from "../dom.js";
import {LOCALE, spelt} from "../spelling.js";
import {Spot} from "../spot.js";
import {zoomOf} from "../state.js";
import {plainTable} from "../table.js";
import {drawTree} from "./tree.js";
import {historyModel} from "./history.js";

const REFRESH = 4000; // milliseconds after an answer, while the view is looked at

export class LedgerView {
  kind = "ledger";

  constructor(page) {
    this.page = page;
    this.overview = this.past = this.more = null; // the newest answers, each with what was asked
    this.looks = 0; // each look asks anew
    this.asked = 0; // looks that somebody asked for, with the past again
    this.chart = null;
    const fine = {rough: false};
    this.looking = new Spot("ledger", (answer) => this.looked(answer), fine);
    this.remembering = new Spot("ledger.past", (answer) => this.show("past", answer), fine);
    this.pricing = new Spot(
      "ledger.more",
      (answer) => {
        this.page.announce(answer.error ?? answer.words.join(" "));
        this.show("more", answer);
      },
      fine,
    );
    this.build();
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.waiting) this.look();
    });
  }

  build() {
    const link = (name, act) => make("button", {type: "button", class: "link", onclick: act}, name);
    this.refresh = link("Refresh", () => {
      this.asked += 1;
      this.look();
    });
    this.when = make("span", {class: "quiet hint"});
    this.trouble = make("p", {class: "error"});
    this.tree = make("nav", {class: "tree", "aria-label": "Budgets"});
    this.head = make("div", {class: "ledger-head"});
    this.box = make("div", {class: "chart-box low"});
    this.notes = make("div", {class: "view-notes"});
    this.showAll = link("Show all", () => this.page.set({zoom: ""}));
    this.axes = make("div", {class: "cells"});
    this.ask = button("How many more like this?", "How many more like this? Of the run that is chosen", () => this.price(), {
      class: "tool",
    });
    this.fits = make("div");
    this.jobs = make("div", {class: "cells"});
    this.closely = make(
      "div",
      {class: "chart-side"},
      this.head,
      this.box,
      make("div", {class: "row"}, this.showAll),
      this.notes,
      make("div", {class: "beside"}, make("div", {class: "more-box"}, this.ask, this.fits), this.axes, this.jobs),
    );
    const top = make("div", {class: "controls row"}, this.refresh, this.when);
    this.element = make(
      "div",
      {class: "ledger"},
      make("div", {class: "ledger-side"}, top, this.trouble, this.tree),
      this.closely,
    );
  }

  open() {
    this.chart ??= makeChart(this.box, {
      zoom: (range) => this.page.set({zoom: range === null ? "" : `${range.min},${range.max}`}),
      announce: (text) => this.page.announce(text),
      words: {keys: "Left and right arrow keys read along a line, up and down change the line, plus and minus zoom."},
    });
    this.looks += 1;
  }

  close() {
    clearTimeout(this.timer);
    this.waiting = false;
    for (const spot of [this.looking, this.remembering, this.pricing]) spot.rest();
  }

  retheme() {
    this.chart?.retheme?.();
  }

  /** Asks anew; the answer plans the next look. */
  look() {
    clearTimeout(this.timer);
    this.waiting = false;
    this.looks += 1;
    this.page.redraw();
  }

  looked(answer) {
    if (!answer.error || this.overview === null) this.overview = answer;
    if (answer.error && !this.away) this.page.announce(answer.error);
    this.away = answer.error ?? "";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.waiting = true; // until somebody looks
      if (!document.hidden) this.look();
    }, REFRESH);
    this.page.redraw();
  }

  show(name, answer) {
    this[name] = answer;
    this.page.redraw();
  }

  /** The budget that is shown, where there is one; of what was asked, not of what is asked by now. */
  get budget() {
    const found = this.overview?.budget ?? null;
    return found?.error ? null : found;
  }

  get text() {
    return this.page.currentCard()?.text ?? null;
  }

  price() {
    this.pricing.rest();
    this.more = null;
    this.pricing.want({kind: "ledger-more", budget: this.budget.name, text: this.text});
    this.page.redraw();
  }

  update() {
    this.looking.want({kind: "ledger", budget: this.page.state.of, look: this.looks});
    const {budget} = this;
    if (budget) {
      const {name, version} = budget;
      this.remembering.want({kind: "ledger-past", budget: name, version, asked: this.asked});
    }
    this.draw();
  }

  draw() {
    const {overview, budget} = this;
    say(this.when, overview?.at ? `as of ${overview.at}` : "");
    say(this.trouble, this.away || overview?.budget?.error || "");
    this.closely.hidden = budget === null;
    drawTree(this.tree, overview?.tree ?? null, budget?.name ?? this.page.state.of, (name) =>
      this.page.set({of: name, zoom: ""}),
    );
    if (budget === null) return;
    replace(this.head, headOf(budget));
    replace(
      this.axes,
      make(
        "div",
        {},
        plainTable(`Axes of ${budget.name}`, budget.headings, budget.axes.map((row) => row.map(spelt))),
        budget.notes.map((each) => make("p", {class: "quiet"}, each)),
      ),
    );
    this.drawPast(budget);
    this.drawMore(budget);
  }

  drawPast(budget) {
    const past = this.past?.asked.budget === budget.name ? this.past : null;
    const zoom = zoomOf(this.page.state);
    this.model = historyModel(past?.error ? null : past, this.page.colours, zoom);
    this.model.locale = LOCALE;
    this.chart.update(this.model);
    this.showAll.hidden = zoom === null;
    replace(this.notes, past?.error ? make("p", {class: "error"}, past.error) : keyOf(this.model));
    if (past && !past.error) replace(this.jobs, jobsOf(past.jobs));
    else fill(this.jobs);
  }

  drawMore(budget) {
    const {text} = this;
    const known = this.more?.asked.budget === budget.name && this.more.asked.text === text ? this.more : null;
    this.ask.disabled = text === null || budget.block;
    if (budget.block) return replace(this.fits, make("p", {class: "quiet"}, "Jobs are for its partitions."));
    if (text === null) return replace(this.fits, make("p", {class: "quiet"}, "Choose a run: it is the job."));
    if (known === null) return fill(this.fits, this.pricing.question === null ? null : waiting(this.pricing, text));
    if (known.error) return replace(this.fits, make("p", {class: "error"}, known.error));
    return replace(
      this.fits,
      make(
        "div",
        {},
        known.words.map((each) => make("p", {class: "of-run"}, each.trim())),
        plainTable("What one of them takes", known.headings, known.cost.map((row) => row.map(spelt))),
      ),
    );
  }

  // What leaves the page.

  get settled() {
    return this.looking.settled && (this.budget === null || this.remembering.settled);
  }

  get nothing() {
    return !this.model?.series.length;
  }

  copies() {
    return this.past?.error ? null : this.past;
  }

  /** What the ledger says of the budget, as the command line has it. */
  document() {
    return {json: this.past.json};
  }

  csv() {
    return [
      ["axis", "time", "milliseconds", "low", "high", "unit"],
      ...this.model.series.flatMap((each) =>
        each.points.map((point) => [each.label, point.xText, point.x, point.low, point.high, this.model.y.label]),
      ),
    ];
  }
}

const waiting = (spot, text) =>
  spot.question.text === text ? make("p", {class: "quiet waiting"}, "What it costs is worked out.") : null;

function headOf(budget) {
  const lines = [
    ["promise", budget.promise],
    ["used", budget.used],
    ["odometer", budget.odometer],
    ["jobs", budget.jobs],
  ].filter(([, words]) => words);
  return make(
    "div",
    {},
    make(
      "h2",
      {},
      budget.name,
      " ",
      make("span", {class: budget.state === "open" ? "state" : "state stopped"}, budget.state),
    ),
    make("p", {class: "quiet about"}, budget.about),
    make(
      "dl",
      {class: "words"},
      lines.map(([name, words]) => [make("dt", {}, name), make("dd", {}, words)]),
    ),
  );
}

/** Which line is which, and what the lines are. */
const keyOf = (model) =>
  make(
    "div",
    {class: "row hint quiet"},
    model.series.map((each, place) =>
      make("span", {}, make("span", {class: `dot small-dot colour-${place}`, "aria-hidden": "true"}), each.label),
    ),
    make("span", {}, model.said),
  );

function jobsOf(jobs) {
  if (!jobs.length) return make("p", {class: "quiet"}, "No jobs yet.");
  return plainTable(
    "Newest jobs",
    ["job", "who", "state", "when"],
    jobs.map((each) => [
      [
        make("code", {}, each.job),
        each.on || each.note
          ? make("span", {class: "beneath"}, [each.on && `of ${each.on}`, each.note].filter(Boolean).join(": "))
          : null,
      ],
      each.who,
      each.state,
      each.made,
    ]),
  );
}
