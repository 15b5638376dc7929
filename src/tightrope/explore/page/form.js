// The form of a run: a mechanism with its numbers, what is done to it as chips, and what it is composed with.

import {ICONS, button, fill, icon, make} from "./dom.js";
import {shape, written} from "./expression.js";
import {numberField, textField} from "./fields.js";

const PARTS_MOST = 12; // of a form: longer ones are for the text
const SHARES = new Set(["rate", "p", "prior", "delta", "fpr"]);

/** Shows a form; edited(text) is told the text that it stands for after each change. */
export class Form {
  constructor(element, menu, edited) {
    this.element = element;
    this.menu = menu;
    this.edited = edited;
    this.shape = "";
    this.form = null;
    this.fields = [];
  }

  /** The form of a text that was read; where only numbers changed, what is there stays. */
  show(form) {
    const now = shape(form);
    if (now === this.shape) {
      adopt(this.form, form);
      for (const [field, argument] of this.fields) field.set(argument.text);
      return;
    }
    const focused = this.focusPath();
    this.shape = now;
    this.form = form;
    this.fields = [];
    const long = count(form) > PARTS_MOST;
    fill(
      this.element,
      long ? make("p", {class: "quiet"}, "Too long for a form: edit the text.") : this.node(form, null),
    );
    this.refocus(focused);
  }

  changed() {
    this.edited(written(this.form));
  }

  /** Draws anew what was changed by adding, moving or removing. */
  rebuilt() {
    this.shape = "";
    this.show(structuredClone(this.form));
    this.changed();
  }

  node(node, above) {
    const inside = node.kind === "leaf" ? this.leaf(node) : this.parts(node);
    return make(
      "div",
      {class: `node ${node.kind}`, role: "group", "aria-label": node.kind === "leaf" ? node.name : node.kind},
      inside,
      this.chips(node),
      above && make("div", {class: "row"}, this.removePart(node, above)),
    );
  }

  leaf(node) {
    const row = this.offered(node.name);
    const choice = this.mechanisms("Mechanism", node.name, (name) => {
      node.name = name;
      node.arguments = starting(this.offered(name));
      this.rebuilt();
    });
    return [make("div", {class: "row head"}, choice), this.arguments(node, row)];
  }

  parts(node) {
    const sign = node.kind === "sum" ? "+" : "beside";
    return node.parts.map((part, place) => [
      place > 0 && make("div", {class: "join", "aria-hidden": "true"}, sign),
      this.node(part, node),
    ]);
  }

  arguments(call, row) {
    const taken = new Map((row?.takes ?? []).map((each) => [each.name, each]));
    const more = [...taken.values()].filter((each) => !call.arguments.some((one) => one.name === each.name));
    return make(
      "div",
      {class: "arguments"},
      call.arguments.map((argument) => this.argument(call, argument, taken.get(argument.name))),
      more.length > 0 && this.more(call, more),
    );
  }

