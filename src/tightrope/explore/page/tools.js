// The tools at the top: a link to share, files to take along, dark or light.

import {ICONS, button, fill, icon, make} from "./dom.js";
import {UNSETTLED, exported, report, settled} from "./files.js";

const STORED = "tightrope-theme";

/** Whether the page is dark, by choice or by the settings of the machine. */
export function isDark() {
  const said = document.documentElement.dataset.theme;
  return said ? said === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Closes a menu; the keyboard goes back to where it was opened. */
function shut(menu) {
  menu.open = false;
  menu.querySelector("summary").focus();
}

/** The row of tools. */
export class Tools {
  constructor(element, page) {
    this.element = element;
    this.page = page;
    this.build();
  }

  build() {
    const theme = button(
      "",
      "Dark or light",
      () => {
        const dark = isDark();
        document.documentElement.dataset.theme = dark ? "light" : "dark";
        localStorage.setItem(STORED, document.documentElement.dataset.theme);
        this.page.rethemed();
      },
      {class: "tool"},
    );
    this.theme = theme;
    const menu = make(
      "details",
      {class: "menu"},
      make("summary", {class: "tool"}, icon(ICONS.export), make("span", {}, "Export")),
      make(
        "div",
        {class: "menu-box", role: "group", "aria-label": "Export this view"},
        ["png", "svg", "csv", "json"].map((format) =>
          button(format.toUpperCase(), `${format.toUpperCase()}: export this view`, () => this.export(format, menu)),
        ),
        [
          ["Command", "command"],
          ["Python", "python"],
        ].map(([name, key]) =>
          button(
            `Copy as ${name === "Command" ? "command" : name}`,
            `Copy as ${name === "Command" ? "command" : name}: this view of the chosen run`,
            () => this.copyView(name, key, menu),
          ),
        ),
        button("Report of the run", "Report of the run that is chosen, as HTML", () => this.report(menu)),
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
      this.element,
      button([icon(ICONS.share), make("span", {}, "Share")], "Share this page", () => this.share(), {class: "tool"}),
      menu,
      theme,
    );
  }

  /** Shows what the button leads to. */
  draw() {
    fill(this.theme, icon(isDark() ? ICONS.sun : ICONS.moon));
  }

  async export(format, menu) {
    shut(menu);
    const wrong = await exported(format, this.page.view);
    this.page.toast(wrong ?? `${format.toUpperCase()} saved`);
  }

  async copyView(name, key, menu) {
    shut(menu);
    if (!(await settled(this.page.view))) return this.page.toast(UNSETTLED);
    const text = this.page.view.copies()?.[key];
    return text ? this.page.copy(name, text) : this.page.toast("There is nothing to copy yet");
  }

  async report(menu) {
    shut(menu);
    const card = this.page.currentCard();
    if (!card) return this.page.toast("Choose a run first");
    if (
      !(await settled({
        get settled() {
          return card.fine;
        },
      })) ||
      !card.text
    )
      return this.page.toast(UNSETTLED);
    this.page.toast("The report is being made");
    const wrong = await report(card, this.page.state);
    return this.page.toast(wrong ?? "Report saved");
  }

  share() {
    const link = location.href;
    const command = `tightrope explore '#${this.page.said.replaceAll("'", "%27")}'`;
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
        button("Copy", `Copy: ${label}`, () => this.page.copy("Link", text), {class: "tool"}),
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
}
