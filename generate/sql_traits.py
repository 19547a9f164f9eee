"""sql/declared/traits.sql: what the core asks of an operation, and the parts of starting that differ."""

from __future__ import annotations

from dataclasses import fields

from generate.sql_text import HEAD, SEARCH_PATH, Call, comment, literal
from pgclarify.declared.forms import TRAITS, Operation
from pgclarify.declared.operations import OPERATIONS, names_of


def traits() -> str:
    """Return the content of the file."""
    head = f"{HEAD}-- The operations, as data: the core asks these functions, and never for a name.\n"
    return "\n".join([head, _operations(), *map(_trait, TRAITS), _result_count(), _check_settings(), _prepare()])


def _operations() -> str:
    lines = ",\n".join(
        f"        ({literal(name)}, {literal(one.rows.name)}, {literal(one.result_view)})"
        for name, one in OPERATIONS.items()
    )
    about = (
        "The operations. A run of each has rows of row_type, a type of schema pgclarify; the internal function with "
        "the name of the type and _rows finds them, and the public result_view shows them by run_id."
    )
    return f"""\
create or replace function pgclarify_private.operations()
returns table (operation text, row_type text, result_view text)
language sql immutable parallel safe
{SEARCH_PATH}
begin atomic
    select known.*
    from (
        values
{lines}
    ) as known (operation, row_type, result_view);
end;

{comment("function pgclarify_private.operations()", about)}"""


def meaning_of(trait: str) -> str:
    """Return what a trait means, from the docstring of `Operation`."""
    lines = (Operation.__doc__ or "").split("Attributes:")[1].split("\n")
    start = next(place for place, line in enumerate(lines) if line.strip().startswith(f"{trait}: "))
    later = [line.strip() for line in lines[start + 1 :]]
    names = {field.name for field in fields(Operation)}
    end = next(place for place, line in enumerate(later) if not line or line.split(":")[0] in names)
    told = " ".join([lines[start].strip().removeprefix(f"{trait}: "), *later[:end]])
    return told.replace("Whether it ", "Whether the operation ", 1).replace(
        "Whether its ", "Whether the operation's ", 1
    )


def _trait(trait: str) -> str:
    # It sets no search_path, so that the planner can inline it: conditions with it use the indexes that have it.
    names = Call(f"select {trait}.operation in ", [*map(literal, names_of(trait))]).laid_out("    ", 1)
    return f"""\
create or replace function pgclarify_private.{trait}(operation text)
returns boolean
language sql immutable parallel safe
begin atomic
    {names};
end;

{comment(f"function pgclarify_private.{trait}(text)", meaning_of(trait))}\
grant execute on function pgclarify_private.{trait}(text) to pgclarify_reader;
"""


def _result_count() -> str:
    cases = []
    for name, one in OPERATIONS.items():
        if one.looks_for_answers:
            condition = f" and {one.result_condition}" if one.result_condition else ""
            cases.append(
                f"            when {literal(name)} then (\n"
                f"                select count(*) from pgclarify_private.{one.result_table} as result\n"
                f"                where result.run_id = ($1).run_id{condition}\n"
                "            )"
            )
    about = "How many results a run found; null for operations that do not look for answers in documents."
    lines = "\n".join(cases)
    return f"""\
create or replace function pgclarify_private.result_count(run pgclarify_private.run)
returns bigint
language sql stable security definer
{SEARCH_PATH}
begin atomic
    select
        case ($1).operation
{lines}
        end;
end;

{comment("function pgclarify_private.result_count(pgclarify_private.run)", about)}"""


def _check_settings() -> str:
    cases = "\n".join(
        f"        when {literal(name)} then pgclarify_private.{one.check_settings}(check_settings.settings)"
        for name, one in OPERATIONS.items()
        if one.check_settings is not None
    )
    about = (
        "Options of an operation, with top_k, as run.settings has them, and timeout: completed by defaults that depend "
        "on other options; or error 22023 for options that exclude each other."
    )
    return f"""\
create or replace function pgclarify_private.check_settings(operation text, settings jsonb)
returns jsonb
language plpgsql stable
{SEARCH_PATH}
as $$
begin
    return case check_settings.operation
{cases}
        else check_settings.settings
    end;
end
$$;

{comment("function pgclarify_private.check_settings(text, jsonb)", about)}"""


def _prepare() -> str:
    usual = "prepare_question"
    arguments = "prepare_run.caller, prepare_run.run, prepare_run.parameters"
    cases = "\n".join(
        f"        when {literal(name)} then\n            return pgclarify_private.{one.prepare}({arguments});"
        for name, one in OPERATIONS.items()
        if one.prepare != usual
    )
    about = (
        "The run that an operation enters. run: with its operation and its settings, which are checked. parameters: "
        "those of the public function, by name."
    )
    return f"""\
create or replace function pgclarify_private.prepare_run(
    caller pgclarify_private.caller, run pgclarify_private.run, parameters jsonb
)
returns pgclarify_private.run
language plpgsql volatile
{SEARCH_PATH}
as $$
begin
    case (prepare_run.run).operation
{cases}
        else
            return pgclarify_private.{usual}({arguments});
    end case;
end
$$;

{comment("function pgclarify_private.prepare_run(pgclarify_private.caller, pgclarify_private.run, jsonb)", about)}"""
