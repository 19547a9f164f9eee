"""sql/declared/row_types.sql and results.sql: composite types, views of results, and the functions that find rows."""

from __future__ import annotations

import textwrap

from generate.sql_text import HEAD, SEARCH_PATH, Call, comment, literal
from pgclarify.declared.clarify import QUESTION_CLARIFICATION
from pgclarify.declared.forms import Column, Rows, Table
from pgclarify.declared.functions import RESULT_VIEWS, ROW_TYPES
from pgclarify.declared.operations import OPERATIONS

_TABLES = tuple(rows.table for rows in RESULT_VIEWS if rows.table is not None)


def row_types() -> str:
    """Return the content of row_types.sql."""
    listed = ",\n".join(
        f"            ({literal(rows.name)}, {place}, {literal(column.name)}, {literal(column.type)})"
        for rows in ROW_TYPES
        for place, column in enumerate(rows.columns, start=1)
    )
    comments = "\n".join(
        comment(f"type pgclarify.{rows.name}", rows.meaning)
        + "".join(comment(f"column pgclarify.{rows.name}.{column.name}", column.meaning) for column in rows.columns)
        for rows in ROW_TYPES
    )
    return f"""\
{HEAD}-- The rows that functions return. Types that exist get the columns that they lack, at the end.

do $do$
declare
    v_type record;
begin
    for v_type in
        select
            listed.type_name,
            bool_and(pg_attribute.attrelid is null) as is_new,
            string_agg(format('%I %s', listed.name, listed.type), ', ' order by listed.place) as columns,
            string_agg(format('add attribute %I %s', listed.name, listed.type), ', ' order by listed.place)
                filter (where pg_attribute.attrelid is null) as additions
        from (
            values
{listed}
        ) as listed (type_name, place, name, type)
        left join pg_catalog.pg_attribute
            on pg_attribute.attrelid = to_regclass('pgclarify.' || listed.type_name)
                and pg_attribute.attname = listed.name
                and not pg_attribute.attisdropped
        group by listed.type_name
    loop
        if v_type.is_new then
            execute format('create type pgclarify.%I as (%s)', v_type.type_name, v_type.columns);
        elsif v_type.additions is not null then
            execute format('alter type pgclarify.%I %s', v_type.type_name, v_type.additions);
        end if;
    end loop;
end
$do$;

{comments}"""


def results() -> str:
    """Return the content of results.sql."""
    shown = [rows for rows in ROW_TYPES if rows.table is not None]
    found = [rows for rows in RESULT_VIEWS if any(one.rows is rows for one in OPERATIONS.values())]
    head = f"{HEAD}-- Results of runs: as people read them, and as functions return them.\n"
    withheld = [table for table in _TABLES if table.withheld_if is not None]
    return "\n".join(
        [
            head,
            *map(_view, RESULT_VIEWS),
            *map(_withheld_view, withheld),
            _result_tables(),
            _delete_results(),
            *map(_rows_function, [*shown, *found]),
            _question_reading(),
        ]
    )


def _view(rows: Rows) -> str:
    columns = ",\n".join(f"    {_select(column, is_wrapped=True)}" for column in rows.columns)
    is_joined = any("run." in (column.source or "") for column in rows.columns)
    join = "\ninner join pgclarify_private.run on result.run_id = run.run_id" if is_joined else ""
    where = "\nwhere result.is_shown" if rows.table is not None and rows.table.has_unshown else ""
    # Other columns have the comments of the table: see views/wrapping.sql.
    own = [column for column in rows.columns if column.source is not None]
    comments = "".join(comment(f"column pgclarify.{rows.name}.{column.name}", column.meaning) for column in own)
    return f"""\
create or replace view pgclarify.{rows.name} as
select
{columns}
from pgclarify_private.{_table(rows)} as result{join}{where};

{comment(f"view pgclarify.{rows.name}", rows.meaning)}{comments}\
grant select on pgclarify.{rows.name} to pgclarify_reader;
"""


def _withheld_view(table: Table) -> str:
    # One for each table: the planner plans all of a view for each policy that reads it.
    name, condition = f"withheld_{table.name}", table.withheld_if or ""
    ordinals = "citation.ordinal <= result.ordinal" if table.depends_on_earlier else "citation.ordinal = result.ordinal"
    needs_result = table.depends_on_earlier or "result." in condition
    source = "result" if needs_result else "citation"
    join = (
        f"""
inner join pgclarify_private.{table.name} as result on citation.run_id = result.run_id and {ordinals}"""
        if needs_result
        else ""
    )
    about = f"Rows of table {table.name} that are hidden, because a citation of a withheld candidate may show in them."
    where = "" if condition == "true" else f"\nwhere {condition}"
    return f"""\
create or replace view pgclarify_private.{name} with (security_barrier) as
select {source}.run_id, {source}.ordinal
from pgclarify_private.citation{join}
inner join pgclarify_private.withheld_candidate as withheld
    on citation.run_id = withheld.run_id and citation.candidate_rank = withheld.rank{where};

{comment(f"view pgclarify_private.{name}", about)}grant select on pgclarify_private.{name} to pgclarify_views;
"""


