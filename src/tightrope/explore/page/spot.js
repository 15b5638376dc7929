// One spot of the page that shows the answer to a question: a first picture while somebody drags, then the fine one.

import {ask, onAlive} from "./server.js";

const BETWEEN = 250; // milliseconds: at most four questions a second while something is dragged
const QUIET = 180; // of rest, after which the fine question is asked

const spots = new Set();
onAlive((alive) => {
  if (alive) for (const each of spots) each.again();
});

/** Asks for one spot. show(answer, question, fine) is called for each answer of the newest question. */
export class Spot {
  /** rough: whether a first picture is worth asking for; fine: whether there is more to ask for. */
  constructor(name, show, {rough = true, fine = true} = {}) {
    this.name = name;
    this.show = show;
    this.rough = rough;
    this.wantsFine = fine;
    this.question = null;
    this.answered = "";
    this.sent = -BETWEEN;
    this.timer = null;
    this.flight = null;
    spots.add(this);
  }

  /** Wants the answer to this question; one that was answered is not asked again. */
  want(question) {
    const text = JSON.stringify(question);
    if (this.question !== null && JSON.stringify(this.question) === text) return;
    this.question = question;
    this.answered = "";
    this.plan();
  }

  /** Forgets what was asked: nothing is shown any more. */
  rest() {
    this.question = null;
    clearTimeout(this.timer);
    this.flight?.abort();
  }

  /** Asks once more, where the answer was lost. */
  again() {
    if (this.question !== null && this.answered !== "fine") this.plan();
  }

  close() {
    this.rest();
    spots.delete(this);
  }

  plan() {
    clearTimeout(this.timer);
    const wait = Math.max(0, this.sent + BETWEEN - performance.now());
    this.timer = this.rough ? setTimeout(() => this.first(), wait) : setTimeout(() => this.fine(), QUIET);
  }

  async first() {
    const question = this.question;
    if (!(await this.send({...question, stage: "first"}, question, this.wantsFine ? "first" : "fine"))) return;
    if (!this.wantsFine) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fine(), QUIET);
  }

  async fine() {
    await this.send(this.question, this.question, "fine");
  }

  /** Whether the answer came, and is still wanted. */
  async send(asked, question, stage) {
    this.flight?.abort();
    const flight = (this.flight = new AbortController());
    this.sent = performance.now();
    const answer = await ask(this.name, asked, flight.signal);
    if (answer === null || this.question !== question) return false;
    this.answered = stage;
    this.show(answer, question, stage === "fine");
    return true;
  }
}
