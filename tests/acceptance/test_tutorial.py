"""The tutorials in SQL show what psql prints without a language model, word for word; the one on feedback runs."""

from __future__ import annotations

import re
import shlex
import subprocess
from importlib.resources import files

import pytest

from pgclarify import embedded
from tests.acceptance.conftest import House
from tests.pages import CHECKOUT, blocks

# A reader of the page also takes a moment from one block to the next.
SETTLE = """
do $$ begin
    while exists (select from pgclarify.source_status where state = 'loading' or pending_changes > 0)
        or exists (select from pgclarify.corpus where pending > 0)
    loop
        perform pg_sleep(0.05);
    end loop;
end $$;
"""
CLEAN_UP = {
    "sql": """
        select pgclarify.drop_corpus('help'), pgclarify.drop_corpus('mine');
        drop table help_article, search_phrase, search_answer;
    """,
    "tenants": """
        select pgclarify.drop_corpus('tickets');
        drop table ticket, claim, claim_copy;
        drop function copy_claim();
        drop role acme_support, bolt_support;
    """,
}


@pytest.mark.parametrize("name", CLEAN_UP)
def test_a_tutorial_shows_what_is_printed(house: House, name: str) -> None:
    shown = blocks(CHECKOUT / "docs" / "tutorials" / f"{name}.md", "sql")
    script = house.folder / "tutorial.sql"
    parts = [f"{SETTLE}\\echo block {place}\n{block.code}" for place, block in enumerate(shown)]
    script.write_text("\n".join([*parts, "\\echo end", CLEAN_UP[name]]))

    command = [str(embedded.binary("psql")), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-P", "footer=off", "-f", str(script)]
    done = subprocess.run([*command, house.done("dsn").strip()], capture_output=True, text=True, check=True)
    printed = done.stdout

    outputs = re.split(r"^(?:block \d+|end)\n", printed, flags=re.M)[1:-1]
    expected = {place: lines(block.output) for place, block in enumerate(shown) if block.output}
    assert expected
    assert {place: lines(outputs[place]) for place in expected} == expected


def test_feedback_becomes_an_evaluation(empty_house: House) -> None:
    house = empty_house
    house.done("up", "--detach")
    house.done("load", "insurance", str(files("pgclarify").joinpath("demo_corpus")))
    printed: list[str] = []
    for block in blocks(CHECKOUT / "docs" / "tutorials" / "feedback.md", "sh"):
        for line in block.code.splitlines():
            if line.startswith("pgclarify ask"):
                asked = house.done(*shlex.split(line)[1:])
                (run_id,) = re.findall(r"^run (\d+):", asked, re.M)
                continue
            printed.append(house.done(*shlex.split(line.replace("feedback 42", f"feedback {run_id}"))[1:]))

    evaluated = [output for output in printed if "misled" in output and "A  " not in output]
    first, before, _ = (dict(re.findall(r"^(\w+) +([\d.]+)", output, re.M)) for output in evaluated)
    assert (first["misled"], before["misled"], before["coverage"]) == ("1.000", "1.000", "0.500")
    assert "The staff rate at Cobalt Car Hire is $36 a day" in evaluated[0]
    kept = house.sql("select ordinal, rating, missing from pgclarify.feedback order by feedback_id")
    assert kept == "3|wrong|\n5|right|\n||Wayfarer covers rental cars abroad."


def lines(output: str) -> list[str]:
    """The lines of a table, without the spaces at their ends."""
    return [line.rstrip() for line in output.strip("\n").splitlines()]
