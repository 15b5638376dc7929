// The page: one value, the cards of its runs, one view, and what is asked of all runs. The modules around it:
//
//   state.js       the value, and the address that says it      server.js    questions to the server
//   spot.js        one spot: first picture, then the fine one   spelling.js  numbers in the reader's locale
//   card.js        a run: text, form, answer                    form.js      its form; fields.js: numbers with sliders
//   expression.js  a form as text                               asking.js    what is asked of all runs
//   views/         one file per view                            table.js     the table beside a chart
//   tools.js       share, export, theme                         files.js     what leaves the page
//   chart/         drawing, knows nothing of privacy            dom.js       elements

import {AskBar} from "./asking.js";
import {Card} from "./card.js";
import {button, fill, make, say} from "./dom.js";
import {ask, onAlive, restart, watch} from "./server.js";
import {spelt} from "./spelling.js";
import {RUNS_MOST, VIEWS, freeColour, newRun, read, saysState, write} from "./state.js";
import {Tools} from "./tools.js";
import {SHOWN} from "./views/index.js";

const TOAST = 2500;
const WIDE = "(min-width: 900px)";
const at = (id) => document.getElementById(id);

class Page {
  constructor(menu) {
    this.menu = menu;
    this.kinds = VIEWS.filter((kind) => kind !== "ledger" || menu.ledger !== null);
    this.state = this.readState(location.hash);
    this.cards = new Map();
    this.colours = [];
    this.views = {};
    this.pending = false;
    this.rethemes = 0;
    this.following = false;
    this.said = "";
    for (const kind of this.kinds) this.views[kind] = new SHOWN[kind].View(this);
    this.tools = new Tools(at("tools"), this);
    this.asking = new AskBar(at("ask"), this);
    this.buildTabs();
    this.buildAdd();
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this.said) return;
      if (!saysState(location.hash)) return this.changed();
      const {hash} = location;
      this.following = true;
      document.activeElement?.blur(); // a field that is being edited would keep what it says
      this.following = false;
      this.state = this.readState(hash);
      for (const card of this.cards.values()) card.close();
      this.cards.clear();
      return this.changed();
    });
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault(); // the address says what the page shows
      at("views").focus();
    });
    const runs = new URLSearchParams(location.hash.slice(1)).getAll("run").length;
    if (runs > RUNS_MOST) this.toast(`The address has ${runs} runs: the first ${RUNS_MOST} are here`);
    this.buildDrop();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.rethemed());
    this.rethemed();
    this.changed();
  }

  /** What an address says; a view that this page has not is the first one. */
  readState(hash) {
    const state = read(hash);
    return this.kinds.includes(state.view) ? state : {...state, view: this.kinds[0]};
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

  pin(kind, text) {
    const mine = `${kind}:${text}`;
    const all = this.state.pins ? this.state.pins.split(",") : [];
    this.set({pins: (all.includes(mine) ? all.filter((each) => each !== mine) : [...all, mine].slice(-20)).join(",")});
    this.announce(all.includes(mine) ? "Pin removed" : `Pinned ${spelt(text)}`);
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
    if (this.following) return; // what was half typed belongs to the page that is left
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
    this.asking.draw();
    const {view} = this;
    const panel = at("view");
    if (panel.firstChild !== view.element) {
      this.opened?.close();
      fill(panel, view.element);
      panel.setAttribute("aria-labelledby", `tab-${this.state.view}`);
      view.open();
      this.opened = view;
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
    const {shown} = card;
    if (card.fine && shown && !shown.error && this.isCurrent(card.run)) {
      const what = card.found
        ? `${card.found.parameter} ${spelt(card.found.valueText)}`
        : `${shown.asked.kind} between ${spelt(shown.lowText)} and ${spelt(shown.highText)}`;
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
    const {kinds} = this;
    const tabs = kinds.map((kind) =>
      make(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${kind}`,
          "aria-controls": "view",
          title: SHOWN[kind].name,
          onclick: () => this.set({view: kind, zoom: ""}),
        },
        SHOWN[kind].title,
      ),
    );
    fill(at("tabs"), tabs);
    at("tabs").addEventListener("keydown", (event) => {
      const by = {ArrowLeft: -1, ArrowRight: 1, Home: -kinds.length, End: kinds.length}[event.key];
      if (!by) return;
      event.preventDefault();
      const now = kinds.indexOf(this.state.view);
      const next = Math.abs(by) > 1 ? (by < 0 ? 0 : kinds.length - 1) : (now + by + kinds.length) % kinds.length;
      this.set({view: kinds[next], zoom: ""});
      tabs[next].focus();
    });
  }

  /** A file that is dropped anywhere is one of scores: the browser would leave the page for it. */
  buildDrop() {
    const brought = (event) => event.dataTransfer?.types.includes("Files");
    addEventListener("dragover", (event) => {
      if (brought(event)) event.preventDefault();
    });
    addEventListener("drop", (event) => {
      if (!brought(event)) return;
      event.preventDefault();
      this.set({view: "audit", zoom: ""});
      this.views.audit.take(event.dataTransfer.files);
    });
  }

  drawTabs() {
    for (const kind of this.kinds) {
      const tab = at(`tab-${kind}`);
      const chosen = kind === this.state.view;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen && this.tabShown !== kind) tab.scrollIntoView({block: "nearest", inline: "nearest"});
    }
    this.tabShown = this.state.view;
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colours = Array.from({length: RUNS_MOST}, (_, colour) => style.getPropertyValue(`--run-${colour}`).trim());
  }

  /** The view that is looked at. */
  get view() {
    return this.views[this.state.view];
  }

  rethemed() {
    this.readColours();
    this.rethemes += 1;
    this.tools.draw();
    for (const view of Object.values(this.views)) view.retheme();
    this.redraw();
  }
}

let ledger = null; // what the explorer shows of one

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
          make("code", {}, restart(ledger)),
        ],
  );
});

const menu = await ask("menu", {kind: "menu"});
if (menu?.sections) {
  ({ledger} = menu);
  new Page(menu);
} else
  fill(
    at("view"),
    make("p", {class: "error"}, menu?.error ?? "The explorer does not answer: start it again, and reload this page."),
  );
watch();
