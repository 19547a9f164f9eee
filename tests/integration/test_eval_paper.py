"""The command eval paper: every paper against a real server, a worker and a model that goes by rules."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pgclarify.evaluation.papers import PAPERS
from tests.integration.test_evaluation_commands import Done, Run, count
from tests.integration.test_evaluation_commands import run as run_as_asker
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.workers import DOCUMENTS, Service

__all__ = ["run_as_asker"]

pytestmark = pytest.mark.xdist_group("eval_paper")

QUESTIONS: list[dict[str, Any]] = [
    {"id": "hail", "question": "How high is the deductible after hail?", "answers": ["by hail"], "documents": ["102"],
     "intent": "the deductible after hail", "clarifying_questions": ["which damage"], "is_ambiguous": True,
     "history": ["Who rents it?", "Ida Holm."], "rewrites": ["How high is it after hail?"], "hops": 2},
    {"id": "smoke", "question": "What does she pay for smoking?", "answers": ["two hundred dollars"],
     "documents": ["108"], "intent": "the cleaning fee", "clarifying_questions": ["which fee"], "is_ambiguous": False,
     "history": ["Who rents it?", "Ida Holm."], "rewrites": ["What does Ida Holm pay for smoking?"], "hops": 2},
]  # fmt: skip
# Few passages are searched and sampled, so that a paper takes seconds.
SMALL = {
    "verdict": ("top_k=2",),
    "sunar": ("top_k=2", "budget=2", "batch=2", "samples=2", "max_steps=1"),
    "ambigprompt": ("top_k=3", "max_answers=2"),
}


@pytest.fixture
def run(run_as_asker: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run commands as a role that may load documents and call a model from this process."""
    monkeypatch.setenv("PGCLARIFY_DATABASE_URL", service.dsn)
    return run_as_asker


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    documents = [{"id": number, "title": title, "text": text} for number, (title, text) in DOCUMENTS.items()]
    (folder / "ours.questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)))
    (folder / "ours.corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    return folder


def made(run: Run, data: Path, name: str, *more: str) -> tuple[Done, list[dict[str, Any]]]:
    """Make a paper, and read its tables."""
    settings = [word for one in SMALL.get(name, ()) for word in ("--set", one)]
    output = data / f"{name}.json"
    done = run("eval", "paper", name, "--data", str(data), "--data-set", "ours", "-o", str(output), *settings, *more)
    return done, json.loads(output.read_text())["tables"] if output.exists() else []


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_is_made(run: Run, data: Path, name: str) -> None:
    done, tables = made(run, data, name)
    assert done.code == 0, done.err
    assert [table["source"] for table in tables] == [table.source for table in PAPERS[name].tables]
    for table in tables:
        for row in table["rows"]:
            if row["left_out"] is not None:
                # The judge of Figure 3, and labels for a regression on four fifths of two questions.
                assert table["source"] == "Figure 3" or row["method"] == "logistic_regression"
                continue
            assert row["eval_run_id"] is not None
            assert row["here"], f"{table['source']} {row['name']} has no figures"
            of_two_hops = {column["title"] for column in table["columns"] if column["stratum"] == "hops=2"}
            assert of_two_hops <= row["here"].keys()
    assert "\x1b" not in done.out


def test_again_nothing_is_made_twice_and_other_questions_are(
    run: Run, data: Path, service: Service, model: Server
) -> None:
    _, first = made(run, data, "ambigprompt")
    calls, evaluations = model.calls, count(service, "eval_run")
    done, second = made(run, data, "ambigprompt")
    assert (model.calls, count(service, "eval_run")) == (calls, evaluations)
    assert second == first
    assert "0 calls" not in done.err
    made(run, data, "ambigprompt", "--limit", "1")
    assert count(service, "eval_run") > evaluations


def test_interrupted_it_goes_on_where_it_was(run: Run, data: Path, service: Service, model: Server) -> None:
    """The endpoint stops in the middle of a row. Earlier rows are complete, and this row keeps its first question."""

    # Other questions than in other tests, so that no reply is in the ledger.
    asked = [{**row, "question": f"{row['question']} And how much today?"} for row in QUESTIONS]
    (data / "ours.questions.jsonl").write_text("\n".join(map(json.dumps, asked)))

    def away(chat: Chat) -> Reply:
        is_second = "smoking" in chat.user and chat.purpose == "listing"
        return Reply.error(401, "the key is no longer valid") if is_second else by_rules(chat)

    model.behavior = away
    done, _ = made(run, data, "ambigprompt", "--concurrency", "1")
    assert done.code == 1
    model.behavior = by_rules
    calls = model.calls
    done, tables = made(run, data, "ambigprompt", "--concurrency", "1")
    assert done.code == 0, done.err
    assert "1 case had been judged before" in done.err
    asked_now = model.calls - calls
    ours = next(row for row in tables[0]["rows"] if row["method"] == "list_answers")
    assert ours["here"]["calls"]["cases"] == 2
    again, _ = made(run, data, "ambigprompt", "--concurrency", "1")
    assert again.code == 0
    assert model.calls == calls + asked_now


def test_a_row_in_which_questions_failed_is_made_again(run: Run, data: Path, model: Server) -> None:
    """A prompt that is too long for the endpoint's settings does not count against the method."""
    asked = [{**row, "question": f"{row['question']} And how much now?"} for row in QUESTIONS]
    (data / "ours.questions.jsonl").write_text("\n".join(map(json.dumps, asked)))
    too_long = Reply.error(413, "the prompt is too long")
    model.behavior = lambda chat: too_long if chat.purpose == "baseline_listing" else by_rules(chat)
    done, tables = made(run, data, "ambigprompt")
    assert done.code == 0, done.err
    assert any("failed" in note for note in tables[0]["notes"])
    model.behavior = by_rules
    again, repeated = made(run, data, "ambigprompt")
    assert again.code == 0
    assert not any("failed" in note for note in repeated[0]["notes"])
    first, second = ({row["method"]: row["eval_run_id"] for row in one[0]["rows"]} for one in (tables, repeated))
    assert first["list_answers"] == second["list_answers"]
    assert first["list_at_once"] < second["list_at_once"]


def test_a_dry_run_loads_and_asks_nothing(run: Run, data: Path, service: Service, model: Server) -> None:
    calls, corpora = model.calls, count(service, "corpus")
    (data / "theirs.questions.jsonl").write_bytes((data / "ours.questions.jsonl").read_bytes())
    (data / "theirs.corpus.jsonl").write_bytes((data / "ours.corpus.jsonl").read_bytes())
    done = run("eval", "paper", "sunar", "--data", str(data), "--data-set", "theirs", "--dry-run")
    assert (done.code, done.out) == (0, "")
    assert re.search(r"sunar: SUNAR +2 +0 +120 ", done.err)
    assert (model.calls, count(service, "corpus")) == (calls, corpora)


def test_what_is_missing_is_said_before_anything_starts(run: Run, data: Path, model: Server) -> None:
    calls = model.calls
    done = run("eval", "paper", "sunar", "--data", str(data), "--data-set", "nowhere")
    assert done.code == 1
    assert "nowhere.questions.jsonl" in done.err
    assert model.calls == calls


def test_a_corpus_with_other_documents_is_refused(run: Run, data: Path) -> None:
    made(run, data, "ambigprompt")
    lines = (data / "ours.corpus.jsonl").read_text().splitlines()
    (data / "ours.corpus.jsonl").write_text("\n".join(lines[:-1]))
    done, _ = made(run, data, "ambigprompt")
    assert done.code == 1
    assert "pgclarify drop paper-ours" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("verdikt", "--data", "."),
        ("verdict",),
        ("verdict", "--data", "gone"),
        ("verdict", "--data", ".", "--judge", "me"),
        ("verdict", "--data", ".", "--limit", "0"),
        ("verdict", "--data", ".", "-o", "tables.html"),
        ("verdict", "--data", ".", "-o", "gone/tables.md"),
        ("verdict", "--data", ".", "--set", "top_k=1,2"),
    ],
)
def test_wrong_usage_is_refused(run: Run, arguments: tuple[str, ...]) -> None:
    assert run("eval", "paper", *arguments).code == 2
