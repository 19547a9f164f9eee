"""The commands, as a user runs them."""

from __future__ import annotations

import json
import re
from contextlib import closing

import psycopg
import pytest

from tests.acceptance.conftest import FILES, House, write_files
from tests.pages import CHECKOUT, blocks
from tests.workers import until

LOAD = ("--id-field", "key", "--content-field", "body", "--title-field", "name")


@pytest.fixture(scope="module")
def loaded(house: House) -> House:
    """The shared house, with a corpus."""
    write_files(house.folder / "files")
    house.done("load", "fees", "files", *LOAD)
    return house


def test_load_again_changes_nothing(loaded: House) -> None:
    # Neighbors are linked later.
    until(lambda: all(corpus["linked"] == corpus["passages"] for corpus in loaded.status()["corpora"]))
    before = loaded.status()["corpora"]
    loaded.done("load", "fees", "files", *LOAD)
    after = loaded.status()["corpora"]

    (corpus,) = (corpus for corpus in after if corpus["corpus"] == "fees")
    assert (corpus["documents"], corpus["pending"], corpus["failed"]) == (5, 0, 0)
    assert after == before


def test_load_again_takes_what_has_changed(loaded: House) -> None:
    file = loaded.folder / "files" / "policies" / "tolls.txt"
    before = loaded.sql("select revision from pgclarify.corpus where corpus = 'fees'")
    file.write_text(FILES["policies/tolls.txt"].replace("six", "seven"))
    loaded.done("load", "fees", "files", *LOAD)
    assert int(loaded.sql("select revision from pgclarify.corpus where corpus = 'fees'")) > int(before)
    file.write_text(FILES["policies/tolls.txt"])
    loaded.done("load", "fees", "files", *LOAD)
    stored = """
        select count(*) from pgclarify.document inner join pgclarify.corpus using (corpus_id)
        where corpus.corpus = 'fees' and content like '%six dollars%'
    """
    assert loaded.sql(stored) == "1"


def test_ask(loaded: House) -> None:
    printed = loaded.done("ask", "what is the refueling fee", "--corpus", "fees")
    assert "ninety dollars" in printed
    assert "fuel.html" in printed
    assert re.search(r"^run (\d+): pgclarify explain \1$", printed, re.MULTILINE)


def test_ask_takes_options(loaded: House) -> None:
    asked = ("ask", "what is the refueling fee", "--corpus", "fees")
    assert "ninety dollars" in loaded.done(*asked, "-o", "method=lexical")
    assert '"method"' in loaded.run(*asked, "--option", "method=wrong").stderr


def test_ask_as_json(loaded: House) -> None:
    lines = loaded.done("ask", "what is the deductible for hail damage", "-c", "fees", "-k", "3", "--json").splitlines()
    readings = [json.loads(line) for line in lines]

    assert [reading["ordinal"] for reading in readings] == list(range(1, len(readings) + 1))
    quotes = [citation["quote"] for reading in readings for citation in reading["citations"]]
    assert any("four hundred dollars" in quote for quote in quotes)
    contents = "\n".join(FILES.values())
    assert all(quote in contents for quote in quotes)


def test_ask_what_nothing_answers(loaded: House) -> None:
    result = loaded.run("ask", "zzzz", "--corpus", "fees", "--json")
    assert result.returncode == 0
    assert result.stdout == ""


def test_ask_what_cannot_be_read_shows_the_closest_passages(loaded: House) -> None:
    printed = loaded.done("ask", "zzzz", "--corpus", "fees")
    assert "answers any reading" not in printed, "no language model has judged the passages"
    assert "(no_language_model)" in printed
    assert re.search(r"^  1\. \S+", printed, re.MULTILINE)


@pytest.mark.parametrize("command", ["investigate", "clarifying-questions", "list-answers"])
def test_commands_that_need_a_language_model_say_so(loaded: House, command: str) -> None:
    result = loaded.run(command, "who pays the refueling fee", "--corpus", "fees")
    assert (result.returncode, result.stdout) == (1, "")
    assert "language model" in result.stderr


def test_a_vague_question_is_told_from_a_clear_one(loaded: House) -> None:
    assert loaded.done("detect-ambiguity", "When does she have time?").startswith("Ambiguous, pragmatic")
    (row,) = map(
        json.loads, loaded.done("detect-ambiguity", "What is the refueling fee in Ohio?", "--json").splitlines()
    )
    assert row["kind"] in (None, "syntactic")


def test_a_clear_question_is_answered_in_a_single_pass(loaded: House) -> None:
    asked = ("ask", "what is the refueling fee", "--corpus", "fees", "-o", "ask_back=when_vague", "-o", "threshold=1")
    printed = loaded.done(*asked)
    assert "ninety dollars" in printed


