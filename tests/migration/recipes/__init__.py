"""A copy of the checkout in which the recipes of CONTRIBUTING.md were followed, as a later release would.

It has a column of readings; a parameter and a first option of public functions; and an operation. What follows from the
declaration is generated there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from pgclarify.declared.operations import OPERATIONS
from pgclarify.install.revisions import known_revisions
from tests.pages import CHECKOUT

_COPIED: Final = ("generate", "migrations", "pgclarify", "sql", "dbt/macros", "dbt/models")

# For each file: what stands there, and what then stands there. What is added to the declaration stands between others.
_COLUMN: Final = {
    "pgclarify/declared/clarify.py": {
        '        Column("answer", "text", "Its answer.", is_prose=True),\n': """\
        Column("mood", "text", "Its mood; null without.", null=True, default="None", since="99.0.0"),
        Column("answer", "text", "Its answer.", is_prose=True),
"""
    }
}
# An earlier release has added a field, and with it a parameter of add_document, too.
_FIELD: Final = {
    "pgclarify/declared/documents.py": {
        '    Field(\n        name="author",': """\
    Field(
        name="note",
        kind="text",
        meaning="A note; null without.",
        given="a note",
        records=("note",),
        column="Column with a note.",
        since="99.0.0",
    ),
    Field(
        name="author","""
    },
}
# No release has changed this one.
_FIRST_OPTION: Final = {
    "pgclarify/declared/corpora.py": {
        '        parameters=(_OWN_CORPUS.but(meaning="its name"), _DOCUMENT),\n': """\
        parameters=(_OWN_CORPUS.but(meaning="its name"), _DOCUMENT),
        options=(Option(name="is_trial", type="boolean", default=False, meaning="Use true to keep it."),),
        options_since="99.0.0",
""",
    },
    "sql/corpora/document.sql": {
        "corpus text, document_id text)\n": "corpus text, document_id text, options jsonb)\n",
        "remove_document(pgclarify_private.caller, text, text)": (
            "remove_document(pgclarify_private.caller, text, text, jsonb)"
        ),
        "array[v_id]);": "case when remove_document.options @> '{\"is_trial\": true}' then '{}' else array[v_id] end);",
    },
}
_OPERATION: Final = {
    "pgclarify/declared/operations.py": {
        "from pgclarify.declared.search import SEARCH\n": """\
from pgclarify.declared.search import SEARCH
from pgclarify.declared.summarize import SUMMARIZE
""",
        "        ESTIMATE,\n": "        ESTIMATE,\n        SUMMARIZE,\n",
    },
}
_REVISION: Final = '''\
from alembic import op

revision = "later"
down_revision = "{before}"

STATEMENTS = (
    "alter table pgclarify_private.interpretation add column mood text",
    "alter table pgclarify_private.document add column note text",
    "alter table pgclarify_private.document alter column note set statistics 0",
    """
    create table pgclarify_private.summary (
        run_id bigint not null,
        ordinal integer not null,
        sentence text not null,
        constraint summary_pk primary key (run_id, ordinal),
        constraint summary_ordinal_counts_from_one check (ordinal >= 1),
        constraint summary_run_id_fk foreign key (run_id) references pgclarify_private.run (run_id) on delete cascade
    )
    """,
    "alter table pgclarify_private.summary alter column sentence set statistics 0",
    "alter table pgclarify_private.run drop constraint run_operation_is_known",
    "alter table pgclarify_private.run add constraint run_operation_is_known check (operation in {operations})",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
'''


def follow(folder: Path) -> None:
    """Copy the checkout into a folder, and follow the recipes there."""
    for name in _COPIED:
        shutil.copytree(CHECKOUT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(__file__).with_name("summarize.py"), folder / "pgclarify" / "declared")
    for recipe in (_COLUMN, _FIELD, _FIRST_OPTION, _OPERATION):
        for path, edits in recipe.items():
            for before, after in edits.items():
                edit(folder / path, before, after)
    revision = _REVISION.format(before=known_revisions()[0], operations=(*OPERATIONS, "summarize"))
    (folder / "migrations" / "versions" / "later.py").write_text(revision, encoding="utf-8")
    run(folder, "-m", "generate")


def edit(path: Path, before: str, after: str) -> None:
    """Replace a part of a file."""
    text = path.read_text(encoding="utf-8")
    assert before in text, f"{path.name} does not have this any more, so the recipe has to change: {before}"
    path.write_text(text.replace(before, after), encoding="utf-8")


def install(folder: Path, dsn: str) -> None:
    """Install the schema of a copy, or upgrade to it."""
    run(folder, "-c", f"from pgclarify.install.installer import install; install({dsn!r})")


def write_extension(folder: Path, target: Path) -> None:
    """Write the files of the extension of a copy."""
    script = "from pgclarify.install.create_extension.files import write_files; from pathlib import Path; write_files"
    run(folder, "-c", f"{script}(Path({str(target)!r}))")


def run(folder: Path, *arguments: str) -> None:
    """Run Python with the package of a copy."""
    variables = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, *arguments], cwd=folder, env=variables, check=True, timeout=120)
