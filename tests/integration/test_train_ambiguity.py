"""train-ambiguity, from a file of labels to a worker that uses the trained version."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgclarify.algorithms.ambiguity import AmbiguityClassifier
from pgclarify.cli.main import main
from tests.integration.conversing import rows
from tests.openai_server import Server
from tests.workers import CORPUS, Service, as_role, environment, scalar

Connection = psycopg.Connection[Any]

# In this house "board" has two meanings, which the classifier that ships cannot know.
QUESTION = "What does the {} of the {} department say about item {}?"
DEPARTMENTS = ("claims", "sales", "legal", "travel", "fleet", "safety", "data", "press", "repair", "supply")
VAGUE, CLEAR = (QUESTION.format(word, "parking", 300) for word in ("board", "manual"))
DETECT = "select * from pgclarify.detect_ambiguity(%s, options => %s)"
IN_USE = "select version from pgclarify.ambiguity_classifier where is_used"
USE = "select pgclarify.use_ambiguity_classifier(%s, %s)"
VERSION = "select classifier_version from pgclarify.detection where run_id = %s"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs commands in a folder with a labelled log; as the superuser, who owns the corpus."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    labelled = [
        {"question": QUESTION.format(word, department, number), "is_ambiguous": word == "board"}
        for number in range(10, 20)
        for department in DEPARTMENTS
        for word in ("board", "manual")
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, labelled)))

    def call(*arguments: str, user: str | None = None) -> tuple[int, str, str]:
        dsn = service.dsn if user is None else as_role(service.dsn, user)
        for name, value in environment(dsn, None).items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as caught:
            main(("train-ambiguity", *arguments))
        return int(caught.value.code or 0), *capsys.readouterr()

    return call


@pytest.fixture(autouse=True)
def _nothing_trained(superuser: Connection) -> Iterator[None]:
    yield
    superuser.execute("delete from pgclarify_private.trained_classifier")


def detect(connection: Connection, question: str, **options: object) -> dict[str, Any]:
    (row,) = rows(connection, DETECT, question, json.dumps(options))
    return {**row, "version": scalar(connection, VERSION, row["run_id"])}


def test_what_was_learned_judges_the_questions_of_its_corpus(
    run: Run, asker: Connection, superuser: Connection, model: Server
) -> None:
    shipped = AmbiguityClassifier.load().version
    before = {question: detect(asker, question, corpus=CORPUS, top_k=1) for question in (VAGUE, CLEAR)}
    assert {row["version"] for row in before.values()} == {shipped}
    assert before[VAGUE]["is_ambiguous"] == before[CLEAR]["is_ambiguous"]

    code, out, err = run("log.jsonl", "--corpus", CORPUS)

    assert code == 0, err
    assert "calibration error" in out
    assert "use_ambiguity_classifier" in err
    assert superuser.execute(IN_USE.encode()).fetchall() == [(1,)]
    (seen,) = rows(asker, "select * from pgclarify.ambiguity_classifier")
    assert seen["f1"] > seen["shipped_f1"] + 0.2
    assert seen["f1_difference_low"] > 0
    assert (seen["corpus"], seen["is_better"], seen["shipped_version"]) == (CORPUS, True, shipped)
    assert seen["examples"] + seen["held_examples"] == 200

    after = {question: detect(asker, question, corpus=CORPUS, top_k=1) for question in (VAGUE, CLEAR)}
    assert [row["is_ambiguous"] for row in after.values()] == [True, False]
    assert {row["version"] for row in after.values()} == {f"{shipped}+1"}
    assert {row["run_id"] for row in after.values()}.isdisjoint(row["run_id"] for row in before.values())
    many = "select is_ambiguous from pgclarify.detect_ambiguity_many(%s, %s)"
    given = json.dumps({"corpus": CORPUS})
    assert asker.execute(many.encode(), [[VAGUE, CLEAR], given]).fetchall() == [(True,), (False,)]
    (rewritten,) = rows(asker, "select * from pgclarify.rewrite(%s, options => %s)", VAGUE, given)
    assert (rewritten["was_ambiguous"], rewritten["rewritten"]) == (True, VAGUE)
    assert scalar(asker, VERSION, rewritten["run_id"]) == f"{shipped}+1"
    # Questions without a corpus are judged as before.
    assert detect(asker, VAGUE)["version"] == shipped
    # The router clarifies a question that the new version calls ambiguous.
    routed = 'select run_id from pgclarify.clarify(%s, options => \'{"ask_back": "auto"}\', top_k => 1)'
    route = "select max(run_id), max(route) from pgclarify.run where question = %s and operation = 'clarify'"
    asker.execute(routed.encode(), [VAGUE])
    ((run_id, went),) = superuser.execute(route.encode(), [VAGUE]).fetchall()
    assert (scalar(superuser, VERSION, run_id), went) == (f"{shipped}+1", "clarified")

    # And back.
    superuser.execute(USE.encode(), [CORPUS, None])
    assert detect(asker, VAGUE, corpus=CORPUS, top_k=1)["probability"] == before[VAGUE]["probability"]
    superuser.execute(USE.encode(), [CORPUS, 1])
    assert detect(asker, VAGUE, corpus=CORPUS, top_k=1)["probability"] == after[VAGUE]["probability"]


def test_a_version_that_is_no_better_is_only_stored_unless_the_user_says_so(run: Run, superuser: Connection) -> None:
    assert run("log.jsonl", "-c", CORPUS, "--no-use")[0] == 0
    assert superuser.execute(IN_USE.encode()).fetchall() == []
    code, out, err = run("log.jsonl", "-c", CORPUS, "--json")
    assert code == 0, err
    assert (told := json.loads(out))["version"] == 2
    assert (told["is_used"], told["is_better"]) == (True, True)

    # The same training again is not better than the current classifier.
    assert run("log.jsonl", "-c", CORPUS)[0] == 0
    assert superuser.execute(IN_USE.encode()).fetchall() == [(2,)]
    assert run("log.jsonl", "-c", CORPUS, "--use")[0] == 0
    assert superuser.execute(IN_USE.encode()).fetchall() == [(4,)]
    # The same log gives the same numbers.
    learned = "select count(distinct weights), count(*) from pgclarify_private.trained_classifier"
    assert superuser.execute(learned.encode()).fetchall() == [(1, 4)]


def test_what_cannot_be_done_is_said_before_anything_is_learned(run: Run, service: Service, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("question,is_ambiguous\nWhy?,perhaps\n")
    (tmp_path / "few.csv").write_text("question,is_ambiguous\nWhy?,true\nWho wrote Emma?,false\n")

    for arguments, user in (
        (("log.jsonl", "-c", CORPUS), service.asker),
        (("log.jsonl", "-c", "none"), None),
        (("bad.csv", "-c", CORPUS), None),
        (("few.csv", "-c", CORPUS), None),
        (("none.csv", "-c", CORPUS), None),
    ):
        code, out, err = run(*arguments, user=user)
        assert (code, out) == (1, ""), arguments
        assert err
    with service.connect() as connection:
        assert scalar(connection, "select count(*) from pgclarify.ambiguity_classifier") == 0
