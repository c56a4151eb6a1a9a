"""Corpora such as a newcomer may have: flights (CSV) and a smart home (JSON), 300 pairs each, equal on every machine.

    python benchmarks/own_corpora.py FOLDER

The sentences say values in plain English and not as the acts write them: "KLM's flight", "two stops", "7:05 am" for
`7:05am`, "1200 dollars" for `$1,200`. `faults` checks what a sentence says, without dactnlg.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
from pathlib import Path

PAIRS = 300
AIRLINES = ["KLM", "Air France", "British Airways", "Lufthansa", "Iberia", "SAS", "Finnair", "TAP"]
CITIES = [
    "Rome",
    "New York",
    "Paris",
    "Oslo",
    "Lisbon",
    "Los Angeles",
    "Tokyo",
    "Berlin",
    "Madrid",
    "San Juan",
    "Cairo",
]
NEW_AIRLINES = ["Icelandair", "Air Malta"]
NEW_CITIES = ["Helsinki", "Buenos Aires", "Athens"]
WORDS = ["no", "one", "two", "three", "four"]
DEVICES = ["kitchen light", "hall lamp", "bedroom heater", "garage door", "desk lamp", "porch light", "coffee machine"]
ROOMS = ["kitchen", "hall", "bedroom", "garage", "study"]

Slots = dict[str, str]


def flights(seed: int = 1) -> list[tuple[str, str]]:
    """Return 300 pairs of act and sentence."""
    rng = random.Random(seed)
    return [(written(act, slots), _flight(rng, act, slots)) for act, slots in _flight_acts(rng, PAIRS, new=False)]


def unseen_flights(count: int = 50, seed: int = 2) -> list[tuple[str, Slots]]:
    """Return acts that `flights` lacks, some with airlines and cities that it lacks, too."""
    known = {act for act, _ in flights()}
    rng = random.Random(seed)
    found: dict[str, tuple[str, Slots]] = {}
    for act, slots in _flight_acts(rng, 40 * count, new=True):
        if len(slots) > 1 and written(act, slots) not in known:
            found.setdefault(written(act, slots), (act, slots))
    return list(found.values())[:count]


def written(act: str, slots: Slots) -> str:
    """Return an act in Cambridge notation."""
    printed = [
        name if not value else f"{name}={value}" if re.fullmatch(r"\w+", value) else f"{name}='{value}'"
        for name, value in slots.items()
    ]
    return f"{act}({';'.join(printed)})"


def _flight_acts(rng: random.Random, count: int, *, new: bool) -> list[tuple[str, Slots]]:
    airlines, cities = AIRLINES + NEW_AIRLINES * new, CITIES + NEW_CITIES * new
    acts: list[tuple[str, Slots]] = []
    for _ in range(count):
        kind = rng.choices(["inform", "confirm", "request", "goodbye"], [70, 16, 10, 4])[0]
        if kind == "goodbye":
            acts.append((kind, {}))
        elif kind == "request":
            acts.append((kind, {rng.choice(["to", "from", "departs", "bags", "meal"]): ""}))
        elif kind == "confirm":
            to, start = rng.sample(cities, 2)
            slots = {"to": to, "from": start, "departs": _clock(rng)}
            chosen = rng.sample(sorted(slots), rng.randint(1, 2))
            acts.append((kind, {name: slots[name] for name in slots if name in chosen}))
        else:
            to, start = rng.sample(cities, 2)
            slots = {"airline": rng.choice(airlines), "to": to, "from": start, "departs": _clock(rng)}
            slots |= {"price": f"${rng.choice([rng.randint(80, 999), rng.randint(1000, 2400)]):,}"}
            slots |= {"stops": str(rng.randint(1, 3)), "bags": str(rng.randint(1, 3))}
            slots |= {"refundable": rng.choice(["yes", "no"]), "meal": rng.choice(["yes", "no", "dontcare"])}
            chosen = rng.sample(list(slots)[2:], rng.randint(0, 4))
            acts.append((kind, {name: slots[name] for name in slots if name in ("airline", "to") or name in chosen}))
    return acts


def _clock(rng: random.Random) -> str:
    return f"{rng.randint(1, 12)}:{rng.choice(['05', '10', '20', '30', '45', '50'])}{rng.choice(['am', 'pm'])}"


def _say_clock(rng: random.Random, value: str) -> str:
    hour, half = value[:-2], value[-2:]
    return rng.choice([value, f"{hour} {half}", f"{hour} {half}", f"{hour} {half[0]}.m."])


def _say_price(rng: random.Random, value: str) -> str:
    return rng.choice([value, value, f"{value[1:].replace(',', '')} dollars"])


def _say_count(rng: random.Random, value: str, noun: str) -> str:
    word = rng.choice([value, WORDS[int(value)], "a single" if value == "1" else WORDS[int(value)]])
    return f"{word} {noun}{'' if value == '1' else 's'}"


def _flight(rng: random.Random, act: str, slots: Slots) -> str:
    if act == "goodbye":
        return rng.choice(["Have a good flight!", "Goodbye and have a good trip.", "Thank you for calling, goodbye."])
    if act == "request":
        asked = {
            "to": ["Where do you want to go?", "Where would you like to fly to?"],
            "from": ["Where do you leave from?", "Which city do you fly from?"],
            "departs": ["When do you want to leave?", "What time would you like to depart?"],
            "bags": ["How many bags do you have?", "How many bags will you check in?"],
            "meal": ["Would you like a meal?", "Do you want a meal on board?"],
        }
        return rng.choice(asked[next(iter(slots))])
    said = dict(slots)
    for name, say in (("departs", _say_clock), ("price", _say_price)):
        if name in said:
            said[name] = say(rng, said[name])
    if act == "confirm":
        parts = {
            "to": f"to {said.get('to')}",
            "from": f"from {said.get('from')}",
            "departs": f"at {said.get('departs')}",
        }
        rest = " ".join(parts[name] for name in said)
        return rng.choice([f"You want to fly {rest}, is that right?", f"So you would like a flight {rest}?"])
    return _offer(rng, said)


def _offer(rng: random.Random, said: Slots) -> str:
    start = f" from {said['from']}" if "from" in said else ""
    owner = f"{said['airline']}'" if said["airline"].endswith("s") else f"{said['airline']}'s"
    first = rng.choice(
        [
            f"{said['airline']} flies{start} to {said['to']}",
            f"{said['airline']} has a flight{start} to {said['to']}",
            f"{owner} flight{start} goes to {said['to']}",
            f"There is a flight{start} to {said['to']} with {said['airline']}",
        ]
    )
    if "departs" in said:
        first += rng.choice([f" at {said['departs']}", f", leaving at {said['departs']}"])
    more = []
    if "stops" in said:
        stops = _say_count(rng, said["stops"], "stop")
        more.append(rng.choice([f"makes {stops}", f"has {stops}"]))
    if "price" in said:
        more.append(rng.choice([f"costs {said['price']}", f"is {said['price']}"]))
    if "bags" in said:
        bags = _say_count(rng, said["bags"], "bag")
        more.append(rng.choice([f"includes {bags}", f"lets you check in {bags}"]))
    if "refundable" in said:
        yes = ["is refundable", "can be refunded"]
        more.append(rng.choice(yes if said["refundable"] == "yes" else ["is not refundable", "can't be refunded"]))
    if "meal" in said:
        wordings = {
            "yes": ["serves a meal", "comes with a meal"],
            "no": ["has no meal", "comes without a meal"],
            "dontcare": ["may or may not serve food"],
        }
        more.append(rng.choice(wordings[said["meal"]]))
    if not more:
        return first + "."
    together = ", ".join(more[:-1]) + (" and " if more[1:] else "") + more[-1]
    return rng.choice([f"{first}. It {together}.", f"{first}. The flight {together}."])


def home(seed: int = 1) -> list[dict[str, str]]:
    """Return 300 rows of a smart home: `act` and `text`."""
    rng = random.Random(seed)
    rows = []
    for _ in range(PAIRS):
        device, state = rng.choice(DEVICES), rng.choice(["on", "off"])
        kind = rng.choices(["inform", "confirm", "request", "error"], [60, 20, 10, 10])[0]
        if kind == "request":
            slot = rng.choice(["device", "brightness"])
            asked = {"device": ["Which device do you mean?"], "brightness": ["How bright should it be?"]}
            rows.append({"act": f"request({slot})", "text": rng.choice(asked[slot])})
        elif kind == "error":
            text = rng.choice([f"I can't reach the {device}.", f"The {device}'s connection is down."])
            rows.append({"act": f"error(device='{device}')", "text": text})
        elif kind == "confirm":
            text = rng.choice([f"Shall I turn {state} the {device}?", f"Do you want the {device} {state}?"])
            rows.append({"act": f"confirm(device='{device}';state={state})", "text": text})
        else:
            rows.append(_home_state(rng, device, state))
    return rows


def _home_state(rng: random.Random, device: str, state: str) -> dict[str, str]:
    act, text = (
        f"device='{device}';state={state}",
        rng.choice([f"The {device} is {state}", f"I turned {state} the {device}"]),
    )
    if rng.random() < 0.5:
        brightness = str(rng.choice([10, 20, 40, 60, 75, 100]))
        act += f";brightness={brightness}"
        text += rng.choice([f" at {brightness} percent brightness", f" with {brightness}% brightness"])
    if rng.random() < 0.5:
        locked = rng.choice(["yes", "no"])
        act += f";locked={locked}"
        text += (
            ", and it is locked" if locked == "yes" else rng.choice([", and it is not locked", ", and it is unlocked"])
        )
    if rng.random() < 0.3:
        minutes = str(rng.randint(1, 5))
        act += f";minutes={minutes}"
        count = minutes if rng.random() < 0.5 else ["", "one", "two", "three", "four", "five"][int(minutes)]
        text += f", for {count} minute{'' if minutes == '1' else 's'}"
    return {"act": f"inform({act})", "text": text + "."}


WORDINGS = {
    "refundable": {"yes": r"(?<!not )\brefundable|can be refunded", "no": r"not refundable|can't be refunded"},
    "meal": {"yes": r"(?:serves|with) a meal", "no": r"no meal|without a meal", "dontcare": r"may or may not"},
}


def faults(slots: Slots, text: str) -> list[str]:
    """Return what is wrong with the values in a flight's sentence, by patterns alone.

    Values that are not said exactly once are wrong, and wordings of yes, no or dontcare that the act does not have.
    """
    found = []
    for name, value in slots.items():
        count = len(re.findall(_pattern(name, value), text, re.IGNORECASE)) if value else 1
        if count != 1:
            found.append(f"{name}={value} said {count} times")
    for name, wordings in WORDINGS.items():
        wrong = [v for v, wording in wordings.items() if v != slots.get(name) and re.search(wording, text)]
        # A question about a slot says none of its values.
        found += [f"{name}={value} said though it is not so" for value in wrong if slots.get(name) != ""]
    return found


def _pattern(name: str, value: str) -> str:
    if name == "departs":
        hour, minute, half = re.fullmatch(r"(\d+):(\d\d)(\w)m", value).groups()  # type: ignore[union-attr]
        return rf"(?<![\d:]){hour}[:.]{minute} ?{half}\.?m\b"
    if name == "price":
        bare = value[1:].replace(",", "")
        return rf"(?:\$(?:{re.escape(value[1:])}|{bare})|(?<![\d$]){bare} dollars)(?!\d)"
    if name in ("stops", "bags"):
        words = [value, WORDS[int(value)], *(["a single"] if value == "1" else [])]
        return rf"\b(?:{'|'.join(words)}) {name[:-1]}{'' if value == '1' else 's'}\b"
    return WORDINGS[name][value] if name in WORDINGS else rf"(?<!\w){re.escape(value)}(?:'s?)?(?!\w)"


def write(folder: Path) -> tuple[Path, Path]:
    """Write both corpora, and return their paths: `flights.csv` and `home.json`."""
    table, rows = folder / "flights.csv", folder / "home.json"
    with table.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("act", "text"), *flights()])
    rows.write_text(json.dumps(home(), indent=1), encoding="utf-8")
    return table, rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where flights.csv and home.json are written")
    for path in write(parser.parse_args().folder):
        print(path)
