// One spot of the page that shows the answer to a question: a first picture while somebody drags, then the fine one.
//
// While a first picture is on its way, newer questions wait here, and the newest of them is asked next: so the page
// moves while one drags, however busy the server is. A fine question is dropped as soon as there is a newer one.

import {ask, isAlive, onAlive} from "./server.js";

const BETWEEN = 250; // milliseconds: at most four questions a second while something is dragged
const PATIENCE = 700; // with a first picture that is not wanted any more
const QUIET = 180; // of rest, after which the fine question is asked

const spots = new Set();
onAlive((alive) => {
  if (alive) for (const each of spots) each.again();
});

/** Asks for one spot. show(answer) is told each answer with its question, `asked`: what is shown beside a number is
 * read off that, never off what is asked by now. `settled` says whether another answer follows. */
export class Spot {
  /** rough: whether a first picture is worth asking for; fine: whether there is more to ask for. */
  constructor(name, show, {rough = true, fine = true} = {}) {
    this.name = name;
    this.show = show;
    this.stages = [...(rough ? ["first"] : []), ...(fine ? ["fine"] : [])];
    this.question = null;
    this.answered = null; // the stage of what is shown
    this.sent = -BETWEEN;
    this.timer = null;
    this.flight = null;
    spots.add(this);
  }

  /** Wants the answer to this question; one that is asked or answered already is not asked again. */
  want(question) {
    if (this.question !== null && JSON.stringify(this.question) === JSON.stringify(question)) return;
    this.question = question;
    this.answered = null;
    const waits = this.flight?.stage === "first" && this.stages[0] === "first";
    if (!waits || performance.now() - this.sent > PATIENCE) this.plan(this.stages[0]);
  }

  /** Whether something is asked, and what was shown is the last word on it. */
  get settled() {
    return this.question !== null && this.answered === this.stages.at(-1);
  }

  /** Forgets what was asked: nothing more is shown. */
  rest() {
    this.question = null;
    this.drop();
  }

  /** Asks once more, where the answer was lost. */
  again() {
    if (this.question !== null && !this.settled) this.plan(this.stages[0]);
  }

  close() {
    this.rest();
    spots.delete(this);
  }

  drop() {
    clearTimeout(this.timer);
    this.flight?.control.abort();
    this.flight = null;
  }

  plan(stage) {
    this.drop();
    const paced = Math.max(0, this.sent + BETWEEN - performance.now());
    this.timer = setTimeout(() => this.send(stage), stage === "first" ? paced : QUIET);
  }

  async send(stage) {
    const {question} = this;
    const flight = (this.flight = {stage, control: new AbortController()});
    this.sent = performance.now();
    const asked = stage === "first" ? {...question, stage} : question;
    const answer = await ask(this.name, asked, flight.control.signal);
    if (this.flight !== flight) return;
    this.flight = null;
    if (answer === null) {
      if (isAlive()) this.timer = setTimeout(() => this.again(), PATIENCE); // lost on the way
      return;
    }
    const newest = this.question === question;
    const last = stage === this.stages.at(-1);
    if (newest) this.answered = stage;
    this.show({...answer, asked: question});
    if (!newest) this.plan(this.stages[0]);
    else if (!last) this.plan("fine");
  }
}
