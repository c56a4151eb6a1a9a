"""The look of a report: one style sheet, light and dark, from a phone's width on; no script, nothing fetched."""

from __future__ import annotations

CSS = """
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --card: #fff; --ink: #1d2329; --soft: #5a646e; --line: #e2dfd9; --track: #edebe6;
  --bar: #35669b; --whisker: #12263c; --missing: #c2413b; --wrong: #a86a06; --extra: #7a4fae; --good: #2f7d4f;
  --missing-back: #fbe4e1; --extra-back: #efe6fa; --wrong-back: #fbedcf; --warn: #fff4d9; --warn-line: #dfb84e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181c; --card: #1d2126; --ink: #e8e6e1; --soft: #a2abb4; --line: #32383f; --track: #2b3036;
    --bar: #4078b4; --whisker: #f2f6fb; --missing: #f08a80; --wrong: #e5b34f; --extra: #bd9aef; --good: #79c698;
    --missing-back: #49211f; --extra-back: #35264a; --wrong-back: #443310; --warn: #332a13; --warn-line: #8d7126;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .3rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
p { margin: .3rem 0 .9rem; }
.soft, .facts, figcaption { color: var(--soft); }
.facts { display: flex; flex-wrap: wrap; gap: .1rem 1.4rem; padding: 0; margin: 0 0 1.2rem; list-style: none; }
.facts b { color: var(--ink); font-variant-numeric: tabular-nums; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .4rem 1rem; }
.warnings { background: var(--warn); border-color: var(--warn-line); padding: .7rem 1rem .7rem 2rem; margin: 1rem 0; }
.warnings li { margin: .2rem 0; }
.row {
  display: grid; grid-template-columns: minmax(7rem, 13rem) 1fr minmax(9.5rem, auto); gap: .1rem 1rem;
  align-items: center; padding: .45rem 0; border-top: 1px solid var(--line);
}
.row:first-child { border-top: 0; }
.row .name { overflow-wrap: anywhere; }
.row .name small, .numbers small { color: var(--soft); }
.numbers { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.numbers small { display: block; line-height: 1.25; }
.signature {
  grid-column: 1 / -1; color: var(--soft); font: .74rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  overflow-wrap: anywhere;
}
.track { position: relative; height: .85rem; background: var(--track); border-radius: .2rem; }
.track i { position: absolute; top: 0; bottom: 0; background: var(--bar); border-radius: .2rem; }
.track u { position: absolute; top: 50%; height: 2px; margin-top: -1px; background: var(--whisker); }
.track u::before, .track u::after {
  content: ""; position: absolute; top: -4px; height: 10px; width: 2px; background: var(--whisker);
}
.track u::before { left: 0; }
.track u::after { right: 0; }
.stack { display: flex; overflow: hidden; }
.track.stack i { position: static; border-radius: 0; }
.track i.missing, .key.missing { background: var(--missing); }
.track i.wrong, .key.wrong {
  background: repeating-linear-gradient(45deg, var(--wrong) 0 3px, var(--wrong-back) 3px 5px);
}
.track i.extra, .key.extra { background: var(--extra); }
.gold { height: .3rem; margin-top: .2rem; opacity: .75; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; color: var(--soft); font-size: .9rem;
  margin: .2rem 0 .6rem; }
.key { display: inline-block; width: .9rem; height: .7rem; border-radius: .15rem; margin-right: .4rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1rem; margin-top: .6rem; }
figure { margin: 0; padding: .8rem 1rem .6rem; }
figure svg { display: block; width: 100%; height: 5.5rem; }
figure rect { fill: var(--bar); }
figure .axis { display: flex; justify-content: space-between; font-size: .8rem; color: var(--soft);
  border-top: 1px solid var(--soft); padding-top: .1rem; font-variant-numeric: tabular-nums; }
figcaption { font-size: .85rem; }
figcaption b { color: var(--ink); font-size: 1rem; display: block; }
.sentence { padding: .8rem 1rem; margin: .8rem 0; }
.sentence header { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between; font-size: .85rem;
  color: var(--soft); font-variant-numeric: tabular-nums; }
.sentence dl { margin: .5rem 0 0; display: grid; grid-template-columns: 5.5rem 1fr; gap: .25rem .6rem; }
.sentence dt { color: var(--soft); font-size: .85rem; padding-top: .1rem; }
.sentence dd { margin: 0; overflow-wrap: anywhere; }
mark { color: inherit; border-radius: .2rem; padding: 0 .15em; }
mark.ours { background: var(--extra-back); text-decoration: underline 2px var(--extra); text-underline-offset: 3px; }
mark.theirs { background: var(--missing-back); text-decoration: underline 2px dotted var(--missing);
  text-underline-offset: 3px; }
.slots { display: flex; flex-wrap: wrap; gap: .3rem; }
.slot { border: 1px solid var(--line); border-radius: .35rem; padding: 0 .45rem; font-size: .88rem;
  overflow-wrap: anywhere; }
.slot b { font-weight: 600; }
.slot.missing { border: 1px dashed var(--missing); background: var(--missing-back); }
.slot.wrong { border: 1px dashed var(--wrong); background: var(--wrong-back); }
.slot.extra { border: 1px solid var(--extra); background: var(--extra-back); }
.slot.missing b { color: var(--missing); } .slot.wrong b { color: var(--wrong); } .slot.extra b { color: var(--extra); }
details summary { cursor: pointer; color: var(--soft); margin: .6rem 0; }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem; }
@media (max-width: 40rem) {
  main { padding: 1.2rem .9rem 3rem; }
  h1 { font-size: 1.35rem; }
  .row { grid-template-columns: 1fr auto; }
  .row .track, .row .tracks { grid-column: 1 / -1; grid-row: 2; }
  .sentence dl { grid-template-columns: 1fr; gap: 0; }
  .sentence dd { margin-bottom: .45rem; }
}
@media print { .card, .sentence { break-inside: avoid; } body { background: none; } }
"""
