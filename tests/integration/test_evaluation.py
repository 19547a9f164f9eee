"""The commands under eval, against a real server and a real worker."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

import pgclarify
from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.cli.main import main
from tests.openai_server import PROSE, Reply, Server
from tests.sessions import scalar
from tests.workers import CORPUS, Service, as_role, environment

pytestmark = pytest.mark.xdist_group("evaluation")

CASES: list[dict[str, Any]] = [
    {
        "id": "hail",
        "question": "How high is the deductible after hail?",
        "answers": ["by hail"],
        "documents": ["102", "gone"],
    },
    {
        "id": "fees",
        "question": "Which fees are due for a rental car?",
        "interpretations": [
            {"question": "What is due without a full tank?", "answers": ["is due"], "documents": ["104"]},
            {"question": "What costs smoking?", "answers": ["two hundred dollars"], "documents": ["108"]},
        ],
        "is_ambiguous": 1,
    },
    {"id": "odd", "question": "\u001b[2J[bold]Is it far?", "is_ambiguous": True},
]
METHODS = ("list_answers", "investigate", "search", "detect_ambiguity", "rewrite", "clarifying_questions", "direct",
           "dtv", "dtv_unverified", "rac")  # fmt: skip
Run = Callable[..., tuple[int, str, str]]
# In this house "board" has two meanings, which the classifier that ships cannot know.
VAGUE = "What does the {} of the {} department say about item {}?"
DEPARTMENTS = ("claims", "sales", "legal", "travel", "fleet", "safety", "data", "press", "repair", "supply")


@pytest.fixture
def run(
    service: Service,
    model: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Run:
    """Run commands under eval in a folder with a data set; as the superuser unless told otherwise."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ours.jsonl").write_text("\n".join(map(json.dumps, CASES)))

    def call(*arguments: str, user: str | None = None) -> tuple[int, str, str]:
        dsn = service.dsn if user is None else as_role(service.dsn, user)
        for name, value in environment(dsn, model.base_url).items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as caught:
            main(("eval", *arguments))
        return int(caught.value.code or 0), *capsys.readouterr()

    return call


@pytest.fixture(autouse=True)
def _nothing_kept(superuser: psycopg.Connection[Any]) -> Iterator[None]:
    yield
    superuser.execute("delete from pgclarify_private.eval_run")
    superuser.execute("delete from pgclarify_private.trained_classifier")


def test_an_evaluation_is_estimated_carried_out_compared_reported_and_removed(
    run: Run, service: Service, tmp_path: Path
) -> None:
    code, out, err = run("run", "ours.jsonl", "-o", "top_k=4", user=service.asker)
    assert (code, out) == (1, ""), err
    assert "12" in err, "a question takes four calls"
    assert "1 of 4 relevant documents are not in corpus rental, so no search finds them: gone." in err

    code, out, err = run("run", "ours.jsonl", "-o", "top_k=4", "--yes", "--json", user=service.asker)
    assert code == 0, err
    found = json.loads(out)
    figures = found["figures"]
    assert figures["calls"]["value"] == 4
    assert figures["failed"]["value"] == 0
    assert (figures["coverage"]["cases"], figures["readings"]["cases"]) == (2, 3)
    assert figures["coverage"]["low"] <= figures["coverage"]["value"] <= figures["coverage"]["high"]

    # All of it is paid for now, and the estimate says so.
    code, out, err = run(
        "run", "ours.jsonl", "-o", "top_k=2", "--name", "narrow", "--yes", "--json", user=service.asker
    )
    assert code == 0, err
    narrow = json.loads(out)
    code, out, err = run("compare", str(found["eval_run_id"]), "narrow", "--json", user=service.asker)
    assert code == 0, err
    calls = next(one for one in json.loads(out)["figures"] if one["figure"] == "calls")
    assert (calls["first"], calls["second"], calls["cases"]) == (4, 2, 3)
    code, out, err = run("compare", str(found["eval_run_id"]), "narrow", "--by", "calls", user=service.asker)
    assert code == 0, err
    assert CASES[0]["question"] in out, "its calls changed"
    assert "\x1b[2J" not in out
    limits = ("--fail-below", "coverage=-1", "--fail-below", "calls=0")
    assert run("compare", str(found["eval_run_id"]), "narrow", *limits, user=service.asker)[0] == 0
    assert run("compare", "narrow", str(found["eval_run_id"]), *limits, user=service.asker)[0] == 1

    assert run("report", user=service.asker)[0] == 0
    page = (tmp_path / "evaluations.html").read_text()
    assert "narrow" in page
    assert "\x1b" not in page
    code, out, _ = run("list", "--json", user=service.asker)
    assert [json.loads(line)["name"] for line in out.splitlines()] == ["narrow", "clarify top_k=4"]
    with closing(service.connect(service.asker)) as asker:
        shown = asker.execute("select count(*) from pgclarify.evaluation where figure = 'coverage'").fetchone()
    assert shown == (2,)
    assert run("remove", str(narrow["eval_run_id"]), user=service.asker)[0] == 0
    assert run("remove", str(narrow["eval_run_id"]), user=service.asker)[0] == 1


