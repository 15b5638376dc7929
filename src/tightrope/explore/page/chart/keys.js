// The keyboard on the plot: a cursor that walks from point to point, pins and zooms.

import {placeOf, rangeBetween} from "./scale.js";
import {nearestIndex} from "./geometry.js";

/** Listens on the plot; `act` = {read(series, index), leave(), pin(point), zoom(range | null)}. */
export function listenToKeys(plot, getView, act) {
  const stop = new AbortController();
  // The curve and the place on it are remembered by name and value: an update may bring other points.
  let at = null;

  function current() {
    const {series, x} = getView();
    const drawn = series.filter(({points}) => points.length > 0);
    const row = Math.max(
      0,
      drawn.findIndex(({id}) => at && id === at.id),
    );
    if (drawn.length === 0) {
      return null;
    }
    const place = at ? placeOf(x, at.x) : 0;
    return {drawn, row, index: nearestIndex(drawn[row].points, x, place)};
  }

  function goTo(series, index) {
    const point = series.points[Math.max(0, Math.min(index, series.points.length - 1))];
    at = {id: series.id, x: point.x};
    act.read(series, series.points.indexOf(point));
  }

  function walk({drawn, row, index}, step) {
    // The first key shows the cursor where it is; walking starts with the second.
    goTo(drawn[row], at ? index + step : index);
  }

  function changeSeries({drawn, row}, step) {
    const next = drawn[(row + step + drawn.length) % drawn.length];
    const {x} = getView();
    goTo(next, nearestIndex(next.points, x, at ? placeOf(x, at.x) : 0));
  }

  function zoom(factor) {
    const {x} = getView();
    const middle = at ? placeOf(x, at.x) : 0.5;
    const from = middle - middle * factor;
    act.zoom(rangeBetween(x, from, from + factor));
  }

  const commands = {
    ArrowLeft: (here, event) => walk(here, event.shiftKey ? -10 : -1),
    ArrowRight: (here, event) => walk(here, event.shiftKey ? 10 : 1),
    Home: (here) => goTo(here.drawn[here.row], 0),
    End: (here) => goTo(here.drawn[here.row], Infinity),
    ArrowUp: (here) => changeSeries(here, -1),
    ArrowDown: (here) => changeSeries(here, 1),
    Enter: (here) => at && act.pin(here.drawn[here.row].points[here.index]),
    " ": (here) => at && act.pin(here.drawn[here.row].points[here.index]),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    0: () => act.zoom(null),
    Escape: () => leave(),
  };

  function leave() {
    at = null;
    act.leave();
  }

  plot.addEventListener(
    "keydown",
    (event) => {
      const command = commands[event.key];
      const here = current();
      if (command && here && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        command(here, event);
      }
    },
    {signal: stop.signal},
  );
  plot.addEventListener("blur", leave, {signal: stop.signal});

  return () => stop.abort();
}
