"""A report as one self-contained page; every text from outside is escaped where it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from dactnlg import __version__
from dactnlg.evaluation.report.content import ActRow, Content, Histogram, Sentence
from dactnlg.evaluation.report.differences import Marked, marked
from dactnlg.evaluation.report.faults import SentenceFaults, SlotFaults
from dactnlg.evaluation.report.style import CSS
from dactnlg.evaluation.scores import LOWER_IS_BETTER, Score, Scores, shown, shown_interval
from dactnlg.metrics.base import SHORT
from dactnlg.metrics.slot_error import Count

ROWS = 60
"""Acts and slots that are shown at once; rarer ones are folded away."""
FAULTY = 50


def page(content: Content) -> str:
    """Return the report as HTML."""
    body = [f"<h1>{escape(content.title)}</h1>", _facts(content.facts)]
    if content.warnings:
        body.append(_list(map(escape, content.warnings), "card warnings"))
    first, *others = content.results
    body += [f"<h2>Scores under {escape(first.preset)}</h2>", _scores(first)]
    for result in others:
        body.append(f"<details><summary>Scores under {escape(result.preset)}</summary>{_scores(result)}</details>")
    body += [f'<p class="soft">{escape(note)}</p>' for note in content.notes]
    if content.acts:
        body += [f"<h2>By act: {escape(content.lead)}</h2>", _acts(content)]
    if content.faults:
        body += ["<h2>Slot errors</h2>", *_slots(content.faults)]
    if content.faulty:
        body.append(_faulty(content.faulty))
    if content.histograms:
        body += ["<h2>How the scores spread over sentences</h2>", '<div class="grid">']
        body += [*map(_histogram, content.histograms), "</div>"]
    if content.worst:
        body += [f"<h2>The {len(content.worst)} worst sentences by {escape(content.lead)}</h2>", _LEGEND_DIFFERENCES]
        body += map(_sentence, content.worst)
    body.append(f"<footer>dactnlg {__version__}</footer>")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(content.title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    return _list((f"<b>{escape(value)}</b> {escape(name)}" for name, value in facts), "facts")


def _list(items: Iterable[str], style: str) -> str:
    return f'<ul class="{style}">' + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def _scores(result: Scores) -> str:
    found = result.confidence
    intervals = found.intervals if found else {}
    rows = [_score(score, intervals.get(score.name)) for score in result.all_scores.values()]
    level = f"{found.level:.0%} intervals from {found.resamples:,} bootstrap resamples. " if found else ""
    note = level + "Two values may be compared where their hashes agree."
    return f'<p class="soft">{note}</p><div class="card">{"".join(rows)}</div>'


def _score(score: Score, bounds: tuple[float, float] | None) -> str:
    top = max([1.0, score.value or 0.0, *(bounds or ())])
    if score.name == "CIDEr":
        top = 10.0
    elif top > 1:
        top *= 1.25
    remarks = ["lower is better"] if score.name in LOWER_IS_BETTER else []
    # Most bars end at 1; a reader compares them unless told.
    remarks += [f"full width: {top:.4g}"] if top != 1 and score.value is not None else []
    remark = f"<br><small>{', '.join(remarks)}</small>" if remarks else ""
    track = "<div></div>" if score.value is None else _bar(score.value / top, bounds, top)
    return (
        f'<div class="row"><div class="name"><b>{escape(score.name)}</b>{remark}</div>{track}'
        f'<div class="numbers"><b>{shown(score.value)}</b><small>{shown_interval(bounds)}</small></div>'
        f'<div class="signature">{escape(score.signature)} &middot; {score.hash[:SHORT]}</div></div>'
    )


def _bar(share: float, bounds: tuple[float, float] | None, top: float = 1.0) -> str:
    whisker = ""
    if bounds is not None:
        low, high = (min(max(bound / top, 0.0), 1.0) for bound in bounds)
        # An interval of no width (no fault at all, say) has no ends to show.
        if high > low:
            whisker = f'<u style="left:{low:.2%};width:{high - low:.2%}"></u>'
    return f'<div class="track"><i style="left:0;width:{min(max(share, 0.0), 1.0):.2%}"></i>{whisker}</div>'


def _acts(content: Content) -> str:
    top = max(1.0, *(row.value for row in content.acts))
    return _folded([_act(row, top) for row in content.acts], "rarer acts")


def _act(row: ActRow, top: float) -> str:
    errors = "" if not row.slot_errors else f" &middot; SER {row.slot_errors:.1%}"
    return (
        f'<div class="row"><div class="name">{_breakable(row.act)} <small>{row.size:,}{errors}</small></div>'
        f'{_bar(row.value / top, row.bounds, top)}<div class="numbers"><b>{row.value:.4f}</b>'
        f"<small>{shown_interval(row.bounds)}</small></div></div>"
    )


def _breakable(name: str) -> str:
    """Let the line of a long name break where a reader would break it."""
    return escape(name).replace("&amp;", "&amp;<wbr>").replace("_", "_<wbr>")


def _folded(rows: Sequence[str], rest: str) -> str:
    html = f'<div class="card">{"".join(rows[:ROWS])}</div>'
    if len(rows) > ROWS:
        html += f"<details><summary>{len(rows) - ROWS} {rest}</summary>"
        html += f'<div class="card">{"".join(rows[ROWS:])}</div></details>'
    return html


_LEGEND_SLOTS = (
    '<div class="legend"><span><span class="key missing"></span>missing</span>'
    '<span><span class="key wrong"></span>wrong value</span>'
    '<span><span class="key extra"></span>redundant</span><span>thin bar: the references themselves</span></div>'
)
_LEGEND_DIFFERENCES = (
    '<div class="legend"><span><mark class="ours">said</mark> not in the nearest reference</span>'
    '<span><mark class="theirs">reference</mark> not said</span></div>'
)


def _slots(faults: SlotFaults) -> Iterable[str]:
    total, gold = faults.system.total, faults.gold.total
    yield (
        f"<p>{_phrase(total)} in {total.sentences:,} of {len(faults.sentences):,} sentences, special values included. "
        f"The references, read by the same checker: {_phrase(gold)}; what it finds fault with there is its own doing, "
        "or the corpus's.</p>"
    )
    yield _LEGEND_SLOTS
    for title, mine, theirs in (
        ("By slot", faults.system.slots, faults.gold.slots),
        ("By act", faults.system.acts, faults.gold.acts),
    ):
        rates = [count.rate or 0.0 for counts in (mine, theirs) for count in counts.values()]
        # Faults are rare: bars fill the width at the worst rate, and the heading says what that is.
        top = max([0.01, *rates])
        names = sorted(mine, key=lambda name: (-(mine[name].rate or 0.0), -mine[name].required, name))
        rows = [_slot_row(name, mine[name], theirs.get(name, Count()), top) for name in names]
        yield f'<h3>{title} <span class="soft">(full width: {min(top, 99.99):.1%})</span></h3>'
        yield _folded(rows, "more")


def _phrase(count: Count) -> str:
    if not count.required:
        return "no slot could be checked"
    kinds = (("missing", count.missing - count.wrong), ("with a wrong value", count.wrong), ("redundant", count.extra))
    parts = [f"{number:,} {kind}" for kind, number in kinds if number]
    return f"{', '.join(parts) or 'no fault'} of {count.required:,} required slots ({count.rate or 0.0:.2%})"


def _slot_row(name: str, mine: Count, theirs: Count, top: float) -> str:
    rate = "&ndash;" if mine.rate is None else f"{mine.rate:.2%}"
    gold = "" if theirs.rate is None else f"references {theirs.rate:.2%}"
    return (
        f'<div class="row"><div class="name">{_breakable(name)} <small>{mine.required:,}</small></div>'
        f'<div class="tracks">{_stack(mine, top, "track stack")}{_stack(theirs, top, "track stack gold")}</div>'
        f'<div class="numbers"><b>{rate}</b><small>{gold}</small></div></div>'
    )


def _stack(count: Count, top: float, style: str) -> str:
    parts = (("missing", count.missing - count.wrong), ("wrong", count.wrong), ("extra", count.extra))
    whole = max(count.required, 1) * top
    cells = [f'<i class="{kind}" style="width:{min(n / whole, 1.0):.2%}"></i>' for kind, n in parts if n]
    says = ", ".join(f"{n} {_WORDS[kind]}" for kind, n in parts if n) or "no fault"
    return f'<div class="{style}" title="{says}">{"".join(cells)}</div>'


_WORDS = {"missing": "missing", "wrong": "wrong value", "extra": "redundant"}


def _faulty(faulty: Sequence[tuple[str, str, SentenceFaults]]) -> str:
    first = f", the first {FAULTY}" if len(faulty) > FAULTY else ""
    rows = [
        f'<div class="card sentence"><div class="soft">{escape(act)}</div><div>{escape(text)}</div>'
        f'<div class="slots">{_fault_chips(faults)}</div></div>'
        for act, text, faults in faulty[:FAULTY]
    ]
    return f"<details><summary>Sentences with slot faults: {len(faulty):,}{first}</summary>{''.join(rows)}</details>"


def _histogram(found: Histogram) -> str:
    highest = max(*found.counts, 1)
    width = 100 / len(found.counts)
    step = (found.high - found.low) / len(found.counts)
    bars = "".join(
        f'<rect x="{i * width + 0.4:.2f}" y="{100 - 100 * n / highest:.2f}" width="{width - 0.8:.2f}" '
        f'height="{100 * n / highest:.2f}"><title>{found.low + i * step:.2f} to {found.low + (i + 1) * step:.2f}: '
        f"{n:,}</title></rect>"
        for i, n in enumerate(found.counts)
        if n
    )
    undefined = f", {found.undefined:,} undefined" if found.undefined else ""
    return (
        f'<figure class="card"><figcaption><b>{escape(found.name)}</b>median {found.median:.3f}, highest bar '
        f"{highest:,} sentences{undefined}</figcaption>"
        f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" '
        f'aria-label="Distribution of {escape(found.name)}">{bars}</svg>'
        f'<div class="axis"><span>{found.low:g}</span><span>{found.high:.4g}</span></div></figure>'
    )


def _sentence(found: Sentence) -> str:
    times = f", {found.times} times" if found.times > 1 else ""
    listed = [(name, value) for name, value in found.scores.items() if name not in _LESSER]
    scores = " &middot; ".join(f"{escape(name)} {value:.3f}" for name, value in listed)
    rows = []
    if found.act:
        rows.append(("act", f'<div class="slots">{_chips(found)}</div>'))
    if found.reference is None:
        rows.append(("said", escape(found.said) or _NOTHING))
    else:
        said, reference = marked(found.said, found.reference)
        rows += [("said", _marked(said, "ours") or _NOTHING), ("reference", _marked(reference, "theirs"))]
    items = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows)
    return (
        f'<article class="card sentence"><header><span>segment {found.segment}{times}</span><span>{scores}</span>'
        f"</header><dl>{items}</dl></article>"
    )


_LESSER = ("BLEU-1", "BLEU-2", "BLEU-3")
_NOTHING = '<span class="soft">(nothing)</span>'


def _marked(parts: Marked, style: str) -> str:
    return "".join(f'<mark class="{style}">{escape(text)}</mark>' if flag else escape(text) for text, flag in parts)


def _chips(found: Sentence) -> str:
    """Return the act as chips: act types, slots said, and slots at fault."""
    if found.turn is None:
        return _chip(escape(found.act))
    at_fault = set(found.faults.missing) if found.faults else set()
    chips = []
    for act in found.turn:
        chips.append(_chip(f"<b>{escape(act.act_type)}</b>"))
        chips += [_chip(escape(str(slot))) for slot in act.slots if str(slot) not in at_fault]
    return " ".join(chips) + (" " + _fault_chips(found.faults) if found.faults else "")


def _fault_chips(faults: SentenceFaults) -> str:
    chips = []
    for entry in faults.missing:
        if entry in faults.wrong:
            chips.append(_chip(f"<b>wrong value</b> {escape(entry)} &rarr; {escape(faults.wrong[entry])}", " wrong"))
        else:
            chips.append(_chip(f"<b>missing</b> {escape(entry)}", " missing"))
    return " ".join([*chips, *(_chip(f"<b>redundant</b> {escape(entry)}", " extra") for entry in faults.extra)])


def _chip(html: str, style: str = "") -> str:
    return f'<span class="slot{style}">{html}</span>'
