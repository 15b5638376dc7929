// A run: its text, its form, its answer. The text is the value; form and address say the same.

import {ICONS, button, fill, icon, make, say} from "./dom.js";
import {hasUnknown, nameOf, renamed, written} from "./expression.js";
import {Form} from "./form.js";
import {interval, spelt} from "./spelling.js";
import {Spot} from "./spot.js";
import {RUNS_MOST} from "./state.js";

const COLOURS = ["blue", "orange", "green", "magenta", "sky", "brown", "violet", "grey"];
const SYMBOLS = {epsilon: "ε", delta: "δ"};

/** page: what the card belongs to; it is told what changes, and knows what is asked. */
export class Card {
  constructor(run, page) {
    this.run = run;
    this.page = page;
    this.shown = null; // the answer, with what was asked
    this.label = "";
    this.wrong = null;
    this.reading = new Spot(`${run.id}.read`, (answer) => this.wasRead(answer), {fine: false});
    this.asking = new Spot(`${run.id}.answer`, (answer) => this.wasAnswered(answer));
    this.searching = new Spot(`${run.id}.search`, (answer) => this.wasAnswered(answer));
    this.element = this.build();
    this.refresh();
  }

  /** The text that everything is asked about: with a number in place of ?; null while there is none. */
  get text() {
    if (this.wrong !== null) return null;
    return this.open ? (this.found?.text ?? null) : this.run.text;
  }

  /** What was answered to epsilon or delta; null where that is not what is shown. */
  get answer() {
    return this.shown?.asked.kind === "calibrate" ? null : this.shown;
  }

  /** What was found for ?; null where nothing was looked for. */
  get found() {
    return this.shown?.asked.kind === "calibrate" ? this.shown : null;
  }

  /** Whether there is nothing to draw of it, and nothing follows. */
  get failed() {
    return this.reading.settled && (this.wrong !== null || Boolean(this.fine && this.shown?.error));
  }

  /** Whether its answer is the last word on what its text says now. */
  get fine() {
    const spot = this.open ? this.searching : this.asking;
    return this.reading.settled && spot.settled; // its label too is that of the text
  }

  /** Whether the form says what the text says: only then may it write the text. */
  get synced() {
    return this.form.form !== null && !this.formBox.inert && this.wrong === null;
  }

  /** Whether a number of it is left open, to be found. */
  get open() {
    return hasUnknown(this.run.text);
  }

  get title() {
    return this.name.value || this.label || this.short;
  }

  /** What tables call it: its name, or its number. */
  get short() {
    return this.name.value || `Run ${this.page.place(this.run) + 1}`;
  }

  build() {
    this.name = make("input", {
      class: "name",
      "aria-label": "Name of this run",
      maxlength: "60",
      autocomplete: "off",
      onchange: () => this.rename(this.name.value.trim()),
    });
    this.editor = make("textarea", {
      class: "expression",
      rows: "1",
      spellcheck: "false",
      autocapitalize: "off",
      "aria-label": "Expression",
      placeholder: "Gaussian(sigma=1).poisson(rate=0.01) * 1000",
      oninput: () => this.typed(),
      onfocus: () => this.page.choose(this.run),
    });
    this.editor.value = this.run.text;
    this.error = make("p", {class: "error", role: "alert"});
    this.editor.setAttribute("aria-describedby", (this.error.id = `${this.run.id}-error`));
    this.eye = button("", "", () => this.page.hide(this.run), {class: "small"});
    this.formBox = make("div", {class: "form"});
    this.form = new Form(this.formBox, this.page.menu, (text) => this.wasEdited(text));
    this.result = make("div", {class: "result"});
    this.about = make("p", {class: "quiet about"});
    this.swatch = this.buildSwatch();
    this.details = make(
      "details",
      {class: "form-box", open: this.page.wide()},
      make("summary", {}, "Form"),
      this.formBox,
    );
    const card = make(
      "section",
      {class: "card", "aria-label": "Run", onfocusin: () => this.page.choose(this.run)},
      make(
        "div",
        {class: "card-head"},
        this.swatch,
        this.name,
        this.eye,
        button(icon(ICONS.copy), "Duplicate this run", () => this.page.duplicate(this.run), {class: "small"}),
        button(icon(ICONS.remove), "Remove this run", () => this.page.remove(this.run), {class: "small"}),
      ),
      this.editor,
      this.error,
      this.result,
      this.details,
      this.about,
    );
    return card;
  }

