"""Options and help: what each function refuses by the table of options, the hints of its errors, and what help says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.integration.manual_worker import MakeWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

# Every public function with options of its own, with its other parameters.
CALLS = {
    "clarify": "'q'",
    "clarify_many": "array['q']",
    "estimate": "array['q']",
    "search": "'q'",
    "investigate": "'q'",
    "list_answers": "'q'",
    "detect_ambiguity": "'q'",
    "rewrite": "'q'",
    "clarifying_questions": "'q'",
    "reply": "1, 'x'",
    "consolidate": "1",
    "create_corpus": "'b'",
    "alter_corpus": "'a'",
    "attach_table": "'a', 'pg_class', 'oid', 'relname'",
    "detach_table": "'a', 'pg_class'",
    "set_budget": "'b', 'a'",
    "distribute": "'a'",
    "explain": "1",
}
FUNCTIONS = """
    select proname from pg_proc
    where pronamespace = 'pgclarify'::regnamespace and 'options' = any(proargnames[:pronargs])
"""


@pytest.fixture(autouse=True)
def corpus(connection: Connection) -> None:
    """A call without a corpus name then means this one."""
    connection.execute("select pgclarify.create_corpus('a')")


def refused(connection: Connection, call: str, options: object) -> psycopg.errors.Diagnostic:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        connection.execute(f"select pgclarify.{call}".encode(), [json.dumps(options)])
    return caught.value.diag


def wrong_values(name: str, option: dict[str, Any]) -> Iterator[Any]:
    """Values that an option does not take, by its entry in the table of options."""
    yield [] if "keys" in option else {}
    if name == "timeout":
        yield from ("soon", "0s", "-1s", "9999999999999 years")
    elif "choices" in option:
        yield from ("no such choice", 1, True)
    elif option["type"] in ("integer", "number"):
        yield from (option["least"] - 1, option["most"] + 1, str(option["least"]), True)
        if option["type"] == "integer":
            yield option["least"] + 0.5
    elif option["type"] == "string":
        yield from (1, False)
        if "longest" in option:
            yield from ("", " \n", "x" * (option["longest"] + 1), "a\tb")
        for name in option.get("never", ()):
            yield from (name, f" {name.title()}")
        if "keywords" in option:
            # Calls under this name would be free, and no budget would stop them.
            yield from (f"endpoint:{name}" for name in ("extractive", "extractive-1", " extractive-12 "))
    else:
        yield from {"boolean": (1, "yes"), "array": (1, [1]), "object": (1, "x")}[option["type"]]


def test_every_function_refuses_what_its_options_do_not_take(connection: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()
    worker.index_everything()
    worker.answer(scalar(connection, "select pgclarify.submit('clarify', 'answered')"))
    functions = {name for (name,) in connection.execute(FUNCTIONS)} - {"submit", "submit_many"}
    assert functions == CALLS.keys()
    for name, others in CALLS.items():
        call = f"{name}({others}, options => %s)"
        options = scalar(connection, "select pgclarify_private.options_of(%s)", name)
        wrong = [(option, value) for option, known in options.items() for value in wrong_values(option, known)]
        for option, value in [*wrong, ("unheard of", 1), ("x" * 1000 + "\u202e", 1)]:
            told = refused(connection, call, {option: value})
            assert told.column_name == (option if len(option) < 1000 else "x" * 99 + "…"), (name, option, value)
            assert told.message_hint
            assert len(f"{told.message_primary} {told.message_detail} {told.message_hint}") < 1000
            assert option in options or (told.datatype_name or "").split(",") == sorted(options)
        assert refused(connection, call, ["top_k"]).message_hint
    assert scalar(connection, "select count(*) from pgclarify.run") == 1


@pytest.mark.parametrize(
    ("option", "least", "most"),
    [
        ("max_passages", 1, 1000),
        ("passages_per_call", 1, 100),
        ("recall", 0.5, 0.99),
        ("threshold", 0, 1),
        ("refresh", 0, 1_000_000),
    ],
)
def test_a_number_may_be_as_small_or_large_as_the_pages_say(
    connection: Connection, option: str, least: float, most: float
) -> None:
    check = "select pgclarify_private.check_options(%s, pgclarify_private.options_of('clarify'))"
    for value in (least, most):
        assert scalar(connection, check, json.dumps({option: value}))[option] == value
    for value in (least - 1, most + 1):
        assert sqlstate_of(connection, check, [json.dumps({option: value})]) == "22023"


def test_every_function_refuses_wrong_questions_histories_and_numbers_of_passages(connection: Connection) -> None:
    wrong = {
        "question": (None, "", " \n", "x" * 10_001),
        "questions": (None, [], ["a", " "], ["a", None], ["x" * 10_001]),
        "history": ([None], ["said"] * 101, ["x" * 10_001]),
        "top_k": (0, 1001),
    }
    parameters = connection.execute("""
        select proname, parameter.name, parameter.type::regtype::text
        from pg_proc
        cross join lateral unnest(proargnames[:pronargs], proargtypes::oid[]) as parameter (name, type)
        where pronamespace = 'pgclarify'::regnamespace and parameter.name = any(%s)
    """, [[*wrong, "operation"]]).fetchall()  # fmt: skip
    assert len(parameters) > 15
    for name, parameter, kind in parameters:
        others = {"question": "'q'", "questions": "'{q}'", "operation": "'clarify'"}
        taken = {taken for function, taken, _ in parameters if function == name} - {parameter}
        required = "".join(f"{other} => {others[other]}, " for other in others if other in taken)
        for value in wrong.get(parameter, ()):
            with pytest.raises(psycopg.errors.InvalidParameterValue) as refusal:
                call = f"select pgclarify.{name}({required}{parameter} => %s::{kind})"
                connection.execute(call.encode(), [value])
            assert refusal.value.diag.message_hint, (name, parameter, value)
    assert scalar(connection, "select count(*) from pgclarify.run") == 0


@parametrize_in_one_test(
    "call, parameter",
    [
        ("clarify('q', options => %s)", "top_k"),
        ("search('q', options => %s)", "filter"),
        ("investigate('q', options => %s)", "corpus"),
        ("alter_corpus('a', options => %s)", "name"),
        ("set_budget('b', 'a', options => %s)", "corpus"),
        ("explain(1, options => %s)", "run_id"),
    ],
)
def test_a_parameter_among_options_is_named(connection: Connection, call: str, parameter: str) -> None:
    told = refused(connection, call, {parameter: 5})
    assert f"pass {parameter} =>" in str(told.message_hint)


def test_the_likest_option_is_named(connection: Connection) -> None:
    misspelt = refused(connection, "clarify('q', options => %s)", {"retreival": "adaptive"})
    assert '"retrieval"' in str(misspelt.message_hint)
    other = refused(connection, "clarify('q', options => %s)", {"zzz": 1})
    assert '"' not in str(other.message_hint)


def test_options_in_the_place_of_another_parameter_are_recognized(connection: Connection) -> None:
    for call in ("create_corpus('b', %s)", "submit('clarify', 'q', %s)", "set_budget('b', %s)"):
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(f"select pgclarify.{call}".encode(), ['{"x": 1}'])
        assert "options =>" in str(caught.value.diag.message_hint)


def test_a_timeout_is_positive(connection: Connection) -> None:
    for timeout in ("0s", "-1s"):
        with pytest.raises(psycopg.errors.InvalidParameterValue) as wrong:
            connection.execute("select pgclarify.wait('{}', %s)", [timeout])
        assert wrong.value.diag.column_name == "timeout"


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


OF_HDBSCAN = {"min_samples": 2.0, "embed": "question", "cluster_selection_epsilon": 0.25}


@pytest.mark.parametrize("call", ["clarify('q', options => %s)", "consolidate(1, %s)"])
def test_parameters_of_hdbscan_are_for_consolidation_by_density(connection: Connection, call: str) -> None:
    for name, value in OF_HDBSCAN.items():
        assert refused(connection, call, {name: value}).column_name == name


def test_parameters_of_hdbscan_are_one_object_of_clarify(connection: Connection) -> None:
    call = "clarify('q', options => %s)"
    assert refused(connection, call, {"hdbscan": OF_HDBSCAN}).column_name in OF_HDBSCAN
    by_density = {"consolidation": "hdbscan"}
    assert refused(connection, call, by_density | {"hdbscan": {"min_samples": 0}}).column_name == "min_samples"
    assert refused(connection, call, by_density | {"hdbscan": {"retrieval": "fixed"}}).column_name == "retrieval"
    names = scalar(connection, "select array_agg(name) from pgclarify.help('clarify')")
    assert "hdbscan" in names and not OF_HDBSCAN.keys() & set(names)


def test_options_of_0_3_0_beside_the_object_make_the_same_run(connection: Connection) -> None:
    def settings(options: dict[str, object]) -> object:
        asked = "select pgclarify.submit('clarify', 'q', options => %s)"
        run_id = scalar(connection, asked, json.dumps({"consolidation": "hdbscan"} | options))
        return scalar(connection, "select settings from pgclarify.run where run_id = %s", run_id)

    made = settings({"hdbscan": OF_HDBSCAN | {"allow_single_cluster": None}})
    assert made == settings(OF_HDBSCAN)
    assert made == settings({"hdbscan": {"min_samples": 2}} | OF_HDBSCAN | {"min_samples": None})
    assert OF_HDBSCAN.items() <= made.items()  # type: ignore[attr-defined]
    assert settings({"hdbscan": None}) == settings({"hdbscan": {}}) == settings({})


def test_the_budget_of_an_investigation_depends_on_what_scores_its_passages(connection: Connection) -> None:
    def budget(options: str) -> object:
        asked = 'select pgclarify_private.check_investigating(%s::jsonb || \'{"top_k": 10, "max_steps": 4}\')'
        settings = scalar(connection, asked, options)
        return settings["max_passages"], settings["max_calls"]

    # Two calls for the plan and for each of five answers, and five samples for each batch of 16 passages.
    assert budget('{"reranker": "signal", "samples": 5}') == (32, 62)
    assert budget('{"reranker": "endpoint:reranker", "samples": 5}') == (100, 187)
    assert budget('{"reranker": "model", "samples": 10, "meta": true}') == (32, 114)
    assert budget('{"reranker": "signal", "samples": 5, "max_passages": 100, "max_calls": 20}') == (100, 20)


def test_a_misspelt_name_is_corrected(connection: Connection) -> None:
    assert sqlstate_of(connection, "select * from pgclarify.help('clarfy')") == "22023"
    with pytest.raises(psycopg.Error) as refused, connection.transaction():
        connection.execute("""select pgclarify.clarify('q', options => '{"topk": 5}')""")
    assert "top_k" in str(refused.value.diag.message_hint)
