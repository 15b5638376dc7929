// Lines that can be dragged: a line across the plot, a handle that is a slider for mouse, touch, pen and keyboard,
// and a chip with the target's text.

import {placeOf, valueAt, inside, chosen} from "./scale.js";

const HALF_HANDLE = 12;
const CHIP_HEIGHT = 22;
const CHIP_GAP = 4;
const KEY_STEPS = {
  ArrowRight: 0.01,
  ArrowUp: 0.01,
  ArrowLeft: -0.01,
  ArrowDown: -0.01,
  PageUp: 0.1,
  PageDown: -0.1,
  Home: -Infinity,
  End: Infinity,
};

function part(className) {
  const element = document.createElement("div");
  element.className = className;
  return element;
}

const overlaps = (one, other) =>
  one.left < other.left + other.width &&
  other.left < one.left + one.width &&
  one.top < other.top + other.height &&
  other.top < one.top + one.height;

/** Makes the targets in a layer that covers the plot: {update(view), destroy()}; `onTarget({id, value, done})`. */
export function makeTargets(layer, onTarget) {
  const shown = new Map();
  let view = null;

  function make(id) {
    const entry = {
      id,
      target: null,
      line: part("tr-target-line"),
      handle: part("tr-target-handle"),
      chip: part("tr-target-chip"),
      held: null,
      text: null,
      chipWidth: 0,
    };
    entry.handle.tabIndex = 0;
    entry.handle.setAttribute("role", "slider");
    entry.chip.setAttribute("aria-hidden", "true");
    layer.append(entry.line, entry.chip, entry.handle);
    listen(entry);
    return entry;
  }

  const axisOf = (entry) => view[entry.target.axis];

  /** Moves the line at once and tells the page; the page's own update follows when the server has answered. */
  function move(entry, place) {
    const axis = axisOf(entry);
    entry.held = chosen(axis, valueAt(axis, inside(place)));
    draw();
    onTarget({id: entry.id, value: entry.held, done: false});
  }

  function pointerPlace(entry, event) {
    const area = layer.getBoundingClientRect();
    return entry.target.axis === "x"
      ? (event.clientX - area.left) / area.width
      : 1 - (event.clientY - area.top) / area.height;
  }

  function listen(entry) {
    const {handle} = entry;
    let pointer = null;
    let grab = 0;
    let moved = false;
    let keyed = false;
    const value = () => entry.held ?? entry.target.value;

    handle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || pointer !== null) {
        return;
      }
      event.preventDefault();
      handle.focus({preventScroll: true});
      handle.setPointerCapture(event.pointerId);
      handle.classList.add("is-held");
      pointer = event.pointerId;
      moved = false;
      // The line keeps its distance from the pointer, so that taking the handle off its middle does not move it.
      grab = inside(placeOf(axisOf(entry), value())) - pointerPlace(entry, event);
    });
    handle.addEventListener("pointermove", (event) => {
      if (event.pointerId === pointer) {
        moved = true;
        move(entry, pointerPlace(entry, event) + grab);
      }
    });
    const release = (event) => {
      if (event.pointerId !== pointer) {
        return;
      }
      pointer = null;
      handle.classList.remove("is-held");
      if (moved) {
        finish(entry);
      }
    };
    handle.addEventListener("pointerup", release);
    handle.addEventListener("pointercancel", release);
    handle.addEventListener("keydown", (event) => {
      const step = KEY_STEPS[event.key];
      if (step !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        keyed = true;
        move(entry, inside(placeOf(axisOf(entry), value())) + step);
      }
    });
    const settle = () => {
      if (keyed) {
        keyed = false;
        finish(entry);
      }
    };
    handle.addEventListener("keyup", settle);
    handle.addEventListener("blur", settle);
  }

  /** The value is the page's again: what it hands to the next update decides. */
  function finish(entry) {
    const value = entry.held ?? entry.target.value;
    entry.held = null;
    entry.target = {...entry.target, value};
    onTarget({id: entry.id, value, done: true});
  }

  function describe(entry) {
    const {target, handle, chip} = entry;
    const axis = axisOf(entry);
    // In hundredths of the axis, since ARIA knows no exponents: 1e-300 could not be written. The text says the value.
    const now = (inside(placeOf(axis, entry.held ?? target.value)) * 100).toFixed(1);
    const attributes = {
      "aria-label": target.label,
      "aria-valuetext": target.text,
      "aria-valuenow": now,
      "aria-valuemin": 0,
      "aria-valuemax": 100,
      "aria-orientation": target.axis === "x" ? "horizontal" : "vertical",
    };
    for (const [name, value] of Object.entries(attributes)) {
      if (handle.getAttribute(name) !== String(value)) {
        handle.setAttribute(name, value);
      }
    }
    if (entry.text !== target.text) {
      entry.text = target.text;
      chip.textContent = target.text;
      entry.chipWidth = 0;
    }
    // Measured only when it may have changed: measuring lays out the page. In a hidden chart it stays to be done.
    entry.chipWidth ||= chip.offsetWidth;
  }

  /** Slides a handle along its own line until it covers no other. */
  function freeAlong(handle, upright, taken) {
    const free = {...handle};
    for (let tries = 0; tries < 6 && taken.some((other) => overlaps(free, other)); tries += 1) {
      if (upright) {
        free.top += free.height;
      } else {
        free.left -= free.width;
      }
    }
    return free;
  }

  /** Keeps a chip inside the plot and off the handles and chips placed before it. */
  function freeSpot(first, upright, taken) {
    const spot = {...first};
    for (let tries = 0; tries < 8 && taken.some((other) => overlaps(spot, other)); tries += 1) {
      if (upright) {
        spot.top += CHIP_HEIGHT + CHIP_GAP;
      } else {
        spot.left -= spot.width / 2;
      }
    }
    spot.left = Math.max(0, Math.min(spot.left, view.width - spot.width));
    spot.top = Math.max(0, Math.min(spot.top, view.height - spot.height));
    return spot;
  }

  function draw() {
    const taken = [];
    const spots = [];
    for (const entry of shown.values()) {
      describe(entry);
      const upright = entry.target.axis === "x";
      const place = placeOf(axisOf(entry), entry.held ?? entry.target.value);
      const outside = !(place >= 0 && place <= 1);
      const room = upright ? view.width : view.height;
      const along = (upright ? inside(place) : 1 - inside(place)) * room;
      const middle = Math.max(HALF_HANDLE, Math.min(along, room - HALF_HANDLE));
      const handle = freeAlong(
        {
          left: (upright ? middle : view.width - HALF_HANDLE) - HALF_HANDLE,
          top: (upright ? HALF_HANDLE : middle) - HALF_HANDLE,
          width: 2 * HALF_HANDLE,
          height: 2 * HALF_HANDLE,
        },
        upright,
        taken,
      );
      taken.push(handle);
      for (const element of [entry.line, entry.handle, entry.chip]) {
        element.classList.toggle("is-upright", upright);
        element.classList.toggle("is-outside", outside);
      }
      entry.line.style.transform = upright ? `translateX(${along}px)` : `translateY(${along}px)`;
      entry.handle.style.transform = `translate(${handle.left}px, ${handle.top}px)`;
      spots.push({entry, handle, upright});
    }
    for (const {entry, handle, upright} of spots) {
      const before = handle.left - CHIP_GAP - entry.chipWidth;
      const after = handle.left + handle.width + CHIP_GAP;
      const left = upright && after + entry.chipWidth <= view.width ? after : before;
      const top = upright ? handle.top + 1 : handle.top - HALF_HANDLE;
      const spot = freeSpot({left, top, width: entry.chipWidth, height: CHIP_HEIGHT}, upright, taken);
      entry.chip.style.transform = `translate(${Math.round(spot.left)}px, ${Math.round(spot.top)}px)`;
      taken.push(spot);
    }
  }

  function remove(entry) {
    [entry.line, entry.handle, entry.chip].forEach((element) => element.remove());
    shown.delete(entry.id);
  }

  return {
    update(next) {
      view = next;
      const kept = new Set(view.targets.map((target) => target.id));
      [...shown.values()].filter((entry) => !kept.has(entry.id)).forEach(remove);
      for (const target of view.targets) {
        const entry = shown.get(target.id) ?? make(target.id);
        entry.target = target;
        shown.set(target.id, entry);
      }
      draw();
    },
    destroy() {
      [...shown.values()].forEach(remove);
    },
  };
}
