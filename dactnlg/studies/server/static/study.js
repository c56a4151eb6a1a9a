// Comforts of the rating page; without this script everything works all the same.
"use strict";

const form = document.getElementById("answers");
const groups = [...form.querySelectorAll("[data-digits]")];

// A digit answers the question that has the focus, or the first one that is open, and goes on to the next.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !/^[0-9]$/.test(event.key)) return;
  if (event.target.matches("input[type=number], input[type=range]")) return;
  const open = groups.find((group) => !group.querySelector(":checked"));
  const group = event.target.closest("[data-digits]") || open;
  if (!group) return;
  const choices = [...group.querySelectorAll("input")];
  const numbered = choices.every((choice) => /^-?[0-9.]+$/.test(choice.value));
  const chosen = numbered ? choices.find((choice) => choice.value === event.key) : choices[Number(event.key) - 1];
  if (!chosen) return;
  event.preventDefault();
  chosen.click();
  const next = groups[groups.indexOf(group) + 1];
  const target = next ? next.querySelector(":checked") || next.querySelector("input") : form.querySelector("button");
  target.focus();
});

// A slider beside each number: it moves nothing until somebody moves it.
for (const number of form.querySelectorAll("input[type=number]")) {
  const slider = document.createElement("input");
  slider.type = "range";
  for (const name of ["min", "max", "step"]) slider.setAttribute(name, number.getAttribute(name));
  slider.setAttribute("aria-label", "slider");
  slider.addEventListener("input", () => { number.value = slider.value; });
  number.addEventListener("input", () => { slider.value = number.value; });
  if (number.value) slider.value = number.value;
  number.before(slider);
}

// Answers of a page are sent together: say so before they are lost.
let changed = false;
form.addEventListener("change", () => { changed = true; });
form.addEventListener("submit", () => {
  changed = false;
  for (const button of form.querySelectorAll("button")) setTimeout(() => { button.disabled = true; });
});
window.addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
// Back in the history the button has to work again.
window.addEventListener("pageshow", () => { for (const button of form.querySelectorAll("button")) button.disabled = false; });
for (const keys of document.querySelectorAll(".keys")) keys.hidden = groups.length === 0;
