"""The commands eval run and eval list against a real server and a real worker."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pgclarify.cli.main import main
from tests.openai_server import HANG, MODEL, PROSE, Chat, Reply, Server
from tests.workers import API_KEY, CORPUS, Service, as_role, environment, scalar

pytestmark = pytest.mark.xdist_group("evaluation_commands")

CASES = [
    {"question": "How high is the deductible after hail?", "answers": ["by hail"], "gold": ["102"]},
    {"question": "What does smoking cost?", "answers": ["two hundred dollars"], "gold": ["108"]},
    {"question": "\u001b[2J[bold]Is it far?", "is_ambiguous": True},
]
Run = Callable[..., "Done"]


class Done:
    """The result of a command."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def run(
    service: Service,
    model: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Run:
    """Run commands as a role that may only ask, in a folder with a data set."""
    for name, value in environment(as_role(service.dsn, service.asker), model.base_url).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ours.jsonl").write_text("\n".join(map(json.dumps, CASES)))

    def call(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        return Done(int(caught.value.code or 0), *capsys.readouterr())

    return call


def count(service: Service, table: str) -> int:
    with service.connect() as connection:
        return int(scalar(connection, f"select count(*) from pgclarify.{table}"))  # noqa: S608 - ours


def test_a_grid_is_run_shown_and_listed(run: Run) -> None:
    done = run("eval", "run", "ours.jsonl", "-c", CORPUS, "--set", "top_k=2,3", "singletons=keep,drop", "--name", "try")
    assert done.code == 0, done.err
    told = [line for line in done.out.splitlines() if "try clarify" in line]
    assert len(told) == 4
    assert all(re.search(r"\d+\.\d \[\d+, \d+\]", line) for line in told), "coverage has its interval"
    assert "3 cases of ours on rental" in done.out
    assert "\x1b" not in done.out
    numbers = [int(line.split()[0]) for line in told]
    assert f"pgclarify eval compare {numbers[0]} {numbers[-1]}" in done.err
    assert f"pgclarify eval report {' '.join(map(str, numbers))}" in done.err
    listed = run("eval", "list", "--limit", "3")
    assert [int(line.split()[0]) for line in listed.out.splitlines() if "finished" in line] == numbers[:0:-1]
    as_json = run("eval", "list", "--json", "--limit", "4").rows
    assert [row["eval_run_id"] for row in as_json] == numbers[::-1]
    assert as_json[0]["settings"] == {"top_k": 3, "singletons": "drop"}
    assert as_json[0]["metrics"]["calls"]["value"] == 4


def test_the_second_time_nothing_is_paid_for(run: Run, model: Server) -> None:
    first = run("eval", "run", "ours.jsonl", "-c", CORPUS, "--set", "top_k=4", "--json")
    calls = model.calls
    second = run("eval", "run", "ours.jsonl", "-c", CORPUS, "--set", "top_k=4", "--json")
    assert model.calls == calls
    (one,), (two,) = first.rows, second.rows
    assert (two["paid_calls"], two["reused_calls"]) == (0, 15)
    assert "0 calls made now, 15 before" in second.err
    assert one["metrics"]["answer_coverage"] == two["metrics"]["answer_coverage"]
    assert one["data_set_hash"] == two["data_set_hash"]
    assert two["metrics"]["answer_coverage"].keys() == {"value", "low", "high", "cases"}


def test_a_dry_run_starts_nothing(run: Run, service: Service, model: Server) -> None:
    calls, before = model.calls, (count(service, "run"), count(service, "eval_run"))
    done = run("eval", "run", "ours.jsonl", "-c", CORPUS, "--set", "top_k=9", "--dry-run")
    assert (done.code, done.out) == (0, "")
    assert re.search(r"clarify top_k=9 +3 +0 +30 +\d+ +[\d,]+ +[\d,]+", done.err)
    dry = run(
        "eval", "run", "ours.jsonl", "-c", CORPUS, "--set", "top_k=9", "--dry-run", "--judge", "lexical", "--json"
    )
    assert (dry.rows[0]["calls"], dry.rows[0]["cases"]) == (30, 3)
    assert (model.calls, (count(service, "run"), count(service, "eval_run"))) == (calls, before)


def test_a_sample_and_other_fields(run: Run, tmp_path: Path) -> None:
    (tmp_path / "theirs.jsonl").write_text("\n".join(json.dumps({"query": f"q {n}", "a": ["x"]}) for n in range(9)))
    fields = ("--field", "question=query", "--field", "answers=a")
    done = run("eval", "run", "theirs.jsonl", *fields, "-c", CORPUS, "--method", "search", "--cases", "2", "--json")
    assert done.rows[0]["planned_cases"] == 2
    parts = [
        run("eval", "run", "theirs.jsonl", *fields, "-c", CORPUS, "--method", "search", "--part", part, "--json").rows
        for part in ("1/2", "2/2")
    ]
    assert sum(part[0]["planned_cases"] for part in parts) == 9


def test_files_of_configurations_and_documents_to_load(run: Run, service: Service, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('name = "narrow"\n[options]\ntop_k = 1\n')
    (tmp_path / "b.toml").write_text('method = "search"\n[options]\ntop_k = 5\n')
    (tmp_path / "pages.jsonl").write_text(json.dumps({"id": "p", "text": "Hail costs four hundred dollars at most."}))
    corpus = f"pages_{tmp_path.name}"
    arguments = ("eval", "run", "ours.jsonl", "-c", corpus, "--load", "pages.jsonl", "--config", "a.toml", "b.toml")
    done = run(*arguments, "--json")
    assert [row["name"] for row in done.rows] == ["narrow", "search top_k=5"], done.err
    assert {row["corpus_name"] for row in done.rows} == {corpus}


@pytest.mark.wording
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("ours.jsonl", "--set", "topk=3"), "threshold, top_k, verify."),
        (("ours.jsonl", "-c", "nowhere"), 'orpus "nowhere" does not exist'),
        (("ours.jsonl", "--set", "top_k=0"), '"top_k" has a wrong value'),
        (
            ("ours.jsonl", "--set", "top_k=1,2", "consolidation=default,x"),
            'In "clarify top_k=1 consolidation=x": option "consolidation" has a wrong value',
        ),
        (("ours.jsonl", "--method", "guess"), "no method 'guess'"),
        (("ours.jsonl", "--part", "3/2"), "no part of a data set"),
        (("ours.jsonl", "--field", "answers=nothing"), "no field of that name"),
        (("nowhere.jsonl",), "annot read nowhere.jsonl"),
        (("a.toml", "--config", "nowhere.toml"), "annot read nowhere.toml"),
        (("ours.jsonl", "--method", "rac"), "the role may not"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(
    run: Run, service: Service, arguments: tuple[str, ...], told: str
) -> None:
    before = count(service, "run"), count(service, "eval_run")
    done = run("eval", "run", *arguments)
    assert (done.code, done.out) == (1, "")
    assert told in done.err
    assert "Hint: " in done.err
    assert (count(service, "run"), count(service, "eval_run")) == before


def test_an_evaluation_in_which_every_case_failed_has_failed(run: Run, model: Server, tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text("\n".join(json.dumps({"question": f"Is it broken {n}?"}) for n in range(3)))
    by_rules = model.behavior
    model.behavior = lambda _: PROSE
    done = run("eval", "run", "broken.jsonl", "-c", CORPUS, "--method", "list_answers")
    model.behavior = by_rules
    assert done.code == 1
    assert "3 cases of list_answers failed" in done.out
    assert "3 failed" in run("eval", "list", "--limit", "1").out


def test_what_a_data_set_names_and_a_corpus_does_not_have_is_said(run: Run, tmp_path: Path) -> None:
    case = {
        "question": "What does smoking cost?",
        "documents": ["108", "no-such"],
        "interpretations": [{"question": "What does smoking in a room cost?", "documents": ["nor-this"]}],
        "answerz": ["x"],
    }
    (tmp_path / "odd.jsonl").write_text(json.dumps(case))
    done = run("eval", "run", "odd.jsonl", "-c", CORPUS, "--dry-run")
    told = "1 question; 1 with documents; unknown fields: answerz; 2 document ids are not in rental"
    assert told in done.err


@pytest.mark.parametrize(("grid", "is_told"), [("retrieval=adaptive", True), ("retrieval=fixed", False)])
def test_passages_without_neighbors_are_told_if_a_search_follows_neighbors(
    run: Run, service: Service, tmp_path: Path, grid: str, *, is_told: bool
) -> None:
    (tmp_path / "far.jsonl").write_text('{"question": "Is it far?"}')
    count = "insert into pgclarify_private.corpus_tally (corpus_id, linked) select corpus_id, %s from pgclarify.corpus"
    with service.connect() as superuser:
        superuser.execute(count, [-100])
        done = run("eval", "run", "far.jsonl", "-c", CORPUS, "--set", grid, "--dry-run")
        superuser.execute(count, [100])
    assert ("have no neighbors yet" in done.err) == is_told


def test_a_corpus_without_a_graph_is_told_if_a_search_follows_neighbors(
    run: Run, service: Service, tmp_path: Path
) -> None:
    """It is one whose passages are in no partition, as those of a distributed corpus."""
    (tmp_path / "far.jsonl").write_text('{"question": "Is it far?"}')
    with service.connect() as superuser:
        ((table, bound),) = superuser.execute(
            "select pg_class.oid::regclass::text, pg_get_expr(relpartbound, pg_class.oid) from pgclarify.corpus"
            " inner join pg_class on pg_class.oid = ('pgclarify_private.passage_' || corpus_id)::regclass"
            " where name = %s",
            [CORPUS],
        )
        superuser.execute(f"alter table pgclarify_private.passage detach partition {table}")
        try:
            told = [
                run("eval", "run", "far.jsonl", "-c", CORPUS, "--set", f"retrieval={method}", "--dry-run").err
                for method in ("adaptive", "fixed")
            ]
        finally:
            superuser.execute(f"alter table pgclarify_private.passage attach partition {table} {bound}")
    assert ["no neighborhood graph" in err for err in told] == [True, False]
    assert not any("no neighbors yet" in err for err in told)


def test_interrupted_it_says_how_to_go_on_and_goes_on(
    run: Run, service: Service, model: Server, tmp_path: Path
) -> None:
    (tmp_path / "new.jsonl").write_text("\n".join(json.dumps({"question": f"What is new {n}?"}) for n in range(4)))
    arguments = ("eval", "run", "new.jsonl", "-c", CORPUS, "--set", "top_k=2", "--concurrency", "1")
    by_rules = model.behavior
    is_third = threading.Event()

    def behave(chat: Chat) -> Reply:
        if "new 2" not in chat.user:
            return by_rules(chat)
        is_third.set()
        return HANG

    model.behavior = behave
    with subprocess.Popen(
        [sys.executable, "-m", "pgclarify.cli", *arguments],
        env=environment(as_role(service.dsn, service.asker), model.base_url),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert is_third.wait(300)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=300)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, "")
    assert "The same command goes on with it." in err
    assert "Traceback" not in err
    listed = run("eval", "list", "--limit", "1", "--json").rows[0]
    assert (listed["done_cases"], listed["planned_cases"], listed["finished_at"]) == (2, 4, None)
    assert "2 of 4 done" in run("eval", "list", "--limit", "1").out
    model.behavior = by_rules
    done = run(*arguments, "--json")
    assert (done.rows[0]["eval_run_id"], done.rows[0]["resumed_cases"]) == (listed["eval_run_id"], 2)
    assert "2 cases had been judged before" in done.err


def test_the_key_is_nowhere(run: Run, service: Service) -> None:
    done = run("eval", "run", "ours.jsonl", "-c", CORPUS, "--set", "top_k=2", "--json")
    assert API_KEY not in done.out + done.err
    assert done.rows[0]["model"] == MODEL


@pytest.mark.wording
def test_nothing_is_loaded_before_it_is_agreed(run: Run, service: Service, tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text(json.dumps({"id": "p", "text": "Hail costs four hundred dollars at most."}))
    corpus = f"dry_{tmp_path.name}"
    arguments = ("eval", "run", "ours.jsonl", "-c", corpus, "--load", "pages.jsonl")
    before = count(service, "corpus"), count(service, "document")
    done = run(*arguments, "--dry-run", "--json")
    assert (done.code, done.rows[0]["calls"]) == (0, 63)
    assert f"Would be loaded into {corpus} first: pages.jsonl." in done.err
    for wrong, told in ((("--set", "topk=3"), "topk"), (("--method", "rac"), "the role may not")):
        done = run(*arguments, *wrong)
        assert (done.code, told in done.err) == (1, True)
    done = run("eval", "run", "ours.jsonl", "-c", CORPUS, "--load", "pages.jsonl", "--dry-run")
    assert done.code == 0
    assert (count(service, "corpus"), count(service, "document")) == before
