// The output of a model: sentences, their faults, and which slot the model is saying at each word.

import { actParts, el, marked, tag } from "./parts.js";

const FAULTS = [["missing", "bad"], ["extra", "bad"], ["questions", "bad"]];
const PAIRS = [["contradicted", "became"], ["misplaced", "is said of"], ["acts", "looks like"]];

// Returns the faults found in a sentence, or a note that there are none.
export function faults(result) {
  const found = el("div", { className: "row" });
  if (result.slots_ok) found.append(tag(result.unchecked.length ? "nothing missing that could be checked" : "says the whole act", "good"));
  for (const [name, kind] of FAULTS) for (const one of result[name] || []) found.append(tag(`${name === "questions" ? "not asked" : name}: ${one}`, kind));
  for (const [name, words] of PAIRS) {
    for (const [had, said] of Object.entries(result[name] || {})) found.append(tag(`${had} ${words} ${said}`, "bad"));
  }
  for (const one of result.unchecked) found.append(tag(`nothing can check ${one}`, "warn"));
  if (result.seen === false) found.append(tag("training never had this combination", "warn"));
  return found;
}

// Returns a model's answer; `trace` is called with a sentence to show the trace of.
export function answer(model, acts, result, trace) {
  const found = el("article", { className: "card" });
  found.append(el("h2", {}, model.name), el("p", { className: "said" }, marked(result.text, result.spans)), faults(result));
  if (result.fallback) {
    found.append(el("p", { className: "note" }, fallback(result)));
  } else if (result.origin !== "model") found.append(el("p", { className: "note" }, `Not the model's own sentence; its origin: ${result.origin}.`));
  found.append(actParts(acts, result.missing));
  const figure = el("figure");
  found.append(list(result.n_best.length ? result.n_best : [result], (one) => trace(one.delexicalized, figure)), figure);
  trace(result.delexicalized, figure);
  return found;
}

function fallback({ text, fallback: { reason, rejected, origin, faithful } }) {
  if (rejected === text) return `This has a fault (${reason}), and nothing without one was found.`;
  const after = faithful ? "" : " It has a fault, too; nothing without one was found.";
  return `In the place of “${rejected}” (${reason}). This one's origin: ${origin}.${after}`;
}

function list(sentences, show) {
  const rows = sentences.map((one, index) => {
    const button = el("button", { type: "button", className: "quiet small" }, "words");
    button.setAttribute("aria-label", `show the words of sentence ${index + 1}`);
    const wrong = [...one.missing.map((name) => `missing: ${name}`), ...one.extra.map((name) => `extra: ${name}`)];
    const text = el("td", {}, marked(one.text, one.spans), ...wrong.flatMap((words) => [" ", tag(words, "bad")]));
    const score = one.score === null ? "–" : one.score.toFixed(2);
    const row = el("tr", {}, text, el("td", { className: "number" }, score), el("td", {}, button));
    button.addEventListener("click", () => {
      rows.forEach((other) => other.removeAttribute("aria-current"));
      row.setAttribute("aria-current", "true");
      show(one);
    });
    return row;
  });
  rows[0].setAttribute("aria-current", "true");
  const head = el("tr", {}, el("th", { scope: "col" }, "sentences"), el("th", { scope: "col", className: "number", title: "log probability" }, "score"), el("th", {}, el("span", { className: "hidden" }, "words")));
  return el("div", { className: "wide" }, el("table", { className: "best" }, el("thead", {}, head), el("tbody", {}, ...rows)));
}

const CAPTIONS = {
  left: "How much of each slot is left to be said after each word, in hundredths (reading gates)",
  attention: "Which slot the model looks at when it chooses each word, in hundredths (attention)",
};

// Returns the table of a trace: a row per slot, a column per word.
export function heat(trace) {
  const heads = trace.words.map((word, index) => {
    const start = trace.kind === "left" && index === 0;
    const place = trace.places[index];
    const colour = place === null ? "" : `slot slot-${place % 8}`;
    return el("th", { scope: "col" }, el("span", { title: trace.tokens[index], className: colour }, start ? "(start)" : word));
  });
  const rows = trace.slots.map((slot, at) => {
    const value = slot.value === null ? "" : `=${slot.value}`;
    const name = slot.place === null ? el("strong", {}, slot.name) : el("span", { className: `slot slot-${slot.place % 8}` }, `${slot.place + 1} ${slot.name}`);
    const cells = trace.left[at].map((share) => {
      const rounded = Math.round(100 * share);
      return el("td", { className: `heat-${Math.round(10 * share)}` }, rounded ? String(rounded) : "·");
    });
    return el("tr", {}, el("th", { scope: "row", title: `${slot.name}${value}` }, name), ...cells);
  });
  const corner = el("th", { scope: "col" }, el("span", { className: "hidden" }, "slot"));
  const table = el("table", { className: "heat" }, el("thead", {}, el("tr", {}, corner, ...heads)), el("tbody", {}, ...rows));
  const wide = el("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": CAPTIONS[trace.kind] }, table);
  return [el("figcaption", { className: "soft small" }, CAPTIONS[trace.kind]), wide];
}
