// Small parts of the page. Anything from an act or a model becomes a text node, never markup.

// Returns an element; children are elements or texts.
export function el(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "role" || key === "for") made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

export function tag(text, kind = "") { return el("span", { className: `tag ${kind}` }, text); }

// Answers may arrive out of order. Returns a function that tells whether this request is still the latest.
const latest = new WeakMap();
export function lastFor(place) {
  const asked = {};
  latest.set(place, asked);
  return () => latest.get(place) === asked;
}

// The service counts characters; JavaScript strings count UTF-16 code units.
export const characters = (text) => Array.from(text);

// Returns an element in the colour and with the number of a slot.
export function slotMark(name, place, title, ...children) {
  const made = el(name, { className: `slot slot-${place % 8}`, title }, ...children);
  made.append(el("sup", {}, String(place + 1)));
  return made;
}

// Returns a sentence with its values in the colours of their slots.
export function marked(text, spans) {
  const found = document.createDocumentFragment();
  const units = characters(text);
  let at = 0;
  for (const span of spans || []) {
    found.append(units.slice(at, span.start).join(""));
    found.append(slotMark("mark", span.place, span.slot, units.slice(span.start, span.end).join("")));
    at = span.end;
  }
  found.append(units.slice(at).join(""));
  return found;
}

// Returns whether a fault, `name` or `name='value'` as the service writes it, is about a slot.
function isAbout(fault, slot) {
  if (fault === slot.name) return true;
  if (!fault.startsWith(`${slot.name}=`)) return false;
  const value = fault.slice(slot.name.length + 1).replace(/^'(.*)'$/s, "$1").replace(/\\(.)/gs, "$1");
  return value.toLowerCase() === (slot.value || "").toLowerCase();
}

// Returns a parsed act, with the slots that a sentence does not say marked.
export function actParts(acts, missing = []) {
  const left = [...missing];
  const found = el("div", { className: "act mono" });
  acts.forEach((act, index) => {
    found.append(index ? " & " : "", el("strong", {}, act.act_type), "(");
    act.slots.forEach((slot, number) => {
      const value = slot.value === null ? "" : `=${slot.value}`;
      const part = slotMark("span", slot.place, slot.special ? "said in words of the model's own" : slot.name, `${slot.name}${value}`);
      const fault = left.findIndex((one) => isAbout(one, slot));
      if (fault >= 0) {
        left.splice(fault, 1);
        part.classList.add("missing");
        part.append(el("span", { className: "hidden" }, " (missing)"));
      }
      found.append(number ? "; " : "", part);
    });
    found.append(")");
  });
  return found;
}

// Returns an illustration of an error in an act: its line, and a caret under the character.
export function caret(text, position) {
  const before = characters(text).slice(0, position).join("");
  const start = before.lastIndexOf("\n") + 1;
  const line = text.slice(start).split("\n")[0];
  const column = characters(before.slice(start)).length;
  const from = Math.max(0, column - 22);
  const shown = characters(line).slice(from, column + 10).join("").replace(/\s/g, " ");
  const cut = from > 0 ? "…" : "";
  return el("pre", {}, `${cut}${shown}\n${" ".repeat(column - from + cut.length)}`, el("span", { className: "caret" }, "^"));
}
