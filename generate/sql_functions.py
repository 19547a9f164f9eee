"""sql/declared/functions.sql: the public functions, each with COMMENT and GRANT."""

from __future__ import annotations

from collections.abc import Iterator

from generate.sql_text import HEAD, SEARCH_PATH, Call, comment
from pgclarify.declared.forms import Function, Option, Rows
from pgclarify.declared.functions import FUNCTIONS
from pgclarify.declared.operations import OPERATIONS

_NO_LIMIT = 2**31 - 1


def functions() -> str:
    """Return the content of the file."""
    head = f"{HEAD}-- What people call: wrappers, which pass on who calls.\n"
    return "\n".join([head, *(function(one) for one in FUNCTIONS)])


def function(one: Function) -> str:
    """Return the statements that create a function."""
    parameters = [
        f"{parameter.name} {parameter.type}" + (f" default {parameter.default}" if parameter.default else "")
        for parameter in one.parameters
    ]
    types = [parameter.type for parameter in one.parameters]
    if one.options is not None:
        parameters.append("options jsonb" + (" default '{}'" if one.options_default else ""))
        types.append("jsonb")
    signature = f"{one.name}({', '.join(types)})"
    lines = [
        Call(f"create or replace function pgclarify.{one.name}", parameters).laid_out(""),
        f"returns {_returned(one)}",
        f"language sql {one.volatility}",
        SEARCH_PATH,
        *([f"rows {one.expected_rows}"] if one.expected_rows else []),
        "begin atomic",
        *_body(one),
        "end;",
        "",
        comment(f"function pgclarify.{signature}", about(one)).rstrip(),
        f"grant execute on function pgclarify.{signature} to {one.grantee};",
    ]
    return "\n".join(lines) + "\n"


def about(one: Function) -> str:
    """Return the comment on a function: what it does, its parameters, its options."""
    told = [f"{parameter.name}: {parameter.meaning}." for parameter in one.parameters if parameter.meaning]
    if one.options_of is not None:
        told.append(f"The rest as in {one.options_of}.")
    elif one.options is not None:
        told.append(f"options: {', '.join(map(brief, one.options))}; help says when to change each.")
    return " ".join([one.summary, *told, *([one.remark] if one.remark else [])])


def brief(option: Option) -> str:
    """Return an option with its values, for a comment."""
    if option.choices:
        values = ", ".join(option.choices)
    elif option.keywords:
        values = f"{', '.join(option.keywords)}, or a name"
    elif option.least is not None:
        # The largest of a type is no limit that a person needs.
        values = f"{option.least} to {option.most}" if (option.most or 0) < _NO_LIMIT else f"from {option.least}"
        values += f"; {option.default}" if option.default is not None else ""
    elif option.type == "boolean":
        values = "true"
    else:
        values = option.default or ""
    return f"{option.name} ({values})" if values else option.name


def _returned(one: Function) -> str:
    if isinstance(one.returns, Rows):
        return f"setof pgclarify.{one.returns.name}"
    is_plain_set = one.is_set and not one.returns.startswith(("table", "setof"))
    return f"setof {one.returns}" if is_plain_set else one.returns


def _body(one: Function) -> Iterator[str]:
    if one.name == "help":
        yield "    select seen.* from pgclarify_private.help(help.topic) as seen;"
        return
    if isinstance(one.returns, Rows) and (one.name == "result" or (one.name in OPERATIONS and one.calls is None)):
        inner = Call("jsonb_populate_recordset", [f"null::pgclarify.{one.returns.name}", _internal_call(one)])
    else:
        inner = _internal_call(one)
    if not one.is_set:
        yield f"    select {inner.laid_out('    ', 7)}"
        yield "    from pgclarify_private.caller;"
        return
    is_of_lines = one.returns == "text"
    yield f"    select {'seen.line' if is_of_lines else 'seen.*'}"
    yield "    from pgclarify_private.caller"
    yield f"    cross join lateral {inner.laid_out('    ', 28)} as seen{' (line)' if is_of_lines else ''};"


def _internal_call(one: Function) -> Call:
    """Return the call of the internal function; an operation's parameters are one JSON object, as submit has them."""
    own = [f"{one.name}.{parameter.name}" for parameter in one.parameters]
    options = [f"{one.name}.options"] if one.options is not None else []
    if one.passes:
        return Call(f"pgclarify_private.{one.calls}", ["caller", *one.passes])
    if one.name in OPERATIONS or one.apart:
        gathered = [parameter.name for parameter in one.parameters if parameter.name not in one.apart]
        pairs = Call("jsonb_build_object", [f"'{name}', {one.name}.{name}" for name in gathered])
        name, operation = (one.calls, []) if one.calls else ("start_and_wait", [f"'{one.name}'"])
        apart = [f"{one.name}.{name}" for name in one.apart]
        return Call(f"pgclarify_private.{name}", ["caller", *operation, *apart, pairs, *options])
    return Call(f"pgclarify_private.{one.calls or one.name}", ["caller", *own, *options])
