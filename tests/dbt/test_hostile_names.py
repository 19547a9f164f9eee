"""Names in a project that try to be SQL or Jinja: dbt's models treat them as names."""

from __future__ import annotations

from psycopg import sql

from tests.dbt.project import Project
from tests.dbt.searching import Connection
from tests.sessions import scalar
from tests.workers import Service, load, wait_until_searchable

# Longer than a name of PostgreSQL would be with the suffixes of the package's own tables.
MODEL = "it_is_a_rather_long_name_of_a_model_for_rental_car_searches"
HOSTILE = """o'b"r; drop table x;{{ 1 / 0 }}{% do %}\\ %s $$ --"""
CONFIG = """
{{{{ config(materialized='pgclarify_interpretations', corpus={corpus}, id={id}, question={question}, top_k=4,
    meta={{'note': {corpus}}}) }}}}
select 1::bigint as {quoted_id}, 'rental'::text as {quoted_question}
"""


def test_names_stay_names(project: Project, service: Service, asker: Connection, superuser: Connection) -> None:
    corpus, id_name, question_name = HOSTILE, f"i{HOSTILE}", f"q{HOSTILE}"
    load(asker, corpus, documents=2)
    wait_until_searchable(superuser, corpus)
    (project.folder / "models" / f"{MODEL}.sql").write_text(
        CONFIG.format(
            corpus=_jinja(corpus),
            id=_jinja(id_name),
            question=_jinja(question_name),
            quoted_id=_jinja_of_sql(id_name),
            quoted_question=_jinja_of_sql(question_name),
        )
    )
    try:
        for expected, setting in (
            ("1 distinct question, 1 to be asked", "on"),
            ("1 distinct question, 0 to be asked", "off"),
        ):
            change = sql.SQL("alter role {} set standard_conforming_strings = {}")
            superuser.execute(change.format(sql.Identifier(service.asker), sql.SQL(setting)))
            assert expected in project.done("build", "--select", MODEL).log
    finally:
        superuser.execute(
            sql.SQL("alter role {} reset standard_conforming_strings").format(sql.Identifier(service.asker))
        )
        (project.folder / "models" / f"{MODEL}.sql").unlink()

    found = asker.execute(
        sql.SQL("select distinct {}, {}, status from {}").format(
            sql.Identifier(id_name), sql.Identifier(question_name), sql.Identifier(project.schema, MODEL)
        )
    ).fetchall()
    assert found == [(1, "rental", "succeeded")]
    asked = "select count(*) from pgclarify.run where corpus = %s"
    assert scalar(superuser, asked, corpus) == 1


# dbt cuts the names of its own temporary tables after 54 letters.
TWINS = [f"{MODEL[:54]}_{end}" for end in ("north", "south")]


def test_models_whose_names_begin_alike_do_not_share_a_table(
    project: Project, service: Service, asker: Connection, superuser: Connection
) -> None:
    load(asker, "twins", documents=2)
    wait_until_searchable(superuser, "twins")
    files = {name: project.folder / "models" / f"{name}.sql" for name in TWINS}
    for path in files.values():
        path.write_text(
            "{{ config(materialized='pgclarify_interpretations', corpus='twins', id='id', question='question') }}"
            " select n as id, right('{{ this.identifier }}', 5) || ' ' || n as question"
            " from generate_series(1, 30) as n"
        )
    try:
        for _ in range(4):
            project.done("build", "--full-refresh", "--threads", "4", "--select", *TWINS)
            for name in TWINS:
                built = sql.SQL("select count(distinct id), min(question), max(question) from {}").format(
                    sql.Identifier(project.schema, name)
                )
                assert asker.execute(built).fetchone() == (30, f"{name[-5:]} 1", f"{name[-5:]} 9")
    finally:
        for path in files.values():
            path.unlink()


def _jinja(text: str) -> str:
    """A text of Jinja with this value."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _jinja_of_sql(name: str) -> str:
    """Jinja that writes a quoted name."""
    return "{{ " + _jinja('"' + name.replace('"', '""') + '"') + " }}"