def test_what_people_say_of_answers_is_measured(
    run: Run, service: Service, superuser: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], tmp_path: Path,
) -> None:  # fmt: skip
    assert run("from-feedback", user=service.asker)[0] == 1
    with pgclarify.connect(as_role(service.dsn, service.asker)) as client:
        (first, *_) = client.clarify("Which fees are due for a rental car?", top_k=4)
        (other, *_) = client.clarify("How high is the deductible after hail?", top_k=4)

    def feedback(*arguments: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as caught:
            main(("feedback", *map(str, arguments)))
        return int(caught.value.code or 0), capsys.readouterr().err

    assert feedback(first.run_id, first.ordinal, "right")[0] == 0
    assert feedback(first.run_id, "--missing", "90 dollars", "--comment", "as of May")[0] == 0
    assert feedback(first.run_id, "--remove")[0] == 0
    assert feedback(first.run_id, "--missing", "91 dollars")[0] == 0
    assert feedback(other.run_id, other.ordinal, "wrong", "--person", "Ann")[0] == 0
    assert feedback(other.run_id, 99, "wrong")[0] == 1
    for wrong in ((), (1,), (1, "right", "--remove")):
        assert feedback(first.run_id, *wrong)[0] == 2

    code, out, err = run("from-feedback", "--output", "-", user=service.asker)
    assert code == 0, err
    assert [json.loads(line) for line in out.splitlines()] == [
        {
            "question": "Which fees are due for a rental car?",
            "interpretations": [
                {"question": first.interpretation, "answers": [first.answer], "documents": list(first.document_ids)},
                {"answers": ["91 dollars"]},
            ],
        },
        {"question": "How high is the deductible after hail?", "wrong_answers": [other.answer]},
    ]
    assert run("from-feedback", user=service.asker)[0] == 0
    code, out, err = run("run", "feedback.jsonl", "-o", "top_k=4", "--yes", "--json", user=service.asker)
    assert code == 0, err
    found = json.loads(out)
    figures = {name: one["value"] for name, one in found["figures"].items()}
    assert (figures["misled"], figures["rightly_silent"], figures["coverage"]) == (1, 0, 0.5)
    again = [(one["question"], one["interpretation"], one["answer"]) for one in found["regressions"]]
    assert ("How high is the deductible after hail?", other.interpretation, other.answer) in again
    code, out, err = run("run", "feedback.jsonl", "-o", "top_k=4", "--yes", user=service.asker)
    assert code == 0, err
    assert other.answer in out
    assert run("report", str(found["eval_run_id"]), user=service.asker)[0] == 0
    assert "known to be wrong" in (tmp_path / "evaluations.html").read_text()
    superuser.execute("delete from pgclarify_private.feedback")


def test_an_evaluation_whose_cases_all_fail_says_why_and_fails(run: Run, model: Server, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text(json.dumps({"id": "odd", "question": "Is a fee due\u001b[2J?"}))
    healthy, model.behavior = model.behavior, lambda chat: PROSE
    try:
        code, out, _ = run("run", "other.jsonl", "-o", "top_k=3", "--name", "other", "--yes")
    finally:
        model.behavior = healthy
    assert code == 1
    assert "1 failed" in out
    assert "\x1b" not in out

    assert run("run", "ours.jsonl", "-o", "top_k=3", "--name", "ours", "--yes")[0] == 0
    assert run("compare", "other", "ours")[0] == 1, "they have no case in common"
    for limit in ("coverage", "coverage=high", "no_figure=1"):
        assert run("compare", "ours", "ours", "--fail-below", limit)[0] == 2


def test_every_method_and_baseline_can_be_evaluated(run: Run) -> None:
    chosen = [word for method in METHODS for word in ("--method", method)]
    code, out, err = run("run", "ours.jsonl", *chosen, "--judge", "model", "--yes", "--json")
    assert code == 0, err
    figures = {one["name"]: one["figures"] for one in map(json.loads, out.splitlines())}
    assert figures.keys() == set(METHODS)
    for method in ("direct", "dtv", "dtv_unverified", "rac"):
        assert figures[method]["calls"]["value"] >= 1, method
    assert "readings" not in figures["search"]
    assert figures["search"]["recall@10"]["cases"] == 2
    assert figures["detect_ambiguity"]["ambiguity_f1"]["cases"] == 2


def test_an_interrupted_evaluation_goes_on_and_judges_no_case_twice(
    run: Run, model: Server, superuser: psycopg.Connection[Any], tmp_path: Path
) -> None:
    fresh = [{"question": f"How high is the deductible after {what}?"} for what in ("hail in May", "snow", "rain")]
    (tmp_path / "fresh.jsonl").write_text("\n".join(map(json.dumps, fresh)))
    ours = ("run", "fresh.jsonl", "-o", "top_k=3", "--yes", "--json", "--concurrency", "1")
    healthy = model.behavior
    model.behavior = lambda chat: healthy(chat) if "hail" in chat.user else Reply(status=401)
    try:
        code, _, err = run(*ours)
    finally:
        model.behavior = healthy
    assert code == 1
    assert "go on" in err or "cannot" in err
    (kept,) = superuser.execute("select count(*) from pgclarify_private.eval_case").fetchone() or (0,)
    assert kept < 3
    code, out, err = run(*ours)
    assert code == 0, err
    counted = superuser.execute("select count(*) from pgclarify_private.eval_case").fetchone()
    assert counted == (3,)
    assert json.loads(out)["figures"]["failed"]["value"] == 0


def test_a_wrong_evaluation_is_refused_before_any_call(run: Run, service: Service) -> None:
    for arguments in (
        ("run", "none.jsonl"),
        ("run", "ours.jsonl", "--method", "guess"),
        ("run", "ours.jsonl", "-o", "depth=3"),
        ("run", "ours.jsonl", "--method", "rac", "-o", "depth=3"),
        ("run", "ours.jsonl", "--judge", "reader"),
        ("run", "ours.jsonl", "-c", "nowhere"),
        ("compare", "1", "2"),
        ("report", "none"),
    ):
        code, out, err = run(*arguments, user=service.asker)
        assert (code, out) == (1, ""), arguments
        assert err


def test_others_see_no_evaluation_and_cannot_write_it(
    run: Run, service: Service, superuser: psycopg.Connection[Any]
) -> None:
    code, out, err = run("run", "ours.jsonl", "-o", "top_k=2", "--yes", "--json")
    assert code == 0, err
    eval_run_id = json.loads(out)["eval_run_id"]
    with closing(service.connect(service.asker)) as other:
        caller = "from pgclarify_private.caller as caller"
        for seen in (
            "select from pgclarify.evaluation",
            f"select {caller} cross join lateral pgclarify_private.evaluations(caller)",
            f"select {caller} cross join lateral pgclarify_private.evaluation_cases(caller, {eval_run_id})",
        ):
            assert other.execute(seen.encode()).fetchall() == [], seen
        assert not scalar(other, f"select pgclarify_private.remove_evaluation(caller, {eval_run_id}) {caller}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            other.execute(f"select pgclarify_private.record_eval_case(caller, {eval_run_id}, '{{}}') {caller}".encode())


def test_a_classifier_trained_on_a_log_judges_the_corpus(
    run: Run, superuser: psycopg.Connection[Any], tmp_path: Path
) -> None:
    labelled = [
        {"question": VAGUE.format(word, department, number), "is_ambiguous": word == "board"}
        for number in range(10, 16)
        for department in DEPARTMENTS
        for word in ("board", "manual")
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, labelled)))
    code, out, err = run("train-ambiguity", "log.jsonl", "--corpus", CORPUS, "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["is_used"], told["is_better"], told["version"]) == (True, True, 1)
    assert told["shipped_version"] == AmbiguityClassifier.load().version
    assert told["examples"] + told["figures"]["questions"] == 120
    used = superuser.execute("select version from pgclarify_private.trained_classifier where is_used").fetchall()
    assert used == [(1,)]
    # The same log again is not better.
    code, out, err = run("train-ambiguity", "log.jsonl", "--corpus", CORPUS)
    assert code == 0, err
    assert "not used" in err

    (tmp_path / "bad.csv").write_text("question,is_ambiguous\nWhy?,perhaps\n")
    (tmp_path / "few.csv").write_text("question,is_ambiguous\nWhy?,true\nWho wrote Emma?,false\n")
    for file in ("bad.csv", "few.csv", "none.csv"):
        assert run("train-ambiguity", file, "-c", CORPUS)[0] == 1
