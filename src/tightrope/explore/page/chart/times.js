// Gridlines of an axis of time, in milliseconds since 1970, UTC: steps that a clock or a calendar has.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTH = 30 * DAY; // to choose by; the calendar says how long each is
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14].map((count) => count * DAY),
];
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120];
const MONDAY = 4 * DAY; // the first one after 1970 began: weeks are counted from there

function months(axis, step) {
  const first = new Date(axis.min);
  const found = [];
  let at = Math.floor((first.getUTCFullYear() * 12 + first.getUTCMonth()) / step) * step;
  for (; ; at += step) {
    const value = Date.UTC(Math.floor(at / 12), at % 12);
    if (value > axis.max) return found;
    if (value >= axis.min) found.push(value);
  }
}

/** The finest gridlines that keep this gap in pixels: {major, minor}. */
export function timeTicks(axis, pixels, gap) {
  const least = (axis.span * gap) / Math.max(1, pixels);
  const step = STEPS.find((each) => each >= least);
  if (step === undefined) {
    const count = MONTHS.find((each) => each * MONTH >= least) ?? MONTHS.at(-1);
    return {major: months(axis, count), minor: []};
  }
  const offset = step % (7 * DAY) === 0 ? MONDAY : 0;
  const first = Math.ceil((axis.min - offset) / step);
  const last = Math.floor((axis.max - offset) / step);
  return {
    major: Array.from({length: Math.max(0, last - first + 1)}, (_, index) => (first + index) * step + offset),
    minor: [],
  };
}

/** Label of a gridline: a time of the day, at midnight the day, at the beginning of a year the year. */
export function timeTick(value, locale) {
  const said = (options) => new Intl.DateTimeFormat(locale || undefined, {timeZone: "UTC", ...options}).format(value);
  if (value % DAY !== 0) {
    const second = value % MINUTE === 0 ? undefined : "2-digit";
    return said({hour: "2-digit", minute: "2-digit", second, hourCycle: "h23"});
  }
  const day = new Date(value);
  if (day.getUTCDate() !== 1) return said({day: "numeric", month: "short"});
  return day.getUTCMonth() === 0 ? said({year: "numeric"}) : said({month: "short", year: "numeric"});
}