def test_status(loaded: House) -> None:
    status = loaded.status()
    assert [worker["provider"] for worker in status["workers"]] == ["extractive"]
    assert "fees" in loaded.run("doctor").stdout


def test_up_does_not_keep_quiet_about_a_worker_with_another_model(loaded: House) -> None:
    again = loaded.run("up", "--detach", OPENAI_BASE_URL="http://localhost:1/v1", PGCLARIFY_LLM_MODEL="small")
    assert again.returncode == 0
    told = " ".join(again.stderr.split())
    assert "This environment asks for openai small, and the workers judge with extractive" in told
    assert "pgclarify down" in told
    assert "Warning" not in loaded.run("up", "--detach").stderr


def test_dsn_leads_to_the_database(loaded: House) -> None:
    assert loaded.sql("select 41 + 1") == "42"
    dsn = loaded.done("dsn").strip()
    with closing(psycopg.connect(dsn)) as connection:
        row = connection.execute("select documents from pgclarify.corpus where corpus = 'fees'").fetchone()
    assert row == (5,)


def test_demo_twice(house: House) -> None:
    first = house.done("demo")
    runs = house.sql("select count(*) from pgclarify.run")
    second = house.done("demo")

    assert house.sql("select count(*) from pgclarify.run") == runs, "all questions were answered before"
    for printed in (first, second):
        assert "rental cars" in printed
        # The answer may be wrong: the test only requires a reading.
        assert re.search(r"^budget: \d+ reading", printed, re.MULTILINE)
        assert re.search(r"^backup: \d+ reading", printed, re.MULTILINE)
    printed = "\n".join(line.rstrip() for line in first.splitlines())
    # The first page of the site mentions it.
    front = " ".join((CHECKOUT / "docs" / "README.md").read_text().split())
    told = re.search(r"has (\d+ documents) .*? Of the (\d+) passages that are read, (\d+) answer", front)
    assert told
    assert told[1] in printed
    assert f"of the {told[2]} passages that were read, {told[3]} answer" in " ".join(printed.split())
    answers = re.findall(r"\d\. \*\*(.+?)\*\*", front)
    assert len(answers) == 3
    assert all(answer in printed for answer in answers)
    # The README quotes it word for word.
    (readme,) = (block.output for block in blocks(CHECKOUT / "README.md", "sql") if block.output)
    (opened_up,) = blocks(CHECKOUT / "README.md", "text")
    assert readme.strip("\n") in printed
    assert opened_up.code.strip("\n") in printed
    readings = "select count(*) from pgclarify.clarify('rental cars', corpus => 'insurance')"
    assert int(house.sql(readings)) >= 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-command"],
        ["ask"],
        ["ask", "what", "--no-such-option"],
        ["ask", "what", "--top-k", "0"],
        ["investigate", "what", "--option", "max_steps"],
        ["load", "fees", "no/such/path"],
    ],
)
def test_wrong_usage_exits_with_2(empty_house: House, arguments: list[str]) -> None:
    assert empty_house.run(*arguments).returncode == 2
    assert not (empty_house.folder / "data").exists()


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["ask", "what"], {}),
        (["dsn"], {}),
        (["worker"], {}),
        (["corpus", "list"], {"PGCLARIFY_LLM_CONCURRENCY": "many"}),
        (["corpus", "list"], {"PGCLARIFY_DATABASE_URL": "postgresql://nobody@/nowhere?host=/no/such/socket"}),
    ],
)
def test_failures_exit_with_1_and_a_sentence(
    empty_house: House, arguments: list[str], variables: dict[str, str]
) -> None:
    result = empty_house.run(*arguments, **variables)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.strip()
    assert "Traceback" not in result.stderr


def test_failures_in_sql_exit_with_1_and_a_sentence(loaded: House) -> None:
    for arguments in (["ask", "what", "--corpus", "nowhere"], ["ask", "what", "-c", "fees", "--timeout", "soon"]):
        result = loaded.run(*arguments)
        assert result.returncode == 1
        assert result.stderr.strip()
        assert "Traceback" not in result.stderr


def test_init_starts_a_server_and_down_stops_it(empty_house: House) -> None:
    empty_house.done("init")
    empty_house.done("init")
    status = empty_house.status()
    assert (status["workers"], status["corpora"]) == ([], [])

    empty_house.done("down")
    assert empty_house.run("corpus", "list").returncode == 1
    empty_house.done("down")


def test_up_leaves_one_worker(house: House) -> None:
    before = house.status()["workers"]
    house.done("up", "--detach")
    after = house.status()["workers"]
    assert [worker["worker_id"] for worker in after] == [worker["worker_id"] for worker in before]
    assert len(after) == 1
