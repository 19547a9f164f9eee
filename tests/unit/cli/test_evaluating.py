"""The options and the output of eval run and eval list, without a server."""

from __future__ import annotations

import io
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType

from pgclarify.cli import connection, evaluating, evaluation_rendering, graph
from pgclarify.cli.evaluating import spread
from pgclarify.cli.main import main
from pgclarify.evaluated import Case, Evaluation, Summary, Usage
from pgclarify.evaluation.configurations import Configuration
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.evaluation.estimate import ConfigurationEstimate
from pgclarify.evaluation.runner import Finished, Progress
from tests.evaluated_cases import evaluation

HOSTILE = "\x1b[2J[bold]\u202egnp.exe\r"


def shown(what: RenderableType, width: int = 160) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, markup=False, highlight=False, _environ={}).print(what)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("q --config a.toml b.toml --yes", "q --config a.toml --config b.toml --yes"),
        ("q --set a=1,2 b=3 --set c=4", "q --set a=1,2 --set b=3 --set c=4"),
        ("--config a.toml q.jsonl", "--config a.toml q.jsonl"),
        ("--set a=1 q.jsonl", "--set a=1 q.jsonl"),
        ("q --load x y - z -c docs", "q --load x --load y --load - --load z -c docs"),
        ("q --name a.toml b=1 --config", "q --name a.toml b=1 --config"),
        ("q --config=a.toml", "q --config=a.toml"),
        ("", ""),
    ],
)
def test_options_that_take_many_values(typed: str, meant: str) -> None:
    assert spread(typed.split()) == meant.split()


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("run",),
        ("run", "q.jsonl", "--cases", "0"),
        ("run", "q.jsonl", "--concurrency", "0"),
        ("run", "q.jsonl", "--concurrency", "65"),
        ("run", "q.jsonl", "--judge", "me"),
        ("run", "q.jsonl", "--load", "docs"),
        ("run", "q.jsonl", "--name", "12"),
        ("run", "q.jsonl", "other.jsonl"),
        ("run", "--load", "pages", "q.jsonl", "-c", "docs"),
        ("list", "--limit", "0"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(("eval", *arguments))
    assert caught.value.code == 2
    capsys.readouterr()


def test_what_is_to_be_loaded_and_is_not_there_is_an_error_like_others(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(("eval", "run", "nowhere.jsonl", "-c", "docs", "--load", "no-such-file"))
    assert caught.value.code == 1
    told = capsys.readouterr().err
    assert told.startswith("Error: Cannot read the files to load.")
    assert "no-such-file" in told


@pytest.mark.parametrize(
    ("grid", "expected"),
    [("retrieval=adaptive", ["load", "link docs", "evaluate"]), ("retrieval=fixed", ["load", "evaluate"])],
)
def test_what_follows_links_waits_until_loaded_documents_are_linked(
    grid: str, expected: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[str] = []

    async def propose(*_: object) -> bool:
        return True

    async def evaluate(*_: object) -> None:
        done.append("evaluate")

    monkeypatch.setattr(connection, "running_dsn", lambda settings: "dsn")
    monkeypatch.setattr(connection, "connect", lambda dsn: nullcontext())
    monkeypatch.setattr(evaluating, "_propose", propose)
    monkeypatch.setattr(evaluating, "_load", lambda *_: done.append("load"))
    monkeypatch.setattr(evaluating, "_evaluate", evaluate)
    monkeypatch.setattr(graph, "wait_until_linked", lambda database, corpus: done.append(f"link {corpus}"))
    for name in ("q.jsonl", "pages.jsonl"):
        (tmp_path / name).write_text('{"question": "Is it far?"}')
    with pytest.raises(SystemExit) as caught:
        main(("eval", "run", "q.jsonl", "-c", "docs", "--load", "pages.jsonl", "--set", grid))
    assert caught.value.code == 0
    assert done == expected


def test_help_shows_brackets(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(("eval", "run", "--help"))
    assert "a table [options]" in " ".join(capsys.readouterr().out.replace("│", "").split())


def finished(number: int = 1, name: str = "clarify", /, **metrics: float) -> Finished:
    summaries = {metric: Summary(value, value / 2, min(1.0, value * 2), 4) for metric, value in metrics.items()}
    return Finished(number, evaluation(number, name=name).plan, summaries, {}, 0, Usage(), {})


def test_columns_are_those_that_somebody_has() -> None:
    readings = finished(1, interpretations=2.5, answer_coverage=0.4, grounded_f1=0.5, calls=21.0, **{"recall@10": 0.7})
    told = shown(evaluation_rendering.finished([readings]))
    assert "40.0 [20, 80]" in told
    assert "recall@10" not in told
    assert "accuracy" not in told
    ranking = finished(2, "search", calls=0.0, **{"recall@10": 0.7})
    told = shown(evaluation_rendering.finished([readings, ranking]))
    assert "recall@10" in told
    row = next(line for line in told.splitlines() if line.lstrip().startswith("2"))
    assert "-" in row.split()
    detection = finished(3, "detect", accuracy=0.75, f1=0.5, average_precision=0.6)
    assert "75.0 [38, 100]" in shown(evaluation_rendering.finished([detection]))


def test_methods_of_dialogue_have_columns_of_their_own() -> None:
    rewriting = finished(1, "rewrite", accuracy=0.75, bleu=0.5, **{"recall@10": 0.7})
    told = shown(evaluation_rendering.finished([rewriting]))
    assert "50.0 [25, 100]" in told
    assert "turn 0" not in told
    turns = {f"turn_{turn}_ndcg@10": turn / 4 for turn in range(4)}
    told = shown(evaluation_rendering.finished([finished(2, "simulated_user", calls=9.0, **turns)]))
    row = next(line for line in told.splitlines() if line.lstrip().startswith("2")).split()
    assert row[2:6] == ["0.0", "25.0", "50.0", "75.0"]
    assert "Turns are nDCG@10" in " ".join(told.split())
    asking = finished(3, "clarifying_questions", asked_back=1.0, question_f1=0.5)
    assert "question F1" in shown(evaluation_rendering.finished([asking]))


def test_strata_stand_below_the_whole() -> None:
    def stratum(cases: int, coverage: float) -> dict[str, Summary]:
        return {
            "answer_coverage": Summary(coverage, coverage / 2, 1.0, cases),
            "calls": Summary(7.0, None, None, cases),
        }

    strata = {f"kind={HOSTILE}": stratum(4, 0.3), "hops=10": stratum(8, 0.6), "hops=2": stratum(20, 0.9)}
    both = [replace(finished(number, answer_coverage=0.4, calls=21.0), strata=strata) for number in (1, 2)]
    told = shown(evaluation_rendering.finished(both))
    assert not {"\x1b", "\u202e", "\r"} & set(told)
    whole, _, below = told.partition("stratum")
    assert "40.0 [20, 80]" in whole
    rows = [line.split() for line in below.splitlines() if re.search(r"\d", line)]
    assert [row[0] for row in rows[2:6]] == ["hops=2", "20", "hops=10", "8"]
    assert rows[2][1:] == ["20", "1", "90.0", "[45,", "100]", "7.0"]
    assert rows[0][-4:] == ["4", "1", "-", "-"], "too few for figures"
    assert "fewer than 5 cases" in told
    assert "fewer than" not in shown(
        evaluation_rendering.finished([replace(both[0], strata={"hops=2": stratum(5, 0.3)})])
    )
    assert "stratum" not in shown(evaluation_rendering.finished([finished(1, answer_coverage=0.4)]))


def test_failures_are_told_with_their_reasons() -> None:
    one = finished(1, failed=0.5)
    told = shown(evaluation_rendering.finished([replace(one, failures={HOSTILE: 2})]))
    assert "2 cases of clarify failed, and counted as nothing" in told
    assert "2 x " in told
    assert not {"\x1b", "\u202e", "\r"} & set(told)


def test_judgements_that_failed_are_counted_below() -> None:
    told = shown(evaluation_rendering.finished([finished(1, unjudged=0.75), finished(2, "rac", unjudged=0.0)]))
    assert "3 judgements of clarify failed" in told
    assert "judgements of rac" not in told


def test_failures_of_one_kind_are_told_once() -> None:
    failures = {"run 14 failed": 1, "another": 2, "run 15 failed": 3}
    assert evaluation_rendering.kinds_of_failures(failures) == [("run 14 failed", 4), ("another", 2)]
    told = shown(evaluation_rendering.finished([replace(finished(1, failed=1.0), failures=failures)]))
    assert "4 x run 14 failed" in told
    assert "run 15" not in told


@pytest.mark.parametrize(("share", "has"), [(1.0, True), (0.75, False), (0.0, False)])
def test_all_cases_failed_or_not(share: float, *, has: bool) -> None:
    assert evaluation_rendering.has_failed(finished(1, failed=share)) is has
    assert not evaluation_rendering.has_failed(finished(1))


def test_a_metric_that_not_all_cases_have_says_so_and_a_ranking_has_no_judge() -> None:
    one = finished(1, "detect", accuracy=0.75, calls=0.0)
    fewer = {**one.summaries, "accuracy": Summary(0.75, None, None, 3)}
    told = shown(evaluation_rendering.finished([replace(one, summaries=fewer)]))
    assert "Of 3 cases: accuracy." in told
    assert "Judged by" not in told
    assert "has not been measured" not in told
    told = shown(evaluation_rendering.finished([finished(1, grounded_recall=0.75, calls=1.0)]))
    assert "Of " not in told
    assert "Judged by lexical." in told
    assert "has not been measured" in told


def test_what_was_read_of_a_data_set() -> None:
    known = [
        Case("a", "a?", answer_sets=((("x",),),), document_ids=("d",)),
        Case("b", "b?", answer_sets=((("x",),),)),
        Case("c", "c?"),
    ]
    given = DataSet("q", tuple(known), 3, bytes(32))
    assert shown(evaluation_rendering.data_set(given, 0, "docs")) == "3 questions; 2 with answers, 1 with documents\n"
    odd = replace(given, unknown_fields=(HOSTILE, *"abcdefg"))
    told = shown(evaluation_rendering.data_set(odd, 1, HOSTILE))
    assert "unknown fields: \\x1b" in told
    assert "a, b, c, d and 3 more" in told
    assert "1 document id is not in" in told
    assert not {"\x1b", "\u202e"} & set(told)
    bare = replace(given, cases=(known[2],))
    assert "1 question; nothing is known of them" in shown(evaluation_rendering.data_set(bare, 0, "docs"))


def estimate(**changes: Any) -> ConfigurationEstimate:
    given: dict[str, Any] = {
        "configuration": Configuration(HOSTILE, "clarify"),
        "cases": 50,
        "done": 10,
        "calls": 840,
        "paid": 21,
        "prompt_tokens": 400_000,
        "completion_tokens": 1_000,
        "judge_calls": 0,
        "measured_calls": 120,
    }
    return ConfigurationEstimate(**given | changes)


def test_estimates() -> None:
    told = shown(evaluation_rendering.estimates([estimate()]))
    assert "400,000" in told
    assert "120 calls of this model" in told
    assert "judge" not in told
    assert not {"\x1b", "\u202e"} & set(told)
    assert "judge's calls" in shown(evaluation_rendering.estimates([estimate(judge_calls=5)]))
    assert "length of passages" in shown(evaluation_rendering.estimates([estimate(measured_calls=0)]))
    assert "No call" in shown(evaluation_rendering.estimates([estimate(calls=0, paid=0)]))
    told = shown(evaluation_rendering.estimates([estimate(calls=0, paid=0, verdicts=110)]))
    assert "110 verdicts at most, none by a language model." in told
    assert "No call" not in told


def test_a_reranker_behind_an_endpoint_may_cost_and_is_not_in_the_estimate() -> None:
    left_out = "reranker behind an endpoint are not counted"
    reranked = Configuration("reranked", "clarify", None, {"reranker": "endpoint:words"})
    paid = {"calls": 0, "paid": 0}
    given = estimate(configuration=reranked, **paid)
    assert given.may_cost
    assert left_out in shown(evaluation_rendering.estimates([estimate(), given]))
    for other in (estimate(**paid), estimate(configuration=reranked, done=50, **paid)):
        assert not other.may_cost
        assert left_out not in shown(evaluation_rendering.estimates([other]))


@pytest.mark.parametrize(
    ("changes", "costs"),
    [({}, True), ({"paid": 840}, False), ({"paid": 840, "judge_calls": 1}, True), ({"calls": 0, "paid": 0}, False)],
)
def test_what_is_paid_for_costs_nothing(changes: dict[str, Any], *, costs: bool) -> None:
    assert estimate(**changes).may_cost is costs


def test_a_list_of_evaluations() -> None:
    done = evaluation(12, name=HOSTILE)
    begun: Evaluation = replace(done, eval_run_id=13, finished_at=None, done_cases=1)
    told = shown(
        evaluation_rendering.evaluations([begun, done], {12: {"answer_coverage": Summary(0.25, None, None, 2)}})
    )
    assert "25.0" in told
    assert "finished" in told
    assert f"1 of {begun.plan.planned_cases} done" in told
    failed = shown(evaluation_rendering.evaluations([done], {12: {"failed": Summary(0.5, None, None, 2)}}))
    assert "1 failed" in failed
    assert "finished" not in failed
    assert not {"\x1b", "\u202e"} & set(told)


def test_load_does_not_swallow_the_data_set_silently(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(("eval", "run", "--load", "pages", "q.jsonl", "-c", "docs"))
    assert "write the data set first" in " ".join(capsys.readouterr().err.replace("│", "").split())


def test_verdicts_of_no_model_are_no_calls() -> None:
    one = finished(1, calls=27.5, interpretations=2.0)
    by_words = replace(one, plan=replace(one.plan, provider="extractive"), usage=Usage(calls=110, reused_calls=11))
    told = carried_out(by_words)
    assert "110 verdicts, none by a language model." in told
    assert "110 calls" not in told
    assert evaluation_rendering.calls_of_a_model(by_words) == 11
    # The same figure as in eval compare.
    assert "27.5" in shown(evaluation_rendering.finished([by_words]))
    assert "27.5" in shown(evaluation_rendering.finished([one]))
    assert "99 calls made now, 11 before" in carried_out(replace(one, usage=Usage(calls=110, reused_calls=11)))


def carried_out(one: Finished) -> str:
    told = evaluation_rendering.carried_out(one)
    assert told is not None
    return told.plain


def test_failed_cases_stand_in_the_table_where_there_are_any() -> None:
    told = shown(evaluation_rendering.finished([finished(1, failed=0.5), finished(2, "other", failed=0.0)]))
    assert re.search(r"^id +configuration +failed$", told, re.M)
    assert re.findall(r"^ ?[12] +\w+ +(\d)$", told, re.M) == ["2", "0"]
    assert "failed" not in shown(evaluation_rendering.finished([finished(1, failed=0.0)]))


def test_what_is_said_of_what_was_cut_off() -> None:
    plan, progress = evaluation(1).plan, Progress(3, 9, put_off=2)
    told = evaluation_rendering.cut_off(plan, progress, is_interrupted=True)
    assert told is not None
    assert "The same command goes on with it." in told.plain
    assert "2 cases over which the server failed do not count" in told.plain
    assert evaluation_rendering.cut_off(plan, replace(progress, put_off=0), is_interrupted=False) is None


def test_what_stands_beside_the_bar() -> None:
    told = evaluation_rendering.progress_told(Progress(3, 9, calls=7, coverage=0.5, failed=1, put_off=2))
    assert told == "7 calls, coverage 50.0 %, 1 failed, 2 put off"
    assert evaluation_rendering.progress_told(Progress(9, 9, calls=7, is_summing_up=True)) == "working out the metrics"
