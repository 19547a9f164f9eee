"""dbt/macros/declared/ and dbt/models/: the columns of readings."""

from __future__ import annotations

from generate.sql_text import packed
from pgclarify.declared.clarify import CLARIFICATION, INTERPRETATION_VIEW
from pgclarify.declared.forms import Column

_HEAD = "{# Written by `make generated` from pgclarify/declared. Do not edit. #}\n"
# The model has a status and a time of its own.
_OF_MODEL = ("run_id", "status")


def macros() -> str:
    """Return the macros that list the columns of readings."""
    found = [column for column in CLARIFICATION.columns if column.name not in _OF_MODEL]
    stored = [column for column in INTERPRETATION_VIEW.columns if column.name not in _OF_MODEL]
    return "\n".join(
        (
            _HEAD,
            _macro("reading_columns", "Columns of a reading with its evidence, in the order of clarify.", found),
            _macro("interpretation_view_columns", "Columns of view interpretation, but the run.", stored),
        )
    )


def _macro(name: str, meaning: str, columns: list[Column]) -> str:
    names = packed((f"'{column.name}'" for column in columns), " " * 8)
    return f"{{# {meaning} #}}\n{{% macro {name}() %}}\n    {{{{ return([\n{names},\n    ]) }}}}\n{{% endmacro %}}\n"


def column_docs() -> str:
    """Return what `doc('pgclarify', 'interpretations_…')` says of the columns of a reading."""
    head = "Written by `make generated` from pgclarify/declared. Do not edit.\n"
    blocks = (
        f"{{% docs interpretations_{column.name} %}}\n{column.meaning}\n{{% enddocs %}}\n"
        for column in CLARIFICATION.columns
        if column.name not in _OF_MODEL
    )
    return "\n".join((head, *blocks))
