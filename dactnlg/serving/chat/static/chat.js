// Updates the chat in place; the page works without it. A request carries an id and is repeated with the same id until
// the server has answered, so that nothing is lost or counted twice.
"use strict";

const talk = document.getElementById("talk");
const form = document.getElementById("say");
const box = document.getElementById("text");
const again = document.getElementById("again");
const state = document.getElementById("state");
const problem = document.getElementById("problem");
const rateIt = document.querySelector("#rate-it button");
const least = document.getElementById("least");
const WAITS = [500, 1000, 2000, 4000, 8000, 8000, 8000, 8000];
let busy = false;

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Returns the server's answer to a form; retries if the server cannot be reached.
async function send(address, fields) {
  for (let attempt = 0; ; attempt += 1) {
    let told;
    try {
      const answer = await fetch(address, {
        method: "POST", body: new URLSearchParams(fields), headers: { Accept: "application/json" },
      });
      const content = await answer.json();
      if (answer.ok) return content;
      told = content.detail;
      if (answer.status < 500) throw new TypeError(told, { cause: "refused" });
    } catch (error) {
      if (error.cause === "refused") throw new Error(told);
    }
    if (attempt === WAITS.length) throw new Error(told || "the server cannot be reached; please try again");
    state.textContent = "Not sent yet; trying again.";
    await pause(WAITS[attempt]);
  }
}

function add(place, text, mine) {
  const item = document.createElement("li");
  item.className = mine ? "mine" : "theirs";
  const line = document.createElement("p");
  line.className = "text";
  const who = document.createElement("span");
  who.className = "hidden";
  who.textContent = mine ? "You: " : "Answer: ";
  const words = document.createElement("bdi");
  words.textContent = text;
  line.append(who, words);
  item.append(line);
  if (place !== null) number(item, place);
  talk.append(item);
  item.scrollIntoView({ block: "nearest" });
  return item;
}

function number(item, place) {
  item.id = `place-${place}`;
  item.dataset.place = place;
  if (item.classList.contains("mine")) return;
  const votes = document.createElement("form");
  votes.className = "vote";
  votes.method = "post";
  votes.action = talk.dataset.votes;
  votes.setAttribute("aria-live", "off");
  for (const [value, sign, label] of [["up", "▲", "Good answer"], ["down", "▼", "Bad answer"]]) {
    const button = document.createElement("button");
    button.name = "vote";
    button.value = value;
    button.className = "quiet";
    button.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-label", label);
    const shown = document.createElement("span");
    shown.setAttribute("aria-hidden", "true");
    shown.textContent = sign;
    button.append(shown);
    votes.append(button);
  }
  item.append(votes);
}

function answered(content) {
  add(content.place + 1, content.answer, false);
  state.textContent = "";
  rateIt.disabled = !content.may_rate;
  if (content.may_rate) least.textContent = "";
  form.hidden = content.left <= 0;
  document.getElementById("full").hidden = content.left > 0;
}

async function say(text) {
  const item = add(null, text, true);
  item.classList.add("unsent");
  state.textContent = "The answer is on its way.";
  problem.textContent = "";
  busy = true;
  try {
    const content = await send(form.action, { id: newId(), text });
    item.classList.remove("unsent");
    item.querySelector("bdi").textContent = content.text;
    number(item, content.place);
    answered(content);
  } catch (error) {
    item.remove();
    if (!box.value) box.value = text;
    state.textContent = "";
    problem.textContent = error.message;
  } finally {
    busy = false;
    box.focus();
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = box.value.trim();
  if (busy || !text) return;
  box.value = "";
  say(text);
});

box.addEventListener("keydown", (event) => {
  // While an input method is composing, Enter selects a candidate.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

talk.addEventListener("submit", async (event) => {
  event.preventDefault();
  const votes = event.target;
  const item = votes.closest("li");
  if (votes.dataset.busy) return;
  votes.dataset.busy = "yes";
  problem.textContent = "";
  try {
    const content = await send(votes.action, { id: newId(), place: item.dataset.place, vote: event.submitter.value });
    for (const button of votes.querySelectorAll("button")) {
      const pressed = content.vote === (button.value === "up" ? 1 : -1);
      button.setAttribute("aria-pressed", String(pressed));
    }
    state.textContent = "";
  } catch (error) {
    problem.textContent = error.message;
  } finally {
    delete votes.dataset.busy;
  }
});

window.addEventListener("beforeunload", (event) => { if (busy || box.value.trim()) event.preventDefault(); });

if (again) {
  // The last message was stored but its answer was lost, for instance in a crash.
  again.hidden = true;
  busy = true;
  state.textContent = "The answer is on its way.";
  send(again.action, {}).then(answered, (error) => {
    again.hidden = false;
    problem.textContent = error.message;
  }).finally(() => { busy = false; });
}
talk.lastElementChild?.scrollIntoView({ block: "nearest" });
