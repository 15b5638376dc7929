// The page: one value (state.js), the cards of its runs, one view, and what is asked of all runs.

import {Card} from "./card.js";
import {localised, plain} from "./chart/numbers.js";
import {ICONS, button, fill, icon, make, say} from "./dom.js";
import {unknowns, written} from "./expression.js";
import {numberField} from "./fields.js";
import {exported, report} from "./files.js";
import {CurveView, StepsView, TradeoffView} from "./lines.js";
import {BudgetView, CompareView, RiskView} from "./panels.js";
import {ask, onAlive, restart, watch} from "./server.js";
import {ASKS, RUNS_MOST, VIEWS, freeColour, newRun, read, write} from "./state.js";

const LOCALE = navigator.language;
const TITLES = {
  curve: "δ over ε",
  steps: "ε over steps",
  tradeoff: "Trade-off",
  risk: "Risk",
  compare: "Classic bounds",
  budget: "Error budget",
};
const NAMES = {
  curve: "Delta over epsilon",
  steps: "Epsilon over steps",
  tradeoff: "Trade-off of an attacker",
  risk: "Risk of one person",
  compare: "Comparison with classic bounds",
  budget: "Error budget",
};
const QUESTIONS = {epsilon: "ε at δ", delta: "δ at ε", calibrate: "calibrate"};
const NOISE = ["sigma", "scale"];
const TOAST = 2500;
const WIDE = "(min-width: 900px)";
const at = (id) => document.getElementById(id);

