// What is asked of all runs: epsilon at a delta, delta at an epsilon, or the number that meets both.

import {fill, make} from "./dom.js";
import {unknowns, written} from "./expression.js";
import {numberField} from "./fields.js";
import {ASKS} from "./state.js";

const QUESTIONS = {epsilon: "ε at δ", delta: "δ at ε", calibrate: "calibrate"};
const NOISE = ["sigma", "scale"];

/** The bar above the views. */
export class AskBar {
  constructor(element, page) {
    this.element = element;
    this.page = page;
    this.shown = "";
    this.build();
  }

  build() {
    const choice = (value) =>
      make(
        "label",
        {class: "segment"},
        make("input", {type: "radio", name: "ask", value, onchange: () => this.asked(value)}),
        make("span", {}, QUESTIONS[value]),
      );
    const field = (name, label, most) =>
      numberField(label, this.page.state[name], (text) => this.page.set({[name]: text}), {most, least: 0});
    this.fields = {delta: field("delta", "delta", 1), epsilon: field("epsilon", "epsilon", Infinity)};
    const row = (name, inside) =>
      make("label", {class: "argument"}, make("span", {class: "argument-name"}, name), inside);
    this.unknown = make("select", {"aria-label": "The number to find", onchange: () => this.find(this.unknown.value)});
    this.rows = {
      unknown: row("find", this.unknown),
      epsilon: row("ε", this.fields.epsilon),
      delta: row("δ", this.fields.delta),
    };
    fill(
      this.element,
      make("div", {class: "segments", role: "radiogroup", "aria-label": "Question"}, ASKS.map(choice)),
      Object.values(this.rows),
    );
  }

  /** To leave a search is to keep what was found. */
  asked(value) {
    if (value !== "calibrate") {
      for (const card of this.page.cards.values()) if (card.found?.text && card.fine) card.take(card.found.text);
    }
    this.page.set({ask: value});
    if (value === "calibrate" && ![...this.page.cards.values()].some((card) => card.open))
      this.find(this.usualUnknown());
  }

  draw() {
    const {ask: asked} = this.page.state;
    for (const input of this.element.querySelectorAll("input[name=ask]")) input.checked = input.value === asked;
    const searching = [...this.page.cards.values()].some((card) => card.open);
    this.rows.epsilon.hidden = asked === "epsilon" && !searching;
    this.rows.delta.hidden = asked === "delta" && !searching;
    this.rows.unknown.hidden = asked !== "calibrate";
    for (const [name, field] of Object.entries(this.fields)) field.set(this.page.state[name]);
    if (asked === "calibrate") this.drawUnknowns();
  }

  /** Every number of every run that could be looked for. */
  choices() {
    return this.page.state.runs.flatMap((run, place) => {
      const card = this.page.cards.get(run.id);
      const form = card?.synced ? card.form.form : null;
      return form
        ? unknowns(form).map((each, index) => ({...each, value: `${place}:${index}`, run, title: card.title}))
        : [];
    });
  }

  drawUnknowns() {
    const choices = this.choices();
    const now = choices.find((each) => each.argument.text.trim() === "?");
    const text = JSON.stringify([choices.map((each) => [each.value, each.label, each.title]), now?.value]);
    if (this.shown === text) return;
    this.shown = text;
    const several = this.page.state.runs.length > 1;
    fill(
      this.unknown,
      make("option", {value: ""}, "choose a number"),
      choices.map((each) =>
        make("option", {value: each.value}, several ? `${each.label}, ${each.title.slice(0, 40)}` : each.label),
      ),
    );
    this.unknown.value = now?.value ?? "";
  }

  /** The noise of the chosen run, where it has one; else its first number. */
  usualUnknown() {
    const mine = this.choices().filter((each) => this.page.isCurrent(each.run));
    return (mine.find((each) => NOISE.includes(each.argument.name)) ?? mine[0])?.value ?? "";
  }

  /** Puts ? in place of that number; what was looked for before becomes what was found, or what it was. */
  find(value) {
    const chosen = this.choices().find((each) => each.value === value);
    if (!chosen) return null;
    const {run, argument} = chosen;
    const card = this.page.cards.get(run.id);
    const open = unknowns(card.form.form).filter((each) => each.argument.text.trim() === "?");
    const found = card.fine ? card.found?.valueText : undefined;
    if (open.some((each) => (found ?? each.argument.before) === undefined)) {
      this.page.toast("Put a number in place of ? first, or wait until one is found");
      this.shown = "";
      return this.draw();
    }
    for (const other of this.page.cards.values()) {
      if (other !== card && other.open && other.fine && other.found?.text) other.take(other.found.text);
    }
    for (const each of open) each.argument.text = found ?? each.argument.before;
    argument.before = argument.text;
    argument.text = "?";
    card.wasEdited(written(card.form.form));
    return this.page.choose(run);
  }
}
