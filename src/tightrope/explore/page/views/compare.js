// What every other method says of the same run.

import {dotsChart} from "../chart/dots.js";
import {fill, make} from "../dom.js";
import {LOCALE, double, intervalCell, spelt} from "../spelling.js";
import {Spot} from "../spot.js";
import {plainTable} from "../table.js";
import {NO_RUN, Panel} from "./panel.js";

export class CompareView extends Panel {
  kind = "compare";

  constructor(page) {
    super(page);
    this.spots = [
      new Spot(
        "compare",
        (answer) => {
          this.answer = answer;
          this.page.redraw();
        },
        {rough: false},
      ),
    ];
  }

  question() {
    return {kind: "compare", delta: this.page.state.delta};
  }

  update() {
    const text = this.own();
    if (text !== null) this.spots[0].want({...this.question(), text});
    this.draw();
  }

  draw() {
    const {answer, card} = this;
    this.element.classList.toggle("unsettled", !this.settled);
    if (!this.changed(answer)) return;
    if (this.nothing) {
      fill(
        this.box,
        make(
          "p",
          {class: answer?.error ? "error" : "quiet"},
          answer?.error ?? (card ? "Every method is asked in turn; this takes a second." : NO_RUN),
        ),
      );
      fill(this.side);
      fill(this.controls);
      return;
    }
    fill(this.controls, this.title(), make("span", {class: "quiet"}, `epsilon at delta ${spelt(answer.asked.delta)}`));
    const {truth} = answer;
    const rows = [
      {
        label: "Tightrope",
        value: null,
        text: `[${truth.lowText}, ${truth.highText}]`,
        kind: "certified",
        low: double(truth.low),
        high: double(truth.high),
        note: "",
      },
      ...answer.rows.map((row) => ({
        label: row.method,
        value: row.value === null ? null : double(row.value),
        text: row.text,
        kind: row.kind === "upper bound" ? "bound" : "approximation",
        note: row.distance,
      })),
    ];
    const finite = rows.flatMap((row) => [row.value, row.high]).filter((each) => Number.isFinite(each) && each > 0);
    const scale = Math.max(...finite) > 20 * Math.min(...finite) ? "log" : "linear";
    this.model = {
      title: `Epsilon at delta ${answer.asked.delta}, ${card.title}`,
      rows,
      scale,
      label: "epsilon",
      locale: LOCALE,
    };
    const box = make("div", {class: "dots-box"});
    fill(this.box, box);
    dotsChart(box, this.model);
    fill(
      this.side,
      plainTable(
        "What every method says",
        ["method", "epsilon", "distance"],
        [
          [said("Tightrope", "certified interval", answer.why), intervalCell(truth), ""],
          ...answer.rows.map((row) => [
            said(row.method, row.kind, row.why),
            row.value === null ? "–" : spelt(row.text),
            row.distance,
          ]),
        ],
      ),
    );
  }

  questions() {
    return this.card?.text ? [{...this.question(), text: this.card.text}] : [];
  }

  csv() {
    const {truth, rows, asked} = this.answer;
    const about = [this.card.title, asked.delta];
    return [
      ["run", "delta", "method", "epsilon_lower", "epsilon_upper", "kind"],
      [...about, "Tightrope", truth.low, truth.high, "certified interval"],
      ...rows.map((row) => [...about, row.method, "", row.value ?? "", row.kind]),
    ];
  }
}

/** A method, with what kind of statement it makes and why it says what it says. */
const said = (name, kind, why) => [name, make("span", {class: "beneath"}, `${kind}: ${why}`)];
