"""A report as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dactnlg._utils import tables
from dactnlg._utils.markdown import code, escape, fenced
from dactnlg.evaluation.report.content import Content, WorstSegment
from dactnlg.evaluation.report.differences import Marked, marked
from dactnlg.evaluation.report.faults import SentenceFaults, SlotFaults, named
from dactnlg.evaluation.scores import shown, shown_interval, table
from dactnlg.metrics.slot_error import Count


def markdown(content: Content) -> str:
    """Return the report: the scores, then acts, slots and the worst sentences."""
    lines = [
        f"# {escape(content.title)}",
        "",
        escape(", ".join(f"{name}: {value}" for name, value in content.facts)),
        "",
    ]
    lines += [f"> {escape(warning)}\n" for warning in content.warnings]
    lines += [*fenced("\n".join([table(content.results), *(["", *content.notes] if content.notes else [])])), ""]
    signatures = [s.signature for result in content.results for s in result.all_scores.values()]
    lines += ["Signatures:", "", *(f"- {code(signature)}" for signature in signatures), ""]
    if content.acts:
        lines += [f"## Acts by {escape(content.lead)}", ""]
        rows = [(r.act, r.size, shown(r.value), shown_interval(r.bounds), _rate(r.slot_errors)) for r in content.acts]
        lines += [*_table(("act", "segments", content.lead, "95% interval", "SER"), rows), ""]
    if content.faults:
        lines += [*_slots(content.faults), "## Sentences with slot faults", ""]
        lines += [f"- {escape(a)}: {escape(t)} ({escape('; '.join(fault_list(w)))})" for a, t, w in content.faulty]
        lines += ["" if content.faulty else "none\n"]
    if content.worst:
        lines += [f"## The worst sentences by {escape(content.lead)}", ""]
        lines += [line for sentence in content.worst for line in _sentence(sentence)]
    return "\n".join(lines).rstrip() + "\n"


def fault_list(faults: SentenceFaults) -> list[str]:
    """Return the slot faults of a sentence in words, one entry per fault."""
    missing = [
        f"wrong value: {faults.wrong[entry]} in the place of {entry}" if entry in faults.wrong else f"missing: {entry}"
        for entry in faults.missing
    ]
    return [*missing, *(f"redundant: {entry}" for entry in faults.extra)]


def _slots(faults: SlotFaults) -> Iterable[str]:
    yield from ("## Slot errors", "", "Special values included, by the data card's cues; SER counts values alone.", "")
    if faults.unchecked:
        yield from (escape(f"Special values that the data card's cues cannot check: {named(faults.unchecked)}."), "")
    header = ("", "required", "missing", "wrong value", "redundant", "rate", "rate of the references")
    for title, system, gold in (
        ("Acts", faults.system.acts, faults.gold.acts),
        ("Slots", faults.system.slots, faults.gold.slots),
    ):
        rows = [(name, *_counts(count), _rate(gold[name].rate if name in gold else None))
                for name, count in system.items()]  # fmt: skip
        yield from (f"### {title}", "")
        yield from _table(header, [*rows, ("all", *_counts(faults.system.total), _rate(faults.gold.total.rate))])
        yield ""


def _counts(count: Count) -> tuple[object, ...]:
    return count.required, count.missing - count.wrong, count.wrong, count.extra, _rate(count.rate)


def _sentence(sentence: WorstSegment) -> Iterable[str]:
    times = f", {sentence.times} times" if sentence.times > 1 else ""
    scores = ", ".join(f"{name} {value:.3f}" for name, value in sentence.scores.items())
    yield f"- segment {sentence.segment}{times}: {escape(sentence.act)} ({escape(scores)})"
    if sentence.reference is None:
        yield f"  - hypothesis: {escape(sentence.hypothesis) or '(nothing)'}"
    else:
        ours, reference = marked(sentence.hypothesis, sentence.reference)
        yield f"  - hypothesis: {_emphasized(ours) or '(nothing)'}"
        yield f"  - nearest reference: {_emphasized(reference)}"
    if sentence.faults:
        yield f"  - slots: {escape('; '.join(fault_list(sentence.faults)))}"


def _emphasized(parts: Marked) -> str:
    return "".join(f"**{escape(text)}**" if flag else _kept(text) for text, flag in parts)


def _kept(text: str) -> str:
    """Escape a span of text, keeping the white space around it."""
    return f"{' ' * (text[:1].isspace())}{escape(text)}{' ' * (text[-1:].isspace() and bool(text.strip()))}"


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    return tables.markdown([escape(name) for name in header], ([escape(str(cell)) for cell in row] for row in rows))


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.2%}"
