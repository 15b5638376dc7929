// What the views of one run have in common: controls, a picture, and what stands beside it.

import {make} from "../dom.js";

export const ASKING = "This is being asked.";
export const NO_RUN = "Choose a run: its card is the one with the frame.";

/** A view of the run that is chosen. */
export class Panel {
  constructor(page) {
    this.page = page;
    this.answer = null; // with what was asked, and of the run that owns it
    this.owner = null;
    this.spots = [];
    this.controls = make("div", {class: "controls row"});
    this.box = make("div", {class: "panel-box"});
    this.side = make("div", {class: "beside"});
    this.element = make("div", {class: "two"}, make("div", {class: "chart-side"}, this.controls, this.box), this.side);
  }

  open() {}

  close() {
    for (const spot of this.spots) spot.rest();
  }

  /** Forgets what is another run's; the text to ask about, or null. */
  own() {
    const {card} = this;
    const text = card?.text ?? null;
    if (card?.run.id !== this.owner || (text === null && (!card || card.failed))) {
      this.close();
      this.answer = this.rates = this.model = null;
    }
    this.owner = card?.run.id ?? null;
    return text;
  }

  retheme() {
    this.drawn = null;
  }

  /** Whether anything that is shown is other than it was: what is open or has the keyboard stays so otherwise. */
  changed(...parts) {
    const now = [this.page.rethemes, this.card?.title, this.card?.run.colour, this.card?.wrong, ...parts];
    const same = this.drawn?.length === now.length && now.every((each, place) => each === this.drawn[place]);
    this.drawn = now;
    return !same;
  }

  get card() {
    return this.page.currentCard();
  }

  /** Whether all that is shown is the last word on what is asked now. */
  get settled() {
    const {card} = this;
    if (!card || card.text === null) return !card || card.failed;
    return card.fine && this.spots.every((spot) => spot.settled);
  }

  /** Whether there is nothing to show. */
  get nothing() {
    return this.answer === null || Boolean(this.answer.error);
  }

  /** What the chosen run is shown by, as others ask for it. */
  copies() {
    return this.answer;
  }

  title() {
    return make(
      "p",
      {class: "of-run"},
      make("span", {class: `dot small-dot colour-${this.card.run.colour}`, "aria-hidden": "true"}),
      this.card.title,
    );
  }
}
