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

LOAD = ("--field", "id=key", "--field", "content=body", "--field", "title=name")


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


def test_ask(loaded: House) -> None:
    printed = loaded.done("ask", "what is the refueling fee", "--corpus", "fees")
    assert "ninety dollars" in printed
    assert "fuel.html" in printed
    assert re.search(r"^run (\d+): pgclarify explain \1$", printed, re.MULTILINE)


def test_ask_as_json(loaded: House) -> None:
    lines = loaded.done("ask", "what is the deductible for hail damage", "-c", "fees", "-k", "3", "--json").splitlines()
    readings = [json.loads(line) for line in lines]

    assert [reading["ordinal"] for reading in readings] == list(range(1, len(readings) + 1))
    quotes = [citation["quote"] for reading in readings for citation in reading["citations"]]
    assert any("four hundred dollars" in quote for quote in quotes)
    contents = "\n".join(FILES.values())
    assert all(quote in contents for quote in quotes)


def test_ask_what_cannot_be_read_shows_the_closest_passages(loaded: House) -> None:
    printed = loaded.done("ask", "zzzz", "--corpus", "fees")
    assert "answers any reading" not in printed, "no language model has judged the passages"
    assert "(no_language_model)" in printed
    assert re.search(r"^  1\. \S+", printed, re.MULTILINE)


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


def test_init_starts_a_server_and_down_stops_it(empty_house: House) -> None:
    empty_house.done("init")
    empty_house.done("init")
    status = empty_house.status()
    assert (status["workers"], status["corpora"]) == ([], [])

    empty_house.done("down")
    assert empty_house.run("search", "fees").returncode == 1
    empty_house.done("down")


def test_up_leaves_one_worker(house: House) -> None:
    before = house.status()["workers"]
    house.done("up", "--detach")
    after = house.status()["workers"]
    assert [worker["worker_id"] for worker in after] == [worker["worker_id"] for worker in before]
    assert len(after) == 1
