"""The options and the output of eval compare, with evaluations as the tables return them."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest
import typer
from rich.console import Console, RenderableType

from pgclarify.cli import comparing, comparison_rendering
from pgclarify.cli.main import main
from pgclarify.evaluated import EvaluatedCase, Usage
from pgclarify.evaluation.comparison import Comparison, compare
from tests.evaluated_cases import evaluated_case, evaluation, reading
from tests.pages import CHECKOUT, blocks

HOSTILE = "\x1b[2J[bold]\u202egnp.exe\r"
KNOWN = [["Tony Goldwyn", "Goldwyn"], ["1973"]]


def shown(what: RenderableType, width: int = 120) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, markup=False, highlight=False, _environ={}).print(what)
    return stream.getvalue()


def coverage(values: list[float], calls: float = 3.0) -> list[EvaluatedCase]:
    return [
        evaluated_case(f"c{place}", answer_coverage=value, calls=calls, failed=0.0)
        for place, value in enumerate(values)
    ]


def compared(first: list[EvaluatedCase], second: list[EvaluatedCase]) -> Comparison:
    return compare(evaluation(12), first, evaluation(13, name="top_k=10", settings={"top_k": 10, "deep": None}), second)


@pytest.fixture
def better() -> Comparison:
    return compared(coverage([0.0, 0.5] * 10, calls=21.0), coverage([0.5, 0.5] * 10, calls=11.0))


def loaded(comparison: Comparison, count: int, *metrics: str) -> comparing._Loaded:
    shown = comparison.most_changed(comparison.order_of_cases(metrics), count)
    return comparing._Loaded(comparison, shown, ())


def pair_of(first: EvaluatedCase, second: EvaluatedCase) -> Comparison:
    return compared([first], [second])


def test_the_head_has_what_differs_and_nothing_else(better: Comparison) -> None:
    told = shown(comparison_rendering.head(better))
    assert re.search(r"^A  12 clarify: clarify on rental.jsonl, 2 cases, 2026-03-01 12:30$", told, re.M)
    assert re.search(r"^option top_k +20 +10$", told, re.M)
    # A missing value is the same as null.
    assert not re.search("deep|corpus|judge", told)


def test_a_table_where_there_is_room(better: Comparison) -> None:
    told = shown(comparison_rendering.Metrics(better.metrics, 20))
    assert re.search(
        r"^answer_coverage +0\.250 +0\.500 +\+0\.250 +\[\+0\.\d+, \+0\.\d+\] +10/0/10 +[<.\d]+ +better", told, re.M
    )
    assert re.search(r"^calls +21\.00 +11\.00 +-10\.00 +\[-10\.00, -10\.00\] +20/0/0 +<0\.001 +better", told, re.M)
    assert max(map(len, told.splitlines())) <= 120


@pytest.mark.parametrize("width", [40, 60, 80])
def test_two_lines_each_where_there_is_little(better: Comparison, width: int) -> None:
    told = shown(comparison_rendering.Metrics(better.metrics, 20), width)
    assert "answer_coverage  0.250 -> 0.500" in told
    assert "won 10, lost 0, tied" in " ".join(told.split())
    assert max(map(len, told.splitlines())) <= width


def test_nobody_wins_where_neither_is_better() -> None:
    sides = [
        [evaluated_case(f"c{place}", interpretations=number) for place, number in enumerate(numbers)]
        for numbers in ((1.0, 2.0, 3.0), (2.0, 2.0, 1.0))
    ]
    metrics = comparison_rendering.Metrics(compared(*sides).metrics, 3)
    assert re.search(r"^interpretations .* \+1/-1/1 ", shown(metrics), re.M)
    assert "more 1, less 1, tied 1" in " ".join(shown(metrics, 60).split())


@pytest.mark.parametrize(
    ("names", "told"), [([], True), (["seconds"], True), (["calls", "model_seconds"], True), (["calls"], False)]
)
def test_the_ledger_is_told_of_where_seconds_are_shown(names: list[str], *, told: bool) -> None:
    second = [evaluated_case("c", usage=Usage(calls=3, reused_calls=2), calls=3.0, seconds=0.0)]
    comparison = compared([evaluated_case("c", calls=3.0, seconds=9.0)], second)
    assert bool(comparing._on_seconds(comparison, names)) == told


def test_cases_that_not_all_have_are_counted() -> None:
    first = [*coverage([0.0, 1.0]), evaluated_case("other", calls=3.0)]
    told = shown(comparison_rendering.Metrics(pair_of(first[0], first[0]).metrics, 1))
    assert "cases" not in told.splitlines()[2]
    told = shown(comparison_rendering.Metrics(compared(first, first).metrics, 3))
    assert re.search(r"^answer_coverage .* 2 *$", told, re.M)


def test_a_changed_case_is_shown_with_what_became_of_its_readings() -> None:
    first = [
        reading("Who plays?", "Tony Goldwyn", quote="Goldwyn plays"),
        reading("When?", "1973"),
        reading("Why?", "x"),
    ]
    second = [reading("When was it?", "1973", support=3), reading("Where?", "Miami"), reading("Why?", "y")]
    one = pair_of(
        evaluated_case("c", first, known=KNOWN, answer_coverage=1.0),
        evaluated_case("c", second, known=KNOWN, answer_coverage=0.5),
    )
    told = shown(comparison_rendering.changed_cases(one.most_changed("answer_coverage", 5), "answer_coverage"))
    assert "answer_coverage 1.000 -> 0.500, readings 3 -> 3" in told
    assert "known: Tony Goldwyn / Goldwyn\n          1973\n" in told
    assert ' - Who plays?  gone\n     Tony Goldwyn (known)\n     d1  Title  "Goldwyn plays"\n' in told
    assert " + Where?  new\n     Miami\n" in told
    assert re.search(r" ~ Why\?  answered otherwise\n     A: x\n.*\n     B: y\n", told)
    assert "   When was it?  kept, support 1 -> 3\n     1973 (known)\n" in told


def test_a_kept_reading_with_another_answer_has_both() -> None:
    one = pair_of(
        evaluated_case("c", [reading("When?", "1973")], known=KNOWN, answer_coverage=1.0),
        evaluated_case("c", [reading("When was it?", "in 1973")], known=KNOWN, answer_coverage=0.5),
    )
    told = shown(comparison_rendering.changed_cases(one.pairs, "answer_coverage"))
    assert "   When was it?  kept\n     A: 1973 (known)\n     B: in 1973 (known)\n" in told


def test_a_whole_case_has_the_citations_of_both() -> None:
    first, second = reading("When?", "1973", document="d1"), reading("When?", "1973", document="d2")
    one = pair_of(evaluated_case("c", [first]), evaluated_case("c", [second]))
    told = shown(comparison_rendering.whole_case(one.pairs[0]))
    assert re.search(r"     A: 1973\n        d1 .*\n     B: 1973\n        d2 ", told)


def test_a_whole_case_has_the_questions_of_both() -> None:
    cases = [
        replace(one, output={**one.output, "questions": questions})
        for one, questions in ((evaluated_case("c"), ["Where?"]), (evaluated_case("c"), ["Where?", "In 1903?"]))
    ]
    told = shown(comparison_rendering.whole_case(pair_of(*cases).pairs[0]))
    assert "questions Where?\n" in told
    assert "questions Where? / In 1903?\n" in told


def test_of_many_readings_the_first_are_shown() -> None:
    many = [reading(f"Number {n}?", f"the {n}th") for n in range(14)]
    one = pair_of(evaluated_case("c", answer_coverage=1.0), evaluated_case("c", many, answer_coverage=0.5))
    told = shown(comparison_rendering.changed_cases(one.pairs, "answer_coverage"))
    assert (told.count("  new\n"), "and 4 readings more: --case c" in told) == (10, True)
    assert shown(comparison_rendering.whole_case(one.pairs[0])).count("  new\n") == 14


def test_known_readings_are_shown_as_questions() -> None:
    gold = {"interpretations": [{"interpretation": f"Reading {n}?", "answers": [str(n)]} for n in range(20)]}
    case = evaluated_case("c", [reading("Who?", "x")], gold=gold, answer_coverage=0.0)
    one = pair_of(evaluated_case("c", gold=gold, answer_coverage=1.0), case)
    told = shown(comparison_rendering.changed_cases(one.pairs, "answer_coverage"))
    assert "known: Reading 0?  0\n          Reading 1?  1\n" in told
    assert "and 8 more" in told
    assert "A gave no reading." in told


def test_a_failed_case_says_why() -> None:
    failed = evaluated_case("c", [reading("Who?", "x")], error=f"no worker {HOSTILE}", answer_coverage=0.0)
    told = shown(comparison_rendering.changed_cases(pair_of(failed, failed).pairs, "answer_coverage"))
    assert "A failed: no worker \\x1b[2J[bold]\\u202egnp.exe" in told
    assert "readings 0 -> 0" in told


def test_one_case_whole() -> None:
    gold = {"answer_sets": [KNOWN], "document_ids": ["d1"]}
    citations = [{"document_id": f"d{n}", "passage_id": n, "title": None, "quote": "long " * 100} for n in range(3)]
    first = evaluated_case("c", [reading("Who?", "x", citations=citations, is_grounded=False)], gold=gold, calls=3.0)
    second = evaluated_case("c", gold=gold, recall_at_5=1.0)
    told = shown(comparison_rendering.whole_case(pair_of(first, second).pair("c")))
    assert told.count("long") == 300
    assert "x (not what its passages say)" in told
    assert re.search(r"^calls +3\.00 +- *$", told, re.M)
    assert re.search(r"^recall@5 +- +1\.000 *$", told, re.M)
    assert "retrieved d1 (relevant)" in told


def test_hostile_text_is_shown_as_text() -> None:
    gold = {"interpretations": [{"interpretation": HOSTILE, "answers": [HOSTILE]}], "document_ids": [HOSTILE]}
    given = reading(HOSTILE, HOSTILE, document=HOSTILE, title=HOSTILE)
    first = evaluated_case(HOSTILE, [given], gold=gold, question=HOSTILE, zeta=1.0)
    second = evaluated_case(HOSTILE, gold=gold, question=HOSTILE, zeta=2.0)
    one = compare(
        evaluation(1, name=HOSTILE, data_set=HOSTILE, settings={HOSTILE: HOSTILE}), [first], evaluation(2), [second]
    )
    for told in (
        shown(comparison_rendering.head(one)),
        shown(comparison_rendering.changed_cases(one.pairs, HOSTILE)),
        shown(comparison_rendering.whole_case(one.pairs[0])),
        shown(comparison_rendering.Metrics(one.metrics, 1)),
    ):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", told)
    assert "[bold]" in shown(comparison_rendering.head(one))


def test_nothing_changed() -> None:
    assert "No case changed" in shown(comparison_rendering.changed_cases([], "answer_coverage"))


def test_json_has_everything(better: Comparison, capsys: pytest.CaptureFixture[str]) -> None:
    comparing._show(loaded(better, 2), [], 2, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["a"]["eval_run_id"], told["b"]["name"], told["cases"]) == (12, "top_k=10", 20)
    assert told["differing"] == {"option top_k": [20, 10]}
    (one,) = (metric for metric in told["metrics"] if metric["metric"] == "answer_coverage")
    assert (one["difference"], one["wins"], one["verdict"]) == (0.25, 10, "better")
    assert [case["case_id"] for case in told["changed"]] == ["c0", "c2"]
    assert told["changed"][0]["b"]["values"]["answer_coverage"] == 0.5


@pytest.mark.parametrize("width", [120, 60])
def test_strata_stand_below_the_metrics(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    def side(values: list[float]) -> list[EvaluatedCase]:
        kinds = ["hops=2"] * 6 + [f"kind={HOSTILE}"] * 2
        return [
            evaluated_case(f"c{place}", gold={"strata": [kind]}, answer_coverage=value, calls=3.0)
            for place, (kind, value) in enumerate(zip(kinds, values, strict=True))
        ]

    comparison = compared(side([0.0] * 8), side([1.0] * 8))
    told = shown(comparison_rendering.Strata("answer_coverage", comparison.strata("answer_coverage")), width)
    assert "answer_coverage by stratum; strata of fewer than 5 cases have no figures" in " ".join(told.split())
    assert re.search(r"^hops=2.*(1\.000|6 cases)", told, re.M)
    assert re.search(r"^kind=\\x1b.*2( cases)?$", told, re.M)
    assert not {"\x1b", "\u202e", "\r"} & set(told)
    comparing._show(loaded(comparison, 0, "calls"), ["calls"], 0, as_json=False)
    told = capsys.readouterr().out
    assert "calls by stratum" in told
    assert "answer_coverage" not in told
    same = compared(side([0.5] * 8), side([0.5] * 8))
    comparing._show(loaded(same, 0), [], 0, as_json=False)
    assert "by stratum" not in capsys.readouterr().out, "it is equal in every case"
    comparing._show(loaded(comparison, 0), [], 0, as_json=True)
    small, large = json.loads(capsys.readouterr().out)["strata"]
    assert (small["cases"], small["compared"]) == (2, None)
    assert (large["stratum"], large["metric"], large["compared"]["wins"]) == ("hops=2", "answer_coverage", 6)


def test_what_is_equal_is_named_and_not_tabled(better: Comparison, capsys: pytest.CaptureFixture[str]) -> None:
    comparing._show(loaded(better, 0), [], 0, as_json=False)
    told = capsys.readouterr().out
    assert "Equal in every case: failed." in told
    assert not re.search("^failed", told, re.M)
    assert "Changed most" not in told
    comparing._show(loaded(better, 1, "failed"), ["failed"], 1, as_json=False)
    told = capsys.readouterr().out
    assert re.search("^failed ", told, re.M)
    assert not re.search("^calls", told, re.M)
    assert "No case changed: neither its failed" in told


@pytest.mark.parametrize(
    ("name", "limit", "fails"),
    [
        ("answer_coverage", 0.25, False),
        ("answer_coverage", 0.26, True),
        ("answer_coverage", -0.02, False),
        ("calls", 10.0, False),
        ("calls", 10.5, True),
        ("failed", 0.0, False),
    ],
)
def test_a_limit_of_the_difference(better: Comparison, name: str, limit: float, fails: bool) -> None:
    told = comparing._failure(better.metric(name), limit)
    assert (told is not None) == fails


def test_what_got_dearer_fails() -> None:
    dearer = compared(coverage([0.0], calls=11.0), coverage([0.0], calls=21.0)).metric("calls")
    assert comparing._failure(dearer, -10.0) is None
    assert comparing._failure(dearer, -10.0 + 1e-10) is None, "rounding errors of a mean do not count"
    tenths = compared(coverage([0.3]), coverage([0.1 + 0.2 - 0.1])).metric("answer_coverage")
    assert comparing._failure(tenths, -0.1) is None, "a value at the limit passes"
    assert "-10.00" in (comparing._failure(dearer, -9.5) or "")


def test_limits_are_read() -> None:
    assert comparing._read_limits(["recall@10=-0.02", "calls=0"]) == {"recall@10": -0.02, "calls": 0.0}


@pytest.mark.parametrize("given", ["answer_coverage", "=1", "recall=", "recall=much", "recall=nan", "recall=inf"])
def test_limits_that_are_none(given: str) -> None:
    with pytest.raises(typer.BadParameter):
        comparing._read_limits([given])
    with pytest.raises(SystemExit) as caught:
        main(["eval", "compare", "1", "2", "--fail-below", given])
    assert caught.value.code == 2


def test_the_page_shows_it_as_it_is_printed() -> None:
    """The page has other figures and columns: those of 300 cases, which it does not show."""
    (page,) = (block.output for block in blocks(CHECKOUT / "docs" / "evaluation.md", "sh") if block.output)
    question = "Who plays the doctor in the series?"
    gone = reading(
        "Who plays the doctor in the first season?",
        "Tony Goldwyn",
        document="season-1",
        quote="the doctor is played by Tony Goldwyn",
    )
    gone["citations"][0]["title"] = "Season 1"
    kept = reading("Who plays the doctor in the second season?", "Charlotte Rampling")
    known = [["Tony Goldwyn", "Goldwyn"]]
    changed = [
        evaluated_case("17", [gone, kept], known=known, question=question, answer_coverage=1.0),
        evaluated_case("17", [kept], known=known, question=question, answer_coverage=0.0),
    ]

    def side(change: float, precision: list[float], calls: float) -> list[EvaluatedCase]:
        return [
            evaluated_case(
                f"c{place}", answer_coverage=0.8 + change, grounded_precision=precision[place % 2], calls=calls
            )
            for place in range(20)
        ]

    plans = [
        evaluation(
            number, name=f"clarify top_k={top_k}", data_set="questions", settings={"top_k": top_k}, planned_cases=300
        )
        for number, top_k in ((12, 20), (13, 10))
    ]
    figures = compare(plans[0], side(0, [0.5, 0.6], 21.0), plans[1], side(-0.4, [0.6, 0.5], 11.0))
    told = "\n".join(
        shown(part)
        for part in (
            comparison_rendering.head(figures),
            comparison_rendering.Metrics(figures.metrics, 20),
            comparison_rendering.changed_cases(pair_of(*changed).pairs, "answer_coverage"),
        )
    )
    assert shape(told) == shape(page)


def shape(told: str) -> list[str]:
    lines = (re.sub(r"[-+<]?\d[\d.:/-]*", "0", line).split() for line in told.splitlines())
    return [" ".join(line) for line in lines if line]
