"""help lists the functions, and the parameters and options of one."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.by_hand import Connect, Connection, MakeRole, scalar, state_of

pytestmark = pytest.mark.rolled_back


def test_functions_have_one_sentence_each(connection: Connection, connect: Connect, make_role: MakeRole) -> None:
    reader = connect(make_role("pgclarify_reader"))
    listed = dict(reader.execute("select name, meaning from pgclarify.help()").fetchall())
    assert {"clarify", "search", "help", "alter_corpus"} <= listed.keys()
    assert all(listed.values())


def test_every_function_with_options_explains_them(connection: Connection) -> None:
    functions = connection.execute(
        "select proname from pg_proc where pronamespace = 'pgclarify'::regnamespace"
        " and 'options' = any(proargnames[:pronargs]) and proname not in ('submit', 'submit_many')"
    ).fetchall()
    for (function,) in functions:
        options = connection.execute(
            "select name, meaning from pgclarify.help(%s) where kind = 'option'", [function]
        ).fetchall()
        assert options, function
        assert [name for name, meaning in options if not meaning] == [], function


def test_comments_name_every_option_its_choices_and_its_default(connection: Connection) -> None:
    """The reference is made of the comments. Two functions have the options of another one, and say so."""
    left_out = connection.execute("""
        select proc.proname, option.name, choice
        from pg_proc as proc
        cross join lateral jsonb_each(pgclarify_private.options_of(proc.proname)) as option (name, meaning)
        cross join unnest(
            array[option.name]
            || array(select jsonb_array_elements_text(option.meaning -> 'choices'))
            || case when jsonb_typeof(option.meaning -> 'default') in ('string', 'number')
                then array[nullif(option.meaning ->> 'default', '')] end
        ) as choice
        where proc.pronamespace = 'pgclarify'::regnamespace
            and obj_description(proc.oid) !~ 'as in clarify|those of clarify'
            and obj_description(proc.oid) !~ ('\\m' || choice || '\\M')
    """).fetchall()
    assert left_out == []


def test_options_have_their_range(connection: Connection) -> None:
    found = connection.execute(
        "select type, default_value, minimum, maximum from pgclarify.help('investigate') where name = 'max_steps'"
    ).fetchall()
    assert found == [("integer", "4", "0", "20")]
    assert "drop" in scalar(connection, "select choices from pgclarify.help('clarify') where name = 'singletons'")


def test_a_misspelt_name_is_corrected(connection: Connection) -> None:
    assert state_of(connection, "select * from pgclarify.help('clarfy')") == "22023"
    with pytest.raises(psycopg.Error) as refused, connection.transaction():
        connection.execute("""select pgclarify.clarify('q', options => '{"topk": 5}')""")
    assert "top_k" in str(refused.value.diag.message_hint)