class Page {
  constructor(menu) {
    this.menu = menu;
    this.state = read(location.hash);
    this.cards = new Map();
    this.colours = [];
    this.views = {};
    this.pending = false;
    this.rethemes = 0;
    this.said = "";
    const makers = {
      curve: CurveView,
      steps: StepsView,
      tradeoff: TradeoffView,
      risk: RiskView,
      compare: CompareView,
      budget: BudgetView,
    };
    for (const [kind, View] of Object.entries(makers)) this.views[kind] = new View(this);
    this.readColours();
    this.buildTools();
    this.buildTabs();
    this.buildAsk();
    this.buildAdd();
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this.said) return;
      this.state = read(location.hash);
      for (const card of this.cards.values()) card.close();
      this.cards.clear();
      this.changed();
    });
    const runs = new URLSearchParams(location.hash.slice(1)).getAll("run").length;
    if (runs > RUNS_MOST) this.toast(`The address has ${runs} runs: the first ${RUNS_MOST} are here`);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.rethemed());
    this.changed();
  }

  // What cards and views ask of the page.

  wide() {
    return matchMedia(WIDE).matches;
  }

  place(run) {
    return this.state.runs.indexOf(run);
  }

  isCurrent(run) {
    return this.state.runs[this.state.current] === run;
  }

  currentCard() {
    return this.cards.get(this.state.runs[this.state.current]?.id) ?? null;
  }

  /** The cards of runs that are drawn. */
  shown() {
    return this.state.runs
      .filter((run) => !run.hidden)
      .map((run) => this.cards.get(run.id))
      .filter(Boolean);
  }

  pins(kind) {
    return this.state.pins
      ? this.state.pins
          .split(",")
          .filter((each) => each.startsWith(`${kind}:`))
          .map((each) => each.slice(kind.length + 1))
      : [];
  }

  pin(text) {
    const kind = this.state.view;
    const mine = `${kind}:${text}`;
    const all = this.state.pins ? this.state.pins.split(",") : [];
    this.set({pins: (all.includes(mine) ? all.filter((each) => each !== mine) : [...all, mine].slice(-20)).join(",")});
    this.announce(all.includes(mine) ? "Pin removed" : `Pinned ${localised(text, LOCALE)}`);
  }

  unpin(kind) {
    this.set({
      pins: this.state.pins
        .split(",")
        .filter((each) => !each.startsWith(`${kind}:`))
        .join(","),
    });
  }

  // What people do.

  set(change) {
    Object.assign(this.state, change);
    this.changed();
  }

  setAsk(asked) {
    this.set({ask: asked});
  }

  add(text) {
    if (this.state.runs.length >= RUNS_MOST) return this.toast(`The page shows up to ${RUNS_MOST} runs`);
    this.state.runs.push(newRun(text, freeColour(this.state.runs)));
    this.state.current = this.state.runs.length - 1;
    this.changed();
    return this.currentCard()?.editor.focus();
  }

  duplicate(run) {
    if (this.state.runs.length >= RUNS_MOST) return this.toast(`The page shows up to ${RUNS_MOST} runs`);
    this.state.runs.splice(this.place(run) + 1, 0, newRun(run.text, freeColour(this.state.runs)));
    this.state.current = this.place(run) + 1;
    return this.changed();
  }

  remove(run) {
    const place = this.place(run);
    this.state.runs.splice(place, 1);
    this.state.current = Math.max(
      0,
      Math.min(this.state.current - (this.state.current > place ? 1 : 0), this.state.runs.length - 1),
    );
    this.changed();
    (this.currentCard()?.editor ?? at("add").querySelector("select")).focus();
  }

  hide(run) {
    run.hidden = !run.hidden;
    this.changed();
  }

  colour(run, colour) {
    run.colour = colour;
    this.changed();
  }

  choose(run) {
    const place = this.place(run);
    if (place < 0 || place === this.state.current) return;
    this.state.current = place;
    this.changed();
  }

  // Everything follows from the value.

  changed() {
    this.said = write(this.state);
    history.replaceState(null, "", `${location.pathname}${location.search}#${this.said}`);
    for (const [id, card] of this.cards) {
      if (!this.state.runs.some((run) => run.id === id)) {
        card.close();
        this.cards.delete(id);
      }
    }
    const runs = at("runs");
    for (const [place, run] of this.state.runs.entries()) {
      if (!this.cards.has(run.id)) this.cards.set(run.id, new Card(run, this));
      const {element} = this.cards.get(run.id);
      if (runs.children[place] !== element) runs.insertBefore(element, runs.children[place] ?? null);
      this.cards.get(run.id).refresh();
    }
    this.showEmpty(runs);
    this.redraw();
  }

  /** Once for whatever happens before the next picture. */
  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  draw() {
    this.drawTabs();
    this.drawAsk();
    const view = this.views[this.state.view];
    const panel = at("view");
    if (panel.firstChild !== view.element) {
      this.open?.close();
      fill(panel, view.element);
      panel.setAttribute("aria-labelledby", `tab-${this.state.view}`);
      view.open();
      this.open = view;
    }
    view.update();
  }

  showEmpty(runs) {
    const empty = runs.querySelector(".empty");
    if (this.state.runs.length) {
      empty?.remove();
      return;
    }
    if (empty) return;
    runs.append(
      make(
        "div",
        {class: "empty"},
        make("p", {}, "No run yet. Begin with one of these, or with a mechanism from the list:"),
        this.menu.opening.map((text) =>
          button(make("code", {}, text), `Add ${text}`, () => this.add(text), {class: "opening"}),
        ),
      ),
    );
  }

  answered(card) {
    const shown = card.found ?? card.answer;
    if (card.fine && !shown.error && this.isCurrent(card.run)) {
      const what = card.found
        ? `${card.found.parameter} ${card.found.valueText}`
        : `${card.asking.question?.kind} between ${shown.lowText} and ${shown.highText}`;
      this.announce(`${card.title}: ${what}`);
    }
    this.redraw();
  }

  announce(text) {
    say(at("status"), text);
  }

  toast(text) {
    say(at("toast"), text);
    at("toast").classList.add("seen");
    clearTimeout(this.toasting);
    this.toasting = setTimeout(() => at("toast").classList.remove("seen"), TOAST);
    this.announce(text);
  }

  async copy(name, text) {
    try {
      await navigator.clipboard.writeText(text);
      this.toast(`${name} copied`);
    } catch {
      this.toast("The browser allows no copying here");
    }
  }

  // The parts of the page that are made once.

  buildAdd() {
    const choice = make(
      "select",
      {
        "aria-label": "Add a run",
        class: "add",
        onchange: () => {
          const {value} = choice;
          choice.value = "";
          if (value) this.add(value);
        },
      },
      make("option", {value: ""}, "+ Add a run"),
    );
    choice.append(make("option", {value: this.menu.opening[0]}, "Training run"));
    for (const section of this.menu.sections) {
      choice.append(
        make(
          "optgroup",
          {label: section.title},
          section.mechanisms.map((each) => make("option", {value: each.example, title: each.summary}, each.name)),
        ),
      );
    }
    fill(at("add"), choice);
  }

  buildTabs() {
    const tabs = VIEWS.map((kind) =>
      make(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${kind}`,
          "aria-controls": "view",
          title: NAMES[kind],
          onclick: () => this.set({view: kind, zoom: ""}),
        },
        TITLES[kind],
      ),
    );
    fill(at("tabs"), tabs);
    at("tabs").addEventListener("keydown", (event) => {
      const by = {ArrowLeft: -1, ArrowRight: 1, Home: -VIEWS.length, End: VIEWS.length}[event.key];
      if (!by) return;
      event.preventDefault();
      const now = VIEWS.indexOf(this.state.view);
      const next = Math.abs(by) > 1 ? (by < 0 ? 0 : VIEWS.length - 1) : (now + by + VIEWS.length) % VIEWS.length;
      this.set({view: VIEWS[next], zoom: ""});
      tabs[next].focus();
    });
  }

  drawTabs() {
    for (const kind of VIEWS) {
      const tab = at(`tab-${kind}`);
      const chosen = kind === this.state.view;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen && this.tabShown !== kind) tab.scrollIntoView({block: "nearest", inline: "nearest"});
    }
    this.tabShown = this.state.view;
  }

  buildAsk() {
    const choice = (value) =>
      make(
        "label",
        {class: "segment"},
        make("input", {type: "radio", name: "ask", value, onchange: () => this.asked(value)}),
        make("span", {}, QUESTIONS[value]),
      );
    const field = (name, label, most) =>
      numberField(label, this.state[name], (text) => this.set({[name]: plain(text, LOCALE)}), {most, least: 0});
    this.askFields = {delta: field("delta", "delta", 1), epsilon: field("epsilon", "epsilon", Infinity)};
    const row = (name, symbol) =>
      make(
        "label",
        {class: "argument", id: `field-${name}`},
        make("span", {class: "argument-name"}, symbol),
        this.askFields[name],
      );
    this.unknown = make("select", {"aria-label": "The number to find", onchange: () => this.find(this.unknown.value)});
    fill(
      at("ask"),
      make("div", {class: "segments", role: "radiogroup", "aria-label": "Question"}, ASKS.map(choice)),
      make(
        "label",
        {class: "argument", id: "field-unknown"},
        make("span", {class: "argument-name"}, "find"),
        this.unknown,
      ),
      row("epsilon", "ε"),
      row("delta", "δ"),
    );
  }

  asked(value) {
    this.setAsk(value);
    if (value === "calibrate" && ![...this.cards.values()].some((card) => card.open)) this.find(this.usualUnknown());
  }

  drawAsk() {
    const {ask: asked} = this.state;
    for (const input of at("ask").querySelectorAll("input[name=ask]")) input.checked = input.value === asked;
    at("field-epsilon").hidden = asked === "epsilon";
    at("field-delta").hidden = asked === "delta";
    at("field-unknown").hidden = asked !== "calibrate";
    for (const [name, field] of Object.entries(this.askFields)) field.set(this.state[name]);
    if (asked === "calibrate") this.drawUnknowns();
  }

  /** Every number of every run that could be looked for. */
  unknownChoices() {
    return this.state.runs.flatMap((run, place) => {
      const card = this.cards.get(run.id);
      const form = card?.wrong === null ? card.form.form : null;
      return form
        ? unknowns(form).map((each, index) => ({...each, value: `${place}:${index}`, run, title: card.title}))
        : [];
    });
  }

  drawUnknowns() {
    const choices = this.unknownChoices();
    const now = choices.find((each) => each.argument.text.trim() === "?");
    const text = JSON.stringify([choices.map((each) => [each.value, each.label, each.title]), now?.value]);
    if (this.unknownsShown === text) return;
    this.unknownsShown = text;
    const several = this.state.runs.length > 1;
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
    const mine = this.unknownChoices().filter((each) => this.isCurrent(each.run));
    return (mine.find((each) => NOISE.includes(each.argument.name)) ?? mine[0])?.value ?? "";
  }

  /** Puts ? in place of that number, and back what was looked for before. */
  find(value) {
    const chosen = this.unknownChoices().find((each) => each.value === value);
    if (!chosen) return;
    for (const card of this.cards.values())
      if (card.open && card.found?.text && card.run !== chosen.run) card.take(card.found.text);
    const {run, argument} = chosen;
    const card = this.cards.get(run.id);
    for (const each of unknowns(card.form.form)) {
      if (each.argument.text.trim() === "?" && card.found?.valueText) each.argument.text = card.found.valueText;
    }
    argument.text = "?";
    card.take(written(card.form.form));
    this.state.current = this.place(run);
    this.changed();
  }

  buildTools() {
    const theme = button(
      "",
      "Dark or light",
      () => {
        const dark = this.isDark();
        document.documentElement.dataset.theme = dark ? "light" : "dark";
        localStorage.setItem("tightrope-theme", document.documentElement.dataset.theme);
        this.rethemed();
      },
      {class: "tool"},
    );
    document.documentElement.dataset.theme = localStorage.getItem("tightrope-theme") ?? "";
    this.themeButton = theme;
    const menu = make(
      "details",
      {class: "menu"},
      make("summary", {class: "tool"}, icon(ICONS.export), make("span", {}, "Export")),
      make(
        "div",
        {class: "menu-box", role: "group", "aria-label": "Export this view"},
        ["png", "svg", "csv", "json"].map((format) =>
          button(format.toUpperCase(), `Export this view as ${format.toUpperCase()}`, () => this.export(format, menu)),
        ),
        [
          ["Command", "command"],
          ["Python", "python"],
        ].map(([name, key]) =>
          button(`Copy as ${name === "Command" ? "command" : name}`, `Copy this view of the chosen run as ${key}`, () =>
            this.copyView(name, key, menu),
          ),
        ),
        button("Report of the run", "The report of the chosen run, as HTML", () => this.report(menu)),
      ),
    );
    addEventListener("pointerdown", (event) => {
      for (const open of document.querySelectorAll("details.menu[open], details.swatch[open]"))
        if (!open.contains(event.target)) open.open = false;
    });
    addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      for (const open of document.querySelectorAll("details.menu[open], details.swatch[open]")) {
        open.open = false;
        open.querySelector("summary").focus();
      }
    });
    fill(
      at("tools"),
      button([icon(ICONS.share), make("span", {}, "Share")], "Share this page", () => this.share(), {class: "tool"}),
      menu,
      theme,
    );
    this.rethemed();
  }

  async export(format, menu) {
    menu.open = false;
    const wrong = await exported(format, this.views[this.state.view]);
    this.toast(wrong ?? `${format.toUpperCase()} saved`);
  }

  copyView(name, key, menu) {
    menu.open = false;
    const text = this.views[this.state.view].copies()?.[key];
    if (text) this.copy(name, text);
    else this.toast("There is nothing to copy yet");
  }

  async report(menu) {
    menu.open = false;
    const card = this.currentCard();
    if (!card?.text) return this.toast("Choose a run first");
    this.toast("The report is being made");
    const wrong = await report(card, this.state);
    return this.toast(wrong ?? "Report saved");
  }

  share() {
    const link = location.href;
    const command = `tightrope explore '#${this.said.replaceAll("'", "%27")}'`;
    const row = (label, text) =>
      make(
        "div",
        {class: "share-row"},
        make(
          "label",
          {},
          label,
          make("input", {type: "text", readonly: true, value: text, onfocus: (event) => event.target.select()}),
        ),
        button("Copy", `Copy: ${label}`, () => this.copy("Link", text), {class: "tool"}),
      );
    const dialog = make(
      "dialog",
      {"aria-label": "Share this page", onclose: () => dialog.remove()},
      make("h2", {}, "Share this page"),
      row("On this machine, while the explorer runs: an address with its token", link),
      row("Anywhere else: a command that opens the same page", command),
      make("form", {method: "dialog"}, make("button", {class: "tool"}, "Close")),
    );
    document.body.append(dialog);
    dialog.showModal();
  }

  isDark() {
    const said = document.documentElement.dataset.theme;
    return said ? said === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colours = Array.from({length: RUNS_MOST}, (_, colour) => style.getPropertyValue(`--run-${colour}`).trim());
  }

  rethemed() {
    this.readColours();
    this.rethemes += 1;
    fill(this.themeButton, icon(this.isDark() ? ICONS.sun : ICONS.moon));
    for (const view of Object.values(this.views)) view.retheme();
    this.redraw();
  }
}

onAlive((alive) => {
  const box = at("gone");
  box.hidden = alive;
  fill(
    box,
    alive
      ? null
      : [
          make("b", {}, "The explorer has stopped. "),
          "What you see is still here; start it again, and the page goes on: ",
          make("code", {}, restart()),
        ],
  );
});

const menu = await ask("menu", {kind: "menu"});
if (menu?.sections) new Page(menu);
else
  fill(
    at("view"),
    make("p", {class: "error"}, menu?.error ?? "The explorer does not answer: start it again, and reload this page."),
  );
watch();
