"""The commands, as a user runs them."""

from __future__ import annotations

import re

import pytest

from tests.acceptance.conftest import House, write_files
from tests.pages import CHECKOUT, blocks

LOAD = ("--field", "id=key", "--field", "content=body", "--field", "title=name")


@pytest.fixture(scope="module")
def loaded(house: House) -> House:
    """The shared house, with a corpus."""
    write_files(house.folder / "files")
    house.done("load", "fees", "files", *LOAD)
    return house


def test_ask_what_cannot_be_read_shows_the_closest_passages(loaded: House) -> None:
    printed = loaded.done("ask", "zzzz", "--corpus", "fees")
    assert "(no_language_model)" in printed
    assert re.search(r"^  1\. \S+", printed, re.MULTILINE)


def test_demo_twice(house: House) -> None:
    first = house.done("demo")
    runs = house.sql("select count(*) from pgclarify.run")
    second = house.done("demo")

    assert house.sql("select count(*) from pgclarify.run") == runs, "all questions were answered before"
    for printed in (first, second):
        assert "rental cars" in printed
        # The answer may be wrong: the test only requires a reading.
        assert re.search(r"^worker: \d+ reading", printed, re.MULTILINE)
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
    given = "from pgclarify.clarify('rental cars', corpus => 'insurance')"
    found = house.sql(f"select string_agg(answer, '; ') {given}")
    assert all(answer in found for answer in answers)
    # The README quotes it word for word.
    (readme,) = (block.output for block in blocks(CHECKOUT / "README.md", "sql") if block.output)
    (opened_up,) = blocks(CHECKOUT / "README.md", "text")
    assert readme.strip("\n") in printed
    assert opened_up.code.strip("\n") in printed
    assert int(house.sql(f"select count(*) {given}")) >= 3
