// What an attack saw, as a file that is dropped on the page: what it refutes of the chosen run, and of any at delta.

import {dotsChart} from "../chart/dots.js";
import {fill, make} from "../dom.js";
import {LOCALE, double, intervalCell, spelt} from "../spelling.js";
import {Spot} from "../spot.js";
import {plainTable} from "../table.js";
import {ASKING, Panel} from "./panel.js";

const BYTES_MOST = 3_000_000; // of a file: larger ones are for the command line
const DESIGNS = [
  ["", "choose what was decided by chance"],
  ["one-run", "one run: each canary was in by a coin of its own"],
  ["runs", "many runs, some with one canary, the others without"],
  ["random-split", "the members are a uniformly random part of one pool"],
  ["members", "nothing: a list of members and others"],
];
const PLACES = {M1: "rank of the threshold", O2: "guesses"};
const COUNTS = {M1: "runs beyond it", O2: "right ones"};
const FILE = "Drop a CSV file with the columns score and member (0 or 1) on the page, or choose one. It stays on this machine.";
const DESIGN = "Say what was decided by chance: it decides what the scores may tell.";

export class AuditView extends Panel {
  kind = "audit";

  constructor(page) {
    super(page);
    this.file = null; // its name and its text
    this.unfolded = [];
    this.spots = [
      new Spot(
        "audit",
        (answer) => {
          this.answer = answer;
          this.page.redraw();
        },
        {rough: false},
      ),
    ];
    this.input = make("input", {
      type: "file",
      accept: ".csv,text/csv",
      "aria-label": "File of scores",
      onchange: () => this.take(this.input.files),
    });
    this.design = make(
      "select",
      {"aria-label": "What was decided by chance", onchange: () => page.set({design: this.design.value})},
      DESIGNS.map(([value, text]) => make("option", {value}, text)),
    );
    fill(this.controls, this.input, this.design);
  }

  /** Reads what was dropped or chosen. */
  async take(files) {
    const [file] = files;
    if (!file) return;
    if (files.length > 1) this.page.toast("One file at a time: the first is taken");
    if (file.size > BYTES_MOST) {
      this.page.toast("This file is too large for the page: tightrope audit FILE reads it");
      return;
    }
    if (this.input.files !== files) this.input.files = files; // it shows the name
    this.file = {name: file.name, text: await file.text()};
    this.page.redraw();
  }

  /** What is asked; null while something is missing. */
  question() {
    const {design, delta} = this.page.state;
    const {card, file} = this;
    if (file === null || design === "" || (card && card.wrong !== null)) return null;
    return {kind: "audit", text: card?.run.text ?? "", name: file.name, scores: file.text, design, delta};
  }

  update() {
    const question = this.question();
    const owner = this.card?.run.id ?? null;
    if (question === null || owner !== this.owner) {
      this.close();
      this.answer = null;
    }
    this.owner = owner;
    if (question !== null) this.spots[0].want(question);
    this.draw();
  }

  get settled() {
    return this.question() === null || this.spots[0].settled;
  }

  draw() {
    const {answer} = this;
    const {design} = this.page.state;
    this.element.classList.toggle("unsettled", !this.settled);
    if (this.design !== document.activeElement) this.design.value = DESIGNS.some(([one]) => one === design) ? design : "";
    if (!this.changed(answer, this.file, design)) return;
    if (this.side.querySelector("details"))
      this.unfolded = [...this.side.querySelectorAll("details[open] > summary")].map((each) => each.textContent);
    if (this.nothing) {
      const missing = this.file === null ? FILE : design === "" ? DESIGN : (this.card?.wrong ?? ASKING);
      fill(this.box, make("p", {class: answer?.error ? "error" : "quiet drop"}, answer?.error ?? missing));
      fill(this.side);
      return;
    }
    const sentences = make(
      "div",
      {class: "sentences"},
      answer.sentences.map((each) => make("p", {}, each)),
      answer.warnings.map((each) => make("p", {class: "quiet"}, `Look at this: ${each}.`)),
    );
    const box = make("div", {class: "dots-box"});
    fill(this.box, this.card && this.title(), sentences, answer.epsilon && box);
    if (answer.epsilon) dotsChart(box, this.picture(answer));
    const assumed = answer.assumed.length > 0 && [
      make("summary", {}, "What it rests on"),
      make(
        "ul",
        {class: "notes"},
        answer.assumed.map((each) => make("li", {}, each)),
      ),
    ];
    const [method] = answer.tests[0] ?? [];
    fill(
      this.side,
      answer.tests.length > 0 &&
        plainTable(
          "What the attack saw",
          [PLACES[method] ?? "place", COUNTS[method] ?? "count", "of"],
          answer.tests.map(([, place, count, trials]) => [String(place), String(count), String(trials)]),
        ),
      answer.claimed && make("p", {class: "quiet"}, "The run's own epsilon: ", intervalCell(answer.claimed)),
      assumed && make("details", {open: this.unfolded.includes("What it rests on")}, assumed),
    );
  }

  /** What is refuted, beside what the run is certified to cost. */
  picture({epsilon, claimed, asked}) {
    const rows = [{label: "refuted", value: epsilon.value, text: spelt(epsilon.text), kind: "bound", note: ""}];
    if (claimed) {
      rows.push({
        label: "the run",
        value: null,
        text: `[${claimed.lowText}, ${claimed.highText}]`,
        kind: "certified",
        low: double(claimed.low),
        high: double(claimed.high),
        note: "",
      });
    }
    return {
      title: `Epsilon at delta ${asked.delta}: refuted, and claimed`,
      rows,
      scale: "linear",
      label: `epsilon at delta ${asked.delta}`,
      locale: LOCALE,
      words: {bound: "refuted, with all below it", certified: "certified interval of the run"},
    };
  }

  /** What is exported as JSON: the document that `tightrope verify` checks. */
  document() {
    return {json: this.answer.json};
  }

  csv() {
    return [["method", "place", "count", "of", "weight"], ...this.answer.tests];
  }
}
