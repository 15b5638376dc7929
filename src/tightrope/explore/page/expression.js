// A form as text: the calls that the server reads. What stands in a field goes into the text as it was typed.

const PLAIN = /^[\w.?]+$/;

/** The text of a node and its chips. */
export function written(node) {
  let text = bare(node);
  let whole = node.kind !== "sum";
  for (const chip of node.chips) {
    const base = whole ? text : `(${text})`;
    if (chip.kind === "count") {
      text = `${base} * ${PLAIN.test(chip.text.trim()) ? chip.text.trim() : `(${chip.text})`}`;
      whole = false;
    } else if (chip.kind === "name") {
      text = `${base}.named(${quoted(chip.text)})`;
      whole = true;
    } else {
      text = `${base}.${chip.name}(${given(chip)})`;
      whole = true;
    }
  }
  return text;
}

function bare(node) {
  if (node.kind === "leaf") return `${node.name}(${given(node)})`;
  const parts = node.parts.map(written);
  if (node.kind === "parallel") return `parallel(${parts.join(", ")})`;
  return node.parts.map((part, place) => (isBareSum(part) ? `(${parts[place]})` : parts[place])).join(" + ");
}

const isBareSum = (node) => node.kind === "sum" && node.chips.length === 0;

const given = (call) => call.arguments.map((each) => `${each.name}=${each.text}`).join(", ");

/** A word between quotes, as the server reads it. */
export const quoted = (word) => `'${word.replace(/[\\']/g, (sign) => `\\${sign}`)}'`;

/** Whether a number is left open: a ? that stands in no name. */
export const hasUnknown = (text) => text.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "").includes("?");

/** What a form is made of, without its values: where it is the same, only values changed. */
export function shape(node) {
  const call = (each) => `${each.kind}:${each.name ?? ""}(${(each.arguments ?? []).map((one) => one.name)})`;
  const inside = (node.parts ?? []).map(shape).join("+");
  return `${call(node)}[${inside}]${node.chips.map((chip) => (chip.kind === "name" ? "name" : call(chip))).join(".")}`;
}

/** The name of a run: the last thing that is said of it. */
export function nameOf(form) {
  const last = form.chips.at(-1);
  return last?.kind === "name" ? last.text : "";
}

/** The same form by another name; none where it is empty. */
export function renamed(form, name) {
  const chips = form.chips.at(-1)?.kind === "name" ? form.chips.slice(0, -1) : form.chips;
  return {...form, chips: name ? [...chips, {kind: "name", text: name}] : chips};
}

/** Every number of a form that could be looked for: {label, argument}. */
export function unknowns(node, found = []) {
  const note = (call, prefix) => {
    for (const each of call.arguments ?? []) {
      if (/^[^'"[\]]*$/.test(each.text) && !/^(True|False)$/.test(each.text)) {
        found.push({label: `${each.name} of ${prefix}`, argument: each});
      }
    }
  };
  if (node.kind === "leaf") note(node, node.name);
  for (const part of node.parts ?? []) unknowns(part, found);
  for (const chip of node.chips) {
    if (chip.kind === "count") found.push({label: "count", argument: chip});
    if (chip.kind === "transformation") note(chip, chip.name);
  }
  return found;
}
