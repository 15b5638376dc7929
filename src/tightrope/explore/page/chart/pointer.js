// Mouse, pen and touch on the plot: hovering, a drag that selects a range, a click that pins, a double click that
// shows everything again. With a finger a drag reads values instead, since selecting would fight with scrolling.

import {inside, rangeBetween} from "./scale.js";

const DRAG_FROM = 5;
// A click waits this long for a second one, else every double click would leave a pin behind.
const DOUBLE_CLICK = 230;

/** Listens on the plot; `act` = {hover(pointer), leave(), click(pointer), zoom(range | null)}, `getView()` the view. */
export function listenToPointer(plot, layer, getView, act) {
  const selection = document.createElement("div");
  selection.className = "tr-selection";
  selection.hidden = true;
  layer.append(selection);
  const stop = new AbortController();
  const options = {signal: stop.signal};
  let start = null;
  let dragging = false;
  let waiting = 0;

  function spot(event) {
    const area = plot.getBoundingClientRect();
    return {left: event.clientX - area.left, top: event.clientY - area.top};
  }

  const heldLeft = (pointer) => Math.max(0, Math.min(pointer.left, getView().width));

  function select(pointer) {
    const [from, to] = [heldLeft(start), heldLeft(pointer)].sort((one, other) => one - other);
    selection.hidden = false;
    selection.style.transform = `translateX(${from}px)`;
    selection.style.width = `${to - from}px`;
    return [from, to];
  }

  function release() {
    start = null;
    dragging = false;
    selection.hidden = true;
  }

  plot.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button === 0 && event.isPrimary) {
        start = {...spot(event), touch: event.pointerType === "touch"};
        plot.setPointerCapture(event.pointerId);
        act.hover(start);
      }
    },
    options,
  );

  plot.addEventListener(
    "pointermove",
    (event) => {
      const here = spot(event);
      dragging ||= start !== null && Math.abs(here.left - start.left) >= DRAG_FROM;
      if (dragging && !start.touch) {
        act.leave();
        select(here);
      } else {
        act.hover({left: heldLeft(here), top: here.top});
      }
    },
    options,
  );

  plot.addEventListener(
    "pointerup",
    (event) => {
      if (start === null) {
        return;
      }
      const here = spot(event);
      const wasTouch = start.touch;
      const wasDrag = dragging;
      const ends = wasDrag && !wasTouch ? select(here) : null;
      release();
      if (ends) {
        const {x, width} = getView();
        act.zoom(rangeBetween(x, inside(ends[0] / width), inside(ends[1] / width)));
      } else if (!wasDrag) {
        clearTimeout(waiting);
        waiting = setTimeout(() => act.click(here), DOUBLE_CLICK);
      }
    },
    options,
  );

  plot.addEventListener("pointercancel", release, options);
  plot.addEventListener(
    "pointerleave",
    (event) => {
      // A finger always leaves when it is lifted; what it read stays until the next touch elsewhere.
      if (!dragging && event.pointerType !== "touch") {
        act.leave();
      }
    },
    options,
  );
  document.addEventListener(
    "pointerdown",
    (event) => {
      if (event.pointerType === "touch" && event.target !== plot) {
        act.leave();
      }
    },
    options,
  );
  plot.addEventListener(
    "dblclick",
    () => {
      clearTimeout(waiting);
      act.zoom(null);
    },
    options,
  );

  return () => {
    clearTimeout(waiting);
    stop.abort();
    selection.remove();
  };
}
