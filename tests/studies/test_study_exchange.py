"""Ratings in the formats of Potato and of the E2E challenge: round trips, real files, and malformed ones."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.studies.analyse import read_properties
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.exchange.convert import as_json, import_ratings
from dactnlg.studies.exchange.e2e import read_e2e, write_e2e
from dactnlg.studies.exchange.instances import Instance, parse_instance, read_items
from dactnlg.studies.exchange.names import file_names
from dactnlg.studies.exchange.potato import read_potato, write_potato
from dactnlg.studies.ratings import Ratings, RatingsError
from dactnlg.studies.study import Study

EVIL = '<script>&item=x;"a"\u202e=1+1'
NAMES = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=12).filter(
    lambda name: name.strip() == name
)


def study(design: str = "likert") -> Study:
    items = [
        {"id": f"i{at}", "corpus": "c", "act": f"inform(name='{at}')", "sentences": {"a": "A.", "b": "B.", EVIL: "C."}}
        for at in range(3)
    ]
    items.append({"id": "check-1", "sentences": {"check": "choose 1", "check-other": "no"}, "check": 1})
    pages = [{"id": f"p{at}", "item": f"i{at}", "systems": ["b", EVIL]} for at in range(3)]
    return Study.model_validate(
        {
            "name": "s",
            "seed": 1,
            "design": design,
            "scale": None if design == "pairwise" else {"low": 0, "high": 5, "step": 0.5},
            "criteria": [{"name": "quality"}, {"name": "naturalness"}],
            "systems": [{"name": name} for name in ("a", "b", EVIL)],
            "items": items,
            "raters": [{"id": "r001", "pages": pages}],
        }
    )


def rating(item: str = "i0", system: str = "a", rater: str = "r001", value: float = 4, **more: Any) -> dict[str, Any]:
    return {"item": item, "system": system, "rater": rater, "criterion": "quality", "value": float(value), **more}


def judgements(ratings: Ratings, *more: str) -> Counter[tuple[object, ...]]:
    """Return the rows without the names of pages."""
    columns = ("item", "system", "rater", "criterion", "value", *more)
    return Counter(tuple(row[name] for name in columns) for row in ratings.rows)


def together(ratings: Ratings) -> set[frozenset[tuple[object, ...]]]:
    """Return the sentences that were judged together, by page."""
    pages: dict[tuple[str, str], list[tuple[object, ...]]] = {}
    for row in ratings.rows:
        pages.setdefault((row["rater"], row["page"]), []).append((row["rater"], row["item"], row["system"]))
    return {frozenset(rows) for rows in pages.values()}


@st.composite
def tables(draw: st.DrawFn) -> Ratings:
    """Draw ratings of a few raters and items, with arbitrary names."""
    systems = draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
    rows = []
    for rater in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
        for item in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True)):
            for system in draw(st.lists(st.sampled_from(systems), min_size=1, unique=True)):
                for criterion in ("quality", "naturalness"):
                    value = draw(st.sampled_from([0.0, 1.0, 2.0, 5.0, 3.25, 100.0, -1.0]))
                    rows.append(rating(item, system, rater, value, page=f"{rater}/{item}") | {"criterion": criterion})
    return Ratings(rows)


@given(tables())
def test_ratings_survive_a_round_trip_through_potato(
    tmp_path_factory: pytest.TempPathFactory, ratings: Ratings
) -> None:
    folder = tmp_path_factory.mktemp("potato") / "out"
    write_potato(ratings, folder)
    back = read_potato(folder)
    assert judgements(back) == judgements(ratings)
    assert together(back) == together(ratings)
    for path in folder.rglob("*"):
        assert path.resolve().is_relative_to(folder.resolve())


@given(tables())
def test_ratings_survive_a_round_trip_through_e2e_tables(
    tmp_path_factory: pytest.TempPathFactory, ratings: Ratings
) -> None:
    folder = tmp_path_factory.mktemp("e2e") / "out"
    files = write_e2e(ratings, folder)
    assert [path.name for path in files] == ["quality.csv", "naturalness.csv"]
    back = import_ratings(files, "e2e", keep_raters=True)
    assert judgements(back) == judgements(ratings)
    assert together(back) == together(ratings)


def test_tables_with_the_columns_of_the_e2e_challenge_are_read(data_dir: Path, tmp_path: Path) -> None:
    # The columns and ratings that the challenge published, with invented addresses. The data folder has the same
    # ratings in long form, converted by others.
    wanted = Ratings.read(data_dir / "ratings" / "e2e2017.csv")
    files = [raw_table(wanted, name, tmp_path) for name in ("quality", "naturalness")]
    found = import_ratings(files, "e2e", keep_raters=True)
    assert len(found.rows) == 36_090
    assert judgements(found, "output") == judgements(wanted, "output")
    assert {row["page"] for row in found.rows} == {row["page"] for row in wanted.rows}
    # Names of workers and addresses are removed.
    found = import_ratings(files, "e2e")
    assert found.names("rater")[:2] == ["r001", "r002"]
    assert len(found.names("rater")) == len(wanted.names("rater"))
    found.write(tmp_path / "long.csv")
    assert "192.0.2" not in (tmp_path / "long.csv").read_text(encoding="utf-8")


def raw_table(ratings: Ratings, criterion: str, folder: Path) -> Path:
    short = {"naturalness": "natur"}.get(criterion, criterion)
    header = "_unit_id,_created_at,_id,_started_at,_tainted,_channel,_trust,_worker_id,_country,_region,_city,_ip"
    columns = header.split(",") + [f"check{at}" for at in range(1, 6)] + [f"{short}{at}" for at in range(1, 6)]
    columns += [f"check{at}_gold" for at in range(1, 6)] + [f"dupl_ref{at}" for at in range(1, 6)] + ["mr", "mr_id"]
    columns += [f"{name}{at}{end}" for name, end in ((short, "_gold"), ("ref", ""), ("sys", "")) for at in range(1, 6)]
    pages: dict[str, list[Any]] = {}
    for row in ratings.where(criterion=criterion).rows:
        pages.setdefault(row["page"], []).append(row)
    path = folder / f"{criterion}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        for page, rows in pages.items():
            cells = {"_unit_id": page.split("-")[-2], "_worker_id": rows[0]["rater"], "_ip": "192.0.2.1"}
            cells |= {"mr": rows[0]["item"], "mr_id": "1", "check1": "ok", "dupl_ref1": "5.0", "_country": "USA"}
            for at, row in enumerate(rows, 1):
                cells |= {f"{short}{at}": f"{row['value']:g}", f"sys{at}": row["system"], f"ref{at}": row["output"]}
            writer.writerow(cells)
    return path


def test_pairwise_ratings_survive_a_round_trip_through_potato(tmp_path: Path) -> None:
    pairs = [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5)]
    rows = [
        rating(f"i{at}", system, value=values[place], page=f"p{at}", corpus="c")
        for at, values in enumerate(pairs)
        for place, system in enumerate(("b", EVIL))
    ]
    for known in (None, study("pairwise")):
        folder = tmp_path / f"out{known is None}"
        write_potato(Ratings(rows), folder, known)
        (state,) = folder.rglob("user_state.json")
        labels = json.loads(state.read_text(encoding="utf-8"))["instance_id_to_label_to_value"].values()
        assert [label for ((_, label),) in labels] == ["A", "B", "tie"]
        back = import_ratings([folder], "potato", known)
        assert judgements(back, "corpus") == judgements(Ratings(rows), "corpus")
        assert len(together(back)) == 3
    one = Ratings(rows[:1])
    with pytest.raises(RatingsError, match="compared 1 systems"):
        write_potato(one, tmp_path / "no", study("pairwise"))
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("by_system", [True, False])
def test_pairwise_ratings_under_two_criteria_are_one_instance(tmp_path: Path, by_system: bool) -> None:
    # System by system, as a study gives them, or criterion by criterion with the pair the other way round.
    rows = [
        rating(system=system, value=value, page="p", corpus="c", output=f"{system}.") | {"criterion": criterion}
        for criterion, values in (("quality", {"a": 1, "b": 0}), ("naturalness", {"b": 1, "a": 0}))
        for system, value in values.items()
    ]
    if by_system:
        rows.sort(key=lambda row: str(row["system"]))
    write_potato(Ratings(rows), tmp_path / "out")
    (line,) = (tmp_path / "out" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    assert (json.loads(line)["system"], json.loads(line)["text"]) == (["a", "b"], ["a.", "b."])
    assert judgements(read_potato(tmp_path / "out"), "output") == judgements(Ratings(rows), "output")
    with pytest.raises(RatingsError, match="no win, loss or tie"):
        write_potato(Ratings(rows[:-1]), tmp_path / "half", study("pairwise"))


# As Potato 2.12 writes it (InMemoryUserState.save), with only some of its other keys.
STATE = {
    "user_id": "ann@example.org",
    "instance_id_ordering": ["1", "2"],
    "current_phase_and_page": ["annotation", None],
    "instance_id_to_behavioral_data": {},
    "instance_id_to_label_to_value": {
        "1": [
            [{"schema": "quality", "name": "4"}, "4"],
            [{"schema": "fluency", "name": "slider"}, "61.5"],
            [{"schema": "remarks", "name": "text_box"}, "nice"],
        ],
        "2": [
            [{"schema": "quality", "name": "10"}, "0"],
            [{"schema": "matrix", "name": "adequacy"}, "2"],
            [{"schema": "matrix", "name": "warmth"}, "3"],
            [{"schema": "fluency", "name": "1"}, "1"],
            [{"schema": "fluency", "name": "2"}, "2"],
        ],
    },
    "instance_id_to_span_to_value": {},
    "origin": {},
}
WANTED = {
    ("x", "gold", "r001", "quality", 4.0),
    ("x", "gold", "r001", "fluency", 61.5),
    ("y", "new", "r001", "quality", 10.0),
    ("y", "new", "r001", "matrix.adequacy", 2.0),
    ("y", "new", "r001", "matrix.warmth", 3.0),
}


def project(folder: Path) -> Path:
    rows = [{"id": "1", "item": "x", "system": "gold", "text": "A."}, {"id": 2, "item": "y", "system": "new"}]
    (folder / "data.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder / "data.jsonl"


def test_a_project_of_potato_is_read(tmp_path: Path) -> None:
    place = tmp_path / "annotation_output" / "ann@example.org"
    place.mkdir(parents=True)
    (place / "user_state.json").write_text(json.dumps(STATE, indent=2), encoding="utf-8")
    items = read_items(project(tmp_path))
    found = import_ratings([tmp_path], "potato", items=items)
    assert set(judgements(found)) == WANTED
    assert "ann@" not in json.dumps(found.rows)
    assert any("1 answers that chose several points" in note for note in found.notes)
    assert any("1 answers that are no ratings" in note for note in found.notes)
    assert any("numbered anew" in note for note in found.notes)
    with pytest.raises(RatingsError, match="instance '1' names no system"):
        read_potato(tmp_path)


def test_exports_of_potato_are_read(tmp_path: Path) -> None:
    items = read_items(project(tmp_path))
    labels = {
        instance: {
            scheme: {label["name"]: value for label, value in found if label["schema"] == scheme}
            for scheme in {label["schema"] for label, _ in found}
        }
        for instance, found in STATE["instance_id_to_label_to_value"].items()  # type: ignore[attr-defined]
    }
    lines = [
        {"instance_id": instance, "user_id": "ann", "labels": found, "spans": {}, "links": {}}
        for instance, found in labels.items()
    ]
    (tmp_path / "annotations.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert set(judgements(import_ratings([tmp_path / "annotations.jsonl"], "potato", items=items))) == WANTED
    # Version 1: a file an annotator, in a folder of their name.
    old = [{"id": name, "displayed_text": "", "label_annotations": found} for name, found in labels.items()]
    old.append({"id": "consent.html", "displayed_text": "", "label_annotations": {"agree": {"Yes": "true"}}})
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "annotated_instances.jsonl").write_text("\n".join(map(json.dumps, old)), encoding="utf-8")
    assert set(judgements(import_ratings([tmp_path / "ann"], "potato", items=items))) == WANTED
    columns = ["quality.4", "quality.10", "matrix.adequacy", "matrix.warmth", "fluency.slider", "remarks.text_box"]
    table = f"instance_id,user_id,{','.join(columns)}\n1,ann,4,,,,61.5,nice\n2,ann,,0,2,3,,\n"
    (tmp_path / "annotations.csv").write_text(table, encoding="utf-8")
    assert set(judgements(import_ratings([tmp_path / "annotations.csv"], "potato", items=items))) == WANTED


def test_ratings_that_do_not_fit_the_study_are_refused(tmp_path: Path) -> None:
    for row, told in (
        (rating("i9"), "has no item 'i9'"),
        (rating("check-1", "check"), "has no item 'check-1'"),
        (rating(system="z"), "no sentence of system 'z'"),
        (rating() | {"criterion": "wit"}, "asks for quality, naturalness, not 'wit'"),
        (rating(value=4.2), "4.2 for item i0 is not on the study's scale, 0 to 5 in steps of 0.5"),
        (rating(value=1e300), "is not on the study's scale"),
    ):
        Ratings([row]).write(tmp_path / "r.csv")
        with pytest.raises(RatingsError, match=told):
            import_ratings([tmp_path / "r.csv"], "csv", study())
    Ratings([rating(value=4.5)]).write(tmp_path / "r.csv")
    (row,) = import_ratings([tmp_path / "r.csv"], "csv", study()).rows
    assert (row["corpus"], row["output"]) == ("c", "A.")
    with pytest.raises(RatingsError, match="twice"):
        import_ratings([tmp_path / "r.csv"] * 2, "csv", study())


def test_e2e_tables_of_a_study_have_its_names(tmp_path: Path) -> None:
    rows = [rating(f"i{at}", "b", value=at, page=f"p{at}", corpus="c", output="B.") for at in range(3)]
    (path,) = write_e2e(Ratings(rows), tmp_path / "out", study())
    with path.open(encoding="utf-8", newline="") as file:
        assert [row["mr"] for row in csv.DictReader(file)] == [f"inform(name='{at}')" for at in range(3)]
    assert import_ratings([path], "e2e", study()).table.to_dict("records") == [
        {name: row[name] for name in ("item", "system", "rater", "criterion", "value", "page", "corpus", "output")}
        for row in rows
    ]
    # Without the study, items are named by their acts.
    assert read_e2e(path).names("item") == [f"inform(name='{at}')" for at in range(3)]


@pytest.mark.parametrize(
    ("read", "header"),
    [
        (Ratings.read, "item,system,rater,criterion,value"),
        (MetricScores.read_csv, "item,system,BLEU"),
        (read_properties, "system,size"),
        (read_e2e, "_worker_id,mr,sys1,quality1"),
        (read_potato, "instance_id,user_id,quality"),
    ],
)
def test_damaged_tables_are_reported_alike(tmp_path: Path, read: Callable[[Path], object], header: str) -> None:
    path = tmp_path / "x.csv"
    cells = ",".join("1" for _ in header.split(","))
    for table, told in (
        (f"{header}\n{cells},1\n".encode(), "x.csv, line 2: it has more or fewer cells than the header"),
        (f'{header}\n"1'.encode(), "x.csv: it is not CSV: "),
        (f"{header}\n".encode() + b"\xff", "x.csv: it is not text in UTF-8"),
        (b'"a;b";c\n', "x.csv: it is not CSV: "),
        (b"a;b;c\n1,2;3;4\n", "x.csv: (there (is|are) no column|it needs a column system)"),
    ):
        path.write_bytes(table)
        with pytest.raises(RatingsError, match=told):
            read(path)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("x.csv", "a,b\n1,2\n", "no column"),
        ("x.csv", "_worker_id,mr,sys1\n1,2,3\n", "no column of ratings"),
        ("x.csv", "_worker_id,mr,sys1,quality1\nw,m,s,much\n", "line 2: quality1 'much' is not a finite number"),
        ("x.csv", "_worker_id,mr,sys1,quality1\nw,m,s,nan\n", "not a finite number"),
        ("x.csv", "_worker_id,mr,sys1,quality1\n,m,s,1\n", "rater is empty"),
        ("x.csv", "_worker_id,mr,sys1,quality1\nw,m,s\n", "more or fewer cells"),
        ("x.csv", "_worker_id,mr,sys1,quality1\nw,m,s,\n", "no ratings in it"),
        ("x.csv", '_worker_id,mr,sys1,quality1\nw,m,"s,1\n', "not CSV"),
    ],
)
def test_malformed_e2e_tables_are_refused(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(RatingsError, match=told):
        import_ratings([tmp_path / name], "e2e")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("user_state.json", "[]", "no instance_id_to_label_to_value"),
        ("user_state.json", "{", "not JSON"),
        ("user_state.json", '{"instance_id_to_label_to_value": {"item=a&system=b": [[1, 2]]}}', "no label of Potato"),
        ("user_state.json", '{"instance_id_to_label_to_value": {"item=a&system=b&number=-x": []}}', "names no system"),
        ("user_state.json", '{"instance_id_to_label_to_value": {"item=a&system=b": []}}', "no ratings in it"),
        ("user_state.json", "[" * 100_000, "not JSON|deep"),
        ("a.jsonl", "{}", "has no labels"),
        ("a.jsonl", '{"labels": {}}', "names no annotator"),
        ("a.csv", "x,y\n1,2\n", "no columns instance_id"),
        ("a.txt", "", "Potato writes"),
    ],
)
def test_malformed_annotations_are_refused(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(RatingsError, match=told):
        read_potato(tmp_path / name)


def test_a_project_of_potato_cannot_escape_its_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text(json.dumps(STATE), encoding="utf-8")
    folder = tmp_path / "theirs" / "ann"
    folder.mkdir(parents=True)
    (folder / "user_state.json").symlink_to(tmp_path / "mine")
    with pytest.raises(RatingsError, match="is a link to"):
        read_potato(tmp_path / "theirs")
    # Names of raters that are paths elsewhere, or the same folder on some systems.
    rows = [rating(rater=name) for name in ("../../up", "..", "CON", "Ann", "ann", "x" * 400, "a/b", "\x00")]
    write_potato(Ratings(rows), tmp_path / "out")
    assert {path.parent.parent for path in (tmp_path / "out").rglob("user_state.json")} == {
        tmp_path / "out" / "annotation_output"
    }
    assert judgements(read_potato(tmp_path / "out")) == judgements(Ratings(rows))
    with pytest.raises(RatingsError, match="is there already"):
        write_potato(Ratings(rows), tmp_path / "out")


@given(st.lists(st.text(max_size=150), unique=True))
def test_file_names_are_safe_and_distinct(names: list[str]) -> None:
    found = file_names(names)
    assert list(found) == names
    assert len({name.casefold() for name in found.values()}) == len(names)
    for name in found.values():
        assert name.isascii()
        assert not set(name) & set('/\\:*?"<>|\0')
        assert 0 < len(name) <= 112
        assert name not in (".", "..")


@given(NAMES, st.lists(NAMES, min_size=1, max_size=2), st.sampled_from(["", "c&=%"]), st.integers(1, 99))
def test_names_of_instances_can_be_parsed(item: str, systems: list[str], corpus: str, number: int) -> None:
    instance = Instance(item, tuple(systems), corpus, number)
    assert parse_instance(instance.name) == instance


@given(st.text())
def test_other_names_are_not_instances(name: str) -> None:
    assert parse_instance(name) is None or "item=" in name


def test_criteria_that_e2e_tables_cannot_have_are_refused(tmp_path: Path) -> None:
    for name in ("sys", "ref", "natur", "quality2"):
        with pytest.raises(RatingsError, match="cannot be a column"):
            write_e2e(Ratings([rating() | {"criterion": name}]), tmp_path / "out")


def test_a_study_and_its_ratings_are_exported_as_json() -> None:
    found = json.loads(json.dumps(as_json(study(), Ratings([rating()]))))
    assert found["ratings"] == [rating()]
    assert "raters" not in found["study"]
    assert found["study"]["items"][0]["sentences"][EVIL] == "C."
