"""The generated files, and what writes each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from generate import (
    dbt,
    python_client,
    python_commands,
    python_records,
    sql_arguments,
    sql_documents,
    sql_functions,
    sql_results,
    sql_stop_codes,
    sql_traits,
    vocabularies,
)

ROOT: Final = Path(__file__).parents[1]
FILES: Final[Mapping[str, Callable[[], str]]] = {
    "sql/declared/row_types.sql": sql_results.row_types,
    "sql/declared/arguments.sql": sql_arguments.arguments,
    "sql/declared/traits.sql": sql_traits.traits,
    "sql/declared/stop_codes.sql": sql_stop_codes.stop_codes,
    "sql/declared/results.sql": sql_results.results,
    "sql/declared/documents.sql": sql_documents.documents,
    "sql/declared/document_view.sql": sql_documents.document_view,
    "sql/declared/functions.sql": sql_functions.functions,
    "dbt/macros/declared/reading_columns.sql": dbt.macros,
    "dbt/models/reading_columns.md": dbt.column_docs,
    "pgclarify/client/result_records.py": python_records.result_records,
    "pgclarify/client/operations.py": python_client.operations,
    "pgclarify/client/methods.py": python_client.methods,
    "pgclarify/cli/asking_commands.py": python_commands.asking_commands,
    "docs/vocabularies.md": vocabularies.vocabularies,
}