  buildSwatch() {
    const choices = COLOURS.slice(0, RUNS_MOST).map((name, colour) =>
      button(
        "",
        `Colour ${name}`,
        () => {
          this.page.colour(this.run, colour);
          box.open = false;
          this.dot.focus();
        },
        {class: `dot colour-${colour}`},
      ),
    );
    this.dot = make("summary", {"aria-label": "Colour of this run", title: "Colour of this run"});
    const box = make("details", {class: "swatch"}, this.dot, make("div", {class: "palette"}, choices));
    return box;
  }

  /** What the run itself says, and whatever is asked of all runs. */
  refresh() {
    const {run} = this;
    this.dot.className = `dot colour-${run.colour}`;
    this.name.placeholder = `Run ${this.page.place(run) + 1}`;
    this.element.classList.toggle("current", this.page.isCurrent(run));
    this.element.classList.toggle("hidden-run", run.hidden);
    fill(this.eye, icon(run.hidden ? ICONS.hidden : ICONS.eye));
    this.eye.setAttribute("aria-label", run.hidden ? "Show this run" : "Hide this run");
    this.eye.setAttribute("aria-pressed", String(run.hidden));
    this.eye.title = this.eye.getAttribute("aria-label");
    if (this.editor.value !== run.text && this.editor !== document.activeElement) this.editor.value = run.text;
    this.grow();
    this.reading.want({kind: "read", text: run.text});
    const {ask, epsilon, delta} = this.page.state;
    if (this.open) {
      this.asking.rest();
      this.searching.want({kind: "calibrate", text: run.text, epsilon, delta});
    } else {
      this.searching.rest();
      const question = ask === "delta" ? {kind: "delta", epsilon} : {kind: "epsilon", delta};
      this.asking.want({...question, text: run.text});
    }
    this.mark();
  }

  grow() {
    this.editor.style.height = "auto";
    this.editor.style.height = `${this.editor.scrollHeight + 2}px`;
  }

  typed() {
    if (this.editor.value === this.run.text) return;
    this.take(this.editor.value);
    this.page.changed();
  }

  wasEdited(text) {
    this.run.text = text;
    if (this.editor !== document.activeElement) this.editor.value = text;
    this.page.changed();
  }

  rename(name) {
    if (!this.synced) {
      this.name.value = this.form.form === null ? "" : nameOf(this.form.form);
      this.page.toast("Mend the text first: the name becomes a part of it");
      return;
    }
    this.form.shape = "";
    this.form.show(renamed(this.form.form, name));
    this.wasEdited(written(this.form.form));
  }

  wasRead(answer) {
    if (answer.asked.text !== this.run.text) return; // a newer one is being read
    this.wrong = answer.error ?? null;
    say(this.error, answer.error ?? "");
    this.editor.setAttribute("aria-invalid", String(Boolean(answer.error)));
    if (!answer.error) {
      this.form.show(answer.form);
      this.formBox.inert = false;
      this.label = answer.label ?? this.run.text;
      say(this.about, answer.neighbours ? `Neighbours: ${answer.neighbours}` : "");
      const name = nameOf(answer.form);
      if (this.name !== document.activeElement) this.name.value = name;
      this.element.setAttribute("aria-label", `Run ${this.page.place(this.run) + 1}: ${this.title}`);
    }
    this.show();
    this.page.answered(this);
  }