def _result_tables() -> str:
    lines = ",\n".join(f"        ({', '.join(map(literal, _table_of_results(table)))})" for table in _TABLES)
    about = (
        "The tables of results. withheld: the view with its rows that are hidden from the reader; null if it hides "
        "none. is_recorded: whether workers store its rows with record_results. is_erased: whether all rows of a run "
        "go if a document is erased that the run has read."
    )
    return f"""\
create or replace function pgclarify_private.result_tables()
returns table (relation text, withheld text, is_recorded boolean, is_erased boolean)
language sql immutable parallel safe
{SEARCH_PATH}
begin atomic
    select known.*
    from (
        values
{lines}
    ) as known (relation, withheld, is_recorded, is_erased);
end;

{comment("function pgclarify_private.result_tables()", about)}"""


def _table_of_results(table: Table) -> tuple[object, ...]:
    return table.name, f"withheld_{table.name}" if table.withheld_if else None, table.is_recorded, table.is_erased


def _delete_results() -> str:
    name = "delete_results"
    deletes = "\n".join(
        f"    delete from pgclarify_private.{table} where {table}.run_id = {name}.run_id;"
        for table in (*(table.name for table in _TABLES), "citation")
    )
    return f"""\
create or replace function pgclarify_private.{name}(run_id bigint)
returns void
language plpgsql volatile
{SEARCH_PATH}
as $$
begin
{deletes}
end
$$;

{comment(f"function pgclarify_private.{name}(bigint)", "Delete the results of a run, and their citations.")}"""


def _table(rows: Rows) -> str:
    if rows.table is None:
        raise TypeError(f"{rows.name} has no table")
    return rows.table.name


def _select(column: Column, *, is_wrapped: bool) -> str:
    value = textwrap.dedent(column.source) if column.source else f"result.{column.name}"
    if column.is_prose and is_wrapped:
        # See views/wrapping.sql.
        value = {"text[]": f"trim_array({value}, 0)", "jsonb": f"{value} #> '{{}}'"}.get(column.type, f"{value} || ''")
    return value if value.endswith(f".{column.name}") else f"{value} as {column.name}"


def _rows_function(rows: Rows) -> str:
    name = f"{rows.name}_rows"
    columns = ",\n".join(f"        {_indented(_found(column))}" for column in rows.columns)
    ordinal = [column.name for column in rows.columns if column.name == "ordinal"]
    order = ", ".join(f"result.{name}" for name in ("run_id", *ordinal))
    is_joined = any("run." in (column.source or "") for column in rows.columns)
    joins = "\n    inner join pgclarify_private.run on result.run_id = run.run_id" if is_joined else ""
    if rows.cites:
        roles = Call("pgclarify_private.roles_of", [f"{name}.requester"])
        cited = Call("left join pgclarify_private.cited", [f"{name}.run_ids", roles]).laid_out("    ", 10)
        joins += f"""
    {cited} as cited
        on result.run_id = cited.run_id and result.ordinal = cited.ordinal"""
    withheld = " and cited.is_withheld is not true" if rows.is_withheld else ""
    has_unshown = rows.table is not None and rows.table.has_unshown
    parameter = ", include text default null" if has_unshown else ""
    included = f"\n{_included(name)}" if has_unshown else ""
    types = "bigint[], name, text" if has_unshown else "bigint[], name"
    about = f"{rows.meaning} It does not check who may see the runs" + (
        "; documents are those that the requester may read now."
        if rows.cites
        else ": the requester makes no difference."
    )
    if has_unshown:
        about += (
            " include: null asks for those that the run shows. Where nothing is certain, certain asks for the first "
            "reading, as consolidation conservative shows it."
        )
    return f"""\
create or replace function pgclarify_private.{name}(run_ids bigint[], requester name{parameter})
returns setof pgclarify.{rows.name}
language sql stable security definer
{SEARCH_PATH}
begin atomic
    select
{columns}
    from pgclarify_private.{_table(rows)} as result{joins}
    where result.run_id = any({name}.run_ids){withheld}{included}
    order by {order};
end;

{comment(f"function pgclarify_private.{name}({types})", about)}"""


def _included(name: str) -> str:
    """Return the condition that option include of a function asks for a reading."""
    # Readings of releases before 0.4.0 have no level.
    is_certain = "coalesce({}.level, 'certain') = 'certain'"
    return f"""\
        -- In place, because the planner inlines no function with a subquery.
        and case {name}.include
            when 'all' then true
            when 'likely' then result.is_shown or result.level <> 'all'
            when 'certain' then
                {is_certain.format("result")}
                or result.ordinal = 1 and not exists (
                    select from pgclarify_private.interpretation as other
                    where other.run_id = result.run_id and {is_certain.format("other")}
                )
            else result.is_shown
        end"""


def _question_reading() -> str:
    lines = ",\n".join(
        f"        {column.source or f'(question_reading.reading).{column.name}'}"
        for column in QUESTION_CLARIFICATION.columns
    )
    signature = "question_reading(bigint, text, text, bigint, text, text, pgclarify.clarification)"
    about = (
        "A row of clarify_many. reading: null if there is none. It sets no search_path, so that the planner can inline "
        "it."
    )
    return f"""\
create or replace function pgclarify_private.question_reading(
    question_ordinal bigint, question_key text, question text, run_id bigint, status text, stop_code text,
    reading pgclarify.clarification
)
returns setof pgclarify.question_clarification
language sql stable
rows 1
begin atomic
    select
{lines};
end;

{comment(f"function pgclarify_private.{signature}", about)}"""


def _found(column: Column) -> str:
    if column.name == "document_ids":
        return "coalesce(cited.document_ids, '{}')"
    if column.name == "citations":
        return "coalesce(cited.citations, '[]')"
    return column.source or f"result.{column.name}"


def _indented(text: str) -> str:
    return textwrap.indent(textwrap.dedent(text), "    ").strip()
