"""tests/prose: which parts of a file are prose."""

from __future__ import annotations

import pytest

from tests.prose.report import badness, sentences
from tests.prose.texts import texts
from tests.prose.unchanged import difference

PYTHON = '''"""What it does."""
# Why it does so,
# on two lines.
from pgclarify.errors import NotFound
LIMIT = 5  # noqa: X
def find(name):
    """Find one."""
    _logger.warning("looking for %s", name)
    raise NotFound(f"no corpus {name:>5}", hint="Make one.")
'''
SQL = """
-- name: find
-- Find one.
raise exception 'no corpus "%"', v_name using errcode = 'PC001', hint = format('Make %s first.', v_name);
comment on function f(text) is 'Finds one,'
    ' or none.';
select 'a text that is data';
"""


@pytest.mark.parametrize(
    ("path", "content", "was", "now"),
    [
        ("x.py", PYTHON, "What it does", "Finds corpora"),
        ("x.py", PYTHON, "on two lines", "on one line"),
        ("x.py", PYTHON, '    """Find one."""\n', ""),
        ("x.py", PYTHON, "looking for", "searching for"),
        ("x.py", PYTHON, "no corpus {", "there is no corpus of the name {"),
        ("x.py", PYTHON, "Make one.", "Call create_corpus."),
        ("x.sql", SQL, "-- Find one.\n", "-- Find a corpus,\n-- or none.\n"),
        ("x.sql", SQL, 'no corpus "%"', 'corpus "%" is unknown'),
        ("x.sql", SQL, "Make %s first.", "Create %s."),
        ("x.sql", SQL, "'Finds one,'\n    ' or none.'", "'A corpus.'"),
        ("x.sql", SQL, "comment on function f(text)", "comment on table t is 'Ts.';\ncomment on function f(text)"),
        ("pgclarify/prompts/x.py", PYTHON, "on two lines", "on one line"),
        ("pgclarify/prompts/x.py", PYTHON, "What it does", "Finds corpora"),
    ],
)
def test_prose_may_change(path: str, content: str, was: str, now: str) -> None:
    assert was in content
    assert difference(path, content, content.replace(was, now)) == []


@pytest.mark.parametrize(
    ("path", "content", "was", "now"),
    [
        ("x.py", PYTHON, "LIMIT = 5", "LIMIT = 6"),
        ("x.py", PYTHON, "# noqa: X", "# noqa: Y"),
        ("x.py", PYTHON, ":>5}", ":>6}"),
        ("x.py", PYTHON, "NotFound(", "KeyError("),
        ("x.sql", SQL, "PC001", "PC002"),
        ("x.sql", SQL, "-- name: find\n", "-- name: seek\n"),
        ("x.sql", SQL, 'no corpus "%"', "no corpus"),
        ("x.sql", SQL, "Make %s first.", "Make it first."),
        ("x.sql", SQL, "a text that is data", "another text"),
        ("pgclarify/prompts/x.py", PYTHON, "Make one.", "Call create_corpus."),
    ],
)
def test_nothing_else_may_change(path: str, content: str, was: str, now: str) -> None:
    assert was in content
    assert difference(path, content, content.replace(was, now)) != []


def test_lines_are_those_of_the_file() -> None:
    assert (2, "Why it does so, on two lines.") in texts("x.py", PYTHON).read
    assert (4, 'no corpus "%"') in texts("x.sql", SQL).read
    assert texts("x.md", "One\ntwo.\n\n- Three.\n- Four.").read == [
        (1, "One\ntwo."),
        (4, "- Three."),
        (5, "- Four."),
    ]


def test_riddles_and_long_sentences_are_bad() -> None:
    assert sentences("One thing. Another\nthing.") == ["One thing.", "Another thing."]
    assert badness("The worker releases the lease.") == 0
    assert badness("Whoever asks waits for nobody.") == 20
    assert badness(" ".join(["word"] * 33)) == 3