  wasAnswered(answer) {
    this.shown = answer;
    this.show();
    this.page.answered(this);
  }

  /** The answer as people read it, with everything that can be copied. */
  show() {
    if (this.wrong !== null) {
      fill(this.result);
      return;
    }
    const {shown} = this;
    if (shown?.error) fill(this.result, make("p", {class: "error"}, shown.error));
    else if (shown) fill(this.result, ...(this.found ? this.search() : this.number()), this.copies(shown));
    this.mark();
  }

  /** Says whether what is shown is about what stands in the text now: it is dimmed, and not to be copied, until so. */
  mark() {
    this.result.setAttribute("aria-busy", String(!this.fine));
    for (const each of this.result.querySelectorAll("button")) each.disabled = !this.fine;
  }

  number() {
    const {answer} = this;
    const delta = answer.asked.kind === "delta";
    const symbol = SYMBOLS[delta ? "delta" : "epsilon"];
    const about = [
      answer.engine,
      answer.arithmetic,
      answer.direction && `direction ${answer.direction}`,
      took(answer.seconds),
    ];
    return [
      make("p", {class: "big"}, make("span", {class: "symbol"}, `${symbol} in `), interval(answer)),
      make(
        "p",
        {class: "quiet"},
        `at ${delta ? "ε" : "δ"} = ${spelt(answer.given)} · ${about.filter(Boolean).join(", ")}`,
      ),
      notesOf(answer, this.fine),
    ];
  }

  search() {
    const {found} = this;
    const {epsilon, delta} = found.asked;
    const target = `ε ≤ ${spelt(epsilon)} at δ = ${spelt(delta)}`;
    const missed =
      found.missed &&
      make(
        "p",
        {class: "quiet"},
        `${found.parameter} = ${spelt(found.missed.valueText)} misses it: ε in ${interval(found.missed)}`,
      );
    return [
      make("p", {class: "big"}, make("span", {class: "symbol"}, `${found.parameter} = `), spelt(found.valueText)),
      make("p", {class: "quiet"}, `meets ${target}: ε in ${interval(found)}`),
      missed,
      found.ended && make("p", {class: "quiet"}, found.ended),
      make(
        "div",
        {class: "row"},
        button("Use this value", "Use this value in place of ?", () => this.use(), {class: "link"}),
      ),
    ];
  }

  /** Takes over another text; until that is read, the form would write what was there before. */
  take(text) {
    this.run.text = text;
    if (this.editor.value !== text) this.editor.value = text;
    this.formBox.inert = true;
  }

  use() {
    if (!this.found?.text) return;
    this.take(this.found.text);
    this.page.set({ask: "epsilon"});
    this.editor.focus();
  }

  copies(shown) {
    const kinds = [
      ["Expression", shown.text ?? shown.asked.text],
      ["Command", shown.command],
      ["Python", shown.python],
      ["JSON", shown.json],
    ];
    return make(
      "div",
      {class: "copies", role: "group", "aria-label": "Copy this answer"},
      make("span", {class: "quiet"}, "Copy"),
      kinds.map(([name, text]) =>
        button(name, `Copy as ${name.toLowerCase()}`, () => this.page.copy(name, text), {
          class: "link",
          "data-copy": name.toLowerCase(),
        }),
      ),
    );
  }

  close() {
    for (const spot of [this.reading, this.asking, this.searching]) spot.close();
    this.element.remove();
  }
}

const took = (seconds) =>
  seconds < 0.0005 ? "<1 ms" : seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;

function notesOf(answer, fine) {
  const wide = answer.wide && (fine ? `Wide: ${answer.wide}.` : "A first answer; the fine one follows.");
  const told = [...(answer.notes ?? []), ...(wide ? [wide] : [])];
  return (
    told.length > 0 &&
    make(
      "ul",
      {class: "notes"},
      told.map((note) => make("li", {}, note)),
    )
  );
}
