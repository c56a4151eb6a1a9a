// Conveniences for raters; the page works without them. Digit keys choose an answer and move to the next question, number
// fields get a slider, and the browser warns before unsent answers are lost.
"use strict";

const form = document.getElementById("rate");
const groups = [...form.querySelectorAll("fieldset")];
let changed = false;
let sent = false;

function answered(group) {
  const number = group.querySelector("input[type=number]");
  return number ? number.value !== "" : group.querySelector("input:checked") !== null;
}

// The question that a digit key applies to: the focused one, else the first without an answer.
function current() {
  const focused = groups.find((group) => group.contains(document.activeElement));
  return focused || groups.find((group) => !answered(group));
}

function goOn(group) {
  const at = groups.indexOf(group);
  const next = [...groups.slice(at + 1), ...groups.slice(0, at)].find((each) => !answered(each));
  const target = next ? next.querySelector("input:not([type=range])") : form.querySelector("button");
  target.focus({ preventScroll: true });
  (next || target).scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  const writing = event.target.matches("input[type=number], textarea");
  // A key that is held down repeats itself, and would answer all questions.
  if (writing || event.repeat || event.ctrlKey || event.altKey || event.metaKey || !/^\d$/.test(event.key)) return;
  const group = current();
  const choice = group && group.querySelector(`input[data-key="${event.key}"]`);
  if (!choice) return;
  event.preventDefault();
  choice.checked = true;
  choice.dispatchEvent(new Event("change", { bubbles: true }));
  goOn(group);
});

for (const number of form.querySelectorAll("input[type=number]")) {
  const slider = document.createElement("input");
  slider.type = "range";
  for (const name of ["min", "max", "step"]) slider[name] = number[name];
  const legend = number.closest("fieldset").querySelector("legend");
  slider.setAttribute("aria-label", legend.textContent);
  // A slider always has a value, even before the rater has chosen one: it looks untouched until it is moved.
  slider.classList.toggle("untouched", number.value === "");
  if (number.value !== "") slider.value = number.value;
  const take = () => {
    number.value = slider.value;
    slider.classList.remove("untouched");
    changed = true;
  };
  slider.addEventListener("input", take);
  slider.addEventListener("click", take);
  number.addEventListener("input", () => {
    if (number.value !== "") slider.value = number.value;
    slider.classList.toggle("untouched", number.value === "");
  });
  number.closest(".number").append(slider);
}

form.addEventListener("change", () => { changed = true; });
form.addEventListener("submit", (event) => {
  // Do not submit twice on a double click.
  if (sent) event.preventDefault();
  sent = true;
});
window.addEventListener("pageshow", () => { sent = false; });
window.addEventListener("beforeunload", (event) => { if (changed && !sent) event.preventDefault(); });

if (form.querySelector('[data-key]:not([data-key=""])')) {
  document.getElementById("keys").textContent =
    "Keys: a digit chooses an answer and goes on to the next question; Tab and arrow keys work as everywhere; Enter sends.";
}
