// The model of a chart, ready to be drawn.

import {usable} from "./scale.js";
import {outline, guideLine} from "./geometry.js";

/** What every part of the chart reads: the model made safe to draw, with everything that depends on it worked out. */
export function makeView(model) {
  const x = usable(model.x);
  const y = usable(model.y);
  const series = model.series ?? [];
  const guides = model.guides ?? [];
  return {
    title: model.title ?? "",
    x,
    y,
    series,
    guides,
    targets: model.targets ?? [],
    pins: model.pins ?? [],
    outlines: series.map((one) => outline(one, x, y)),
    guideLines: guides.map((guide) => guideLine(guide, x, y)),
    empty: series.some(({points}) => points.length > 0) ? null : (model.empty ?? null),
    locale: model.locale ?? document.documentElement.lang,
    width: 1,
    height: 1,
  };
}
