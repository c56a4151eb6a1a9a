// Completion of acts: act types, slots and special values, in a listbox below the text that works by keyboard.

import { el } from "./parts.js";

// Returns what is being typed before the caret: its kind, the part typed so far, and its act or slot.
export function context(text) {
  if (/^\s*[[{]/.test(text)) return null;
  let kind = "act", start = 0, act = "", slot = "", quote = "", square = 0;
  const used = new Set();
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (quote) {
      if (char === "\\") at += 1;
      else if (char === quote) quote = "";
    } else if (char === "[") square += 1;
    else if (char === "]") square -= 1;
    else if (square > 0) continue;
    else if ((char === "'" || char === '"') && kind === "value") quote = char;
    else if (kind === "act" && char === "(") { act = text.slice(start, at).trim(); kind = "slot"; start = at + 1; used.clear(); }
    else if (kind === "act" && /[\s&;,]/.test(char)) start = at + 1;
    else if (kind !== "act" && char === ")") { kind = "act"; act = ""; start = at + 1; }
    else if (kind !== "act" && /[;,]/.test(char)) { kind = "slot"; start = at + 1; }
    else if (kind === "slot" && char === "=") { slot = text.slice(start, at).trim(); used.add(slot); kind = "value"; start = at + 1; }
  }
  if (quote || square > 0) return null;
  const typed = text.slice(start).replace(/^\s+/, "");
  return { kind, typed, start: text.length - typed.length, act, slot, used };
}

// Returns the matches: those that begin with the typed text first, slots that the act already has last.
export function fitting(place, model) {
  const known = {
    act: () => model.act_types,
    slot: () => model.slots_of_acts[place.act] || model.slots,
    value: () => model.special_values[place.slot] || [],
  }[place.kind]();
  const typed = place.typed.toLowerCase();
  const begins = known.filter((name) => name.replace(/^\?/, "").toLowerCase().startsWith(typed.replace(/^\?/, "")));
  const holds = known.filter((name) => !begins.includes(name) && name.toLowerCase().includes(typed));
  const found = [...begins, ...holds].filter((name) => name !== place.typed);
  const again = (name) => place.kind === "slot" && place.used.has(name);
  return [...found.filter((name) => !again(name)), ...found.filter(again)];
}

export class Completion {
  constructor(input, list, model) {
    Object.assign(this, { input, list, model, place: null, active: 0 });
    input.addEventListener("blur", () => this.close());
    input.addEventListener("click", () => this.close());
    // Before the text loses focus.
    list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const item = event.target.closest("li");
      if (item) this.take(item.textContent);
    });
  }

  get open() { return !this.list.hidden; }

  // Shows the matches; unless requested, only if something has been typed.
  offer(asked) {
    const { selectionStart, selectionEnd, value } = this.input;
    const model = this.model();
    this.place = selectionStart === selectionEnd && model ? context(value.slice(0, selectionStart)) : null;
    const begun = this.place && (this.place.typed !== "" || this.place.kind !== "act");
    const names = this.place && (asked || begun) ? fitting(this.place, model) : [];
    this.list.replaceChildren(...names.map((name, index) => el("li", { id: `choice-${index}`, role: "option" }, name)));
    this.list.hidden = names.length === 0;
    this.move(0);
  }

  close() {
    this.list.hidden = true;
    this.input.removeAttribute("aria-activedescendant");
  }

  move(to) {
    const items = [...this.list.children];
    if (!items.length) { this.close(); return; }
    this.active = (to + items.length) % items.length;
    items.forEach((item, index) => item.setAttribute("aria-selected", String(index === this.active)));
    this.input.setAttribute("aria-activedescendant", items[this.active].id);
    items[this.active].scrollIntoView({ block: "nearest" });
  }

  take(name) {
    const end = this.input.selectionStart;
    const isAct = this.place.kind === "act";
    this.input.setRangeText(isAct ? `${name}(` : name, this.place.start, end, "end");
    this.input.dispatchEvent(new Event("input", { bubbles: true }));
    if (!isAct) this.close();
  }

  // Returns whether a key was meant for the list.
  key(event) {
    if (event.key === " " && event.ctrlKey) this.offer(true);
    else if (!this.open) return false;
    else if (event.key === "ArrowDown") this.move(this.active + 1);
    else if (event.key === "ArrowUp") this.move(this.active - 1);
    else if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && !event.ctrlKey) this.take(this.list.children[this.active].textContent);
    else return false;
    event.preventDefault();
    return true;
  }
}
