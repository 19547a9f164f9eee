"""sql/declared/functions.sql: the public functions, each with COMMENT and GRANT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from generate.sql_text import HEAD, SEARCH_PATH, Call, comment, literal
from pgclarify.declared.forms import Function, Option, Parameter, Rows
from pgclarify.declared.functions import FUNCTIONS
from pgclarify.declared.operations import OPERATIONS
from pgclarify.declared.releases import number

_NO_LIMIT = 2**31 - 1


def functions() -> str:
    """Return the content of the file."""
    head = f"{HEAD}-- What people call: wrappers, which pass on who calls.\n"
    return "\n".join([head, keeping(FUNCTIONS), *(function(one) for one in FUNCTIONS)])


def earlier_signatures(one: Function) -> Mapping[str, Sequence[Parameter]]:
    """Return what a function had before releases added parameters, by the first release that had just this."""
    added = (parameter.since for parameter in one.signature if number(parameter.since) > number(one.since))
    releases = sorted({one.since, *added}, key=number)
    return {
        release: [parameter for parameter in one.signature if number(parameter.since) <= number(release)]
        for release in releases[:-1]
    }


def keeping(functions: Iterable[Function]) -> str:
    """Return the statement that keeps the functions of the release before, if they have fewer parameters."""
    kept = ",\n".join(
        f"            ({literal(one.name)}, {literal(_earlier_name(one, release))}, {literal(_types(parameters))})"
        for one in functions
        for release, parameters in earlier_signatures(one).items()
    )
    return f"""\
-- Views of users call functions by their oid, so those of earlier releases stay. They leave the public schema, so that
-- each call there finds one function.
do $do$
declare
    v_earlier record;
begin
    for v_earlier in
        select listed.*
        from (
            values
{kept}
        ) as listed (name, earlier_name, types)
        where to_regprocedure(format('pgclarify.%s(%s)', listed.name, listed.types)) is not null
    loop
        execute format(
            'alter function pgclarify.%I(%s) rename to %I', v_earlier.name, v_earlier.types, v_earlier.earlier_name
        );
        execute format(
            'alter function pgclarify.%I(%s) set schema pgclarify_private', v_earlier.earlier_name, v_earlier.types
        );
    end loop;
