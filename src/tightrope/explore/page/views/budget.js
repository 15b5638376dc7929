// Where the width of each answer comes from.

import {barsChart} from "../chart/dots.js";
import {fill, make} from "../dom.js";
import {LOCALE, interval, spelt} from "../spelling.js";
import {plainTable} from "../table.js";
import {Panel} from "./panel.js";

const SOURCES = ["discretisation", "truncation", "wrap around", "quadrature", "rounding", "theorem"];

export class BudgetView extends Panel {
  kind = "budget";

  update() {
    this.draw();
  }

  cards() {
    return this.page.shown().filter((card) => card.wrong === null && card.answer && !card.answer.error);
  }

  draw() {
    const cards = this.cards();
    this.element.classList.toggle("unsettled", !this.settled);
    if (!this.changed(...cards.flatMap((card) => [card.answer, card.short]))) return;
    fill(
      this.controls,
      make(
        "span",
        {class: "quiet hint"},
        "What each source of error added above and took away below, in units of delta: the whole width of an answer.",
      ),
    );
    if (!cards.length) {
      fill(this.box, make("p", {class: "quiet"}, "Ask for epsilon or delta of a run: its answer has a budget."));
      fill(this.side);
      return;
    }
    const answers = cards.map((card) => {
      const all = card.answer.budget.reduce((sum, line) => sum + line.above + line.below, 0);
      const side = (which) =>
        card.answer.budget
          .filter((line) => line[which] > 0)
          .map((line) => ({
            label: line.source,
            colour: this.page.colours[SOURCES.indexOf(line.source) % 8],
            share: line[which] / all,
            text: line[`${which}Text`],
          }));
      return {label: card.short, above: all ? side("above") : [], below: all ? side("below") : []};
    });
    this.model = {title: "Where the width of each answer comes from", answers, locale: LOCALE};
    const box = make("div", {class: "dots-box"});
    fill(this.box, box);
    barsChart(box, this.model);
    fill(
      this.side,
      cards.map((card) =>
        plainTable(
          `${card.short}: ${interval(card.answer)}`,
          ["source", "above", "below"],
          card.answer.budget
            .filter((line) => line.above > 0 || line.below > 0)
            .map((line) => [line.source, spelt(line.aboveText), spelt(line.belowText)]),
        ),
      ),
    );
  }

  get settled() {
    return this.page.shown().every((card) => card.fine || card.failed);
  }

  get nothing() {
    return this.cards().length === 0;
  }

  copies() {
    return this.card?.fine ? this.card.answer : null;
  }

  questions() {
    return this.cards().map((card) => card.answer.asked);
  }

  csv() {
    return [
      ["run", "quantity", "given", "source", "delta_above", "delta_below"],
      ...this.cards().flatMap((card) =>
        card.answer.budget.map((line) => [
          card.title,
          card.answer.asked.kind,
          card.answer.given,
          line.source,
          line.above,
          line.below,
        ]),
      ),
    ];
  }
}