  argument(call, argument, takes) {
    const change = (text) => {
      argument.text = text;
      this.changed();
    };
    const label = `${argument.name} of ${call.name ?? "run"}`;
    let field;
    if (takes?.choices.length) {
      field = select(
        label,
        takes.choices.map((each) => [`'${each}'`, each]),
        argument.text.replaceAll('"', "'"),
        change,
      );
    } else if (/^['"[(]|^True$|^False$/.test(argument.text)) {
      field = textField(label, argument.text, change);
      this.keep(field, argument);
    } else {
      field = numberField(label, argument.text, change, {
        whole: takes?.whole,
        most: SHARES.has(argument.name) ? 1 : Infinity,
      });
      this.fields.push([field, argument]);
    }
    const removable = takes && !takes.needed && argument.name !== "sampling" && call.name !== "training";
    return make(
      "label",
      {class: "argument"},
      make("span", {class: "argument-name"}, argument.name),
      field,
      removable &&
        button(
          icon(ICONS.remove),
          `Leave out ${label}`,
          () => {
            call.arguments.splice(call.arguments.indexOf(argument), 1);
            this.rebuilt();
          },
          {class: "small"},
        ),
    );
  }

  keep(field, argument) {
    field.set = (text) => {
      if (field !== document.activeElement) field.value = text;
    };
    this.fields.push([field, argument]);
  }

  more(call, names) {
    const options = [["", "more …"], ...names.map((each) => [each.name, each.name])];
    return select(`Another argument of ${call.name}`, options, "", (name) => {
      const takes = names.find((each) => each.name === name);
      const first = takes.choices[0];
      call.arguments.push({name, text: first ? `'${first}'` : takes.default || "1"});
      this.rebuilt();
    });
  }

  chips(node) {
    const list = make("ol", {class: "chips", "aria-label": "What is done to it, in this order"});
    for (const chip of node.chips) if (chip.kind !== "name") list.append(this.chip(node, chip, list));
    const options = [
      ["", "+ transformation"],
      ["* count", "× count (repeat it)"],
      ...this.menu.transformations.map((each) => [each.name, each.name.replaceAll("_", " ")]),
    ];
    const choice = select("Add a transformation", options, "", (name) => {
      const named = node.chips.at(-1)?.kind === "name" ? 1 : 0; // the name is that of the whole
      node.chips.splice(
        node.chips.length - named,
        0,
        name === "* count"
          ? {kind: "count", text: "10"}
          : {kind: "transformation", name, arguments: starting(this.transformation(name))},
      );
      this.rebuilt();
    });
    return make("div", {class: "row chips-row"}, list, choice, node === this.form && this.addPart(node));
  }

  chip(node, chip, list) {
    const name = chip.kind === "count" ? "× count" : `.${chip.name}`;
    const change = (text) => {
      chip.text = text;
      this.changed();
    };
    let inside;
    if (chip.kind === "count") {
      inside = numberField("count", chip.text, change, {whole: true});
      this.fields.push([inside, chip]);
    } else {
      inside = this.arguments(chip, this.transformation(chip.name));
    }
    const handle = button(icon(ICONS.grip), `Move ${name}: drag, or left and right arrow keys`, () => {}, {
      class: "handle",
    });
    const item = make(
      "li",
      {class: "chip"},
      make(
        "div",
        {class: "chip-head"},
        handle,
        make("span", {class: "chip-name"}, name),
        button(
          icon(ICONS.remove),
          `Remove ${name}`,
          () => {
            node.chips.splice(node.chips.indexOf(chip), 1);
            this.rebuilt();
          },
          {class: "small"},
        ),
      ),
      inside,
    );
    handle.addEventListener("keydown", (event) => {
      const by = {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1}[event.key];
      if (!by) return;
      event.preventDefault();
      this.moveChip(node, chip, node.chips.indexOf(chip) + by);
    });
    handle.addEventListener("pointerdown", (event) => this.dragChip(event, node, chip, item, list));
    return item;
  }

  moveChip(node, chip, place) {
    if (place < 0 || place >= node.chips.length) return;
    node.chips.splice(node.chips.indexOf(chip), 1);
    node.chips.splice(place, 0, chip);
    this.rebuilt();
  }

  /** While it is dragged, a line shows where it would go; it goes there when it is let go. */
  dragChip(event, node, chip, item, list) {
    event.preventDefault();
    const handle = event.currentTarget;
    handle.focus();
    handle.setPointerCapture(event.pointerId);
    const items = [...list.children];
    const from = items.indexOf(item);
    let to = from;
    const mark = (place) =>
      items.forEach((each, index) => {
        each.classList.toggle("before", index === place && place < from);
        each.classList.toggle("after", index === place && place > from);
      });
    const move = (now) => {
      const over = items.findIndex((each) => {
        const box = each.getBoundingClientRect();
        return (
          now.clientX >= box.left && now.clientX <= box.right && now.clientY >= box.top && now.clientY <= box.bottom
        );
      });
      if (over >= 0) mark((to = over));
    };
    const end = (now) => {
      handle.removeEventListener("pointermove", move);
      item.classList.remove("dragged");
      mark(-1);
      if (now.type === "pointerup" && to !== from) this.moveChip(node, chip, to);
    };
    item.classList.add("dragged");
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", end, {once: true});
    handle.addEventListener("pointercancel", end, {once: true});
  }

  addPart(node) {
    return this.mechanisms(
      "Compose with",
      "",
      (name) => {
        const part = {kind: "leaf", name, arguments: starting(this.offered(name)), chips: []};
        if (this.form.kind === "sum" && this.form.chips.length === 0) this.form.parts.push(part);
        else this.form = {kind: "sum", parts: [node, part], chips: []};
        this.rebuilt();
      },
      "+ mechanism",
    );
  }

  removePart(node, above) {
    return button(
      "Remove this part",
      "Remove this part",
      () => {
        above.parts.splice(above.parts.indexOf(node), 1);
        if (above.parts.length === 1) {
          const [only] = above.parts;
          const chips = [...only.chips, ...above.chips];
          for (const key of Object.keys(above)) delete above[key];
          Object.assign(above, only, {chips});
        }
        this.rebuilt();
      },
      {class: "link", "aria-label": `Remove this part: ${node.name ?? node.kind}`},
    );
  }

  mechanisms(label, now, change, empty = null) {
    const choice = make("select", {"aria-label": label, onchange: () => choice.value && change(choice.value)});
    if (empty) choice.append(make("option", {value: ""}, empty));
    for (const section of this.menu.sections) {
      choice.append(
        make(
          "optgroup",
          {label: section.title},
          section.mechanisms.map((each) => make("option", {value: each.name, title: each.summary}, each.name)),
        ),
      );
    }
    choice.value = now;
    return choice;
  }

  offered(name) {
    return this.menu.sections.flatMap((section) => section.mechanisms).find((each) => each.name === name);
  }

  transformation(name) {
    return this.menu.transformations.find((each) => each.name === name);
  }

  focusPath() {
    const active = document.activeElement;
    return this.element.contains(active) ? active.getAttribute("aria-label") : null;
  }

  refocus(label) {
    if (label === null) return;
    const same = [...this.element.querySelectorAll("[aria-label]")].find(
      (each) => each.getAttribute("aria-label") === label,
    );
    (same ?? this.element.querySelector(".chips-row > select") ?? this.element.querySelector("select"))?.focus();
  }
}

/** The arguments of an example, to begin with. */
const starting = (row) => Object.entries(row?.starts ?? {}).map(([name, text]) => ({name, text}));

const count = (node) => 1 + (node.parts ?? []).reduce((sum, part) => sum + count(part), 0);

/** Takes over the values of another form of the same shape. */
function adopt(mine, other) {
  const take = (one, two) => (one.arguments ?? []).forEach((each, place) => Object.assign(each, two.arguments[place]));
  take(mine, other);
  mine.chips.forEach((chip, place) => {
    if (chip.kind !== "transformation") Object.assign(chip, other.chips[place]);
    else take(chip, other.chips[place]);
  });
  (mine.parts ?? []).forEach((part, place) => adopt(part, other.parts[place]));
}

function select(label, options, now, change) {
  const choice = make(
    "select",
    {"aria-label": label, onchange: () => change(choice.value)},
    options.map(([value, text]) => make("option", {value}, text)),
  );
  choice.value = now;
  return choice;
}