end
$do$;
"""


def function(one: Function) -> str:
    """Return the statements that create a function, and those of earlier releases that had fewer parameters."""
    statements = [_statements(f"pgclarify.{one.name}", one, one.signature, about(one), _body(one))]
    statements += [_earlier(one, *earlier) for earlier in earlier_signatures(one).items()]
    return "\n".join(statements)


def _earlier_name(one: Function, release: str) -> str:
    return f"{one.name}_{release.replace('.', '_')}"


def _earlier(one: Function, release: str, parameters: Sequence[Parameter]) -> str:
    name = _earlier_name(one, release)
    called = Call(f"pgclarify.{one.name}", [f"{name}.{parameter.name}" for parameter in parameters]).laid_out(
        "    ", 12
    )
    body = ("    select seen.*", f"    from {called} as seen;")
    meaning = f"{one.name} as release {release} had it, for views that use it."
    return _statements(f"pgclarify_private.{name}", one, parameters, meaning, body)


def _statements(name: str, one: Function, parameters: Sequence[Parameter], meaning: str, body: Iterable[str]) -> str:
    signature = f"{name}({_types(parameters)})"
    granted = Call(f"function {name}", [parameter.type for parameter in parameters]).laid_out("", 40)
    lines = [
        Call(f"create or replace function {name}", list(map(_parameter, parameters))).laid_out(""),
        f"returns {_returned(one)}",
        f"language sql {one.volatility}",
        SEARCH_PATH,
    ]
    if one.expected_rows:
        lines.append(f"rows {one.expected_rows}")
    lines.append("begin atomic")
    lines += body
    lines.append("end;")
    lines.append("")
    lines.append(comment(f"function {signature}", meaning).rstrip())
    lines.append(f"grant execute on {granted} to {one.grantee};")
    return "\n".join(lines) + "\n"


def _types(parameters: Iterable[Parameter]) -> str:
    return ", ".join(parameter.type for parameter in parameters)


def _parameter(parameter: Parameter) -> str:
    declared = f"{parameter.name} {parameter.type}"
    if parameter.default:
        declared += f" default {parameter.default}"
    return declared


def about(one: Function) -> str:
    """Return the comment on a function: what it does, its parameters, its options."""
    told = [one.summary]
    for parameter in one.signature:
        if parameter.name == "options" and one.options is not None:
            told.append(_about_options(one, one.options))
        elif parameter.meaning:
            told.append(f"{parameter.name}: {parameter.meaning}.")
    if one.remark:
        told.append(one.remark)
    return " ".join(told)


def _about_options(one: Function, options: Iterable[Option]) -> str:
    if one.options_of is not None:
        return f"The rest as in {one.options_of}."
    return f"options: {', '.join(map(brief, options))}; help says when to change each."


def brief(option: Option) -> str:
    """Return an option with its values, for a comment."""
    values = _values(option)
    if not values:
        return option.name
    return f"{option.name} ({values})"


def _values(option: Option) -> str:
    """Return the values that an option can have, or its default."""
    default = option.default or ""
    if option.choices:
        return ", ".join(option.choices)
    if option.keys:
        return "an object"
    if option.keywords:
        keywords = ", ".join(option.keywords)
        return f"{keywords}, or a name"
    if option.least is not None:
        return f"{_range(option)}; {default}" if default else _range(option)
    if option.type == "boolean":
        return "true"
    return default


def _range(option: Option) -> str:
    """Return the range of a number. The largest number of a type is no limit that a person needs."""
    if (option.most or 0) < _NO_LIMIT:
        return f"{option.least} to {option.most}"
    return f"from {option.least}"


def _returned(one: Function) -> str:
    if isinstance(one.returns, Rows):
        return f"setof pgclarify.{one.returns.name}"
    if one.is_set and not one.returns.startswith(("table", "setof")):
        return f"setof {one.returns}"
    return one.returns


def _body(one: Function) -> Iterator[str]:
    if one.name == "help":
        yield "    select seen.* from pgclarify_private.help(help.topic) as seen;"
        return
    inner = _internal_call(one)
    if isinstance(one.returns, Rows) and _returns_json_inside(one):
        inner = Call("jsonb_populate_recordset", [f"null::pgclarify.{one.returns.name}", inner])
    if not one.is_set:
        yield f"    select {inner.laid_out('    ', 7)}"
        yield "    from pgclarify_private.caller;"
        return
    seen, alias = ("seen.*", "seen")
    if one.returns == "text":
        seen, alias = ("seen.line", "seen (line)")
    yield f"    select {seen}"
    yield "    from pgclarify_private.caller"
    yield f"    cross join lateral {inner.laid_out('    ', 28)} as {alias};"


def _caller(one: Function) -> str:
    return "pgclarify_private.writer(caller)" if one.writes else "caller"


def _returns_json_inside(one: Function) -> bool:
    """Return whether the internal function returns JSON, of which the public one makes rows."""
    return one.name == "result" or (one.name in OPERATIONS and one.calls is None)


def _internal_call(one: Function) -> Call:
    """Return the call of the internal function; an operation's parameters are one JSON object, as submit has them."""
    if one.passes:
        return Call(f"pgclarify_private.{one.calls}", [_caller(one), *one.passes])
    if one.name in OPERATIONS or one.apart:
        return _call_with_object(one)
    passed = [f"{one.name}.{parameter.name}" for parameter in one.signature]
    return Call(f"pgclarify_private.{one.calls or one.name}", [_caller(one), *passed])


def _call_with_object(one: Function) -> Call:
    """Return a call that passes the parameters as one object, but for those that stand apart."""
    names = [parameter.name for parameter in one.signature if parameter.name not in (*one.apart, "options")]
    pairs = [f"'{name}', {one.name}.{name}" for name in names]
    gathered = Call("jsonb_build_object", pairs)
    called = one.calls
    first = [_caller(one)]
    if called is None:
        called = "start_and_wait"
        first.append(f"'{one.name}'")
    apart = [f"{one.name}.{name}" for name in one.apart]
    options = [f"{one.name}.options"] if one.options is not None else []
    return Call(f"pgclarify_private.{called}", [*first, *apart, gathered, *options])
