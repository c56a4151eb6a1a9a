// The playground: one act, one or two models, and all details of their sentences.

import { ask, setToken } from "./api.js";
import { Completion } from "./completion.js";
import { actParts, caret, el, lastFor, marked } from "./parts.js";
import { copied, curl, python } from "./programs.js";
import { answer, faults, heat } from "./results.js";

const PAUSE = 150;
const byId = (id) => document.getElementById(id);
const act = byId("act");
let models = [];
let parsing = null;

const chosen = (id) => models.find((model) => model.name === byId(id).value);
const completion = new Completion(act, byId("choices"), () => chosen("model"));

function trouble(error) {
  if (error && error.name === "AbortError") return;
  if (error && error.status === 401) {
    byId("token-form").hidden = false;
    byId("token").focus();
    byId("trouble").textContent = byId("token").value ? "This is not the token." : "";
    return;
  }
  byId("trouble").textContent = error ? error.message : "";
}

// Returns the body for /v1/generate; `name` is the name of the model.
function request(name) {
  const options = { n_best: Math.max(1, Math.round(Number(byId("n-best").value)) || 1) };
  if (byId("constraint").value) options.constraint = byId("constraint").value;
  return { acts: act.value, model: name, options };
}

function showPrograms() {
  const model = chosen("model");
  if (!model) return;
  byId("curl").textContent = curl("/v1/generate", request(model.name));
  byId("python").textContent = python("/v1/generate", request(model.name));
}

// Shows the parsed act, or where it is wrong.
async function parse() {
  if (parsing) parsing.abort();
  const state = byId("act-state");
  const text = act.value;
  if (!text.trim() || !chosen("model")) { state.replaceChildren(); return; }
  parsing = new AbortController();
  try {
    const found = await ask("/v1/parse", { act: text, model: chosen("model").name }, parsing.signal);
    act.removeAttribute("aria-invalid");
    state.replaceChildren(actParts(found.acts));
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.status !== 422) { trouble(error); return; }
    act.setAttribute("aria-invalid", "true");
    const { position, reason, detail } = error.body;
    const picture = position === undefined ? [] : [caret(text, position)];
    state.replaceChildren(...picture, el("div", { className: "problem" }, reason || detail));
  }
}

async function showTrace(model, text, delexicalized, figure) {
  const isLast = lastFor(figure);
  let shown;
  try {
    shown = heat(await ask("/v1/trace", { act: text, model: model.name, delexicalized }));
  } catch (error) {
    shown = [el("figcaption", { className: "soft small" }, error.message)];
  }
  if (isLast()) figure.replaceChildren(...shown);
}

// The act may change meanwhile: everything to request is in `wanted`, from `request`.
async function say(model, wanted) {
  const read = await ask("/v1/parse", { act: wanted.acts, model: model.name });
  const said = await ask("/v1/generate", { ...wanted, spans: true });
  return answer(model, read.acts, said.results[0], (one, figure) => showTrace(model, wanted.acts, one, figure));
}

async function generate() {
  trouble(null);
  completion.close();
  if (!act.value.trim() || !chosen("model")) { act.focus(); return; }
  const wanted = [chosen("model"), chosen("beside")].filter(Boolean);
  const results = byId("results");
  const isLast = lastFor(results);
  results.setAttribute("aria-busy", "true");
  const shown = await Promise.all(wanted.map((model) => say(model, request(model.name)).catch((error) => {
    if (error.status === 401) trouble(error);
    return el("article", { className: "card" }, el("h2", {}, model.name), el("p", { className: "problem" }, error.message.split("\n")[0]));
  })));
  if (!isLast()) return;
  results.replaceChildren(...shown);
  results.removeAttribute("aria-busy");
}

async function check() {
  trouble(null);
  const checked = byId("checked");
  const isLast = lastFor(checked);
  const pair = { act: act.value, text: byId("sentence").value };
  try {
    const name = chosen("model") && chosen("model").name;
    const read = await ask("/v1/parse", { act: pair.act, model: name });
    const found = (await ask("/v1/check", { pairs: [pair], model: name, spans: true })).results[0];
    if (isLast()) checked.replaceChildren(el("p", { className: "said" }, marked(found.text, found.spans)), faults(found), actParts(read.acts, [...found.missing, ...Object.keys(found.contradicted)]));
  } catch (error) {
    if (isLast()) checked.replaceChildren(el("p", { className: "problem" }, error.message.split("\n")[0]));
    if (error.status === 401) trouble(error);
  }
}

function fill(select, names, first) {
  select.replaceChildren(...first, ...names.map((name) => el("option", { value: name }, name)));
}

function showModel() {
  const model = chosen("model");
  byId("about").textContent = `${model.corpus} · ${model.architecture}${model.trouble ? " · its changed files cannot be read" : ""}`;
  const buttons = model.examples.map((example) => {
    const button = el("button", { type: "button", className: "quiet small example mono" }, example);
    button.addEventListener("click", () => { act.value = example; changed(); act.focus(); });
    return button;
  });
  byId("examples").replaceChildren(byId("examples").firstElementChild, ...buttons);
  byId("examples").hidden = buttons.length === 0;
  showPrograms();
  parse();
}

async function start() {
  try {
    models = (await ask("/v1/models")).models;
  } catch (error) {
    trouble(error);
    return;
  }
  trouble(null);
  byId("token-form").hidden = true;
  const names = models.map((model) => model.name);
  fill(byId("model"), names, []);
  fill(byId("beside"), names, [el("option", { value: "" }, "none")]);
  byId("beside-label").hidden = names.length < 2;
  showModel();
}

let waiting = 0;
function changed() {
  showPrograms();
  clearTimeout(waiting);
  waiting = setTimeout(parse, PAUSE);
}

act.addEventListener("input", () => { changed(); completion.offer(false); });
act.addEventListener("keydown", (event) => {
  if (event.isComposing || completion.key(event) || event.key !== "Enter" || event.shiftKey) return;
  event.preventDefault();
  generate();
});
byId("model").addEventListener("change", showModel);
for (const id of ["n-best", "constraint"]) byId(id).addEventListener("input", showPrograms);
byId("ask").addEventListener("submit", (event) => { event.preventDefault(); generate(); });
byId("check").addEventListener("submit", (event) => { event.preventDefault(); check(); });
byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken(byId("token").value);
  start();
});
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const done = await copied(byId(button.dataset.copy));
    byId("copied").textContent = done ? "Copied." : "It is selected: copy it with Ctrl+C.";
  });
}
start();
