// Text of numbers. The server rounds certified numbers outward and sends them as strings; here they are only spelt
// with the characters of a locale, one by one. Nothing in this module turns a certified string into a number.

const spellings = new Map();

/** The decimal separator and the ten digits of a locale. */
function spelling(locale) {
  const key = locale || "";
  if (!spellings.has(key)) {
    const format = new Intl.NumberFormat(locale || undefined, {useGrouping: false});
    const decimal = format.formatToParts(1.5).find((part) => part.type === "decimal").value;
    const digits = Array.from({length: 10}, (_, digit) => format.format(digit));
    spellings.set(key, {decimal, digits});
  }
  return spellings.get(key);
}

const isDigit = (character) => character >= "0" && character <= "9";

/** A number string, or an interval "[a, b]" of two, in the characters of the locale. */
export function localised(text, locale) {
  const {decimal, digits} = spelling(locale);
  // With a decimal comma, "[2,03, 2,04]" could not be read, so a semicolon separates the ends.
  const separated = decimal === "," ? text.replace(/^\[([^,;]*), ([^,;]*)\]$/, "[$1; $2]") : text;
  const source = separated.replace(/\binf(?:inity)?\b/gi, "∞");
  let spelt = "";
  for (let place = 0; place < source.length; place += 1) {
    const character = source[place];
    const nextIsDigit = place + 1 < source.length && isDigit(source[place + 1]);
    if (isDigit(character)) {
      spelt += digits[character];
    } else {
      spelt += character === "." && nextIsDigit ? decimal : character;
    }
  }
  return spelt;
}

/** What somebody typed in a number field, back to plain ASCII digits and a decimal point. */
export function plain(text, locale) {
  const {decimal, digits} = spelling(locale);
  const typed = Array.from(text.trim(), (character) => {
    const digit = digits.indexOf(character);
    return digit < 0 ? character : String(digit);
  }).join("");
  if (decimal === ".") {
    return typed;
  }
  // Only one number with one separator: "1,5" is a decimal, "1,2,3" and "f(1,5)" are left for the server to judge.
  const oneNumber = /^([+-]?)(\d*)(\D)(\d*)(e[+-]?\d+)?$/i.exec(typed);
  if (oneNumber && oneNumber[3] === decimal && oneNumber[2] + oneNumber[4] !== "") {
    return typed.replace(decimal, ".");
  }
  return typed;
}

/** Label of a gridline: a short decimal, with an exponent below 1e-3 and from 1e5. */
export function tick(value) {
  if (!Number.isFinite(value)) {
    return value > 0 ? "∞" : "-∞";
  }
  // Twelve digits drop the dust of binary fractions (0.30000000000000004) and keep every tick the finder makes.
  const short = Number(value.toPrecision(12));
  if (short === 0) {
    return "0";
  }
  const size = Math.abs(short);
  return size < 1e-3 || size >= 1e5 ? short.toExponential().replace("e+", "e") : String(short);
}
