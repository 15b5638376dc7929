// What is drawn on the canvas besides the labelled gridlines: minor grid, guides, bands, ends, pins.
// `sheet` = {ctx, box, ratio, theme}: box is the plot in canvas pixels, ratio canvas pixels per CSS pixel.

import {placeOf} from "./scale.js";
import {guideLabel, heightAt} from "./geometry.js";

export const BAND_OPACITY = 0.25;
export const HIGH_WIDTH = 2;
export const LOW_WIDTH = 1.25;
export const DASH = [6, 4];
export const GUIDE_DASH = [3, 4];

const toX = ({box}, place) => box.left + place * box.width;
const toY = ({box}, place) => box.top + (1 - place) * box.height;

/** Runs a drawing with the canvas state put back and everything outside the plot cut off. */
function withinPlot(sheet, margin, draw) {
  const {ctx, box, ratio} = sheet;
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, box.top - margin * ratio, box.width, box.height + 2 * margin * ratio);
  ctx.clip();
  draw(ctx);
  ctx.restore();
}

function trace(sheet, path, line, backwards = false) {
  for (let step = 0; step < line.length; step += 1) {
    const place = line[backwards ? line.length - 1 - step : step];
    path.lineTo(toX(sheet, place.x), toY(sheet, place.y));
  }
  return path;
}

/** Faint lines between the labelled ones. */
export function paintMinorGrid(sheet, x, y, xMinor, yMinor) {
  withinPlot(sheet, 0, (ctx) => {
    const {box, ratio} = sheet;
    const crisp = (position) => Math.round(position - ratio / 2) + ratio / 2;
    ctx.strokeStyle = sheet.theme.line;
    ctx.globalAlpha = 0.4;
    ctx.lineWidth = ratio;
    ctx.beginPath();
    for (const value of xMinor) {
      const left = crisp(toX(sheet, placeOf(x, value)));
      ctx.moveTo(left, box.top);
      ctx.lineTo(left, box.top + box.height);
    }
    for (const value of yMinor) {
      const top = crisp(toY(sheet, placeOf(y, value)));
      ctx.moveTo(box.left, top);
      ctx.lineTo(box.left + box.width, top);
    }
    ctx.stroke();
  });
}

/** Guides: grey dashed lines, named along their ends. `lines` are the guides as places. */
export function paintGuides(sheet, guides, lines) {
  const {box, ratio, theme} = sheet;
  withinPlot(sheet, 2, (ctx) => {
    ctx.strokeStyle = theme.quiet;
    ctx.lineWidth = 1.25 * ratio;
    ctx.setLineDash(GUIDE_DASH.map((length) => length * ratio));
    for (const line of lines) {
      ctx.stroke(trace(sheet, new Path2D(), line));
    }
    ctx.setLineDash([]);
    ctx.font = `${12 * ratio}px ${theme.font}`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.lineJoin = "round";
    guides.forEach((guide, index) => {
      const pixels = lines[index].map((place) => ({x: place.x * box.width, y: (1 - place.y) * box.height}));
      const spot = guideLabel(pixels, ctx.measureText(guide.label).width, box.width, box.height);
      if (spot) {
        ctx.save();
        ctx.translate(box.left + spot.x, box.top + spot.y);
        ctx.rotate(spot.angle);
        ctx.strokeStyle = theme.surface;
        ctx.lineWidth = 4 * ratio;
        ctx.strokeText(guide.label, 0, 0);
        ctx.fillStyle = theme.quiet;
        ctx.fillText(guide.label, 0, 0);
        ctx.restore();
      }
    });
  });
}

/** The bands first and then their ends, so that no band dulls another series' line. */
export function paintSeries(sheet, series, outlines) {
  const {ratio} = sheet;
  withinPlot(sheet, 2, (ctx) => {
    ctx.lineJoin = "round";
    ctx.globalAlpha = BAND_OPACITY;
    series.forEach(({colour}, index) => {
      const band = trace(sheet, trace(sheet, new Path2D(), outlines[index].high), outlines[index].low, true);
      band.closePath();
      ctx.fillStyle = colour;
      ctx.fill(band);
    });
    ctx.globalAlpha = 1;
    series.forEach(({colour, dashed, points}, index) => {
      const {high, low} = outlines[index];
      if (points.length === 1) {
        paintLonePoint(sheet, colour, high[0], low[0]);
        return;
      }
      ctx.strokeStyle = colour;
      ctx.setLineDash(dashed ? DASH.map((length) => length * ratio) : []);
      ctx.lineWidth = LOW_WIDTH * ratio;
      ctx.stroke(trace(sheet, new Path2D(), low));
      ctx.lineWidth = HIGH_WIDTH * ratio;
      ctx.stroke(trace(sheet, new Path2D(), high));
    });
  });
}

/** A line needs two points; a single one is shown as its interval with a dot at either end. */
function paintLonePoint(sheet, colour, high, low) {
  const {ctx, ratio} = sheet;
  ctx.strokeStyle = colour;
  ctx.lineWidth = HIGH_WIDTH * ratio;
  ctx.stroke(trace(sheet, trace(sheet, new Path2D(), [high]), [low]));
  for (const place of [high, low]) {
    paintDot(sheet, colour, place.x, place.y, 4);
  }
}

function paintDot(sheet, colour, x, y, radius) {
  const {ctx, ratio, theme} = sheet;
  ctx.beginPath();
  ctx.arc(toX(sheet, x), toY(sheet, y), radius * ratio, 0, 2 * Math.PI);
  ctx.fillStyle = colour;
  ctx.fill();
  ctx.strokeStyle = theme.surface;
  ctx.lineWidth = ratio;
  ctx.stroke();
}

/** Pins: a thin line with its text at the foot and a dot where it meets each series. */
export function paintPins(sheet, pins, x, series, outlines) {
  const {box, ratio, theme} = sheet;
  withinPlot(sheet, 4, (ctx) => {
    ctx.font = `${11 * ratio}px ${theme.font}`;
    ctx.textAlign = "left";
    ctx.textBaseline = "bottom";
    let freeFrom = -Infinity;
    for (const pin of [...pins].sort((one, other) => one.x - other.x)) {
      const place = placeOf(x, pin.x);
      if (!(place >= 0 && place <= 1)) {
        continue;
      }
      const left = Math.round(toX(sheet, place)) + ratio / 2;
      ctx.strokeStyle = theme.quiet;
      ctx.lineWidth = ratio;
      ctx.beginPath();
      ctx.moveTo(left, box.top);
      ctx.lineTo(left, box.top + box.height);
      ctx.stroke();
      series.forEach(({colour}, index) => {
        const height = heightAt(outlines[index].high, place);
        if (height !== null) {
          paintDot(sheet, colour, place, height, 4);
        }
      });
      freeFrom = paintPinText(sheet, pin.text ?? "", left, freeFrom);
    }
  });
}

/** Writes a pin's text beside its line unless it would run into the one before; gives where the next may start. */
function paintPinText(sheet, text, left, freeFrom) {
  const {ctx, box, ratio, theme} = sheet;
  const gap = 4 * ratio;
  const width = ctx.measureText(text).width;
  const start = left + gap + width > box.left + box.width ? left - gap - width : left + gap;
  if (start < freeFrom) {
    return freeFrom;
  }
  const foot = box.top + box.height - 3 * ratio;
  ctx.lineJoin = "round";
  ctx.strokeStyle = theme.surface;
  ctx.lineWidth = 3 * ratio;
  ctx.strokeText(text, start, foot);
  ctx.fillStyle = theme.ink;
  ctx.fillText(text, start, foot);
  return start + width + gap;
}
